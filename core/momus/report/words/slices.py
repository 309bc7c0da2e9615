"""Slices and wins in words: where a difference lives, a table of slices, and on how many prompts a statistic rose."""

from __future__ import annotations

from collections.abc import Sequence

from momus.evidence import Wording
from momus.joint.partners import Win
from momus.joint.slices import Slice, Slices
from momus.report.safe import one_line
from momus.report.words.blocks import Columns, PrintedBlock, table_block
from momus.report.words.findings import statistic_name
from momus.report.words.format import compared, p_value, percent, rounded, signed_percent
from momus.text.counting import counted, joined

COLUMNS, ROWS, NAMED, TOLD = 3, 12, 3, 3
"""Statistics and slices in the short table; slices named in a sentence; wins in a sentence."""
MOSTLY = 0.9
"""Share of the prompts that differ from which on a win says more than a mean."""


def slice_sentences(slices: Sequence[Slices], reference: str) -> list[str]:
    """Where the difference lives: the slices of each field and text that stand out."""
    return [_standing_out(s, cells, reference) for s in slices if (cells := s.outstanding())]


def alike_sentences(slices: Sequence[Slices]) -> list[str]:
    """Of which field no slice stands out, and which slices are too small to be tested."""
    lines = []
    for s in slices:
        if s.cells and not s.outstanding():
            tested = len({c.name for c in s.cells})
            of = f" in {one_line(s.generated, 60)}" if len({x.generated for x in slices}) > 1 else ""
            alike = f"all {tested} move alike, as far as is seen"
            lines.append(f"No slice of {one_line(s.by, 40)} stands out{of}: {alike}.")
        if s.small:
            names = [one_line(n, 40) for n in s.small[:NAMED]]
            more = [f"{len(s.small) - NAMED} more"] if len(s.small) > NAMED else []
            lines.append(f"Too small to test: {joined([*names, *more])}.")
    return lines


def _standing_out(s: Slices, cells: Sequence[Slice], reference: str) -> str:
    names = list(dict.fromkeys(c.name for c in cells))
    # of slices that are as sure, the one first that changed most
    first = sorted((next(c for c in cells if c.name == name) for name in names), key=lambda c: -abs(_change(c)))
    told = joined([moved(c, _answers(s, c), reference) for c in first[:NAMED]])
    others = any(c.p <= s.alpha for c in s.cells if c.name not in names)
    more = f", and in {counted(len(names) - NAMED, 'more slice', 'more slices')}" if len(names) > NAMED else ""
    every = len(names) == len({c.name for c in s.cells})
    start = "differs most in" if others else "differs in every slice, most in" if every else "differs only in"
    return f"By {one_line(s.by, 40)}, {one_line(s.generated, 60)} {start} {told}{more}."


def _change(c: Slice) -> float:
    return c.difference if c.wording.format == "share" else relative(_values(c)) or 0.0


def _answers(s: Slices, c: Slice) -> int:
    """Answers of all slices that have a statistic."""
    return sum(o.n_generated for o in s.cells if (o.critic, o.statistic) == (c.critic, c.statistic))


def moved(c: Slice, of: int, reference: str) -> str:
    """What a slice does, such as ``code, 20 of 200 answers: 40 % shorter (mean length 60 words, old: 100)``."""
    n = f"{c.n_generated:,} of {counted(of, 'answer')}"
    return f"{one_line(c.name, 40)}, {n}: {change_words(c.statistic, c.wording, _values(c), reference)}"


def change_words(name: str, wording: Wording, values: tuple[float, float], reference: str) -> str:
    """The change of a statistic, from its values in the reference and in the text.

    >>> change_words("mean_length", Wording("mean length", ("shorter", "longer"), "words"), (100.0, 60.0), "old")
    '40 % shorter (mean length 60 words, old: 100)'
    """
    old, new = values
    direction = (wording.direction or ("lower", "higher"))[new > old]
    share = wording.format == "share"
    change = None if share else relative(values)
    amount = "" if change is None else f"{signed_percent(abs(change))[1:]} "
    shown, beside = ((percent if share else compared)(*pair) for pair in ((new, old), (old, new)))
    unit = f" {wording.unit}" if wording.unit and not share else ""
    label = statistic_name(name, wording)
    return f"{amount}{direction} ({label} {shown}{unit}, {one_line(reference, 40)}: {beside})"


def _values(c: Slice) -> tuple[float, float]:
    return c.real_value, c.generated_value


def relative(values: tuple[float, float]) -> float | None:
    """Relative difference from the first value; None where it means nothing."""
    old, new = values
    return None if old <= 0 or new < 0 else new / old - 1


