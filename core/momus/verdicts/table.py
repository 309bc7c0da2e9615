"""What a table makes of its rows: adjusted p-values, the row that leads and that speaks for each axis, and warnings.

Findings of unlike statistics compete by how many documents a difference touches (`surely_touched`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.inference import benjamini_hochberg, holm
from momus.inference.intervals import t_quantile
from momus.inference.selection import SPENT, candidates, optimism
from momus.verdicts.verdict import Verdict

INDEX, RATE = 0.4, 0.7
"""What an index counts beside what a reader can count, and a rate per 1,000 words beside a share of documents."""
ADJUSTMENTS = ("holm", "bh", "none", "holm-table", "bh-table")


def adjust(verdicts: Sequence[Verdict], method: str = "holm") -> list[Verdict]:
    """Adjust p-values over the axes of each generated text, or over the whole table.

    * p of the axes are adjusted over the axes of one generated text (``holm``: the chance that any axis without a
      difference is said to differ is at most α for each text; ``bh``: their expected share), or over all axes of the
      table (``holm-table``, ``bh-table``).
    * A row in the family of an axis has its step-down p in the place of that of the axis: both are multiplied by the
      same number. So the leading row has the p of the axis, and within an axis that differs the others are tested at
      the level at which the axis was (Benjamini & Bogomolov 2014).
    * Other rows are adjusted over all rows of the text, or of the table.

    Raises
    ------
    UsageError
        The method is none of `ADJUSTMENTS`.
    """
    if method not in ADJUSTMENTS:
        raise UsageError(f"no adjustment {method!r}", hint=f"choose one of {', '.join(ADJUSTMENTS)}")
    name, _, table = method.partition("-")
    corrections: dict[str, Callable[[Sequence[float]], Sequence[float]]]
    corrections = {"holm": holm, "bh": benjamini_hochberg, "none": list}  # type: ignore[dict-item]
    correct = corrections[name]
    tested = [i for i, v in enumerate(verdicts) if v.p is not None]
    p_of = {i: float(verdicts[i].p or 0.0) for i in tested}
    families: dict[object, list[int]] = {}
    for i in tested:
        # the whole table is one family, or each pair of texts is one
        families.setdefault(None if table else (verdicts[i].generated, verdicts[i].reference), []).append(i)
    adjusted: dict[int, float] = {}
    of_axis: dict[int, float] = {}
    for rows in families.values():
        leading = [verdicts[i] for i in rows if verdicts[i].leads]
        of_leading = correct([float(v.p_axis or 0.0) for v in leading]) if leading else []
        # one p for each axis: its leading row has that of the whole family (`with_leading`)
        axes = {_axis_of(v): float(p) for v, p in zip(leading, of_leading, strict=True)}
        # every row by itself first; rows of a family are overwritten below
        adjusted |= dict(zip(rows, map(float, correct([p_of[i] for i in rows])), strict=True))
        for i in rows:
            v = verdicts[i]
            if v.p_in_axis is not None and v.p_axis is not None:
                of_axis[i] = axes[_axis_of(v)]
                # a p of 0 is one below the smallest number
                factor = of_axis[i] / v.p_axis if v.p_axis > 0 else len(leading)
                adjusted[i] = min(v.p_in_axis * factor, 1.0)  # of the leading row: that of the axis
    q = dict(zip(tested, benjamini_hochberg(list(p_of.values())), strict=True)) if tested else {}
    return _led_by_findings(
        [
            replace(v, p_adjusted=adjusted.get(i), p_axis_adjusted=of_axis.get(i), q=float(q[i]) if i in q else None)
            for i, v in enumerate(verdicts)
        ]
    )


def _led_by_findings(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Let the finding that is seen first lead each axis that differs: only now is it known which rows do."""
    first: dict[tuple[str, str, str], Verdict] = {}
    for v in sorted((v for v in verdicts if v.is_finding), key=lambda v: (*seen_first(v), not v.leads)):
        first.setdefault(_axis_of(v), v)
    return [replace(v, leads=v is first[_axis_of(v)]) if _axis_of(v) in first else v for v in verdicts]


