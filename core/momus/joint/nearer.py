"""Which of a model's text and later texts is nearer to real text, from their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from momus.against.versions import Nearer
from momus.joint.ranks import Ranking
from momus.verdicts.verdict import Verdict


def nearer_of(
    axes: Mapping[str, str], verdicts: Sequence[Verdict], ranking: Ranking | None, reference: str
) -> tuple[Nearer, ...]:
    """Which of a reference and each new text is nearer to real text on each axis.

    Parameters
    ----------
    axes
        The axis of each critic.
    verdicts, ranking
        Of a comparison of the reference and the new texts with real text.
    """
    rows = []
    bands = {v.critic: v.band for v in verdicts if v.headline}
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
            rows.append(Nearer(critic, axis, name, *sizes, bool(bands.get(critic)), nearer))
    return tuple(rows)