def slice_blocks(slices: Sequence[Slices], every: bool = True) -> list[PrintedBlock]:
    """Slices × statistics, one table per field and text; without ``every``, those of most to say."""
    blocks = []
    several = len({s.generated for s in slices}) > 1
    for s in (s for s in slices if s.cells):
        columns = _columns(s)[: None if every else COLUMNS]
        by_place = {(c.name, (c.critic, c.statistic)): c for c in s.cells}
        sizes = {
            name: max(c.size for c in s.cells if c.name == name) for name in dict.fromkeys(c.name for c in s.cells)
        }
        names = sorted(sizes, key=lambda n: -sizes[n])
        shown = names if every else names[:ROWS]
        labels = [statistic_name(c.statistic, c.wording) for c in columns]
        keys = [(c.critic, c.statistic) for c in columns]
        rows = []
        for name in shown:
            cells = [by_place.get((name, key)) for key in keys]
            count = next((c.n_generated for c in s.cells if c.name == name), 0)
            rows.append((one_line(name, 40), f"{count:,}", *(_cell(c, s.alpha) for c in cells)))
        left = len(names) - len(shown)
        notes = ["↑ ↓ significantly higher, lower; ! apart from the other slices. Simultaneous over all cells."]
        notes += [f"{left} more slices in the report."] if left else []
        notes += [f"Too small to test: {joined([one_line(n, 40) for n in s.small])}."] if s.small else []
        of = f" of {one_line(s.generated, 40)}" if several else ""
        blocks.append(PrintedBlock(f"By {one_line(s.by, 40)}{of}", (), (s.by, "n", *labels), rows, notes, "lr"))
    return blocks


def _columns(s: Slices) -> list[Slice]:
    """The largest cell of each statistic, those that stand out and can be counted first."""
    largest: dict[tuple[str, str], Slice] = {}
    for c in sorted(s.cells, key=lambda c: (not c.stands_out(s.alpha), -c.size)):
        largest.setdefault((c.critic, c.statistic), c)
    return sorted(
        largest.values(), key=lambda c: (not c.stands_out(s.alpha), not c.wording.concrete, not c.leading, -c.size)
    )


def _cell(c: Slice | None, alpha: float) -> str:
    if c is None:
        return "–"
    change = relative(_values(c))
    if not c.difference:
        text = "0"
    elif c.wording.format == "share":
        text = f"{100 * c.difference:+.1f} pp".replace("-", "−")
    else:
        text = rounded(c.difference) if change is None else signed_percent(change)
    arrow = ("↓", "↑")[c.difference > 0] if c.p <= alpha else ""
    return f"{text}{arrow}{'!' * c.stands_out(alpha)}"


def win_sentences(wins: Sequence[Win], alpha: float) -> list[str]:
    """On how many prompts a text has more of a statistic, if nearly all that differ do so in one direction."""
    lines = []
    for name in dict.fromkeys(w.generated for w in wins):
        sure = [w for w in wins if w.generated == name and w.p_adjusted <= alpha and w.wording.direction]
        sure = [w for w in sure if _one_sided(w) >= MOSTLY]
        sure.sort(key=lambda w: (not w.wording.concrete, -max(w.more, w.fewer)))
        parts = list(dict.fromkeys(map(win_words, sure)))[:TOLD]
        if parts:
            lines.append(f"Prompt by prompt, {one_line(name, 60)} is {joined(parts)}.")
    return lines


def _one_sided(w: Win) -> float:
    return max(w.more, w.fewer) / max(w.more + w.fewer, 1)


def win_words(w: Win) -> str:
    """A win, such as ``longer in 180 of 200 pairs (10 ties)``."""
    rises = w.more > w.fewer
    ties = f" ({counted(w.ties, 'tie')})" if w.ties else ""
    return f"{w.wording.direction[rises]} in {max(w.more, w.fewer):,} of {w.prompts:,} pairs{ties}"


def wins_block(wins: Sequence[Win]) -> PrintedBlock:
    """All wins as one table."""
    columns: Columns[Win] = [
        ("axis", lambda w: w.axis),
        ("statistic", lambda w: statistic_name(w.statistic, w.wording)),
        ("text", lambda w: w.generated),
        ("higher", lambda w: f"{w.more:,}"),
        ("lower", lambda w: f"{w.fewer:,}"),
        ("ties", lambda w: f"{w.ties:,}"),
        ("share higher", lambda w: f"{percent(w.share)} [{percent(w.low)}, {percent(w.high)}]"),
        ("p (adjusted)", lambda w: p_value(w.p_adjusted)),
    ]
    note = "Prompts on which the text is higher than the reference; sign test, adjusted over all statistics of a text."
    return table_block("Prompt by prompt", wins, columns, "lllr", note)
