"""Fresh samples of an n-gram language at one temperature, drawn in bulk from a table of all its distributions."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Stream:
    """Independent samples of a smoothed n-gram model at a temperature, in numbered chunks.

    A chunk depends on the seed and its number alone, so a run that stops and resumes reads what an uninterrupted one
    reads. Samples that do not end within ``longest`` tokens are replaced by new draws, as in `draw_language`.

    Parameters
    ----------
    model
        The fitted language; its table takes 8 · contexts · V bytes.
    longest
        Maximum number of tokens of a sample, the end not counted.

    >>> model = NGramModel(2).fit(Sequences.of([[0, 1], [0, 0, 1]]), symbols=2)
    >>> stream = Stream(model, temperature=0.85, seed=3)
    >>> len(stream.chunk(0, 500)), bool((stream.chunk(7, 9).ids == stream.chunk(7, 9).ids).all())
    (500, True)
    """

    def __init__(self, model: NGramModel, *, temperature: float = 1.0, seed: int = 0, longest: int = 128) -> None:
        if len(model.levels) != model.order:
            raise UsageError("the language has no smoothing", hint="fit it with smoothing='kneser-ney'")
        self.model, self.seed, self.longest = model, seed, longest
        tables = _distributions(model)
        self.starts = np.cumsum([0] + [len(t) for t in tables])[:-1]  # first row of each context length
        p = np.concatenate(tables) ** (1 / temperature)
        p = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)
        p[:, -1] = 1.0
        # one ascending array: entry (i, w) is i + P(next ≤ w | context i), so a single search inverts all rows
        self.keys = (p + np.arange(len(p))[:, None]).ravel()

    def chunk(self, number: int, size: int) -> Sequences:
        """Draw chunk ``number``: ``size`` samples, all of which have ended."""
        rng = np.random.default_rng([self.seed, number])
        drawn = self._draw(size, rng)
        while len(drawn) < size:
            more = self._draw(size - len(drawn), rng)
            drawn = Sequences.of(s[i] for s in (drawn, more) for i in range(len(s)))
        return drawn

    def seeded(self, seed: int) -> Self:
        """Another stream of the same language; both share the table."""
        other = copy.copy(self)
        other.seed = seed
        return other

    def _draw(self, size: int, rng: np.random.Generator) -> Sequences:
        """Draw ``size`` samples side by side, and keep those that end in time."""
        model = self.model
        contexts = np.full((size, model.order - 1), model.size, dtype=np.int64)
        ids = np.full((size, self.longest + 1), -1, dtype=np.int64)
        running = np.arange(size)
        for t in range(self.longest + 1):
            row = self._rows(contexts)
            at = np.searchsorted(self.keys, row + rng.random(len(running)), side="right")
            tokens = np.minimum(at - row * model.size, model.end)
            ids[running, t] = tokens
            alive = tokens != model.end
            running, tokens = running[alive], tokens[alive]
            if not len(running):
                break
            contexts = np.concatenate([contexts[alive], tokens[:, None]], axis=1)[:, 1:]
        whole = np.delete(ids, running, axis=0)
        lengths = (whole == model.end).argmax(axis=1)
        inside = np.arange(whole.shape[1]) < lengths[:, None]
        return Sequences(whole[inside], np.concatenate([[0], np.cumsum(lengths)]))

    def _rows(self, contexts: Ints) -> Ints:
        """Row of the table of each context, (B,): that of its longest known suffix."""
        code = np.zeros(len(contexts), dtype=np.int64)
        for column in contexts.T:
            code = code * self.model.base + column
        rows = np.zeros(len(contexts), dtype=np.int64)
        for m, (start, level) in enumerate(zip(self.starts, self.model.levels, strict=True)):
            row, known = level.rows(code, self.model.base**m)
            rows = np.where(known, start + row, rows)
        return rows


def _distributions(model: NGramModel) -> list[Floats]:
    """P(next | context) of all known contexts, by context length: (contexts, V) each."""
    tables: list[Floats] = []
    for m, level in enumerate(model.levels):
        if m == 0:
            p = np.full((len(level.contexts), model.size), 1 / model.size)
        else:
            shorter, _ = model.levels[m - 1].rows(level.contexts, model.base ** (m - 1))
            p = tables[-1][shorter]
        p = p * level.weight[:, None]
        p[np.repeat(np.arange(len(p)), np.diff(level.starts)), level.words] += level.mass
        tables.append(p)
    return tables
