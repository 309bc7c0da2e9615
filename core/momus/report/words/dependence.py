"""On which documents differences depend: what goes with those that are broken, and what one document carries."""

from __future__ import annotations

from collections.abc import Sequence

from momus.joint.dependence import Dependence
from momus.report.safe import one_line
from momus.report.words.format import rounded
from momus.text.counting import counted, joined

AXES = 3
"""Axes that a sentence names."""


def dependence_lines(dependences: Sequence[Dependence], single: bool = False) -> list[str]:
    """What goes with the documents that were told as broken, or that ``single`` one, and what one other carries.

    >>> row = "new", "length", "length", "mean"
    >>> dependence_lines([Dependence(*row, "", 0.1, True)])
    ['Without them, new does not differ in length.']
    >>> dependence_lines([Dependence(*row, "a512", 2.1, False)])
    ['1 document of new carries a difference (a512): without it, that in length is 2.1 times as large.']
    """
    by_text, by_document = dict[str, list[Dependence]](), dict[tuple[str, str], list[Dependence]]()
    for d in dependences:
        if d.document:
            by_document.setdefault((d.generated, d.document), []).append(d)
        else:
            by_text.setdefault(d.generated, []).append(d)
    without = "; ".join(map(_alike, by_text.values()))
    lines = [f"Without {'it' if single else 'them'}, {without}."] if without else []
    for most in sorted(by_document.values(), key=lambda of: -sum(d.vanishes for d in of))[:1]:
        d, gone = max(most, key=lambda d: abs(1 - d.left)), [d for d in most if d.vanishes]
        what = _alike(gone) if gone else f"that in {d.axis} is {rounded(d.left)} times as large"
        text, document = one_line(d.generated, 40), one_line(d.document, 24)
        lines.append(f"1 document of {text} carries a difference ({document}): without it, {what}.")
    return lines


def _alike(dependences: Sequence[Dependence]) -> str:
    axes, rest = [d.axis for d in dependences], len(dependences) - AXES
    listed = [*axes[:AXES], counted(rest, "other axis", "other axes")] if rest > 0 else axes
    return f"{one_line(dependences[0].generated, 40)} does not differ in {joined(listed, 'or')}"
