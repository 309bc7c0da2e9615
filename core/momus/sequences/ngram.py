"""n-gram models of sequences, exact and vectorised: maximum likelihood and interpolated Kneser–Ney."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from momus.errors import FittingError, UsageError
from momus.numeric.ragged import offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus.sequences.interfaces import Advance
from momus.sequences.model import StepModel
from momus.sequences.types import Sequences, SequenceScores

if TYPE_CHECKING:
    from torch import Tensor

ROWS = 512
"""Contexts whose full distributions are in memory at once."""


def discount(counts: Floats, needs_twos: bool = True) -> float:
    """The absolute discount of one order, n₁ / (n₁ + 2 n₂) (Ney et al. 1994).

    Parameters
    ----------
    counts
        (N,): counts of n-grams.
    needs_twos
        Whether it is ½ without counts of two, where the formula gives 1; without counts of one it is ½ anyway.

    >>> discount(np.array([1.0, 1.0, 2.0, 5.0])), discount(np.array([1.0, 3.0])), discount(np.array([1.0, 3.0]), False)
    (0.5, 0.5, 1.0)
    """
    one, two = float((counts == 1).sum()), float((counts == 2).sum())
    return one / (one + 2 * two) if one and (two or not needs_twos) else 0.5


def interpolated(counts: Floats, context: Ints, contexts: int, discount: float) -> tuple[Floats, Floats]:
    """Smooth one order by interpolation with absolute discounts (Kneser & Ney 1995; Chen & Goodman 1999).

    Parameters
    ----------
    counts
        (N,): count of each n-gram; below the highest order, its continuation count.
    context
        int (N,): number of the context of each n-gram, below ``contexts``.

    Returns
    -------
    mass
        (N,): max(c − D, 0) / c(h).
    weight
        (contexts,): D N(h) / c(h), the factor of the order below; 1 for a context without counts.

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
    """An n-gram model over ids, with exact conditional distributions.

    Sequences begin after n − 1 begin symbols and end with an end symbol. ``"none"`` is maximum likelihood, under which
    an unseen context has no distribution. ``"kneser-ney"`` interpolates all orders, with one discount per order,
    n1/(n1 + 2·n2) (½ if n1 or n2 is 0), continuation counts below the highest order (Kneser & Ney 1995; Chen & Goodman
    1999), and the uniform distribution over the V symbols below the first.

    Parameters
    ----------
    order
        Order n, at least 1.
    smoothing
        ``none`` or ``kneser-ney``.

    >>> model = NGramModel(2, "none").fit(Sequences.of([[0, 1], [0, 2]]), symbols=3)
    >>> model.distributions(np.array([[0]])).round(2).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    """

    def __init__(self, order: int, smoothing: Literal["none", "kneser-ney"] = "kneser-ney") -> None:
        if order < 1:
            raise UsageError(f"order is {order}", hint="give an order of 1 or more")
        if smoothing not in ("none", "kneser-ney"):
            raise UsageError(f"there is no smoothing {smoothing!r}", hint="choose none or kneser-ney")
        self.order, self.smoothing, self.name = order, smoothing, f"{order}-gram"

    def fit(self, sequences: Sequences, symbols: int) -> Self:
        """Count n-grams of all orders.

        Parameters
        ----------
        symbols
            Ids run from 0 to ``symbols`` − 1; the end symbol is ``symbols``, so V = ``symbols`` + 1.

        Raises
        ------
        FittingError
            There is no sequence, or an id is out of range.
        """
        if not len(sequences) or (len(sequences.ids) and not 0 <= sequences.ids.min() <= sequences.ids.max() < symbols):
            raise FittingError("an n-gram model needs sequences of ids below the number of symbols")
        self._set_size(symbols)
        contexts, targets = self._framed(sequences)
        keys, counts = np.unique(np.stack([self._codes(contexts), targets]), axis=1, return_counts=True)
        return self._build(keys, counts.astype(np.int64))

    def _set_size(self, symbols: int) -> None:
        """Set V, the end symbol and the base of context codes; a code must fit in 62 bits."""
        self.size, self.end, self._base = symbols + 1, symbols, symbols + 2
        if (self.order - 1) * np.log2(self._base) > 62:
            raise UsageError(
                f"a context of {self.order - 1} ids out of {symbols:,} does not fit in 62 bits", hint="lower the order"
            )

    def _build(self, keys: Ints, counts: Ints) -> Self:
        """Build all orders from the n-grams of the highest: contexts and last symbols, (2, N), and counts, (N,)."""
        self.counted = keys, counts
        self._levels = [self._level(keys, counts.astype(np.float64))]
        for m in range(self.order - 2, -1, -1):
            if self.smoothing == "none":
                break
            # continuation counts: drop the oldest symbol of each distinct longer n-gram, which counts once
            keys, counts = np.unique(np.stack([keys[0] % self._base**m, keys[1]]), axis=1, return_counts=True)
            self._levels.append(self._level(keys, counts.astype(np.float64)))
        self._levels.reverse()
        return self

    def _framed(self, sequences: Sequences) -> tuple[Ints, Ints]:
        """Contexts of all ids and end symbols, (N + sequences, n − 1), the newest id last, and the ids that follow."""
        n, begin = self.order - 1, self.size
        # each sequence becomes n begin symbols (here n = order − 1), its ids and an end symbol, all concatenated
        offsets = offsets_of(sequences.lengths + n + 1)
        starts, ends = offsets[:-1], offsets[1:]
        stream = np.full(int(offsets[-1]), begin, dtype=np.int64)
        stream[ranges_of(starts + n, sequences.lengths)] = sequences.ids[sequences.offsets[0] : sequences.offsets[-1]]
        stream[ends - 1] = self.end
        predicted = np.ones(len(stream), dtype=bool)
        for i in range(n):
            predicted[starts + i] = False
        at = np.flatnonzero(predicted)
        contexts = stream[at[:, None] + np.arange(-n, 0)] if n else np.zeros((len(at), 0), dtype=np.int64)
        return contexts, stream[at]

    def _codes(self, contexts: Ints) -> Ints:
        """Encode each context as one integer, the oldest symbol as the most significant digit."""
        code = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            code = code * self._base + column
        return code

    def _level(self, keys: Ints, counts: Floats) -> dict[str, Any]:
        """Build one order: contexts, the weight of the order below for each, and the mass of each n-gram."""
        contexts, row = np.unique(keys[0], return_inverse=True)
        d = 0.0 if self.smoothing == "none" else discount(counts)
        mass, weight = interpolated(counts, row, len(contexts), d)
        # n-grams sorted by context and word: starts[i]:starts[i + 1] are the words seen after context i
        order = np.lexsort((keys[1], row))
        starts = offsets_of(np.bincount(row))
        return {
            "contexts": contexts,
            "weight": weight,
            "starts": starts,
            "words": keys[1][order],
            "value": mass[order],
        }

    def _look_up(self, level: dict[str, Any], code: Ints, m: int) -> tuple[Ints, Bools]:
        """Row of the last m symbols of each context in a level, and whether the level contains them, both (B,)."""
        suffix = code % self._base**m
        row = np.minimum(np.searchsorted(level["contexts"], suffix), len(level["contexts"]) - 1)
        return row, level["contexts"][row] == suffix

    def _lengths(self) -> range:
        """Context lengths of the levels."""
        return range(self.order - 1, self.order) if self.smoothing == "none" else range(self.order)

    def distributions(self, contexts: Ints) -> Floats:
        """Return P(next | context) over the V ids, float64 (B, V).

        Parameters
        ----------
        contexts
            int64 (B, n − 1), the newest id last; V stands for the begin symbol.

        Raises
        ------
        UsageError
            The model is unsmoothed and a context does not occur in its text.
        """
        code = self._codes(contexts)
        p = np.full((len(contexts), self.size), 1 / self.size)
        for m, level in zip(self._lengths(), self._levels, strict=True):
            row, known = self._look_up(level, code, m)
            if self.smoothing == "none" and not known.all():
                raise UsageError(
                    "a context does not occur in the text that the model was fitted on",
                    hint="use smoothing='kneser-ney'",
                )
            p *= np.where(known, level["weight"][row], 1.0)[:, None]
            # entries of the level for all contexts, concatenated: those of context b lie at first[b] and after
            first, length = level["starts"][:-1][row], np.where(known, np.diff(level["starts"])[row], 0)
            owner, index = owners_of(offsets_of(length)), ranges_of(first, length)
            p[owner, level["words"][index]] += level["value"][index]
        return p

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """Return log p of each token and of the end, in nats; −∞ for n-grams unseen by maximum likelihood."""
        contexts, targets = self._framed(sequences)
        code = self._codes(contexts)
        p = np.full(len(targets), 1 / self.size)
        seen = np.ones(len(targets), dtype=bool)
        for m, level in zip(self._lengths(), self._levels, strict=True):
            row, known = self._look_up(level, code, m)
            p *= np.where(known, level["weight"][row], 1.0)
            # find each (context, target) among the n-grams of the level; both keys are single sortable integers
            key = owners_of(level["starts"]) * self.size + level["words"]
            target_key = row * self.size + targets
            at = np.minimum(np.searchsorted(key, target_key), len(key) - 1)
            p += np.where(known & (key[at] == target_key), level["value"][at], 0.0)
            seen = known if self.smoothing == "none" else seen
        with np.errstate(divide="ignore"):
            values = np.log(np.where(seen, p, 0.0))
        if temperature != 1.0:
            values = values / temperature - self._log_normalisers(contexts, code, seen, temperature)
        if progress is not None:
            progress(len(sequences))
        return SequenceScores(values, offsets_of(sequences.lengths + 1))

    def _log_normalisers(self, contexts: Ints, code: Ints, seen: Bools, temperature: float) -> Floats:
        """Return log Σ p^(1/T) of each context; equal contexts are computed once."""
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        out = np.zeros(len(first))
        rows = np.flatnonzero(seen[first])
        for a in range(0, len(rows), ROWS):
            chunk = rows[a : a + ROWS]
            out[chunk] = np.log((self.distributions(contexts[first[chunk]]) ** (1 / temperature)).sum(axis=1))
        return np.asarray(out[number])

    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """Return the last n − 1 symbols of each prompt as the state, and the logits of the next id."""
        n = self.order - 1
        padded = np.full((len(prompts), n), self.size, dtype=np.int64)
        for i in range(len(prompts)):
            tail = prompts[i][-n:] if n else prompts[i][:0]
            padded[i, n - len(tail) :] = tail
        return padded, self._logits(padded)

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Shift the contexts by one id."""
        shifted = np.concatenate([state[:, 1:], tokens.cpu().numpy()[:, None]], axis=1) if self.order > 1 else state
        return shifted, self._logits(shifted)

    def select(self, state: Any, rows: Tensor) -> Any:
        """Return the contexts of these rows."""
        return state[rows.cpu().numpy()]

    def _logits(self, contexts: Ints) -> Tensor:
        import torch

        ended = (contexts == self.end).any(axis=1)  # nothing follows the end symbol, so any distribution will do
        p = np.full((len(contexts), self.size), 1 / self.size)
        p[~ended] = self.distributions(contexts[~ended])
        with np.errstate(divide="ignore"):
            return torch.from_numpy(np.log(p)).to(self.device)
