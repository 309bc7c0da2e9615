"""Values of documents by unit: the means over the documents of each prompt, group or cluster, in each slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic.hooks import AdvancedMixin, row_unit
from momus.critic.powers import has_latents
from momus.critic.scores import Scores
from momus.critic.statistic import Statistic, mean
from momus.inference.matching import design_of
from momus.numeric.types import Floats, Ints
from momus.verdicts.statistics import NLL, tested_statistics

if TYPE_CHECKING:
    from momus.critic import Critic

_FLIPS, _SHUFFLES = 31, 32


@dataclass(frozen=True)
class Units:
    """What is compared of two texts: prompts (or groups) that both have, or documents (or clusters) of each.

    Attributes
    ----------
    matched
        Whether a unit has a side in both texts.
    real, generated
        Number of the unit of each document, (n,) and (m,); −1 for documents that do not take part.
    coarse
        Of matched units, the independent unit that each belongs to: (units,).
    """

    matched: bool
    real: Ints
    generated: Ints
    coarse: Ints

    @classmethod
    def of(cls, real: Scores, generated: Scores, paired: bool | None) -> Units:
        """The units of all documents, the same for all critics that score these documents."""
        # pairs were asked for of the whole texts
        design = design_of(
            real.prompts,
            generated.prompts,
            None if paired is not False else False,
            (real.corpus, generated.corpus),
            groups=(real.groups, generated.groups),
        )
        numbers, units = design.numbers, design.unit_numbers
        if not design.together or numbers is None:
            return cls(False, units[0], units[1], np.arange(0))
        codes = [np.full(len(s), -1) for s in (real, generated)]
        size = int(max(side.max(initial=-1) for side in numbers)) + 1
        coarse = np.zeros(size, dtype=np.int64)
        for k, code in enumerate(codes):
            code[np.arange(len(code)) if design.rows is None else design.rows[k]] = numbers[k]
            coarse[numbers[k]] = units[k]
        return cls(True, codes[0], codes[1], coarse)

    def signs(self, seed: int, chunk: int, size: int) -> Floats:
        """Random signs of matched units, whose independent units change sides whole: (units, size)."""
        rng = np.random.default_rng([seed, _FLIPS, chunk])
        drawn = 2.0 * rng.integers(0, 2, (int(self.coarse.max(initial=-1)) + 1, size)) - 1
        return np.asarray(drawn[self.coarse])


@dataclass(frozen=True)
class Cells:
    """Units in slices; a unit whose documents lie in several slices has a cell in each.

    Attributes
    ----------
    real, generated
        Number of the cell of each document, −1 without one: cells of both texts share numbers if units are matched.
    slices
        The slice of each cell of both texts; the same array twice if units are matched.
    units
        Number of the unit of each cell, likewise.
    """

    real: Ints
    generated: Ints
    slices: tuple[Ints, Ints]
    units: tuple[Ints, Ints]

    @classmethod
    def of(cls, units: Units, codes: tuple[Ints, Ints], size: int) -> Cells:
        """Number the cells of documents whose slices are the codes, −1 without one, of ``size`` slices."""
        sides = units.real, units.generated
        keys = [np.where((u >= 0) & (c >= 0), u * size + c, -1) for u, c in zip(sides, codes, strict=True)]
        known = [np.unique(k[k >= 0]) for k in keys]
        if units.matched:
            known = [np.intersect1d(known[0], known[1])] * 2
        numbers = [_places(k, cells) for k, cells in zip(keys, known, strict=True)]
        (a, b) = ((cells % size, cells // size) for cells in known)
        return cls(numbers[0], numbers[1], (a[0], b[0]), (a[1], b[1]))

    def means(self, real: Floats, generated: Floats) -> tuple[Floats, Floats]:
        """The mean of the values of each cell, NaN where it has none: (cells,) of each text."""
        sides = zip((self.real, self.generated), (real, generated), self.slices, strict=True)
        a, b = (_mean_by(numbers, values, len(cells)) for numbers, values, cells in sides)
        return a, b


def _places(keys: Ints, cells: Ints) -> Ints:
    """The place of each key among the cells, which ascend; −1 for others."""
    if not len(cells):
        return np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
    return np.where(cells[place] == keys, place, -1)


def _mean_by(numbers: Ints, values: Floats, size: int) -> Floats:
    held = (numbers >= 0) & np.isfinite(values)
    counts = np.bincount(numbers[held], minlength=size)
    sums = np.bincount(numbers[held], weights=values[held], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)


def shuffled(slices: tuple[Ints, Ints], seed: int, chunk: int, size: int) -> Floats:
    """Random labels of cells within slices, 1 for real: (cells of both texts, size)."""
    both, real = np.concatenate(slices), np.arange(sum(map(len, slices))) < len(slices[0])
    # the labels in the order of slices, given to cells in the order of slice, then of a random key
    in_order = real[np.lexsort((~real, both))].astype(np.float64)
    keys = np.random.default_rng([seed, _SHUFFLES, chunk]).random((len(both), size))
    labels = np.empty(keys.shape)
    order = np.argsort(both[:, None] + keys, axis=0)  # keys are in [0, 1), so slices never mix
    np.put_along_axis(labels, order, np.broadcast_to(in_order[:, None], keys.shape), axis=0)
    return labels


@dataclass(frozen=True)
class Measure:
    """A statistic that is a mean over documents, with the value of each document of the texts: NaN if unscored."""

    statistic: Statistic
    values: tuple[Floats, ...]


def measures(critic: Critic[Any], scored: list[Scores]) -> list[Measure]:
    """The statistics of a critic of documents that are means of them; Latent NLL if it has no other."""
    if row_unit(critic) != "document" or not all(s.rows for s in scored):
        return []
    if isinstance(critic, AdvancedMixin) and critic.corrected:
        return []
    known = [s for s in tested_statistics(critic, list(scored[0].rows)) if s.decides and _is_mean(s)]
    means = [s for s in known if s.name != NLL.name]
    kept = []
    for s in means:
        rows = [np.asarray(x.rows[s.rows]) for x in scored if isinstance(x.rows.get(s.rows), np.ndarray)]
        if len(rows) == len(scored) and all(r.ndim == 2 and r.shape[1] == 2 for r in rows):
            kept.append(Measure(s, tuple(_ratios(r, x.scored) for r, x in zip(rows, scored, strict=True))))
    if not kept and has_latents(critic):
        values = tuple(np.where(x.scored & (x.steps > 0), x.per_step, np.nan) for x in scored)
        kept.append(Measure(NLL, values))
    return kept


def _is_mean(s: Statistic) -> bool:
    return s.kind == "value" and s.prepare is None and s.function is mean


def _ratios(rows: Floats, scored: Any) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(scored & (rows[:, 1] > 0), rows[:, 0] / rows[:, 1], np.nan), dtype=np.float64)
