"""Changes between runs and outcomes of gates in words: blocks for terminal and Markdown, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from momus.arguments import arg
from momus.history.checks import Check
from momus.history.diff import RunDiff
from momus.history.kept import InputChange
from momus.history.moves import AxisChange, CorpusDiff
from momus.joint.gap import POWER
from momus.report.words.blocks import Columns, PrintedBlock, markdown_blocks, table_block, terminal_blocks
from momus.report.words.findings import statistic_name
from momus.report.words.format import HUMAN, number
from momus.report.words.slices import change_words
from momus.text.counting import counted, joined, percentage

if TYPE_CHECKING:
    from momus.history.gate import GateResult

ARROWS = {"farther": "▲ farther", "nearer": "▼ nearer", "not told apart": "·"}
STATUS = {"passed": "passed", "failed": "FAILED", "not decided": "CANNOT DECIDE", "not checked": "not checked"}
INPUTS = {"version": "version of Momus", "fitted text": "text that critics are fitted on"}
"""Kinds of inputs that are called by other names than in the data."""
ROUNDING = 1e-12
"""Changes below this are errors of floating-point sums."""


def run_name(path: str) -> str:
    """A run by the name of its folder."""
    return PurePath(path).name or path


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign; what rounding alone leaves is 0.

    >>> signed(0.5), signed(-0.25), signed(1e-17), signed(0.193, 2)
    ('+0.5', '−0.25', '0', '+0.19')
    """
    if abs(value) < ROUNDING:
        return "0"
    return f"{'+' if value > 0 else '−'}{number(float(f'{abs(value):.{digits}g}'))}"


def interval(low: float, high: float, digits: int = 3) -> str:
    """An interval of signed numbers."""
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def input_line(change: InputChange) -> str:
    """One input that differs."""
    if change.kind == "critic":
        return f"critic {change.name}: only in the {'later' if change.after else 'earlier'} run"
    if change.kind == "code":
        run = "later" if change.before else "earlier"
        how = "changed" if change.before and change.after else f"not known of the {run} run"
        return f"code of {'Momus' if change.name == 'momus' else f'critic {change.name}'}: {how}"
    what = INPUTS.get(change.kind, change.kind)
    if change.kind == "real text" and change.name != "real":
        what = f"text of {change.name}"
    if change.kind in ("parameter", "setting"):
        what = f"{what} {change.name}"
    return f"{what}: {change.before or '–'} → {change.after or '–'}"


def _in_bands(change: AxisChange, value: float) -> float:
    """A distance in human bands, or in units of the effect where there is no band."""
    return value / (change.band or 1.0)


CHANGES: Columns[AxisChange] = [
    ("axis", lambda c: c.axis + ("" if c.band else "*")),
    ("before", lambda c: number(float(f"{_in_bands(c, c.before):.3g}"))),
    ("after", lambda c: number(float(f"{_in_bands(c, c.after):.3g}"))),
    ("change", lambda c: signed(_in_bands(c, c.change))),
    ("interval", lambda c: interval(_in_bands(c, c.low), _in_bands(c, c.high))),
    ("", lambda c: ARROWS[c.finding]),
]
"""The table of changes; a star marks axes without a band."""


def diff_sentences(diff: RunDiff, pair: CorpusDiff) -> list[str]:
    """Say whether the later text is farther from real text, and on which axes significantly."""
    names = [(pair.after, run_name(diff.after)), (pair.before, run_name(diff.before))]
    later, earlier = (f"{corpus!r} of {run}" for corpus, run in names)
    if len(diff.pairs) == 1:
        later, earlier = (corpus if diff.before == diff.after else run for corpus, run in names)
    lines = []
    if pair.overall is not None:
        o = pair.overall
        span = f"{signed(o.change, 2)} human bands on average, interval {interval(o.low, o.high, 2)}"
        says = {
            "farther": f"{later} is farther from real text than {earlier}",
            "nearer": f"{later} is nearer to real text than {earlier}",
            "not told apart": f"no overall change detected from {earlier} to {later}",
        }
        lines.append(f"Over all axes, {says[o.finding]} ({span}).")
    for finding, words in (("farther", "Significantly farther on"), ("nearer", "Significantly nearer on")):
        axes = [c.axis for c in pair.axes if c.finding == finding]
        if axes:
            lines.append(f"{words} {joined(axes)}.")
    if not any(c.finding != "not told apart" for c in pair.axes):
        lines.append("No single axis changed significantly." if pair.axes else "No axis can be compared.")
    return lines


