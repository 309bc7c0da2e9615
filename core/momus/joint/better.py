"""Whether a text is better than the reference by what a user names: fewer or more of a thing, or nearer to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.against.versions import Nearer
from momus.arguments import arg
from momus.critic.registry import FAMILY, LABEL
from momus.errors import UsageError
from momus.inference.intervals import hedges_factor
from momus.joint.axes import AxisRows
from momus.joint.gap import Gap
from momus.joint.ranks import Ranking, ranks
from momus.joint.slices import FEWEST, codes_of
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

NEARER = "nearer:human"
WORSE = {"fewer": "more", "lower": "more", "more": "fewer", "higher": "fewer", NEARER: "farther"}
"""By direction that is better, the one that is worse."""
SHARE = "_share"
"""The end of the name of a statistic of one label, of documents that have it."""


@dataclass(frozen=True)
class Preference:
    """What is better on one axis: a direction of one of its statistics (empty: the one that is `told`).

    >>> str(Preference.parse("label:helpful=higher")), Preference.parse("faults.loop_share=fewer").statistic
    ('label-helpful=higher', 'loop_share')
    >>> Preference.parse("length=best")
    Traceback (most recent call last):
    momus.errors.UsageError: better=['length=best']: no direction 'best'
      → write AXIS=DIRECTION, where DIRECTION is fewer, lower, more, higher, nearer:human
    """

    critic: str
    direction: str
    statistic: str = ""

    @classmethod
    def parse(cls, text: str) -> Preference:
        """Read ``AXIS=DIRECTION`` or ``AXIS.STATISTIC=DIRECTION``; `UsageError` if it is nothing of the kind."""
        name, _, direction = (piece.strip() for piece in text.partition("="))
        critic, _, statistic = name.partition(".")
        if direction not in WORSE or not critic:
            wrong = f"no direction {direction!r}" if critic else "no axis"
            hint = f"write AXIS=DIRECTION, where DIRECTION is {', '.join(WORSE)}"
            raise UsageError(f"{arg('better', [text])}: {wrong}", hint=hint)
        return cls(critic.replace(LABEL, FAMILY), direction, statistic)

    def __str__(self) -> str:
        return f"{self.place}={self.direction}"

    @property
    def place(self) -> str:
        """What it is about, as it is written."""
        return f"{self.critic}.{self.statistic}".removesuffix(".")

    def check(self, critics: Sequence[str]) -> None:
        """Raise `UsageError` if its critic is none of those that run."""
        if self.critic not in critics:
            hint = f"the axes are {', '.join(critics)}; the directions {', '.join(WORSE)}"
            raise UsageError(f"{arg('better', [str(self)])}: no critic {self.critic!r} runs", hint=hint)

    def row(self, rows: Mapping[str, Mapping[str, Verdict]]) -> Verdict:
        """The row that it is about, of rows by critic and statistic; `UsageError` without such an axis or statistic.

        Of several labels, none is better by itself.
        """
        self.check(list(rows))
        place, shares = arg("better", [str(self)]), [n for n in rows[self.critic] if n.endswith(SHARE)]
        unnamed = self.direction != NEARER and not self.statistic
        if unnamed and self.critic.startswith(FAMILY) and len(shares) > 1:
            hint = (
                f"write {self.critic.replace(FAMILY, LABEL)}.{shares[0]}={self.direction}, or {', '.join(shares[1:])}"
            )
            raise UsageError(f"{place}: of which label?", hint=hint)
        return row_of(rows[self.critic], self.statistic, place)

    def gap(self, v: Verdict, nearer: Sequence[Nearer]) -> Gap | str:
        """How far the text goes the way that is worse, below 0 the other way; or why that is not known."""
        if self.direction != NEARER:
            return Gap.of_difference(v, WORSE[self.direction])
        return nearness(v, nearer)


def nearness(v: Verdict, nearer: Sequence[Nearer]) -> Gap | str:
    """How much farther from people than the reference a text is on an axis; or why that is not known."""
    near = next((n for n in nearer if (n.critic, n.generated) == (v.critic, v.generated)), None)
    if near is None or not near.bands:
        return "its distance to text of people is not known in human bands"
    return Gap(near.new - near.old, near.error, near.error, near.freedom, 1.0, "side")


def row_of(rows: Mapping[str, Verdict], statistic: str, place: str) -> Verdict:
    """The row of a statistic of an axis, empty for the one that is told; errors begin with ``place``."""
    name = statistic or told(rows)
    if name not in rows:
        raise UsageError(f"{place}: no statistic {name!r}", hint=f"its statistics are {', '.join(rows)}")
    return rows[name]


def told(rows: Mapping[str, Verdict]) -> str:
    """The statistic of a critic that stands for its axis by its value: the first of its family that is no distance.

    That is the headline where it is a number of each text, and for lengths the mean.
    """
    values = [v for v in rows.values() if v.effect_kind != "distance" and (v.headline or v.p_in_axis is not None)]
    ordered = sorted(values, key=lambda v: not v.headline)
    return next((v.statistic for v in ordered), next(iter(rows)))


def rows_of(verdicts: Sequence[Verdict], generated: str, reference: str) -> dict[str, dict[str, Verdict]]:
    """Verdicts of a generated text, by critic and statistic."""
    rows: dict[str, dict[str, Verdict]] = {}
    for v in verdicts:
        if v.generated == generated and v.reference == reference:
            rows.setdefault(v.critic, {})[v.statistic] = v
    return rows


@dataclass(frozen=True)
class Better:
    """A preference with its row, how far that is worse with its interval, or the reason why that is not known."""

    preference: Preference
    row: Verdict
    worse: float = 0.0
    low: float = 0.0
    high: float = 0.0
    reason: str = ""

    @property
    def finding(self) -> str:
        """``worse``, ``better`` or ``not shown``."""
        return "worse" if self.low > 0 else "better" if self.high < 0 else "not shown"


def better_of(p: Preference, v: Verdict, nearer: Sequence[Nearer], level: float) -> Better:
    """Decide a preference by its row; the chance of calling it wrongly worse or better is at most the level."""
    gap = p.gap(v, nearer)
    return Better(p, v, reason=gap) if isinstance(gap, str) else Better(p, v, gap.value, *gap.interval(level))


def nearer_of(
    axes: Sequence[AxisRows], bands: Mapping[str, float | None], ranking: Ranking | None, reference: str
) -> tuple[Nearer, ...]:
    """Which of a reference and each new text is nearer to real text on each axis.

    Parameters
    ----------
    axes, bands, ranking
        Of a comparison of the reference and the new texts with real text; bands of people by critic.
    """
    rows = []
    for axis in axes:
        ranks = {} if ranking is None else {r.model: r for r in ranking.of(axis.critic)}
        old = ranks.pop(reference, None)
        if old is None:
            continue
        unit = bands.get(axis.critic) or 1.0
        for name, new in ranks.items():
            # rank intervals are simultaneous: where they do not overlap, the order is sure
            nearer = "new" if new.rank_high < old.rank_low else "old" if old.rank_high < new.rank_low else ""
            numbers = old.distance / unit, new.distance / unit, bool(bands.get(axis.critic)), nearer, new.apart / unit
            rows.append(Nearer(axis.critic, axis.name, name, *numbers, float(max(new.units - 1, 1))))
    return tuple(rows)


def nearer_in_slices(
    axes: Sequence[AxisRows],
    bands: Mapping[str, float | None],
    texts: Sequence[Corpus],
    settings: Settings,
) -> tuple[Nearer, ...]:
    """Which is nearer in each slice, in bands of the whole text.

    Parameters
    ----------
    texts
        Real text, the reference, and new texts; a slice needs `FEWEST` units of each.
    """
    rows, names = list[Nearer](), [t.name for t in texts]
    for of_field, i in ((c, i) for c in codes_of(settings.by, texts) for i in range(len(c.names))):
        here = {name: np.flatnonzero(numbers == i) for name, numbers in zip(names, of_field.numbers, strict=True)}
        if min(map(len, here.values())) < FEWEST:
            continue
        sliced, parts = [a.take(here) for a in axes], [t.subset(here[t.name]) for t in texts]
        prompts, groups = {p.name: p.prompts for p in parts}, {p.name: p.groups for p in parts}
        ranking = ranks(sliced, names[0], names[1:], prompts, groups, seed=settings.seed)
        units = {a.critic: _band(bands.get(a.critic), a, s, names) for a, s in zip(axes, sliced, strict=True)}
        nearer = nearer_of(axes, units, ranking, names[1])
        rows += [replace(n, by=of_field.name, slice=of_field.names[i]) for n in nearer if n.freedom + 1 >= FEWEST]
    return tuple(rows)


def _band(band: float | None, whole: AxisRows, sliced: AxisRows, names: Sequence[str]) -> float:
    """A band of the whole text for a slice, where Hedges' g has the standard deviation of the slice; 0 without one."""
    if not band or whole.statistic.kind != "value" or whole.statistic.effect != "hedges_g":
        return band or 0.0
    tables = [[axis.rows[name][axis.scored[name]] for name in names[:2]] for axis in (sliced, whole)]
    here, everywhere = (hedges_factor(sides, [np.ones(side.shape[0]) for side in sides])[0] for sides in tables)
    return band * here / everywhere if everywhere > 0 and np.isfinite(here) else 0.0
