"""Formats of numbers in tables and reports, and the name that readers are told of the real text."""

from __future__ import annotations

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