def diff_notes(diff: RunDiff, pair: CorpusDiff) -> list[str]:
    """What a reader must know about the numbers."""
    notes = []
    if diff.real_changed:
        notes.append(
            "The real texts of the runs differ: each run is compared with its own, and the change includes theirs."
        )
    notes += [f"{critic} is not compared: {why}." for critic, why in pair.not_compared.items()]
    wider = [c.axis for c in pair.axes if c.from_errors]
    if wider:
        notes.append(f"Intervals rest on the standard errors of both runs, and are wider, for {joined(wider)}.")
    if any(not c.band for c in pair.axes):
        notes.append("* no human band: in units of the effect.")
    compared = "prompt by prompt" if pair.matched else "all documents, since runs and real text share no prompts"
    notes.append(
        f"Distances in human bands, {compared}; intervals hold at once over "
        f"{counted(len(pair.axes), 'axis', 'axes')} ({percentage(diff.confidence, 0)}, "
        f"{counted(pair.units, 'unit')} resampled)."
    )
    return notes


def diff_blocks(diff: RunDiff) -> list[PrintedBlock]:
    """Sentences, a table of axes, and inputs that differ."""
    blocks = []
    for pair in diff.pairs:
        title = f"{run_name(diff.before)} → {run_name(diff.after)}"
        if len(diff.pairs) > 1 or pair.before != pair.after:
            title = f"{title}: {pair.before} → {pair.after}"
        blocks.append(PrintedBlock(title, [("", s) for s in diff_sentences(diff, pair)]))
        shown = [*([pair.overall] if pair.overall is not None else []), *pair.axes]
        blocks.append(table_block("", shown, CHANGES, "lrrrrl", *diff_notes(diff, pair)))
    # generated texts are expected to differ; those that are the same are named
    changed = {i.name for i in diff.inputs if i.kind == "generated text"}
    lines = [input_line(i) for i in diff.inputs if i.kind != "generated text"]
    same = [p.after for p in diff.pairs if p.after not in changed]
    blocks += [PrintedBlock(notes=[f"The same in both runs: generated text {joined(same)}."])] if same else []
    return [*blocks, *([PrintedBlock("Inputs that differ", [("", line) for line in lines])] if lines else [])]


def diff_json(diff: RunDiff) -> dict[str, Any]:
    """All fields but what intervals are made of, with the finding of each change."""
    content = asdict(diff)
    for kept, pair in zip(content["pairs"], diff.pairs, strict=True):
        for row, change in zip((*kept["axes"], kept["overall"]), (*pair.axes, pair.overall), strict=True):
            if change is not None:
                del row["moves"]
                row["finding"] = change.finding
    return content


def amount(check: Check, value: float | None) -> str:
    """A distance, or a change with its sign, to three digits."""
    if value is None:
        return "–"
    return signed(value) if check.rule in ("better", "max-worse") else number(float(f"{value:.3g}"))


def span(check: Check) -> str:
    """The interval of a check."""
    if check.low is None or check.high is None:
        return "–"
    return f"[{amount(check, check.low)}, {amount(check, check.high)}]"


def check_line(check: Check, model: str = "") -> str:
    """Why one check failed, or that it passed, in a sentence; ``model`` is the reference if that is no real text."""
    where = f"{check.axis} ({check.critic}) of {check.corpus!r}"
    if check.status == "not checked":
        return f"{where}: {check.text} is not checked: {check.reason}"
    if check.status == "not decided":
        return f"{where}: {check.text} cannot be decided: {check.reason}"
    of, unit = model or "real text", f" bands of {model}" if model and check.measure == "distance" else " human bands"
    what = f"change in distance to {of}" if check.rule == "max-worse" else f"distance to {of}"
    if check.measure == "nearness":
        what = "distance to text of people worse by"
    elif check.measure == "difference":  # as far as it goes in the direction of the limit
        what, unit = f"{'worse' if check.rule == 'better' else 'moved'} by", ""
    if check.rule != "max-worse" and check.values is not None:
        what = f"{change_words(check.statistic, check.wording, check.values, model or HUMAN)}; {what}"
    elif check.measure == "difference":
        what = f"{statistic_name(check.statistic)} {what}"
    shown = "passed"
    if check.status == "failed":
        above = check.low is not None and check.limit is not None and check.low > check.limit
        shown = "is broken" if above else "is not shown to be kept"
    return f"{where}: {what} {amount(check, check.value)}{unit}, interval {span(check)}: {check.text} {shown}"


