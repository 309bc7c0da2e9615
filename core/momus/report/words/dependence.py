"""On which documents differences depend: what goes with those that are broken, and what one document carries."""

from __future__ import annotations

from collections.abc import Sequence

from momus.joint.dependence import Dependence
from momus.report.safe import one_line
from momus.report.words.format import rounded
from momus.text.counting import counted, joined

AXES = 3
"""Axes that a sentence names."""


def dependence_lines(dependences: Sequence[Dependence]) -> list[str]:
    """What goes with the documents that were told as broken, and what one other document carries: a sentence each.

    >>> row = "new", "length", "length", "mean"
    >>> dependence_lines([Dependence(*row, "", 0.1, 0.3, 0.002)])
    ['Without them, new does not differ in length.']
    >>> dependence_lines([Dependence(*row, "a512", 0.4, 0.3, 0.002)])
    ['1 document of new carries a difference (a512): without it, new does not differ in length.']
    """
    by_text: dict[str, list[str]] = {}
    for d in dependences:
        if not d.document:
            by_text.setdefault(d.generated, []).append(d.axis)
    said = [f"{one_line(name, 40)} does not differ in {_listed(axes)}" for name, axes in by_text.items()]
    return ([f"Without them, {'; '.join(said)}."] if said else []) + _carried([d for d in dependences if d.document])


def _carried(dependences: Sequence[Dependence]) -> list[str]:
    """One sentence on the document that carries most axes."""
    by_document: dict[tuple[str, str], list[Dependence]] = {}
    for d in dependences:
        by_document.setdefault((d.generated, d.document), []).append(d)
    if not by_document:
        return []
    (text, document), rows = max(by_document.items(), key=lambda of: (sum(d.vanishes for d in of[1]), len(of[1])))
    name, gone = one_line(text, 40), [d.axis for d in rows if d.vanishes]
    what = f"{name} does not differ in {_listed(gone)}"
    if not gone:
        most = max(rows, key=lambda d: abs(1 - d.left))
        what = f"the difference in {most.axis} is {rounded(most.left)} times as large"
    several = "differences" if len(rows) > 1 else "a difference"
    return [f"1 document of {name} carries {several} ({one_line(document, 24)}): without it, {what}."]


def _listed(axes: Sequence[str]) -> str:
    rest = len(axes) - AXES
    return joined([*axes[:AXES], counted(rest, "other axis", "other axes")] if rest > 0 else axes, "or")
