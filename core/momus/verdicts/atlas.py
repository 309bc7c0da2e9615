"""The atlas of human bands: how far human authors lie apart, measured once on collections with groups.

``atlas.json`` holds figures alone, no text; ``benchmarks/validity/atlas.py`` measures them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from momus.critic import Statistic
from momus.critic.statistic import jensen_shannon, kolmogorov_smirnov, supremum, total_variation
from momus.errors import UsageError


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