def verdict_line(result: GateResult) -> str:
    """Whether the gate passed, in a sentence."""
    against = f" against {run_name(result.baseline)}" if result.baseline else ""
    skipped = sum(c.status == "not checked" for c in result.checks)
    checks = counted(len(result.checks) - skipped, "check")
    if result.passed:
        more = f", {skipped:,} not checked" if skipped else ""
        return f"{run_name(result.run)}{against}: the gate passed ({checks}{more})"
    return f"{run_name(result.run)}{against}: the gate failed in {len(result.failed):,} of {checks}"


def failure(result: GateResult) -> tuple[str, str]:
    """Message and hint of the error of a failed gate."""
    first = result.failed[0]
    kind = first.statistic.removesuffix("_share").replace("_", "-")
    which = f"-c {first.critic}" if first.critic != "faults" or kind in ("faulty", "latent-nll") else arg("fault", kind)
    hint = f"read the documents: momus outliers {result.run} {which}"
    if result.baseline:
        hint += f"; see what changed: momus diff {result.baseline} {result.run}"
    lines = [check_line(c, result.model) for c in result.failed]
    return "\n  ".join([verdict_line(result), *lines]), hint


def not_checked(result: GateResult) -> list[str]:
    """What was not checked and why: one line for all rules on an axis."""
    skipped = {(c.corpus, c.critic, c.reason): c for c in result.checks if c.status == "not checked"}
    return [f"Not checked: {c.axis} ({c.critic}) of {c.corpus!r}: {c.reason}." for c in skipped.values()]


def least_found(check: Check) -> str:
    """What a check would have found in most cases, such as ``1.6 (12 %)``."""
    size = "–" if check.detectable is None else number(float(f"{check.detectable:.2g}"))
    return f"{size} ({check.change})" if check.change and check.measure == "distance" else check.change or size


def power_line(result: GateResult) -> str:
    """What the gate would have found in most cases, in one sentence; empty where that has no unit."""
    sizes = [*{c.axis: f"{c.axis} changed by {c.change}" for c in result.checks if c.change}.values()]
    return f"In {percentage(POWER, 0)} of cases it would have found {joined(sizes[:3])}." if sizes else ""


def gate_notes(result: GateResult) -> list[str]:
    """What a reader must know about the decisions."""
    notes = not_checked(result)
    if result.real_changed:
        whose = f"The text of {result.model}" if result.model else "The real text"
        changes = "" if result.model else ", and changes include that of the real text"
        notes.append(f"{whose} differs from that of the baseline: each run is compared with its own{changes}.")
    how = "A rule fails if the interval lies wholly above its limit"
    notes.append(f"{how}. The ends that decide hold at once ({percentage(1 - result.level)}).")
    if any(c.rule == "require" for c in result.checks) and result.look is None and not result.sliced:
        notes.append("Required findings are those of the run: its intervals, and p adjusted over its table.")
    if result.look is not None:
        look = result.look
        notes.append(
            f"Look {look.number}: its level is {look.threshold:.2g} of {result.alpha:g} over all looks; "
            f"p = {look.p:.2g}, valid at any time {look.p_always:.2g}."
        )
    return notes


def gate_blocks(result: GateResult, whole: bool = True) -> list[PrintedBlock]:
    """The verdict, a table of checks, notes, and inputs that differ; if ``whole``, checks that failed in words."""
    several = len({c.corpus for c in result.checks}) > 1  # then the axis says of which generated text
    columns: Columns[Check] = [
        ("rule", lambda c: c.rule),
        (
            "axis",
            lambda c: (
                f"{c.corpus}: " * several + c.axis + f": {statistic_name(c.statistic)}" * (c.measure == "difference")
            ),
        ),
        ("value", lambda c: amount(c, c.value)),
        ("interval", span),
        ("limit", lambda c: number(c.limit)),
        (f"found in {percentage(POWER, 0)}", least_found),
        ("", lambda c: STATUS[c.status]),
    ]
    failed = [("", f"{check_line(c, result.model)}.") for c in result.failed]
    mark, style = ("✅ ", "bold green") if result.passed else ("❌ ", "bold red")
    inputs = [("", input_line(i)) for i in result.inputs if i.kind != "generated text"]
    return [
        PrintedBlock(mark * whole + verdict_line(result), style=style),
        table_block("", result.checks, columns, "llrrrrl", *gate_notes(result), lines=failed if whole else ()),
        *([PrintedBlock("Inputs that differ from the baseline", inputs)] if inputs else []),
    ]


def on_terminal(blocks: Sequence[PrintedBlock]) -> RenderableType:
    """Blocks in 80 columns."""
    return Group(*terminal_blocks(blocks, narrow=True))


def in_markdown(blocks: Sequence[PrintedBlock]) -> str:
    """Blocks as a page, or as a section of one."""
    return "\n\n".join(markdown_blocks(blocks)) + "\n"
