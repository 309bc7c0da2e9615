"""Outcomes of gates as builds read them: JUnit XML, SARIF, and annotations and the summary of a job on GitHub."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from momus.history.checks import Check, Status
from momus.history.gate import GateResult
from momus.history.view import check_line, gate_blocks, in_markdown, verdict_line
from momus.outputs import appending, write_own, writing
from momus.report.annotations import sarif_log, sarif_result, workflow_command
from momus.report.safe import clean
from momus.runs.folder import REPORT
from momus.visible import visible

LONG = 2000
"""Characters of a message that are kept."""
PROMPT = 60
"""Characters of the name of a prompt."""
JUNIT, SARIF = "JUnit XML of a gate", "SARIF of a gate"


def write_junit(result: GateResult, path: Path) -> None:
    """Write JUnit XML: one test case per check; one that is not checked is skipped.

    Raises
    ------
    StoreError
        The file cannot be written, or is somebody's.
    """
    elements = {"failed": "failure", "not decided": "error", "not checked": "skipped"}
    statuses = [c.status for c in result.checks]
    totals: dict[str, Status] = {"failures": "failed", "errors": "not decided", "skipped": "not checked"}
    counts = {"tests": str(len(statuses)), **{name: str(statuses.count(status)) for name, status in totals.items()}}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "momus gate", **counts})
    for c in result.checks:
        names = {"classname": clean(f"momus.{c.corpus}"), "name": clean(f"{c.axis}: {c.text}"), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", names)
        if c.status != "passed":
            line = _line(c, result)
            ElementTree.SubElement(case, elements[c.status], {"message": line, "type": c.rule}).text = line
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    write_own(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', JUNIT)


def gate_sarif(result: GateResult) -> dict[str, Any]:
    """SARIF 2.1.0: one result per check that failed, of the report of the run."""
    page = (Path(result.run) / REPORT).as_posix()
    lines = [(c.critic, _line(c, result)) for c in result.failed]
    results = [sarif_result(critic, "error", line, page, {}) for critic, line in lines]
    return sarif_log(results, {c.critic: c.axis for c in result.checks[::-1]})


def workflow_commands(result: GateResult) -> list[str]:
    """Workflow commands of GitHub Actions: an error per failed check, or a notice that the gate passed."""
    level = "notice" if result.passed else "error"
    texts = [clean(verdict_line(result), LONG)] if result.passed else [_line(c, result) for c in result.failed]
    return [workflow_command(level, text, title="momus gate") for text in texts]


def _line(check: Check, result: GateResult) -> str:
    """The outcome of a check, with the prompts whose answers moved most."""
    prompts = [f"“{clean(' '.join(visible(p).split()), PROMPT)}”" for p in check.prompts]
    moved = f"; moved most: {', '.join(prompts)}" if prompts else ""
    return clean(check_line(check, result.model), LONG) + moved


def append_summary(result: GateResult, path: Path) -> None:
    """Append Markdown to the summary of a job.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    with writing(path, "name another file"), appending(path) as file:
        file.write(in_markdown(gate_blocks(result)).encode("utf-8"))
