"""n-gram models of sequences, exact and vectorised: maximum likelihood, and interpolated Kneser–Ney."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import FittingError, UsageError
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.sequences.interfaces import Advance
from momus.sequences.model import StepModel
from momus.sequences.types import Sequences, SequenceScores

if TYPE_CHECKING:
    from torch import Tensor

ROWS = 512
"""Contexts whose whole distributions are held at once."""


def discount(counts: Floats) -> float:
    """The absolute discount of one order, n₁ / (n₁ + 2 n₂); ½ without counts of one or two (Ney et al. 1994).

    >>> discount(np.array([1.0, 1.0, 2.0, 5.0]))
    0.5
    """
    one, two = float((counts == 1).sum()), float((counts == 2).sum())
    return one / (one + 2 * two) if one and two else 0.5


def interpolated(counts: Floats, context: Ints, contexts: int, discount: float) -> tuple[Floats, Floats]:
    """One order of interpolated smoothing by absolute discounts (Kneser & Ney 1995; Chen & Goodman 1999).

    Parameters
    ----------
    counts
        (N,): count of each n-gram, continuation counts below the highest order.
    context
        int (N,): the context of each n-gram, a number below ``contexts``.

    Returns
    -------
    mass
        (N,): max(c − D, 0) / c(h).
    weight
        (contexts,): D N(h) / c(h), which multiplies the order below; 1 for a context without counts.

    >>> mass, weight = interpolated(np.array([2.0, 1.0]), np.array([0, 0]), 1, 0.5)
    >>> round(float(mass.sum() + weight[0]), 12)
    1.0
    """
    total = np.bincount(context, counts, contexts)
    types = np.bincount(context, counts > 0, contexts)
    safe = np.maximum(total, 1)
    weight = np.where(total > 0, discount * types / safe, 1.0)
    return np.maximum(counts - discount, 0.0) / safe[context], weight


class NGramModel(StepModel):
    """An n-gram model over ids, whose distributions are known in full.

    Sequences begin after n − 1 begin symbols and end with an end symbol. ``"none"`` is maximum likelihood, for which a
    context that was never seen has no distribution; ``"kneser-ney"`` interpolates with one discount an order,
    n1/(n1 + 2·n2) (½ without counts of one or two), and continuation counts below the highest order (Kneser & Ney
    1995; Chen & Goodman 1999), down to the uniform distribution over the V symbols.

    Parameters
    ----------
    order
        n.
    smoothing
        ``none`` or ``kneser-ney``.

    >>> model = NGramModel(2, "none").fit(Sequences.of([[0, 1], [0, 2]]), symbols=3)
    >>> model.distributions(np.array([[0]])).round(2).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    """

    def __init__(self, order: int, smoothing: Literal["none", "kneser-ney"] = "kneser-ney") -> None:
        if order < 1:
            raise UsageError(f"order must be at least 1, got {order}")
        if smoothing not in ("none", "kneser-ney"):
            raise UsageError(f"no smoothing {smoothing!r}", hint="choose none or kneser-ney")
        self.order, self.smoothing, self.name = order, smoothing, f"{order}-gram"

    def fit(self, sequences: Sequences, symbols: int) -> Self:
        """Count n-grams of all orders.

        Parameters
        ----------
        symbols
            Ids run from 0 to ``symbols`` − 1; the end symbol is ``symbols``, and V is one more.

        Raises
        ------
        FittingError
            There is no sequence, or an id lies outside.
        """
        if not len(sequences) or (len(sequences.ids) and not 0 <= sequences.ids.min() <= sequences.ids.max() < symbols):
            raise FittingError("an n-gram model needs sequences of ids below the number of symbols")
        self._sized(symbols)
        contexts, targets = self._framed(sequences)
        keys, counts = np.unique(np.stack([self._codes(contexts), targets]), axis=1, return_counts=True)
        return self._build(keys, counts.astype(np.int64))

    def _sized(self, symbols: int) -> None:
        self.size, self.end, self._base = symbols + 1, symbols, symbols + 2
        if (self.order - 1) * np.log2(self._base) > 62:
            raise UsageError(f"{self.order - 1} of {symbols:,} symbols do not fit a context", hint="lower the order")

    def _build(self, keys: Ints, counts: Ints) -> Self:
        """All orders from the n-grams of the highest: contexts and last symbols, (2, N), and their counts."""
        self.counted = keys, counts
        self._levels = [self._level(keys, counts.astype(np.float64))]
        for m in range(self.order - 2, -1, -1):
            if self.smoothing == "none":
                break
            # how many different symbols stood before: each longer n-gram counts once
            keys, counts = np.unique(np.stack([keys[0] % self._base**m, keys[1]]), axis=1, return_counts=True)
            self._levels.append(self._level(keys, counts.astype(np.float64)))
        self._levels.reverse()
        return self

    def _framed(self, sequences: Sequences) -> tuple[Ints, Ints]:
        """The n − 1 ids before each position (N + n, n − 1), the newest last, and what stands there."""
        n, begin = self.order - 1, self.size
        lengths = sequences.lengths + n + 1
        stream = np.full(int(lengths.sum()), begin, dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(starts + n, sequences.lengths) + sequences.places
        stream[places] = sequences.ids[sequences.offsets[0] : sequences.offsets[-1]]
        stream[starts + lengths - 1] = self.end
        inner = np.ones(len(stream), dtype=bool)
        for i in range(n):
            inner[starts + i] = False
        at = np.flatnonzero(inner)
        contexts = stream[at[:, None] + np.arange(-n, 0)] if n else np.zeros((len(at), 0), dtype=np.int64)
        return contexts, stream[at]

    def _codes(self, contexts: Ints) -> Ints:
        """One number for each context, the oldest symbol in the highest place."""
        code = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            code = code * self._base + column
        return code

    def _level(self, keys: Ints, counts: Floats) -> dict[str, Any]:
        """One order: contexts, the weight that each leaves to the order below, and the mass of each n-gram."""
        contexts, row = np.unique(keys[0], return_inverse=True)
        d = 0.0 if self.smoothing == "none" else discount(counts)
        mass, weight = interpolated(counts, row, len(contexts), d)
        order = np.lexsort((keys[1], row))
        starts = offsets_of(np.bincount(row))
        return {
            "contexts": contexts,
            "weight": weight,
            "starts": starts,
            "words": keys[1][order],
            "value": mass[order],
        }

    def _found(self, level: dict[str, Any], code: Ints, m: int) -> tuple[Ints, NDArray[np.bool_]]:
        """Rows of contexts in a level, and which of them it has."""
        suffix = code % self._base**m
        row = np.minimum(np.searchsorted(level["contexts"], suffix), len(level["contexts"]) - 1)
        return row, level["contexts"][row] == suffix

    def _lengths(self) -> range:
        return range(self.order - 1, self.order) if self.smoothing == "none" else range(self.order)

    def distributions(self, contexts: Ints) -> Floats:
        """P(next | context) over the V ids, float64 (B, V).

        Parameters
        ----------
        contexts
            int64 (B, n − 1), the newest last; V stands for the begin symbol.

        Raises
        ------
        UsageError
            Without smoothing, a context was never seen.
        """
        code = self._codes(contexts)
        p = np.full((len(contexts), self.size), 1 / self.size)
        for m, level in zip(self._lengths(), self._levels, strict=True):
            row, known = self._found(level, code, m)
            if self.smoothing == "none" and not known.all():
                raise UsageError("a context was never seen", hint="use smoothing='kneser-ney'")
            p *= np.where(known, level["weight"][row], 1.0)[:, None]
            first, length = level["starts"][:-1][row], np.where(known, np.diff(level["starts"])[row], 0)
            which = np.repeat(np.arange(len(contexts)), length)
            index = np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length) + np.repeat(first, length)
            p[which, level["words"][index]] += level["value"][index]
        return p

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """log p of each token and of the end, in nats, −∞ where maximum likelihood has never seen it."""
        contexts, targets = self._framed(sequences)
        code = self._codes(contexts)
        p = np.full(len(targets), 1 / self.size)
        seen = np.ones(len(targets), dtype=bool)
        for m, level in zip(self._lengths(), self._levels, strict=True):
            row, known = self._found(level, code, m)
            p *= np.where(known, level["weight"][row], 1.0)
            key = owners_of(level["starts"]) * self.size + level["words"]
            wanted = row * self.size + targets
            at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
            p += np.where(known & (key[at] == wanted), level["value"][at], 0.0)
            seen = known if self.smoothing == "none" else seen
        with np.errstate(divide="ignore"):
            values = np.log(np.where(seen, p, 0.0))
        if temperature != 1.0:
            values = values / temperature - self._log_normalisers(contexts, code, seen, temperature)
        if progress is not None:
            progress(len(sequences))
        return SequenceScores(values, offsets_of(sequences.lengths + 1))

    def _log_normalisers(self, contexts: Ints, code: Ints, seen: NDArray[np.bool_], temperature: float) -> Floats:
        """log Σ p^(1/T) of each context, computed once for contexts that are equal."""
        _, first, where = np.unique(code, return_index=True, return_inverse=True)
        out = np.zeros(len(first))
        rows = np.flatnonzero(seen[first])
        for a in range(0, len(rows), ROWS):
            some = rows[a : a + ROWS]
            out[some] = np.log((self.distributions(contexts[first[some]]) ** (1 / temperature)).sum(axis=1))
        return np.asarray(out[where])

    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """The last n − 1 symbols of each prompt, and what follows them."""
        n = self.order - 1
        padded = np.full((len(prompts), n), self.size, dtype=np.int64)
        for i in range(len(prompts)):
            tail = prompts[i][-n:] if n else prompts[i][:0]
            padded[i, n - len(tail) :] = tail
        return padded, self._logits(padded)

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Shift the context by one."""
        moved = np.concatenate([state[:, 1:], tokens.cpu().numpy()[:, None]], axis=1) if self.order > 1 else state
        return moved, self._logits(moved)

    def select(self, state: Any, rows: Tensor) -> Any:
        """Contexts of these rows."""
        return state[rows.cpu().numpy()]

    def _logits(self, contexts: Ints) -> Tensor:
        import torch

        ended = (contexts == self.end).any(axis=1)  # nothing follows the end: any distribution will do
        p = np.full((len(contexts), self.size), 1 / self.size)
        p[~ended] = self.distributions(contexts[~ended])
        with np.errstate(divide="ignore"):
            return torch.from_numpy(np.log(p)).to(self.device)
