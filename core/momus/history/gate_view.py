"""The outcome of a gate in words: terminal, Markdown, JSON, JUnit XML, and GitHub annotations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from momus.files import plain
from momus.history.checks import Check
from momus.history.diff_view import input_line, run_name, signed
from momus.history.rules import WITHIN, WITHIN_ITSELF
from momus.outputs import appending, write_text, writing
from momus.ownership import check_output, marked
from momus.report.format import markdown, markdown_table, number, text_table
from momus.report.safe import clean
from momus.text.counting import counted, percentage

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.history.gate import GateResult

CHECK_HEADS = ("rule", "axis", "value", "interval", "limit", "")
STATUS = {"passed": "passed", "failed": "FAILED", "not decided": "CANNOT DECIDE"}
LONG = 2000
"""Characters of a message that are kept."""


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


def check_line(check: Check, strict: bool = False, model: str = "") -> str:
    """Why one check failed, or that it passed, in a sentence; ``model`` is the reference if that is no real text."""
    where = f"{check.axis} ({check.critic}) of {check.corpus!r}"
    if check.status == "not decided":
        return f"{where}: {check.text} cannot be decided: {check.reason}"
    unit = (f" bands of {model}" if model else " human bands") if check.bands else ""
    of = model or "real text"
    what = f"change in distance to {of}" if check.rule == "max-worse" else f"distance to {of}"
    shown = "passed"
    if check.status == "failed":
        kept = strict or check.text in (f"require {WITHIN}", f"require {WITHIN_ITSELF}")
        shown = "is not shown to be kept" if kept else "is broken"
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
    lines = [check_line(c, result.strict, result.model) for c in result.failed]
    return "\n  ".join([verdict_line(result), *lines]), hint


def gate_notes(result: GateResult) -> list[str]:
    """What a reader must know about the decisions."""
    notes = [result.rate] if result.rate else []
    if result.real_changed:
        notes.append(
            "The real text differs from that of the baseline: each run is compared with its own, and changes include "
            "that of the real text."
        )
    notes += [f"Left out: {line}." for line in result.left_out]
    if result.strict:
        how = "A rule fails unless the interval lies at or below its limit (strict)"
    else:
        how = "A rule fails if the interval lies wholly above its limit"
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


def gate_json(result: GateResult) -> dict[str, Any]:
    """All fields, and whether the gate passed."""
    content: dict[str, Any] = {"passed": result.passed, **plain(asdict(result))}
    return content


def gate_view(result: GateResult) -> RenderableType:
    """The verdict, a table of checks, and notes."""
    from rich.console import Group
    from rich.text import Text

    several = len({c.corpus for c in result.checks}) > 1
    parts: list[RenderableType] = [
        Text(clean(verdict_line(result)), style="bold green" if result.passed else "bold red"),
        Text(),
        text_table(CHECK_HEADS, [check_cells(c, several) for c in result.checks], "llrrrl", narrow=True),
    ]
    parts += [
        Text(clean(f"{check_line(c, model=result.model)}."), style="red")
        for c in result.checks
        if c.status == "not decided"
    ]
    parts += [Text(clean(line, LONG), style="dim") for line in gate_notes(result)]
    inputs = [i for i in result.inputs if i.kind != "generated text"]
    if inputs:
        parts.append(Text("\nInputs that differ from the baseline", style="bold"))
        parts += [Text(clean(input_line(i))) for i in inputs]
    return Group(*parts)


def gate_markdown(result: GateResult) -> str:
    """A Markdown section, for a job summary."""
    several = len({c.corpus for c in result.checks}) > 1
    mark = "✅" if result.passed else "❌"
    lines = [f"## {mark} {markdown(verdict_line(result))}", ""]
    lines.append(markdown_table(CHECK_HEADS, [check_cells(c, several) for c in result.checks]))
    lines += ["", *(f"* {markdown(f'{check_line(c, result.strict, result.model)}.')}" for c in result.failed)]
    lines += [f"* {markdown(line)}" for line in gate_notes(result)]
    lines += [f"* {markdown(input_line(i))}" for i in result.inputs if i.kind != "generated text"]
    return "\n".join([*lines, ""])


JUNIT = marked("JUnit XML of a gate", b'name="momus gate"')


def write_junit(result: GateResult, path: Path) -> None:
    """Write JUnit XML: one test case per check.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    failures = sum(c.status == "failed" for c in result.checks)
    errors = sum(c.status == "not decided" for c in result.checks)
    counts = {"tests": str(len(result.checks)), "failures": str(failures), "errors": str(errors)}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "momus gate", **counts})
    for c in result.checks:
        names = {"classname": clean(f"momus.{c.corpus}"), "name": clean(f"{c.critic}: {c.text}"), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", names)
        if c.status != "passed":
            line = clean(check_line(c, result.strict, result.model), LONG)
            kind = "failure" if c.status == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": line, "type": c.rule}).text = line
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    check_output(path, JUNIT)
    write_text(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def workflow_commands(result: GateResult) -> list[str]:
    """Workflow commands of GitHub Actions: an error per failed check, or a notice that the gate passed."""
    if result.passed:
        return [f"::notice title=momus gate::{_escaped(verdict_line(result))}"]
    return [f"::error title=momus gate::{_escaped(check_line(c, result.strict, result.model))}" for c in result.failed]


def _escaped(text: str) -> str:
    """Data of a workflow command, which ends at a line break.

    >>> _escaped("50 %: a" + chr(10) + "b")
    '50 %25: a%0Ab'
    """
    return clean(text, LONG).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def append_summary(result: GateResult, path: Path) -> None:
    """Append Markdown to the summary of a job.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    with writing(path, "name another file"), appending(path) as file:
        file.write((gate_markdown(result) + "\n").encode("utf-8"))
