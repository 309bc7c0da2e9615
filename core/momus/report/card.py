"""What critics say of a generated text, as a section of its data card in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from momus.errors import UsageError
from momus.files import replace_file
from momus.report.answer import Answer, Cell, answer_of
from momus.report.format import number
from momus.report.markdown import escaped, markdown_table
from momus.report.sentences import axes, says_what
from momus.report.trust_line import trust_items
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.runs.result import Comparison

BEGIN, END = "<!-- momus: begin -->", "<!-- momus: end -->"
"""What a card has around the section, so that it can be replaced."""
HEADING = "## What critics say of this data"
HEADS = ("axis", "gap in human bands", "95 % interval", "p (adjusted)", "n", "finding")
_SECTION = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def card_markdown(comparison: Comparison, corpus: str | None = None) -> str:
    """Write the section of one generated corpus.

    Parameters
    ----------
    corpus
        Name of the corpus; default: the only one.

    Raises
    ------
    UsageError
        There is no such corpus, or there are several and none is named.
    """
    answer = answer_of(comparison)
    name = _chosen(answer, corpus)
    cells = {a.axis: c for a in answer.axes for c in a.cells if c.generated == name}
    totals = next(c for c in answer.corpora if c.generated == name)
    confidence = comparison.signature.get("confidence", 0.95)
    heads = tuple(h.replace("95", f"{100 * confidence:g}") for h in HEADS)
    summary = (
        f"Compared with human text, this text differs on {totals.differs} of {axes(totals.tested)}, and is beyond "
        f"human variation on {totals.beyond}. A gap of 1 is as far as human text lies from human text."
    )
    blocks = [
        HEADING,
        escaped(summary),
        markdown_table(heads, [_row(axis, cell) for axis, cell in cells.items()]),
        "\n".join(f"* **{escaped(axis)}:** {escaped(says_what(cell))}." for axis, cell in cells.items()),
        "\n".join(f"* {escaped(line)}" for line in _basis(comparison, name)),
        escaped("Critics test some axes only: a text that passes them all may still differ from human text."),
    ]
    return "\n\n".join([BEGIN, *(b for b in blocks if b), END]) + "\n"


def write_card(path: Path, section: str) -> bool:
    """Put the section into a card, in place of an earlier one or at the end; returns whether there was an earlier one.

    Raises
    ------
    UsageError
        The card has more than one such section.
    """
    card = path.read_text(encoding="utf-8") if path.exists() else ""
    found = len(_SECTION.findall(card))
    if found > 1 or card.count(BEGIN) != found:
        raise UsageError(
            f"{path}: the marks {BEGIN} and {END} do not enclose one section", hint="keep one pair of them, or none"
        )
    if found:
        replace_file(path, _SECTION.sub(lambda _: section.strip(), card))
    else:
        replace_file(path, f"{card.rstrip()}\n\n{section}" if card.strip() else section)
    return bool(found)


def _chosen(answer: Answer, corpus: str | None) -> str:
    names = [c.generated for c in answer.corpora]
    if corpus is None and len(names) == 1:
        return names[0]
    if corpus not in names:
        what = "no text is named" if corpus is None else f"no generated text is called {corpus!r}"
        raise UsageError(f"{what}, and the run has {', '.join(map(repr, names))}", hint="name one of them")
    return corpus


def _row(axis: str, cell: Cell) -> tuple[str, ...]:
    v = cell.headline
    gap, interval = v.gap, v.gap_interval
    return (
        axis,
        "–" if gap is None or v.p_adjusted is None else f"{gap:.1f}",
        "–" if interval is None or v.p_adjusted is None else f"{interval[0]:.1f} to {interval[1]:.1f}",
        "–" if v.p_adjusted is None else number(v.p_adjusted),
        f"{v.n_generated:,} against {v.n_real:,}",
        v.finding,
    )


def _basis(comparison: Comparison, name: str) -> Iterator[str]:
    """What the section rests on: documents, doubts, warnings, and how to repeat it."""
    signature = comparison.signature
    corpora = {c["name"]: c for c in signature["corpora"]}
    prints = ", ".join(f"{n} {corpora[n]['fingerprint']}" for n in ("real", name) if n in corpora)
    yield f"Documents: {counted(corpora[name]['documents'], 'generated document')}; digests of the texts: {prints}"
    for item in trust_items(comparison):
        if item.label != "documents":
            yield f"{'' if item.ok else 'Doubtful – '}{item.label}: {item.text}"
    for warning in comparison.warnings:
        yield f"Note: {warning}"
    yield f"Made with Momus {signature['momus']}, seed {signature['seed']}"
