"""Odd places as SARIF and as annotations of GitHub Actions, for editors and continuous integration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from momus.report.words.review import axis_words, place_words, sentence
from momus.review.judging import OddAxis, Review, Reviewed
from momus.review.spans import Span
from momus.version import __version__
from momus.visible import visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 50
"""Annotations that GitHub shows of one step."""


def _places(review: Review) -> Iterator[tuple[Reviewed, OddAxis, Span | None]]:
    """Each odd place of the odd documents; an axis without any has one that is None."""
    for document in review.marked:
        for axis in (*document.remarks, *document.axes) or (OddAxis("", "many axes", document.p or 0.0, False),):
            spans: list[Span | None] = [span for span in axis.spans if span.line]
            yield from ((document, axis, span) for span in spans or [None])


def _message(review: Review, document: Reviewed, axis: OddAxis, span: Span | None) -> str:
    place = f" — {place_words(span)}" if span is not None else ""
    return f"{axis_words(axis)} (p {axis.p:.2g}){place}; {sentence(document, review)}"


def sarif(review: Review, files: Mapping[str, str]) -> dict[str, Any]:
    """SARIF 2.1.0: one result per odd place; ``files`` gives the file of each document id.

    >>> review = Review("essays", 80, 80, 0.05, (100, 900), ("rhythm",), False, {}, ())
    >>> sarif(review, {})["runs"][0]["results"]
    []
    """
    results = []
    for document, axis, span in _places(review):
        region = {} if span is None else {"region": {"startLine": span.line, "snippet": {"text": span.text}}}
        message, uri = _message(review, document, axis, span), files.get(document.id, document.id)
        results.append(sarif_result(axis.critic or "many", "warning", message, uri, region))
    return sarif_log(results, {axis.critic or "many": axis.axis for _, axis, _ in _places(review)})


def sarif_log(results: list[dict[str, Any]], rules: Mapping[str, str]) -> dict[str, Any]:
    """The log of results; ``rules`` are the names of what was looked at, by id."""
    named = [{"id": critic, "name": axis} for critic, axis in rules.items()]
    driver = {"name": "momus", "version": __version__, "rules": named}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def sarif_result(rule: str, level: str, message: str, uri: str, region: Mapping[str, Any]) -> dict[str, Any]:
    """One result, at a place of a file."""
    location = {"physicalLocation": {"artifactLocation": {"uri": uri}, **region}}
    return {"ruleId": rule, "level": level, "message": {"text": message}, "locations": [location]}


def workflow_commands(review: Review, files: Mapping[str, str]) -> list[str]:
    """Workflow commands of GitHub Actions, at most 50: one warning per odd place."""
    lines = []
    for document, axis, span in list(_places(review))[:MOST]:
        place = {"file": visible(files.get(document.id, document.id)), "line": str(span.line) if span else ""}
        lines.append(workflow_command("warning", _message(review, document, axis, span), **place, title="momus review"))
    return lines


def workflow_command(level: str, text: str, **properties: str) -> str:
    """A command of GitHub Actions, which ends at a line break; its properties end at a comma or colon too.

    >>> workflow_command("error", "50 %: a" + chr(10) + "b", file="a,b.md", line="")
    '::error file=a%2Cb.md::50 %25: a%0Ab'
    """

    def escaped(words: str) -> str:
        return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    named = (f"{k}={escaped(v).replace(':', '%3A').replace(',', '%2C')}" for k, v in properties.items() if v)
    return f"::{level} {','.join(named)}::{escaped(text)}"
