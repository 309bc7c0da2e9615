"""Values of documents by unit: the means over the documents of each prompt, group or cluster, in each slice.

Wins are counted by unit too: on which share of the prompts that two texts answer a statistic is larger in the new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit

from momus.critic import Critic
from momus.critic.hooks import AdvancedMixin, row_unit
from momus.critic.powers import has_latents
from momus.critic.scores import Scores
from momus.critic.statistic import Statistic, mean
from momus.evidence import Wording
from momus.inference.matching import design_of
from momus.inference.weights import lowest
from momus.numeric.types import Floats, Ints
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import NLL, tested_statistics

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
    both, rng = np.concatenate(slices), np.random.default_rng([seed, _SHUFFLES, chunk])
    return lowest(rng.random((len(both), size)), both, len(slices[0])).astype(np.float64)


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
    known = [s for s in tested_statistics(critic, list(scored[0].rows)) if s.decides]
    means = [s for s in known if s.kind == "value" and s.prepare is None and s.function is mean and s.name != NLL.name]
    kept = []
    for s in means:
        rows = [np.asarray(x.rows[s.rows]) for x in scored if isinstance(x.rows.get(s.rows), np.ndarray)]
        if len(rows) == len(scored) and all(r.ndim == 2 and r.shape[1] == 2 for r in rows):
            kept.append(Measure(s, tuple(_ratios(r, x.scored) for r, x in zip(rows, scored, strict=True))))
    if not kept and has_latents(critic):
        values = tuple(np.where(x.scored & (x.steps > 0), x.per_step, np.nan) for x in scored)
        kept.append(Measure(NLL, values))
    return kept


def _ratios(rows: Floats, scored: Any) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(scored & (rows[:, 1] > 0), rows[:, 0] / rows[:, 1], np.nan), dtype=np.float64)


FEWEST = 10
"""Prompts in common that a share is told of."""


@dataclass(frozen=True)
class Win:
    """How often a statistic of a generated text is larger than that of the reference on the same prompt.

    Attributes
    ----------
    more, fewer, ties
        Numbers of prompts.
    share, low, high
        more ÷ all prompts, with its interval by itself: Wilson's (1927), of as many prompts as groups leave of them.
    p, p_adjusted
        The sign test: more and fewer are as frequent, ties left out; over groups, a t-test of their sums of signs.
        By Holm over all statistics of a text.
    """

    critic: str
    axis: str
    statistic: str
    generated: str
    wording: Wording
    more: int
    fewer: int
    ties: int
    share: float
    low: float
    high: float
    p: float
    p_adjusted: float = 1.0

    @property
    def prompts(self) -> int:
        """Number of prompts."""
        return self.more + self.fewer + self.ties


def wins_of(critic: Critic[Any], scored: list[Scores], settings: Settings) -> tuple[Win, ...]:
    """The wins of each statistic of a critic that is a mean over documents; none without prompts in common."""
    alpha, wins = 1 - settings.confidence, []
    known = measures(critic, scored)
    for k, other in enumerate(scored[1:] if known else (), 1):
        units = Units.of(scored[0], other, settings.paired)
        if not units.matched:
            continue
        whole = tuple(np.zeros(len(s), dtype=np.int64) for s in (scored[0], other))
        cells = Cells.of(units, (whole[0], whole[1]), 1)
        for m in known:
            real, generated = cells.means(m.values[0], m.values[k])
            held = np.isfinite(real) & np.isfinite(generated)
            if held.sum() < FEWEST:
                continue
            signs = np.sign(generated[held] - real[held])
            more, fewer, ties = (int((signs == side).sum()) for side in (1, -1, 0))
            groups = units.coarse[cells.units[0][held]]
            low, high = interval(signs > 0, groups, alpha)
            s, p = m.statistic, sign_test(signs, groups)
            of = critic.name, critic.axis, s.name, other.corpus, s.wording
            wins.append(Win(*of, more, fewer, ties, more / len(signs), low, high, p))
    return tuple(wins)


def interval(won: Any, groups: Ints, alpha: float) -> tuple[float, float]:
    """Wilson's interval of a share, of fewer prompts where those of a group are alike.

    >>> low, high = interval(np.arange(100) < 50, np.arange(100), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    n, share = len(won), float(np.mean(won))
    codes = np.unique(groups, return_inverse=True)[1]
    k = int(codes.max()) + 1
    z, size = -float(stdtrit(max(k - 1, 1) if k < n else 1e6, alpha / 2)), float(n)
    if k < n and 0 < share < 1:
        sums = np.bincount(codes, weights=np.asarray(won, dtype=np.float64) - share)
        variance = float(sums @ sums) * k / (k - 1) / n**2 if k > 1 else share * (1 - share)
        # as many independent prompts as would give this variance
        size = min(float(n), share * (1 - share) / variance) if variance else float(n)
    elif k < n:
        size = float(k)
    centre, spread = share + z * z / (2 * size), z * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    low, high = (centre - spread) / (1 + z * z / size), (centre + spread) / (1 + z * z / size)
    return max(float(low), 0.0), min(float(high), 1.0)


def sign_test(signs: Floats, groups: Ints) -> float:
    """p of the sign test, two-sided; of groups of prompts, of a t-test of their sums.

    >>> round(sign_test(np.array([1.0] * 9 + [-1.0]), np.arange(10)), 4)
    0.0215
    """
    codes = np.unique(groups, return_inverse=True)[1]
    more, fewer = int((signs > 0).sum()), int((signs < 0).sum())
    if not more + fewer:
        return 1.0
    if codes.max() + 1 == len(signs):
        return min(2 * float(bdtr(min(more, fewer), more + fewer, 0.5)), 1.0)
    sums = np.bincount(codes, weights=signs)
    k = len(sums)
    error = float(np.sqrt(sums @ sums / k - sums.mean() ** 2) / np.sqrt(max(k - 1, 1)))
    if not error:  # all groups alike: as if each were one prompt
        return min(2.0 ** (1 - k), 1.0)
    return float(2 * stdtr(max(k - 1, 1), -abs(sums.mean()) / error))
