"""n-gram models of sequences, exact and vectorised: maximum likelihood, Kneser–Ney; a level for each context length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from momus.errors import FittingError, UsageError
from momus.numeric.ragged import distinct, offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus.sequences.types import Sequences, SequenceScores, StepModel

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Level:
    """The n-grams of one context length: p(w | h) = mass(h, w) + weight(h) p(w | h without its oldest symbol).

    Attributes
    ----------
    contexts
        int64 (H,): codes of the contexts, ascending.
    weight
        (H,): factor of the order below.
    starts
        int64 (H + 1,): the words seen after context i are ``words[starts[i]:starts[i + 1]]``, ascending.
    words, mass
        (N,): words, and what each adds to the order below; may be negative under a back-off.
    """

    contexts: Ints
    weight: Floats
    starts: Ints
    words: Ints
    mass: Floats

    @classmethod
    def of(cls, keys: Ints, counts: Floats, discount: float) -> Level:
        """Interpolate context codes and words, (2, N), with one absolute discount; 0 is maximum likelihood."""
        contexts, row = np.unique(keys[0], return_inverse=True)
        mass, weight = interpolated(counts, row, len(contexts), discount)
        order = np.lexsort((keys[1], row))  # by context, then by word, as `masses` searches
        return cls(contexts, weight, offsets_of(np.bincount(row)), keys[1][order], mass[order])

    def rows(self, code: Ints, modulus: int) -> tuple[Ints, Bools]:
        """Row of each context (its code modulo ``modulus``), and whether the level contains it, both (B,)."""
        suffix = code % modulus  # the newest m symbols, (B,)
        # a code above all contexts would index past the end; the comparison then says that it is unknown
        row = np.minimum(np.searchsorted(self.contexts, suffix), len(self.contexts) - 1)
        return row, self.contexts[row] == suffix

    def entries(self, row: Ints, known: Bools) -> tuple[Ints, Ints]:
        """Numbers of the contexts and of their n-grams, concatenated; none for unknown contexts."""
        length = np.where(known, np.diff(self.starts)[row], 0)
        return owners_of(offsets_of(length)), ranges_of(self.starts[:-1][row], length)

    def masses(self, row: Ints, known: Bools, words: Ints, size: int) -> Floats:
        """Mass of one word after each context, (B,); 0 if it is not among the n-grams."""
        # both keys are single sortable integers
        key = owners_of(self.starts) * size + self.words  # (n-grams,), ascending
        wanted = row * size + words
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(known & (key[at] == wanted), self.mass[at], 0.0)


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
    total = np.bincount(context, counts, contexts)  # c(h), (contexts,)
    types = np.bincount(context, counts > 0, contexts)  # N(h), (contexts,)
    safe = np.maximum(total, 1)
    weight = np.where(total > 0, discount * types / safe, 1.0)
    return np.maximum(counts - discount, 0.0) / safe[context], weight


Smoothing = Literal["none", "kneser-ney"]
"""Names of smoothing methods."""
ROWS = 512
"""Contexts whose full distributions are in memory at once."""


class NGramModel(StepModel):
    """An n-gram model over ids, with exact conditional distributions.

    Sequences begin after n − 1 begin symbols and end with an end symbol. Below the first order is the uniform
    distribution over the V symbols. Smoothing is one of

    - ``none``: maximum likelihood, under which an unseen context has no distribution;
    - ``kneser-ney``: all orders interpolated, with one discount per order, n1/(n1 + 2·n2) (½ if n1 or n2 is 0), and
      continuation counts below the highest order (Kneser & Ney 1995; Chen & Goodman 1999).

    Parameters
    ----------
    order
        Order n, at least 1.
    smoothing
        Its name.

    Attributes
    ----------
    base
        Base of context codes, of which the newest symbol is the last digit.
    levels
        Level of each context length in ``lengths``, built when it is first asked for.

    >>> model = NGramModel(2, "none").fit(Sequences.of([[0, 1], [0, 2]]), symbols=3)
    >>> model.distributions(np.array([[0]])).round(2).tolist()
    [[0.0, 0.5, 0.5, 0.0]]
    """

    def __init__(self, order: int, smoothing: Smoothing = "kneser-ney") -> None:
        if order < 1:
            raise UsageError(f"order is {order}", hint="give an order of 1 or more")
        if smoothing not in get_args(Smoothing):
            known = ", ".join(get_args(Smoothing))
            raise UsageError(f"there is no smoothing {smoothing!r}", hint=f"choose one of {known}")
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
        return self._keep(*distinct(self._codes(contexts), targets))

    def _set_size(self, symbols: int) -> None:
        """Set V, the end symbol and the base of context codes; a code must fit in 62 bits."""
        self.size, self.end, self.base = symbols + 1, symbols, symbols + 2
        if (self.order - 1) * np.log2(self.base) > 62:
            raise UsageError(
                f"a context of {self.order - 1} ids out of {symbols:,} does not fit in 62 bits", hint="lower the order"
            )

    def _keep(self, keys: Ints, counts: Ints) -> Self:
        """Keep the n-grams of the highest order: contexts and last symbols, (2, N), and counts, (N,)."""
        self.counted = keys, counts
        self.__dict__.pop("levels", None)  # those of a fit before
        return self

    @cached_property
    def levels(self) -> list[Level]:
        """The level of each context length."""
        return self._levels(*self.counted)

    def _levels(self, keys: Ints, counts: Ints) -> list[Level]:
        """Levels of Kneser–Ney, by context length; of maximum likelihood, the highest alone."""
        if self.smoothing == "none":
            return [Level.of(keys, counts.astype(np.float64), 0.0)]
        highest = counts.astype(np.float64)
        levels = [Level.of(keys, highest, discount(highest))]
        for m in range(self.order - 2, -1, -1):
            # continuation counts: each distinct longer n-gram counts once
            keys, times = distinct(keys[0] % self.base**m, keys[1])
            continuations = times.astype(np.float64)
            levels.append(Level.of(keys, continuations, discount(continuations)))
        # shortest context first, the order in which levels are interpolated from the uniform distribution up
        return levels[::-1]

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
            # begin symbols are contexts, and never predicted
            predicted[starts + i] = False
        at = np.flatnonzero(predicted)
        contexts = stream[at[:, None] + np.arange(-n, 0)] if n else np.zeros((len(at), 0), dtype=np.int64)
        return contexts, stream[at]

    def _codes(self, contexts: Ints) -> Ints:
        """Encode each context as one integer, the oldest symbol as the most significant digit."""
        code = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            code = code * self.base + column
        return code

    @property
    def lengths(self) -> range:
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
        for m, level in zip(self.lengths, self.levels, strict=True):
            row, known = level.rows(code, self.base**m)
            if self.smoothing == "none" and not known.all():
                raise UsageError(
                    "a context does not occur in the text that the model was fitted on",
                    hint="use smoothing='kneser-ney'",
                )
            p *= np.where(known, level.weight[row], 1.0)[:, None]
            # each pair of context and word occurs once, so += on the indexed cells loses nothing
            owner, index = level.entries(row, known)
            p[owner, level.words[index]] += level.mass[index]
        return p

    def score(self, sequences: Sequences, *, temperature: float = 1.0) -> SequenceScores:
        """Return log p of each token and of the end, in nats; −∞ for n-grams unseen by maximum likelihood."""
        contexts, targets = self._framed(sequences)
        code = self._codes(contexts)
        p = np.full(len(targets), 1 / self.size)
        seen = np.ones(len(targets), dtype=bool)
        for m, level in zip(self.lengths, self.levels, strict=True):
            row, known = level.rows(code, self.base**m)
            p *= np.where(known, level.weight[row], 1.0)
            p += level.masses(row, known, targets, self.size)
            # an unseen context keeps weight 1, and p stays uniform: without smoothing it has no distribution
            seen = known if self.smoothing == "none" else seen
        with np.errstate(divide="ignore"):
            values = np.log(np.where(seen, p, 0.0))
        if temperature != 1.0:
            values = values / temperature - self._log_normalisers(contexts, code, seen, temperature)
        return SequenceScores(values, offsets_of(sequences.lengths + 1))

    def _log_normalisers(self, contexts: Ints, code: Ints, seen: Bools, temperature: float) -> Floats:
        """Return log Σ p^(1/T) of each context; equal contexts are computed once."""
        _, first, number = np.unique(code, return_index=True, return_inverse=True)
        out = np.zeros(len(first))
        rows = np.flatnonzero(seen[first])
        for a in range(0, len(rows), ROWS):
            chunk = rows[a : a + ROWS]
            # ROWS contexts at a time: (ROWS, V) floats instead of one row for each token
            out[chunk] = np.log((self.distributions(contexts[first[chunk]]) ** (1 / temperature)).sum(axis=1))
        return np.asarray(out[number])

    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """Return the last n − 1 symbols of each prompt as the state, and the logits of the next id."""
        n = self.order - 1
        padded = np.full((len(prompts), n), self.size, dtype=np.int64)  # begin symbols before short prompts
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
