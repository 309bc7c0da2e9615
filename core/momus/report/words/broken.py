"""The lines with which a report begins: what is broken in which documents, and which answers are unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from momus.against.versions import Unchanged
from momus.joint.slices import Slices
from momus.report.safe import one_line
from momus.report.words.format import HUMAN, percent
from momus.runs.findings import Broken
from momus.text.counting import counted, text_of

IDS, EACH = 3, 2
"""Documents that are named, and faults in a line; there are two lines at most."""


def broken_lines(broken: Sequence[Broken], reference: str = "real", slices: Sequence[Slices] = ()) -> list[str]:
    """What is broken, in two lines at most, each fault with its share, that of the reference, and documents.

    Of slices, the one is told that has the largest share, if it stands out.

    >>> from momus.evidence import Faulty
    >>> fault = Faulty("broken-off", "broken_off_share", "break off", (4, 200), (68, 200), ["a3", "a17"])
    >>> broken_lines([Broken("new", fault, 0.278, 0.408, 1e-9)], "old")
    ['Broken: 34 % of new break off (28 to 41 %; old: 2 %; a3, a17 …).']
    """
    lines = []
    for start in range(0, min(len(broken), 2 * EACH), EACH):
        rest = len(broken) - 2 * EACH if start else 0
        also = f" · {counted(rest, 'fault')} more" if rest > 0 else ""
        said = " · ".join(_said(b, reference, slices) for b in broken[start : start + EACH])
        lines.append(f"{'Also broken' if start else 'Broken'}: {said}{also}.")
    return lines


def _said(b: Broken, reference: str, slices: Sequence[Slices]) -> str:
    fault, name = b.fault, one_line(b.generated, 40)
    if b.alone:
        return (
            f"1 document of {name} says “{one_line(fault.quotes[0], 40)}” {fault.times:,} times ({_ids(fault.ids, 1)})"
        )
    of = one_line(text_of(reference, HUMAN), 40)
    old = percent(b.reference_share, b.share)
    interval = f"{percent(b.low, b.high).removesuffix(' %')} to {percent(b.high, b.low)}"
    share = percent(b.share, b.reference_share)
    which = f"; {_ids(fault.ids, fault.generated[0])}" if fault.ids else ""
    if not fault.of:  # copies depend on each other: they have a number, and no interval
        return f"{fault.generated[0]:,} of {fault.generated[1]:,} of {name} {fault.clause} ({of}: {old}{which})"
    cells = [
        c
        for s in slices
        for c in s.cells
        if (c.critic, c.statistic, s.generated) == (b.critic, fault.of, b.generated) and c.stands_out(s.alpha)
    ]
    most = max(cells, key=lambda c: c.generated_value, default=None)
    where = "" if most is None else f"; in {one_line(most.name, 40)} {percent(most.generated_value)}"
    return f"{share} of {name} {fault.clause} ({interval}; {of}: {old}{where}{which})"


def _ids(ids: Sequence[str], documents: int) -> str:
    shown = ", ".join(one_line(i, 24) for i in ids[:IDS])
    return f"{shown} …" if documents > min(len(ids), IDS) else shown


def unchanged_lines(unchanged: Sequence[Unchanged]) -> list[str]:
    """How many answers changed, where some did not: the first thing that a comparison of versions says.

    >>> unchanged_lines([Unchanged("new", 200, 190, 41.0, ("a3", "a17"))])
    ['new changed 10 of 200 answers; those part at word 41 (median; a3, a17 …).']
    """
    lines = []
    for u in unchanged:
        name, changed = one_line(u.generated, 40), u.pairs - u.equal
        if not changed:
            lines.append(f"{name} changed none of {counted(u.pairs, 'answer')}.")
            continue
        where = "" if u.word is None else f"; those part at word {u.word:,.0f} (median; {_ids(u.ids, changed)})"
        lines.append(f"{name} changed {changed:,} of {counted(u.pairs, 'answer')}{where}.")
    return lines
