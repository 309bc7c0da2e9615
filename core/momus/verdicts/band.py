"""The human band: how far human authors (books, sites) lie apart.

A difference of two corpora has no scale. The band is the distance that 95 % of pairs of authors do not
exceed: of means and other values 1.96 √2 τ, where τ is their standard deviation between authors without the chance of
documents; of distances the 95 % quantile, less chance (`momus.inference.spread`). It is a property of people: more
authors, or more documents of each, make it more certain and not smaller. Where real text does not say who wrote what,
the band comes from the atlas, in which it was measured on other texts.

The atlas is ``atlas.json``: how far human authors lie apart, measured once on collections with groups. It holds figures
alone, no text; ``benchmarks/validity/atlas.py`` measures them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from momus.critic import Counted, Critic, Rows, RunningTextCritic, Statistic
from momus.critic.scores import Scores
from momus.critic.statistic import jensen_shannon, kolmogorov_smirnov, mean, perplexity, supremum, total_variation
from momus.errors import UsageError
from momus.inference.intervals import hedges_factor
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import NARROW, sums_by
from momus.inference.samples import Rows as Table
from momus.inference.spread import PAIR, Form, Halves, Spread, is_seen, of_distances, of_ratios, of_values
from momus.numeric.types import Floats, Ints
from momus.verdicts.statistics import all_statistics
from momus.verdicts.verdict import Verdict

LEAST_GROUPS = 8
"""Smallest number of groups of real text that a band is estimated from."""
CELLS = 1 << 19
"""Pooled values that distances are computed of at a time."""
OWN: Literal["own"] = "own"
"""Source of the bands of verdicts whose reference is text of a model."""
_BAND = 6
"""Number that keeps the random stream of the halves apart."""


@dataclass
class HumanBands:
    """Spreads of the statistics of one critic between the groups of real text, each estimated at most once.

    Parameters
    ----------
    groups
        The group of each scored real document, or None; empty if there are none.
    seed
        Seeds the halves of groups.
    """

    of_reference: ClassVar[bool] = False
    """Whether these are bands of the reference itself, which no atlas replaces."""

    groups: Sequence[str | None]
    seed: int = 0
    _known: dict[str, Spread | None] = field(default_factory=dict)

    @cached_property
    def _numbers(self) -> Ints | None:
        """A number for the group of each document; None unless all have one and there are enough."""
        if not self.groups or any(g is None for g in self.groups):
            return None
        names, numbers = np.unique(np.asarray(self.groups, dtype=object), return_inverse=True)  # numbers: (n,)
        return numbers if len(names) >= LEAST_GROUPS else None

    @cached_property
    def _halves(self) -> Halves | None:
        assert self._numbers is not None
        return Halves.of(self._numbers, LEAST_GROUPS, [self.seed, _BAND])

    def of(self, statistic: Statistic, rows: Rows) -> Spread | None:
        """The spread of a statistic on its own scale, from the rows of the scored real documents.

        On the log scale for ratios and perplexities. None where groups are unknown, too few or too small, or do not
        differ, and for statistics that have no band.
        """
        if not statistic.band:
            return None
        if statistic.name not in self._known:
            self._known[statistic.name] = self.estimated(statistic, rows)
        return self._known[statistic.name]

    def estimated(self, s: Statistic, rows: Rows) -> Spread | None:
        """What `of` gives of a statistic, which keeps it."""
        spread = None if self._numbers is None else self._between_groups(s, rows, self._numbers)
        # a spread of 0 would make every gap infinite; the atlas says more of people than that
        usable = spread is not None and spread.groups >= LEAST_GROUPS and spread.value > 0
        return spread if usable else None

    def _between_groups(self, s: Statistic, rows: Rows, numbers: Ints) -> Spread | None:
        # rates have a formula for the chance within groups, which needs no halves and uses all documents
        if s.kind == "value" and s.prepare is None and isinstance(rows, np.ndarray) and rows.shape[1] == 2:
            if s.function is perplexity:
                return of_ratios(np.asarray(rows, dtype=np.float64), numbers)
            if s.function is mean:
                return of_ratios(np.asarray(rows, dtype=np.float64), numbers, log=s.effect == "log_ratio")
        halves = self._halves
        if halves is None:
            return None
        sums = [_sums(rows, half, 2 * len(halves.groups)) for half in halves.parts]  # for each split, (2 groups, V)
        k = len(halves.groups)
        if s.kind == "distance":
            return of_distances(lambda i, a, b: between_sums(s, sums[i], a, b), k, form_of(s), [self.seed, _BAND])
        values = np.stack([values_of_sums(s, side).reshape(k, 2) for side in sums])  # (splits, groups, 2)
        # log ratios are compared with a spread of logarithms; a half with a value of 0 is dropped there, as not finite
        return of_values(np.log(values) if s.effect == "log_ratio" else values)


def with_bands(
    critic: Critic[Any],
    verdicts: Sequence[Verdict],
    real: Scores,
    generated: Scores,
    bands: HumanBands | None,
    keys: Sequence[str],
    register: str = "",
) -> list[Verdict]:
    """Give each verdict its human band: that of real text whose groups are seen to differ, else that of the atlas."""
    laws = isinstance(critic, RunningTextCritic)
    statistics = {} if laws else {s.name: s for s in all_statistics(critic, keys)}
    rows = real.test_rows() if statistics and bands is not None and real.n_scored else {}
    of_reference = bands is not None and bands.of_reference
    with_band = []
    for row in verdicts:
        v, s, band = row, statistics.get(row.statistic), None
        if s is not None and bands is not None and s.rows in rows:
            spread = bands.of(s, rows[s.rows])
            band = None if spread is None else _band_of(v, spread, rows[s.rows], generated.test_rows().get(s.rows))
        if of_reference:
            v = replace(v, band_source=OWN)
            band = None if band is None else replace(band, source=OWN, correlation=0.0)
        elif laws or (s is not None and s.band):
            # groups that are not seen to differ say little of people
            kind = "" if s is None or band is not None else kind_of(s)
            if band is None or not is_seen(band.value, band.low):
                band = default_band(critic.name, v.statistic, kind, register) or band
        if band is not None:
            described: dict[str, Any] = {f"band_{k}": x for k, x in vars(band).items() if k != "value"}
            v = replace(v, band=band.value, **described)
        with_band.append(v)
    return with_band


def _band_of(v: Verdict, spread: Spread, real: Rows, generated: Rows | None) -> Band | None:
    """A band in units of the effect from a spread on the scale of the statistic; None where Hedges' g has no unit."""
    scale = 1.0
    if v.effect_kind == "hedges_g":
        if v.effect and v.difference:
            # the effect of this comparison says how large a standard deviation is
            scale = v.effect / v.difference
        elif isinstance(real, np.ndarray) and isinstance(generated, np.ndarray):
            scale = hedges_factor((real, generated), (np.ones(len(real)), np.ones(len(generated))))[0]
        if not (scale > 0 and np.isfinite(scale)):
            return None
    correlation = 0.0
    if v.effect and v.effect_low is not None and v.effect_high is not None and v.effect_high > v.effect_low:
        # PAIR is 1.96 √2: this is the width ÷ (2 · 1.96), the standard error of the effect
        error = (v.effect_high - v.effect_low) * math.sqrt(0.5) / PAIR
        # an error of the mean of real text moves the effect the other way
        correlation = -spread.correlation * float(np.sign(v.effect)) * min(1.0, spread.error * scale / error)
    value, low, high = (scale * x for x in (spread.value, spread.low, spread.high))
    return Band(value, low, high, "groups", spread.groups, "", correlation)


