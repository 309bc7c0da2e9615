"""Verdicts by the names of their row's keys."""

from dataclasses import asdict, is_dataclass

from momus.schema import build
from momus.verdicts.verdict import Verdict


def verdict_of(**values):
    """A verdict from values by key; a method and a wording may be objects, and a headline alone makes its axis."""
    if values.get("headline") and "p_axis" not in values:
        values |= {"p_axis": values.get("p"), "p_in_axis": values.get("p"), "leads": values.get("p") is not None}
        values |= {"p_axis_adjusted": values.get("p_adjusted")}
    plain = {name: asdict(value) if is_dataclass(value) else value for name, value in values.items()}
    defaults = {"axis": "", "unit": "", "statistic": "", "unscored_real": 0, "unscored_generated": 0, "headline": False}
    return build(Verdict, {"critic": "", "generated": "", "method": {}, **defaults, **plain}, "row")


def changed(verdict, **changes):
    """A verdict with other values under some keys."""
    return verdict_of(**{**verdict.row(), **changes})