def selected(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Widen the intervals that say which differences lie beyond human variation, for their selection from a table.

    Of m axes and texts only those R that differ are asked how far they differ, and those that differ by chance do so
    too far. At level 1 − αR/m, an expected share of at most α of the selected intervals misses its value: the
    false-coverage rate of Benjamini & Yekutieli (2005).

    Of the statistics of an axis that differ, one with a large gap leads (`with_leading`): its level is divided by
    their number.
    """
    tested = [v for v in speaking(verdicts) if v.p_adjusted is not None]
    share = sum(v.differs for v in tested) / max(len(tested), 1)  # R/m
    # of several rows that differ, the leading one was chosen for its gap: their number divides its level
    candidates = Counter(_axis_of(v) for v in verdicts if v.is_finding)

    # half widths of intervals in standard errors, wider ÷ plain
    def ratio(v: Verdict) -> float:
        level = share / max(candidates[_axis_of(v)], 1)
        reached, plain = (-t_quantile(v.alpha * tail / 2, v.freedom or math.inf) for tail in (level, 1.0))
        return reached / plain

    return [replace(v, selection=ratio(v)) for v in verdicts] if share else list(verdicts)


def held(verdicts: Sequence[Verdict], seed: int = 0) -> list[Verdict]:
    """Say of each row what being told first, as the largest gap of the table, does to its size and its interval.

    All statistics in the families of all axes and texts might have been told; of an axis, as many as are independent.
    """
    rows = [i for i, v in enumerate(verdicts) if v.p_in_axis is not None and v.gap is not None and _margin(v) > 0]
    if not rows:
        return list(verdicts)
    chosen = [verdicts[i] for i in rows]
    members = Counter(_axis_of(v) for v in chosen)
    counts = np.array([min(v.method.independent / members[_axis_of(v)], 1.0) for v in chosen])  # (rows,), as below
    sizes, bands = np.array([v.gap or 0.0 for v in chosen]), np.array([v.band or 1.0 for v in chosen])
    errors = np.array([_margin(v) / -t_quantile(v.alpha / 2, v.freedom or math.inf) for v in chosen]) / bands
    rivals = candidates(sizes, errors, counts, chosen[0].alpha)
    signed, weights = np.array([v.effect_kind != "distance" for v in chosen]), np.array([weight_of(v) for v in chosen])
    ranked = _independent(chosen)
    above = np.zeros(len(chosen))
    above[ranked] = optimism(sizes[ranked], errors[ranked], signed[ranked], weights[ranked], seed)
    out = list(verdicts)
    for k, (i, v) in enumerate(zip(rows, chosen, strict=True)):
        # a row that no other may exceed was not selected
        level = v.alpha * (1 - SPENT) / rivals[k] if rivals[k] > 1 else v.alpha
        reached, plain = (-t_quantile(a / 2, v.freedom or math.inf) for a in (level, v.alpha))
        taken = min(above[k] * errors[k] / sizes[k], 1.0) if sizes[k] > 0 else 0.0
        out[i] = replace(v, optimism=float(taken), leading_width=reached / plain)
    return out


def _margin(v: Verdict) -> float:
    """How far the interval of an effect reaches toward 0; 0 without one."""
    if v.effect is None or v.effect_low is None or v.effect_high is None:
        return 0.0
    return v.effect - v.effect_low if v.effect >= 0 else v.effect_high - v.effect


def _independent(rows: Sequence[Verdict]) -> list[int]:
    """Numbers of the rows with the largest gaps of each axis, as many as are independent of each other."""
    taken: Counter[tuple[str, str, str]] = Counter()
    kept = []
    for k in sorted(range(len(rows)), key=lambda k: -(rows[k].gap or 0.0)):
        axis = _axis_of(rows[k])
        if taken[axis] < max(round(rows[k].method.independent), 1):
            taken[axis] += 1
            kept.append(k)
    return kept


def _axis_of(v: Verdict) -> tuple[str, str, str]:
    """What the rows of one axis of one generated text share."""
    return v.critic, v.generated, v.reference


def with_leading(verdicts: Sequence[Verdict], family: int = 1) -> list[Verdict]:
    """Mark the row that leads the family of an axis, given the rows of one critic and generated text.

    Of the rows whose step-down p stays below α however the p-values of ``family`` axes are adjusted, it is the one that
    a reader would see first (`seen_first`). Where no row is that clear, it is the one with the smallest p.
    """
    rows = [i for i, v in enumerate(verdicts) if v.p_in_axis is not None]
    smallest = min((verdicts[i].p_in_axis or 0.0 for i in rows), default=0.0)

    def order(i: int) -> tuple[object, ...]:
        v = verdicts[i]
        p = v.p_in_axis or 0.0
        # of two-sided tests, the smallest p is twice that of distances
        clear = p <= max(v.alpha / family, smallest, 2 * v.method.floor) * (1 + 1e-9)
        t = abs(v.difference / v.standard_error) if v.difference and v.standard_error else math.inf
        # rows that are clear come first and are ordered by what is seen; the others by p
        return 0.0 if clear else p, *seen_first(v), -t

    first = min(rows, key=order, default=-1)
    return [replace(v, leads=i == first) for i, v in enumerate(verdicts)]


def weight_of(v: Verdict) -> float:
    """What the gap of a row counts for what is told first: an index speaks only where nothing concrete differs."""
    return 1.0 if v.wording.concrete else INDEX


def seen_first(v: Verdict) -> tuple[bool, float, bool]:
    """The place of a row among those of its axis that differ: indices last, else by the documents that it touches."""
    return not v.wording.concrete, -surely_touched(v) * rate_weight(v), v.method.family == "distance"


def rate_weight(v: Verdict) -> float:
    """`RATE` for a rate, such as so many per 1,000 words or a share of sentences; else 1."""
    of_parts = v.wording.format == "share" and not of_documents(v)
    return RATE if of_parts or v.wording.unit.startswith("per ") else 1.0


def speaking(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The row that speaks for each axis of each generated text: words, sign, values, size and interval are of this row.

    Of an axis that differs, the one that leads its family; otherwise the headline, or if that is not tested, the
    leading one.
    """
    axes: dict[tuple[str, str, str], list[Verdict]] = {}
    for v in verdicts:
        axes.setdefault(_axis_of(v), []).append(v)
    return [min(rows, key=_silence) for rows in axes.values()]


def _silence(v: Verdict) -> tuple[bool, bool, bool, bool, bool]:
    """How far a row is from speaking for its axis."""
    tested = v.p_adjusted is not None
    return (
        not v.is_finding,
        not (v.leads and v.differs),
        not (v.headline and tested),
        not (v.leads and tested),
        not v.headline,
    )


SHOWN = 3
"""Rows that a warning names."""
SKEWED = 0.2
"""Skewness of a difference of means from which its test is a rough one: levels of up to 0.09 at 0.05 were measured."""


def axes_together(leading: Sequence[Verdict], multiplicity: str = "holm") -> int:
    """How many axes are adjusted together: those of the text with the most, or of the whole table."""
    texts = Counter((v.generated, v.reference) for v in leading)
    return len(leading) if multiplicity.endswith("-table") else max(texts.values(), default=0)


def _at_floor(v: Verdict) -> bool:
    """Whether the number of relabellings limits the p of a row: all are known, or none reaches the observed one."""
    m = v.method
    return m.permutations > 0 and v.p_axis is not None and (m.exact or v.p_axis <= m.floor * (1 + 1e-9))


def _named(rows: Sequence[Verdict], pairs: bool = False) -> str:
    """The axes of some rows, each with its text, or with both texts of a pair."""
    names = [f"{v.axis} on {f'{v.reference} and ' if pairs else ''}{v.generated}" for v in rows[:SHOWN]]
    return ", ".join(names) + (f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else "")


def floor_warnings(verdicts: Sequence[Verdict], multiplicity: str = "holm", *, pairs: bool = False) -> list[str]:
    """Warn of axes that the number of relabellings decides, and say how to go on.

    They cannot differ, unless others do: all relabellings are enumerated, or the p is the smallest that they allow, and
    Holm's adjustment of that p is above the level. Relabellings that were drawn at random are no limit where p is above
    their floor: a test stops early if its p is clearly above the level, and draws more where the table needs them
    (`momus.inference.relabelling.Budget`).

    Parameters
    ----------
    pairs
        The rows compare generated texts with each other.
    """
    tested = [v for v in verdicts if v.leads and v.p_axis is not None]
    # only Holm multiplies the smallest p by all axes; for Benjamini–Hochberg, other axes that differ lower the bar
    times = axes_together(tested, multiplicity) if multiplicity.startswith("holm") else 1
    limited = [v for v in tested if _at_floor(v) and times * v.method.floor > v.alpha and not v.differs]
    if not limited:
        return []
    every, floor = len(limited) == len(tested), min(v.method.floor for v in limited)
    kind = "axis of a pair of generated texts" if pairs else "axis"
    plural = "axes of pairs of generated texts" if pairs else "axes"
    who = f"No {kind} can differ" if every else f"{len(limited)} of {len(tested)} {plural} cannot"
    who += "" if every else f" differ ({_named(limited, pairs)})"
    adjusted = f" once adjusted for {times} axes" if times > 1 else ""
    out = (
        "give more documents, prompts or groups, or choose fewer critics and texts"
        if all(v.method.exact for v in limited)
        else f"adjust by {arg('multiplicity', 'bh')}, raise {arg('permutations')}, or choose fewer critics and texts"
        if pairs and multiplicity.startswith("holm")
        else f"raise {arg('permutations')}, or choose fewer critics and texts"
    )
    return [
        f"{who}, whatever the texts are like: the smallest p that their relabellings allow is {floor:.2g}, "
        f"which is above {limited[0].alpha:g}{adjusted}. To find differences, {out}."
    ]


def skewness_warnings(verdicts: Sequence[Verdict]) -> list[str]:
    """Warn of axes that differ, led by means of skewed documents in texts of unequal size."""
    rows = [v for v in verdicts if v.leads and v.differs and abs(v.method.skewness) > SKEWED]
    if not rows:
        return []
    return [
        f"A few documents have most of the variance of {_named(rows)}, and the texts are of unequal size: p is "
        "approximate there, and may be several times too small. Compare texts of equal numbers of documents."
    ]


RATIO = 0.5
"""What a shift counts that t alone tells: of ratios of totals, some documents have most, and prompts take some away."""
WHOLE = 0.05
"""How far the deviation of a share may lie from that of documents that have it wholly or not at all."""


def touched(effect: float) -> float:
    """Share of the documents of one text that must change for a normal statistic to lose a shift of so many deviations.

    The total variation of two normal laws, 2 Φ(|g| / 2) − 1.

    >>> round(touched(0.5), 3), touched(0.0)
    (0.197, 0.0)
    """
    return math.erf(abs(effect) / math.sqrt(8))


def surely_touched(v: Verdict) -> float:
    """Share of documents that would surely have to change, at the end of the interval that is nearer to no difference.

    Of what documents have or lack, the difference of both shares; of a distance, itself; of other values, `touched` of
    the shift in standard deviations. 0 where the interval holds 0, where there is none, and of a test statistic.
    """
    # of texts whose documents are all alike, a difference has no effect, but may have an interval
    size, low, high = (v.difference, v.low, v.high) if v.effect is None else (v.effect, v.effect_low, v.effect_high)
    if v.wording.format == "score" or not size or low is None or high is None or low <= 0 <= high:
        return 0.0
    sure = min(abs(low), abs(high)) / abs(size)
    if v.method.family == "distance":
        return min(sure * abs(size), 1.0)
    if of_documents(v):
        return sure * abs(v.difference or 0.0)
    return touched(_deviations(v) * sure)


def of_documents(v: Verdict) -> bool:
    """Whether each document has what a share counts wholly or not at all."""
    real, generated = v.real_value, v.generated_value
    if v.wording.format != "share" or real is None or generated is None or not v.difference:
        return False
    if v.wording.of_documents:
        return True
    if not v.effect:
        return v.method.zero_variance == "share"
    bernoulli = math.sqrt(max(real * (1 - real) + generated * (1 - generated), 0.0) / 2)
    near = abs(abs(v.difference / v.effect) - bernoulli) <= WHOLE * bernoulli
    return v.effect_kind == "hedges_g" and (near or not bernoulli)  # all documents of one text, and none of the other


def _deviations(v: Verdict) -> float:
    """The shift in standard deviations of documents: Hedges' g, or what t and the numbers of documents say of it."""
    if v.effect_kind == "hedges_g" and v.effect is not None:
        return abs(v.effect)
    if not v.standard_error or not v.difference or not (v.n_real and v.n_generated):
        return 0.0
    return RATIO * abs(v.difference / v.standard_error) * math.sqrt(1 / v.n_real + 1 / v.n_generated)
