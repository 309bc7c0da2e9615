"""Which of a model's text and later texts is nearer to real text, on each axis and in each slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from momus.against.versions import Nearer
from momus.inference.intervals import hedges_factor
from momus.joint.axes import AxisRows
from momus.joint.ranks import Ranking, ranks
from momus.joint.slices import FEWEST, Codes
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict


def nearer_of(
    axes: Mapping[str, str], bands: Mapping[str, float | None], ranking: Ranking | None, reference: str
) -> tuple[Nearer, ...]:
    """Which of a reference and each new text is nearer to real text on each axis.

    Parameters
    ----------
    axes
        The axis of each critic.
    bands, ranking
        Bands of people by critic, and ranks, of a comparison of the reference and the new texts with real text.
    """
    rows = []
    for critic, axis in axes.items():
        ranks = {} if ranking is None else {r.model: r for r in ranking.of(critic)}
        old = ranks.pop(reference, None)
        if old is None:
            continue
        unit = bands.get(critic) or 1.0
        for name, new in ranks.items():
            # rank intervals are simultaneous: where they do not overlap, the order is sure
            nearer = "new" if new.rank_high < old.rank_low else "old" if old.rank_high < new.rank_low else ""
            sizes = old.distance / unit, new.distance / unit
            errors = new.apart / unit, float(max(new.units - 1, 1))
            rows.append(Nearer(critic, axis, name, *sizes, bool(bands.get(critic)), nearer, *errors))
    return tuple(rows)


def bands_of(verdicts: Sequence[Verdict]) -> dict[str, float | None]:
    """Bands of headlines, by critic."""
    return {v.critic: v.band for v in verdicts if v.headline}


def nearer_in_slices(
    axes: Sequence[AxisRows],
    bands: Mapping[str, float | None],
    texts: Sequence[Corpus],
    codes: Sequence[Codes],
    settings: Settings,
) -> tuple[Nearer, ...]:
    """Which is nearer in each slice, in bands of the whole text.

    Parameters
    ----------
    texts
        Real text, the reference, and new texts; a slice needs `FEWEST` units of each.
    codes
        The slice of each of their documents, by field.
    """
    rows, names = list[Nearer](), [t.name for t in texts]
    for of_field, i in ((c, i) for c in codes for i in range(len(c.names))):
        here = {name: np.flatnonzero(numbers == i) for name, numbers in zip(names, of_field.numbers, strict=True)}
        if min(map(len, here.values())) < FEWEST:
            continue
        sliced, parts = [a.take(here) for a in axes], [t.subset(here[t.name]) for t in texts]
        prompts, groups = {p.name: p.prompts for p in parts}, {p.name: p.groups for p in parts}
        of = settings.confidence, settings.seed
        ranking = ranks(sliced, names[0], names[1:], prompts, groups, confidence=of[0], seed=of[1])
        units = {
            whole.critic: (bands.get(whole.critic) or 0.0) * _deviations(whole, part, names)
            for whole, part in zip(axes, sliced, strict=True)
        }
        found = nearer_of({a.critic: a.name for a in axes}, units, ranking, names[1])
        rows += [replace(n, by=of_field.name, slice=of_field.names[i]) for n in found if n.freedom + 1 >= FEWEST]
    return tuple(rows)


def _deviations(whole: AxisRows, part: AxisRows, names: Sequence[str]) -> float:
    """By what Hedges' g in a slice is larger than that of an equal difference in the whole text; 1 of other effects."""
    if whole.statistic.kind != "value" or whole.statistic.effect != "hedges_g":
        return 1.0
    tables = [[axis.rows[name][axis.scored[name]] for name in names[:2]] for axis in (part, whole)]
    here, everywhere = (hedges_factor(sides, [np.ones(side.shape[0]) for side in sides])[0] for sides in tables)
    return here / everywhere if everywhere > 0 and np.isfinite(here) else 0.0
