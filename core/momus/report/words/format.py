"""Formats of numbers and tables in the terminal, Markdown and reports, and what readers are told the real text is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.box import HEAVY_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from momus.report.safe import one_line
from momus.visible import safe_console

HUMAN = "human text"
"""What readers are told that the real text is."""


def number(value: float | None) -> str:
    """Format a number with four significant digits and thousands separators, None as a dash.

    >>> number(1234.5), number(0.012345), number(None), number(0.0)
    ('1,234', '0.01235', '–', '0')
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rounded(value: float | None, *others: float | None) -> str:
    """A number as sentences have it: whole from 10 on, else with two significant digits; more where others look alike.

    >>> rounded(34.17, 40.73), rounded(2.188, 0.9999), rounded(1.209, 1.25), rounded(0.5, 0.5), rounded(None)
    ('34', '2.2', '1.21', '0.5', '–')
    """
    if value is None:
        return "–"
    for digits in range(2, 5):
        texts = [_digits(x, digits) for x in (value, *(o for o in others if o is not None and o != value))]
        if len(set(texts)) == len(texts):
            break
    return texts[0].replace("-", "−") if value < 0 else texts[0]


def compared(value: float, other: float) -> str:
    """A number beside another one, with digits enough that a reader who divides them finds the change that is told.

    >>> compared(1.26, 1.23), compared(1.23, 1.26), compared(34.17, 40.73)
    ('1.26', '1.23', '34')
    """
    texts = [rounded(value, other), rounded(other, value)]
    if value * other > 0:
        true = value / other - 1
        for digits in range(2, 5):
            shown = float(_digits(value, digits).replace(",", "")) / float(_digits(other, digits).replace(",", "")) - 1
            if abs(shown - true) <= max(0.01, 0.08 * abs(true)):
                break
            texts = [_digits(x, digits + 1).replace("-", "−") for x in (value, other)]
    return texts[0]


def percent(share: float, *others: float) -> str:
    """A share in percent as `rounded` writes it.

    >>> percent(0.012, 0.0104), percent(0.65, 0.8)
    ('1.2 %', '65 %')
    """
    return f"{rounded(100 * share, *(100 * other for other in others))} %"


def _digits(value: float, digits: int) -> str:
    """A number with so many significant digits; those of its whole part are not rounded away."""
    if value == 0:
        return "0"
    decimals = max(0, digits - len(str(int(abs(value))))) if abs(value) >= 10 else None
    return f"{value:.{digits}g}" if decimals is None else f"{value:,.{decimals}f}"


def p_value(p: float | None) -> str:
    """Format a p-value with two significant digits, None as a dash.

    >>> p_value(0.00012), p_value(None)
    ('0.00012', '–')
    """
    return "–" if p is None else f"{p:.2g}"


def signed_percent(change: float) -> str:
    """A relative change with its sign.

    >>> signed_percent(-0.18), signed_percent(0.0921), signed_percent(11.2)
    ('−18 %', '+9.2 %', '+1,120 %')
    """
    size = abs(100 * change)
    digits = f"{size:,.0f}" if size >= 10 else f"{size:.2g}"
    return ("−" if change < 0 else "+") + digits + " %"


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str | Text]], align: str, *, narrow: bool = False
) -> Table:
    """A table for the terminal; a cell is one line of any text, in which nothing is markup, or a styled text.

    Parameters
    ----------
    align
        ``l`` or ``r`` for each column; the last one stands for those that follow.
    narrow
        Whether the table must fit 80 columns: without lines, and only the left columns before the first right one wrap.
    """
    table = Table(
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        box=None if narrow else HEAVY_HEAD,
        padding=(0, 1, 0, 0) if narrow else (0, 1),
    )
    wrapped = (align + "r").index("r") if narrow else len(heads)
    for i, name in enumerate(heads):
        right = align[min(i, len(align) - 1)] == "r"
        table.add_column(name, justify="right" if right else "left", no_wrap=i >= wrapped, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(c, 60 if narrow else 2000)) if isinstance(c, str) else c for c in row))
    return table


def plain_text(view: RenderableType, width: int) -> str:
    """What a view shows on a terminal of this width, without colours."""
    console = safe_console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$@])")


def markdown(text: object) -> str:
    r"""One line of text in which nothing is markup, neither of Markdown nor of HTML.

    >>> print(markdown("a_b|<script>\n# x & `y`"))
    a\_b\|&lt;script&gt; \# x &amp; \`y\`
    """
    plain = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?i)\b(https?)://", r"\1&#58;//", _MARKDOWN.sub(r"\\\1", plain))


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A pipe table; the first column is aligned left, the others right.

    >>> print(markdown_table(("axis", "a|b"), [("length", "2.1**")]))
    | axis | a\|b |
    |:-----|-----:|
    | length | 2.1\*\* |
    """
    texts = ["| " + " | ".join(markdown(cell) for cell in line) + " |" for line in (heads, *rows)]
    rule = "|" + "|".join([":-----", *["-----:"] * (len(heads) - 1)]) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])
