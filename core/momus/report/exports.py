"""A comparison in other forms: Markdown, a section of a data card, a LaTeX table, and JSON for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.errors import UsageError
from momus.outputs import edit_text
from momus.ownership import Kind, check_output
from momus.report.against import first_sentences as against_sentences
from momus.report.against import legend as against_legend
from momus.report.against_view import against_markdown
from momus.report.answer import Answer, AxisAnswer, Cell, answer_of, overuse_of
from momus.report.format import markdown, markdown_table, number
from momus.report.safe import one_line
from momus.report.sentences import axes, first_sentences, largest_gaps, legend, overuse_lines, says_what
from momus.report.table import cell_text, overview
from momus.report.trust_line import trust_items
from momus.text.counting import counted, joined, percentage

if TYPE_CHECKING:
    from momus.joint.versions import Against
    from momus.runs.result import Comparison

BEGIN, END = "<!-- momus: begin -->", "<!-- momus: end -->"
"""What a card has around the section, so that it can be replaced."""
COLUMN = 2
"""Texts that a LaTeX table has room for in one column of a paper of two; with more, it spans both."""
HEADING = "## What critics say of this data"
HEADS = ("axis", "gap in human bands", "95 % interval", "p (adjusted)", "n", "finding")
_SECTION = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # else an option, after \\ of the row before
    "]": "{]}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "÷": r"$\div$",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "·": r"$\cdot$",
    "–": "--",
    "…": r"\dots{}",
}


def comparison_markdown(comparison: Comparison) -> str:
    """Write the answer, what it rests on, the overview table, the largest gaps, over-used text, and the warnings."""
    if comparison.against is not None:
        return against_markdown(comparison, comparison.against)
    answer = answer_of(comparison)
    table = overview(answer)
    trust = " · ".join(("" if i.ok else "**!** ") + markdown(f"{i.label}: {i.text}") for i in trust_items(comparison))
    named = [*largest_gaps(answer), *overuse_lines(overuse_of(comparison.results, answer))]
    gaps = [f"* **{markdown(name)}:** {markdown(sentence)}." for name, sentence in named]
    notes = [f"* Note: {markdown(w)}" for w in comparison.warnings]
    blocks = [
        " ".join(markdown(s) for s in first_sentences(answer)),
        trust,
        markdown_table(("axis", *table.names), [(r.label, *r.cells) for r in (*table.axes, *table.ranks)]),
        "  \n".join(markdown(line) for line in legend(answer)),
        "\n".join(gaps),
        "\n".join(notes),
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


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
    if comparison.against is not None:
        raise UsageError(
            "a card says how data differs from real text, and the reference of this run is text of a model",
            hint="compare with real text, not against that of a model",
        )
    answer = answer_of(comparison)
    name = _chosen(answer, corpus)
    cells = {a.axis: c for a in answer.axes for c in a.cells if c.generated == name}
    totals = next(c for c in answer.corpora if c.generated == name)
    confidence = comparison.signature.get("confidence", 0.95)
    heads = tuple(h.replace("95", f"{100 * confidence:g}") for h in HEADS)
    summary = (
        f"Compared with human text, this text differs on {totals.differs} of {axes(totals.tested)}, and is beyond "
        f"human variation on {totals.beyond}. 95 % of pairs of human authors lie within a gap of 1."
    )
    blocks = [
        HEADING,
        markdown(summary),
        markdown_table(heads, [_card_row(axis, cell) for axis, cell in cells.items()]),
        "\n".join(f"* **{markdown(axis)}:** {markdown(says_what(cell))}." for axis, cell in cells.items()),
        "\n".join(f"* {markdown(line)}" for line in _basis(comparison, name)),
        markdown("Critics test some axes only: a text that passes them all may still differ from human text."),
    ]
    return "\n\n".join([BEGIN, *(b for b in blocks if b), END]) + "\n"


CARD = Kind(
    "a card in Markdown",
    lambda path: path.suffix in ("", ".md", ".markdown", ".mdx", ".txt") and path.read_bytes()[:1] not in (b"{", b"["),
)


def write_card(path: Path, section: str) -> bool:
    """Put the section into a card, in place of an earlier one or at the end; returns whether there was an earlier one.

    Raises
    ------
    UsageError
        The card has more than one such section.
    StoreError
        The path is no card: a part of a run, JSON, a device, ….
    """
    check_output(path, CARD)
    card = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    sections = len(_SECTION.findall(card))
    if sections > 1 or card.count(BEGIN) != sections:
        raise UsageError(
            f"{path}: the marks {BEGIN} and {END} do not enclose one section", hint="keep one pair of them, or none"
        )
    if sections:
        edit_text(path, _SECTION.sub(lambda _: section.strip(), card))
    else:
        edit_text(path, f"{card.rstrip()}\n\n{section}" if card.strip() else section)
    return bool(sections)


def _chosen(answer: Answer, corpus: str | None) -> str:
    names = [c.generated for c in answer.corpora]
    if corpus is None and len(names) == 1:
        return names[0]
    if corpus not in names:
        what = "no text is named" if corpus is None else f"no generated text is called {corpus!r}"
        raise UsageError(
            f"{what}, and the run has {', '.join(map(repr, names))}",
            hint=f"name one of them with {arg('corpus')}",
        )
    return corpus


def _card_row(axis: str, cell: Cell) -> tuple[str, ...]:
    v = cell.row
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


def comparison_latex(comparison: Comparison, label: str = "tab:momus") -> str:
    r"""Write the overview table as a ``table`` float with a caption that says what it shows, and a ``\label``.

    Each cell is a gap in human bands with its interval, and the signs of the overview.
    """
    answer, against = answer_of(comparison), comparison.against
    names = [c.generated for c in answer.corpora]
    rows = [(axis.axis, *(_latex_cell(axis, name) for name in names)) for axis in answer.axes]
    ranks = [(latex(row.label), *map(latex, row.cells)) for row in overview(answer).ranks]
    body = "\n\\midrule\n".join(
        "\n".join(" & ".join(cells) + r" \\" for cells in block)
        for block in ([(latex(axis), *cells) for axis, *cells in rows], ranks)
        if block
    )
    key = legend(answer) if against is None else against_legend(answer, against)
    caption = " ".join(latex(f"{s[0].upper()}{s[1:].rstrip('.')}.") for s in (_caption(comparison, answer), *key))
    float_ = "table" if len(names) <= COLUMN else "table*"
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            rf"\begin{{{float_}}}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{l{'r' * len(names)}}}",
            r"\toprule",
            " & ".join(latex(n) for n in ("axis", *names)) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\end{{{float_}}}",
            "",
        ]
    )


def _caption(comparison: Comparison, answer: Answer) -> str:
    """What the table shows, of how many documents, and how it was tested."""
    signature = comparison.signature
    documents = {c["name"]: c["documents"] for c in signature["corpora"]}
    reference = "human text" if comparison.against is None else comparison.against.reference
    sizes = joined([f"{documents[name]:,} of {name}" for name in (c.generated for c in answer.corpora)])
    real = next(c["documents"] for c in signature["corpora"] if c["role"] == "real")
    return (
        f"Distance of generated texts from {reference} on {axes(len(answer.axes))}, with "
        f"{percentage(signature['confidence'], 0)} intervals in brackets ({real:,} documents of {reference}, {sizes}; "
        f"permutation tests, p adjusted: {signature['multiplicity']})"
    )


def _latex_cell(axis: AxisAnswer, generated: str) -> str:
    """A gap with its signs and its interval in small type."""
    cell = next((c for c in axis.cells if c.generated == generated), None)
    if cell is None:
        return "n/a"
    interval = cell.row.gap_interval if cell.row.p_adjusted is not None else None
    small = "" if interval is None else rf" {{\scriptsize [{interval[0]:.1f}, {interval[1]:.1f}]}}"
    return latex(cell_text(cell)) + small


def latex(text: object) -> str:
    r"""One line of text in which nothing is a command.

    >>> print(latex("50 % of\n\\input{x} a_b ↑"))
    50 \% of \textbackslash{}input\{x\} a\_b $\uparrow$
    """
    return "".join(_LATEX.get(c, c) for c in one_line(text))


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The answer, what it rests on, all verdicts, joint analyses, warnings and the signature of a comparison.

    All values are plain lists, strings and finite numbers; a number that does not exist is None.
    """
    against = comparison.against
    return {
        "answer": answer_json(answer_of(comparison), against),
        "trust": [asdict(item) for item in trust_items(comparison)],
        "verdicts": comparison.rows(),
        "pairs": [v.row() for v in comparison.pairs],
        "parts": {r.name: r.parts.to_json() for r in comparison.results if r.parts is not None},
        "joint": comparison.joint.to_json(),
        **({} if against is None else {"against": asdict(against)}),
        "warnings": list(comparison.warnings),
        "signature": comparison.signature,
    }


def answer_json(answer: Answer, against: Against | None = None) -> dict[str, Any]:
    """The answer: its sentences, corpora from the nearest to the farthest, and axes by the size of the gap."""
    nearest = answer.nearest
    return {
        "sentences": first_sentences(answer) if against is None else against_sentences(answer, against),
        "nearest": None if nearest is None else nearest.generated,
        "tied": list(answer.tied),
        "corpora": [asdict(c) for c in answer.corpora],
        "axes": [_axis(axis) for axis in answer.axes],
    }


def _axis(axis: AxisAnswer) -> dict[str, Any]:
    cells = []
    for cell in axis.cells:
        v = cell.row
        cells.append(
            {
                "generated": cell.generated,
                "finding": v.finding,
                "gap": v.gap,
                "gap_interval": None if v.gap_interval is None else list(v.gap_interval),
                "p_adjusted": v.p_adjusted,
                "direction": cell.direction,
                "sign": cell.sign,
                "change": cell.change,
                "says": says_what(cell),
            }
        )
    return {"critic": axis.critic, "axis": axis.axis, "cells": cells}
