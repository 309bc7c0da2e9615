"""Axes whose p says less than it seems: their smallest possible p decides, or their documents are skewed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from momus.verdicts.verdict import Verdict

SHOWN = 3
"""Rows that a warning names."""
SKEWED = 0.5
"""Skewness of a difference of means from which its test is a rough one: levels of up to 0.09 at 0.05 were measured."""


def axes_together(leading: Sequence[Verdict], multiplicity: str = "holm") -> int:
    """How many axes are adjusted together: those of the text with the most, or of the whole table."""
    texts = Counter((v.generated, v.reference) for v in leading)
    return len(leading) if multiplicity.endswith("-table") else max(texts.values(), default=0)


def _at_floor(v: Verdict) -> bool:
    """Whether the number of relabellings limits the p of a row: all are known, or none reaches the observed one."""
    m = v.method
    return m.permutations > 0 and v.p_axis is not None and (m.exact or v.p_axis <= m.floor * (1 + 1e-9))


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
    times = axes_together(tested, multiplicity) if multiplicity.startswith("holm") else 1
    limited = [v for v in tested if _at_floor(v) and times * v.method.floor > v.alpha and not v.differs]
    if not limited:
        return []
    every, floor = len(limited) == len(tested), min(v.method.floor for v in limited)
    names = ", ".join(f"{v.critic} on {v.generated}" for v in limited[:SHOWN])
    more = f" and {len(limited) - SHOWN} more" if len(limited) > SHOWN else ""
    if pairs:
        names = ", ".join(f"{v.critic} on {v.reference} and {v.generated}" for v in limited[:SHOWN])
    kind = "axis of a pair of generated texts" if pairs else "axis"
    plural = "axes of pairs of generated texts" if pairs else "axes"
    who = f"No {kind} can differ" if every else f"{len(limited)} of {len(tested)} {plural} cannot"
    who += "" if every else f" differ ({names}{more})"
    adjusted = f" once adjusted for {times} axes" if times > 1 else ""
    out = (
        "give more documents, prompts or groups, or choose fewer critics and texts"
        if all(v.method.exact for v in limited)
        else "adjust by --multiplicity bh, raise --permutations, or choose fewer critics and texts"
        if pairs and multiplicity.startswith("holm")
        else "raise --permutations, or choose fewer critics and texts"
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
    names = ", ".join(f"{v.critic} on {v.generated}" for v in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return [
        f"A few documents have most of the variance of {names}{more}, and the texts are of unequal size: p is "
        "approximate there, and may be half of what it should be. Compare texts of equal numbers of documents."
    ]
