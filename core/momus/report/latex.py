"""The overview of a comparison as a LaTeX table, which needs the package ``booktabs``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momus.report.answer import answer_of
from momus.report.safe import one_line
from momus.report.sentences import first_sentences, legend
from momus.report.table import Row, overview

if TYPE_CHECKING:
    from momus.runs.result import Comparison

_SPECIAL = {
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


def comparison_latex(comparison: Comparison) -> str:
    """Write the overview table as a ``table`` float, with the answer as its caption."""
    answer = answer_of(comparison)
    table = overview(answer)
    caption = " ".join(escaped(s) for s in [*first_sentences(answer), *(f"{s.rstrip('.')}." for s in legend(answer))])
    groups = [table.axes, table.ranks] if table.ranks else [table.axes]
    body = "\n\\midrule\n".join("\n".join(_line(row) for row in rows) for rows in groups)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{l{'r' * len(table.names)}}}",
            r"\toprule",
            " & ".join(escaped(n) for n in ("axis", *table.names)) + r" \\",
            r"\midrule",
            body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _line(row: Row) -> str:
    return " & ".join(escaped(cell) for cell in (row.label, *row.cells)) + r" \\"


def escaped(text: object) -> str:
    r"""One line of text in which nothing is a command.

    >>> print(escaped("50 % of\n\\input{x} a_b ↑"))
    50 \% of \textbackslash{}input\{x\} a\_b $\uparrow$
    """
    return "".join(_SPECIAL.get(c, c) for c in one_line(text))
