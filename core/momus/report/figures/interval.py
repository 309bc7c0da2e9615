"""Small inline pictures of intervals, one per row of a table."""

from __future__ import annotations

from momus.comparison.verdict import Verdict


def interval_picture(v: Verdict) -> str:
    """Draw the difference and its interval around a zero line, scaled to the row; empty without an interval."""
    if v.difference is None or v.low is None or v.high is None:
        return ""
    extent = 1.1 * max(abs(v.low), abs(v.high), abs(v.difference), 1e-300)
    low, high, middle = (60 + 56 * x / extent for x in (v.low, v.high, v.difference))
    return (
        '<svg class="interval" viewBox="0 0 120 14" aria-hidden="true">'
        '<line x1="60" y1="0" x2="60" y2="14" class="zero"/>'
        f'<line x1="{low:.1f}" y1="7" x2="{high:.1f}" y2="7" class="bar"/>'
        f'<circle cx="{middle:.1f}" cy="7" r="3"/></svg>'
    )
