"""A comparison in other forms: Markdown, JSON for programs, and a LaTeX table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from momus.against.versions import Against
from momus.report.safe import one_line
from momus.report.words.against import basis, blocks_of
from momus.report.words.blocks import markdown_blocks
from momus.report.words.format import markdown, markdown_table
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import axes, largest_gaps, legend, overuse_lines, says_what
from momus.report.words.slices import slice_blocks
from momus.report.words.table import SIZES, cell_text, overview, taking_part
from momus.report.words.trust import trust_items
from momus.runs.answer import Answer, AxisAnswer, answer_of
from momus.runs.overuse import overuse_of
from momus.runs.result import Results
from momus.text.counting import percentage


def comparison_markdown(comparison: Results) -> str:
    """Write the answer, what it rests on, the overview table, the largest gaps, over-used text, and the warnings."""
    if comparison.against is not None:
        return _against_markdown(comparison, comparison.against)
    answer = answer_of(comparison)
    table = overview(answer, words=True)
    sized = table.sizes_differ  # else one line says how many documents take part
    rows = [(r.label, *r.cells, *([r.size] * sized)) for r in (*table.axes, *table.ranks)]
    trust = " · ".join(("" if i.ok else "**!** ") + markdown(f"{i.label}: {i.text}") for i in trust_items(comparison))
    named = [*largest_gaps(answer), *overuse_lines(overuse_of(comparison.results, answer))]
    gaps = [f"* **{markdown(name)}:** {markdown(sentence)}." for name, sentence in named]
    notes = [f"* Note: {markdown(w)}" for w in comparison.warnings]
    blocks = [
        " ".join(markdown(s) for s in first_sentences(answer)),
        trust,
        markdown_table(("axis", *table.names, *([SIZES] * sized)), rows),
        "  \n".join(markdown(line) for line in (*legend(answer), f"n: {taking_part(answer)}")),
        "\n".join(gaps),
        "\n".join(notes),
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


def _against_markdown(comparison: Results, against: Against) -> str:
    """Write all blocks of a comparison with a model."""
    answer = answer_of(comparison)
    parts = [" ".join(markdown(s) for s in first_sentences(answer)), markdown(basis(comparison, against))]
    parts += markdown_blocks(blocks_of(answer, against, comparison.joint, words=True))
    parts += ["\n".join(f"* Note: {markdown(w)}" for w in comparison.warnings)] if comparison.warnings else []
    return "\n\n".join(parts) + "\n"


def comparison_json(comparison: Results) -> dict[str, Any]:
    """The answer, what it rests on, all verdicts, joint analyses, warnings and the signature of a comparison.

    All values are plain lists, strings and finite numbers; a number that does not exist is None.
    """
    answer, against = answer_of(comparison), comparison.against
    nearest = answer.nearest
    return {
        "answer": {
            "sentences": first_sentences(answer),
            "nearest": None if nearest is None else nearest.generated,
            "tied": list(answer.tied),
            # from the nearest to the farthest, and axes by the size of the gap
            "corpora": [asdict(c) for c in answer.corpora],
            "axes": [_axis(axis) for axis in answer.axes],
        },
        "trust": [asdict(item) for item in trust_items(comparison)],
        "verdicts": comparison.rows(),
        "pairs": [v.row() for v in comparison.pairs],
        "parts": {r.name: r.parts.to_json() for r in comparison.results if r.parts is not None},
        "joint": comparison.joint.to_json(),
        **({} if against is None else {"against": asdict(against)}),
        "warnings": list(comparison.warnings),
        "signature": comparison.signature,
    }


def _axis(axis: AxisAnswer) -> dict[str, Any]:
    cells = []
    for cell in axis.cells:
        v = cell.row
        cells.append(
            {
                "generated": cell.generated,
                "statistic": v.statistic,
                "finding": v.finding,
                "gap": v.gap,
                "gap_interval": None if v.gap_interval is None else list(v.gap_interval),
                "p_adjusted": v.p_adjusted,
                "n_real": v.n_real,
                "n_generated": v.n_generated,
                "direction": cell.direction,
                "sign": cell.sign,
                "change": cell.change,
                "says": says_what(cell),
            }
        )
    return {"critic": axis.critic, "axis": axis.axis, "cells": cells}


COLUMN = 2
"""Texts that a LaTeX table has room for in one column of a paper of two; with more, it spans both."""
LABEL, SIZE, CELLS, ALL = 0.28, 0.17, 0.62, 0.45
"""Shares of the width of the table: of names of axes, of numbers of documents, all cells, and the most for a cell."""
_UNKNOWN = re.compile("[^\\x00-\u024f\u2010-\u2026\u2191\u2193\u2212\u0394]")
"""What the usual fonts lack; warnings quote texts."""
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


def comparison_latex(comparison: Results, label: str = "tab:momus") -> str:
    r"""Write the overview table as a ``table`` float with a caption that says what it shows, and a ``\label``.

    Each cell is a gap in human bands with the signs of the overview, the word of the statistic where it has an arrow,
    and the interval. Where rows rest on different numbers of documents, a column says on how many; warnings are notes
    below the table.
    """
    answer = answer_of(comparison)
    table = overview(answer)
    sized, names = table.sizes_differ, [c.generated for c in answer.corpora]
    rows = [
        [latex(axis.axis), *(_latex_cell(axis, name) for name in names), latex(row.size)]
        for axis, row in zip(answer.axes, table.axes, strict=True)
    ]
    ranks = [[*map(latex, (r.label, *r.cells)), ""] for r in table.ranks]
    cells = 1 + len(names) + sized
    body = "\n\\midrule\n".join(
        "\n".join(" & ".join(row[:cells]) + r" \\" for row in block) for block in (rows, ranks) if block
    )
    caption = " ".join(
        latex(f"{s[0].upper()}{s[1:].rstrip('.')}.") for s in (_caption(comparison, answer), *legend(answer))
    )
    heads, wide = ("axis", *names, *([SIZES] * sized)), len(names) > COLUMN
    floats = [_float(wide, caption, label, _columns(len(names), sized), heads, body, _notes(comparison))]
    # slices × statistics, as on a terminal
    for n, block in enumerate(slice_blocks(comparison.joint.slices, every=False), 1):
        said = " ".join(latex(text) for text in (f"{block.title}.", *block.notes))
        body = "\n".join(" & ".join(map(latex, row)) + r" \\" for row in block.rows)
        floats.append(_float(True, said, f"{label}-slices-{n}", "lr" + "r" * (len(block.heads) - 2), block.heads, body))
    return "\n".join(["% needs \\usepackage{array,booktabs}", *floats, ""])


def _float(
    wide: bool, caption: str, label: str, columns: str, heads: Sequence[str], body: str, notes: Sequence[str] = ()
) -> str:
    float_ = "table*" if wide else "table"
    return "\n".join(
        [
            rf"\begin{{{float_}}}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(latex, heads)) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            rf"\end{{{float_}}}",
        ]
    )


def _columns(texts: int, sized: bool) -> str:
    """The columns: lines of names of axes and of cells are broken, since words stand beside arrows."""
    width = min(ALL, (CELLS - SIZE * sized) / texts)
    column = r">{\ragged%s\arraybackslash}p{%.3g\linewidth}"
    return column % ("right", LABEL) + column % ("left", width) * texts + "r" * sized


def _notes(comparison: Results) -> list[str]:
    """What to doubt, and the warnings, in small type below the table."""
    doubts = [f"Doubtful: {i.label}: {i.text}" for i in trust_items(comparison) if not i.ok]
    lines = [*doubts, *(f"Note: {warning}" for warning in comparison.warnings)]
    if not lines:
        return []
    texts = [latex(_UNKNOWN.sub("?", one_line(line, 2000))) + r"\par" for line in lines]
    return [r"\par\smallskip", r"\begin{minipage}{\linewidth}\scriptsize\raggedright", *texts, r"\end{minipage}"]


def _caption(comparison: Results, answer: Answer) -> str:
    """What the table shows, of how many documents, and how it was tested."""
    signature = comparison.signature
    reference = "human text" if comparison.against is None else comparison.against.reference
    return (
        f"Distance of generated texts from {reference} on {axes(len(answer.axes))}, with "
        f"{percentage(signature['confidence'], 0)} intervals in brackets ({taking_part(answer)}; "
        f"permutation tests, p adjusted: {signature['multiplicity']})"
    )


def _latex_cell(axis: AxisAnswer, generated: str) -> str:
    """A gap with its signs, the word of its arrow, and its interval in small type."""
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
    >>> print(latex("see --register"))
    see -{}-register
    """
    # two hyphens would become a dash
    return "-{}-".join("".join(_LATEX.get(c, c) for c in piece) for piece in one_line(text).split("--"))
