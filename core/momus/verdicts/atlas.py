"""The atlas of human bands: how far human authors lie apart, measured once on collections with groups.

``atlas.json`` holds figures alone, no text; ``benchmarks/validity/atlas.py`` measures them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any, Literal

from momus.critic import Statistic
from momus.critic.statistic import jensen_shannon, kolmogorov_smirnov, supremum, total_variation
from momus.errors import UsageError
from momus.inference.spread import is_seen


@dataclass(frozen=True)
class Band:
    """A human band, in units of the effect.

    Attributes
    ----------
    value, low, high
        The effect that 95 % of pairs of human authors do not exceed, and its 95 % interval. Of a default that is a
        median over registers: the least and the greatest of these, or of their intervals where authors are seen to
        differ in none.
    source
        ``groups`` of the real text, or ``default``: the atlas.
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
    source: Literal["groups", "default"] = "default"
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
        See `kind_of`: for a statistic that was not measured, the median over all of its kind.
    register
        The kind of text; empty for the median over registers, whose interval reaches from the least to the greatest.

    >>> band = default_band("unigram", "tvd", register="novels")
    >>> band.source, band.register, band.low < band.value < band.high
    ('default', 'novels', True)
    """
    content = atlas()
    rows = content["bands"].get(critic, {}).get(statistic) or content["kinds"].get(kind, {})
    if register in rows:
        value, low, high, groups = rows[register]
        return Band(value, low, high, "default", groups, register)
    if not rows:
        return None
    values, lows, highs, groups = zip(*rows.values(), strict=True)
    if len(rows) == 1:
        return Band(values[0], lows[0], highs[0], "default", groups[0], next(iter(rows)))
    ends = (values, values) if any(map(is_seen, values, lows)) else (lows, highs)
    return Band(median(values), min(ends[0]), max(ends[1]), "default", sum(groups), f"median of {', '.join(rows)}")