def _sums(rows: Rows, parts: Ints, size: int) -> Table:
    """Sums of the rows of each half, (size, V); documents of none have number −1."""
    if isinstance(rows, Counted):
        return rows.summed(parts, size, np.ones(len(parts))).matrix
    held = np.flatnonzero(parts >= 0)  # documents of either half
    return sums_by(parts[held], size, rows[held], np.ones(len(held)))


def _dense(rows: Table) -> Floats:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def form_of(s: Statistic) -> Form:
    """Whether a distance grows with the difference of shares or with its square."""
    return "square" if s.function is jensen_shannon else "linear"


def between_sums(s: Statistic, sums: Table, one: Ints, other: Ints) -> Floats:
    """The distance of each pair of halves, some pairs at a time."""
    step = max(CELLS // max(sums.shape[1], NARROW), 1)
    values = []
    for i in range(0, len(one), step):
        sides = Prepared(_dense(sums[one[i : i + step]]), _dense(sums[other[i : i + step]]))  # (step, V) each
        with np.errstate(divide="ignore", invalid="ignore"):
            values.append(both_values(s, sides)[1])
    return np.concatenate(values)


def values_of_sums(s: Statistic, sums: Table) -> Floats:
    """The value of each half, some at a time."""
    step = max(CELLS // max(sums.shape[1], NARROW), 1)
    values = []
    for i in range(0, sums.shape[0], step):
        side = _dense(sums[i : i + step])
        with np.errstate(divide="ignore", invalid="ignore"):
            values.append(np.asarray(s.function(side if s.prepare is None else s.prepare(side)), dtype=np.float64))
    return np.concatenate(values)


@dataclass(frozen=True)
class Band:
    """A human band, in units of the effect.

    Attributes
    ----------
    value, low, high
        The effect that 95 % of pairs of human authors do not exceed, and its 95 % interval. Of a default: the median
        of what all measured bands of its kind say of that of this register, or of one that was not measured, and the
        interval in which 95 % of such bands lie (``benchmarks/validity/registers.py``).
    source
        ``groups`` of the real text, ``default``: the atlas, or ``own``: halves of a reference that is text of a model.
    groups
        Groups of human text that it was estimated from.
    register
        The row of the atlas; empty for ``groups``.
    correlation
        Of the errors of the effect and of the band, to which the same groups contribute.
    """

    value: float
    low: float
    high: float
    source: Literal["groups", "default", "own"] = "default"
    groups: int = 0
    register: str = ""
    correlation: float = 0.0


DISTANCES = {
    total_variation: "total variation",
    kolmogorov_smirnov: "Kolmogorov-Smirnov",
    supremum: "supremum",
    jensen_shannon: "Jensen-Shannon",
}


def kind_of(statistic: Statistic) -> str:
    """The kind of effect whose bands may be compared between statistics; empty if they may not.

    >>> kind_of(Statistic("tvd", "x", "distance", total_variation))
    'total variation'
    """
    if statistic.kind == "distance":
        return DISTANCES.get(statistic.function, "") if statistic.prepare is None else ""
    return "" if statistic.effect == "difference" else statistic.effect


@cache
def atlas() -> dict[str, Any]:
    """The content of ``atlas.json``: registers, bands by critic and statistic, and bands by kind of effect."""
    content: dict[str, Any] = json.loads(files("momus.verdicts").joinpath("atlas.json").read_text(encoding="utf-8"))
    return content


def check_register(register: str) -> None:
    """Raise `UsageError` unless the register is empty or one of the atlas."""
    known = atlas()["registers"]
    if register and register not in known:
        raise UsageError(f"no register {register!r} in the atlas of human bands", hint=f"choose {', '.join(known)}")


def default_band(critic: str, statistic: str, kind: str = "", register: str = "") -> Band | None:
    """The band that other human texts have on a statistic, in units of its effect; None if the atlas has none.

    Parameters
    ----------
    kind
        See `kind_of`: for a statistic that was not measured, what those of its kind say.
    register
        The kind of text; empty for one that was not measured.

    >>> band = default_band("unigram", "tvd", register="novels")
    >>> band.source, band.register, band.low < band.value < band.high
    ('default', 'novels', True)
    """
    content = atlas()
    rows = content["bands"].get(critic, {}).get(statistic) or content["kinds"].get(kind, {})
    if not rows:
        return None
    known = register if register in rows else ""
    value, low, high, groups = rows[known]
    others = ", ".join(r for r in rows if r) or "other statistics"
    return Band(value, low, high, "default", groups, known or f"predicted from {others}")
