"""Sentences and cells about the outcome of a gate; made last, from fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momus.history.checks import Check
from momus.history.rules import WITHIN
from momus.history.words import run_name, signed
from momus.report.format import number
from momus.text.counting import counted, percentage

if TYPE_CHECKING:
    from momus.history.gate import GateResult

CHECK_HEADS = ("rule", "axis", "value", "interval", "limit", "")
STATUS = {"passed": "passed", "failed": "FAILED", "not decided": "CANNOT DECIDE"}


def amount(check: Check, value: float | None) -> str:
    """A distance, or a change with its sign, to three digits."""
    if value is None:
        return "–"
    return signed(value) if check.rule == "max-worse" else number(float(f"{value:.3g}"))


def span(check: Check) -> str:
    """The interval of a check."""
    if check.low is None or check.high is None:
        return "–"
    return f"[{amount(check, check.low)}, {amount(check, check.high)}]"


def check_cells(check: Check, several: bool = False) -> tuple[str, ...]:
    """Cells of `CHECK_HEADS`; with several generated corpora, the axis says which."""
    return (
        check.rule,
        f"{check.corpus}: {check.axis}" if several else check.axis,
        amount(check, check.value),
        span(check),
        number(check.limit) + ("" if check.bands else " (effect)"),
        STATUS[check.status],
    )


def check_line(check: Check, strict: bool = False) -> str:
    """Why one check failed, or that it passed, in a sentence."""
    where = f"{check.axis} ({check.critic}) of {check.corpus!r}"
    if check.status == "not decided":
        return f"{where}: {check.text} cannot be decided: {check.reason}"
    unit = " human bands" if check.bands else ""
    what = "change in distance to real text" if check.rule == "max-worse" else "distance to real text"
    shown = "passed"
    if check.status == "failed":
        shown = "is not shown to be kept" if strict or check.text == f"require {WITHIN}" else "is broken"
    return f"{where}: {what} {amount(check, check.value)}{unit}, interval {span(check)}: {check.text} {shown}"


def verdict_line(result: GateResult) -> str:
    """Whether the gate passed, in a sentence."""
    against = f" against {run_name(result.baseline)}" if result.baseline else ""
    checks = counted(len(result.checks), "check")
    if result.passed:
        return f"{run_name(result.run)}{against}: the gate passed ({checks})"
    return f"{run_name(result.run)}{against}: the gate failed in {len(result.failed):,} of {checks}"


def failure(result: GateResult) -> tuple[str, str]:
    """Message and hint of the error of a failed gate."""
    axes = list(dict.fromkeys(c.critic for c in result.failed))
    hint = f"read the documents: momus outliers {result.run} -c {axes[0]}"
    if result.baseline:
        hint += f"; see what changed: momus diff {result.baseline} {result.run}"
    lines = [check_line(c, result.strict) for c in result.failed]
    return "\n  ".join([verdict_line(result), *lines]), hint


def gate_notes(result: GateResult) -> list[str]:
    """What a reader must know about the decisions."""
    notes = []
    if result.real_changed:
        notes.append(
            "The real text differs from that of the baseline: each run is compared with its own, and changes include "
            "that of the real text."
        )
    notes += [f"Left out: {line}." for line in result.left_out]
    if result.strict:
        how = "A rule fails unless the interval lies at or below its limit (strict)"
    else:
        how = "A rule fails if the interval lies above its limit"
    notes.append(f"{how}. All intervals hold at once ({percentage(1 - result.level)}).")
    if any(c.rule == "require" for c in result.checks) and result.look is None:
        notes.append("Required findings are those of the run: its intervals, and p adjusted over its table.")
    if result.look is not None:
        look = result.look
        notes.append(
            f"Look {look.number}: its level is {look.threshold:.2g} of {result.alpha:g} over all looks; "
            f"p = {look.p:.2g}, valid at any time {look.p_always:.2g}."
        )
    return notes
