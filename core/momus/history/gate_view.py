"""The outcome of a gate: terminal, Markdown, JSON, JUnit XML, and GitHub annotations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from momus.errors import StoreError
from momus.files import plain, replace_file
from momus.history.gate import GateResult
from momus.history.gate_words import CHECK_HEADS, check_cells, check_line, gate_notes, verdict_line
from momus.history.view import markdown, markdown_table, text_table
from momus.history.words import input_line
from momus.report.safe import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

LONG = 2000
"""Characters of a message that are kept."""


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
        text_table(CHECK_HEADS, [check_cells(c, several) for c in result.checks], left=2),
    ]
    parts += [Text(clean(f"{check_line(c)}."), style="red") for c in result.checks if c.status == "not decided"]
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
    lines += markdown_table(CHECK_HEADS, [check_cells(c, several) for c in result.checks])
    lines += ["", *(f"* {markdown(f'{check_line(c, result.strict)}.')}" for c in result.failed)]
    lines += [f"* {markdown(line)}" for line in gate_notes(result)]
    lines += [f"* {markdown(input_line(i))}" for i in result.inputs if i.kind != "generated text"]
    return "\n".join([*lines, ""])


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
            line = clean(check_line(c, result.strict), LONG)
            kind = "failure" if c.status == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": line, "type": c.rule}).text = line
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    _write(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def workflow_commands(result: GateResult) -> list[str]:
    """Workflow commands of GitHub Actions: an error per failed check, or a notice that the gate passed."""
    if result.passed:
        return [f"::notice title=momus gate::{_escaped(verdict_line(result))}"]
    return [f"::error title=momus gate::{_escaped(check_line(c, result.strict))}" for c in result.failed]


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
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(gate_markdown(result) + "\n")
    except OSError as error:
        raise _unwritable(path, error) from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be written ({error.strerror})", hint="name another file")
