"""A comparison as a LaTeX table, with the documents of each row, the word beside each arrow, and the warnings."""

from __future__ import annotations

import re

from momus.report.safe import one_line
from momus.report.words.against import legend as against_legend
from momus.report.words.sentences import axes, legend
from momus.report.words.table import SIZES, cell_text, overview, taking_part
from momus.report.words.trust import trust_items
from momus.runs.answer import Answer, AxisAnswer, answer_of
from momus.runs.result import Results
from momus.text.counting import percentage

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
    answer, against = answer_of(comparison), comparison.against
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
    key = legend(answer) if against is None else against_legend(answer, against)
    caption = " ".join(latex(f"{s[0].upper()}{s[1:].rstrip('.')}.") for s in (_caption(comparison, answer), *key))
    float_ = "table" if len(names) <= COLUMN else "table*"
    return "\n".join(
        [
            "% needs \\usepackage{array,booktabs}",
            rf"\begin{{{float_}}}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{{_columns(len(names), sized)}}}",
            r"\toprule",
            " & ".join(latex(n) for n in ("axis", *names, *([SIZES] * sized))) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            *_notes(comparison),
            rf"\end{{{float_}}}",
            "",
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
    """
    return "".join(_LATEX.get(c, c) for c in one_line(text))
