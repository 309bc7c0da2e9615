"""Sentences about the answer of a comparison; the only place where they are made."""

from __future__ import annotations

import re
from collections.abc import Sequence

from momus.arguments import arg
from momus.report.safe import one_line
from momus.report.words.findings import statistic_name
from momus.report.words.format import HUMAN, compared, p_value, percent, rounded, signed_percent
from momus.runs.answer import Answer, AxisAnswer, Cell
from momus.runs.findings import Finding
from momus.runs.overuse import NAMED, CorpusOveruse
from momus.runs.result import CriticResult
from momus.text.counting import counted, joined, text_of
from momus.verdicts.band import OWN, atlas
from momus.verdicts.verdict import Verdict

ARROWS = {1: "↑", -1: "↓", 0: ""}
WIDE = 10
"""Ratio of the ends of an interval from which it is said why it is so wide."""
WHERE = {"within human variation": "within", "beyond human variation": "beyond"}
"""Where a gap lies, by the finding."""


def value(v: Verdict, x: float | None, *others: float | None) -> str:
    """A value of a row as sentences have it, in percent where it is a share, that differs from others of the row."""
    if v.wording.format != "share" or x is None:
        return rounded(x, *others)
    return percent(x, *(o for o in others if o is not None))


def label(v: Verdict) -> str:
    """Name of the statistic of a row for readers."""
    return statistic_name(v.statistic, v.wording)


def mark(cell: Cell) -> str:
    """Signs of a cell: ``**`` beyond human variation, ``*`` differs, ``=`` within human variation; else empty."""
    if cell.row.finding == "within human variation":
        return "*=" if cell.differs else "="
    return "" if not cell.differs else "**" if cell.row.finding == "beyond human variation" else "*"


def bands(v: Verdict) -> str:
    """The size of a gap in words, such as ``2.3 human bands``."""
    unit = f"bands of {one_line(v.reference, 40)}" if v.band_source == OWN else "human bands"
    return "" if v.gap is None else f"{rounded_gap(v)}{over_refits(v)} {unit}"


def variation(v: Verdict) -> str:
    """Whose variation the band of a row is: that of people, or of the model whose text is the reference."""
    return f"the variation of {one_line(v.reference, 40)}" if v.band_source == OWN else "human variation"


def finding(v: Verdict) -> str:
    """The finding of a row in words that name the reference."""
    return f"{WHERE[v.finding]} {variation(v)}" if v.finding in WHERE else v.finding


def over_refits(v: Verdict) -> str:
    """Standard deviation of a gap over refits of the critic, such as ``±0.4``; empty if there were none."""
    if v.refit_spread is None or not (v.band and v.effect and v.difference):
        return ""
    return f"±{v.refit_spread * abs(v.effect / v.difference) / v.band:.1f}"


def rounded_gap(v: Verdict) -> str:
    """A gap with one decimal; that of a difference is not 0.0."""
    gap = v.gap or 0.0
    return "<0.1" if v.differs and gap < 0.05 else f"{gap:.1f}"


def size(v: Verdict) -> str:
    """A gap in human bands; where no band is known, the difference after Δ, or – for what has no unit."""
    if v.gap is not None:
        return f"{rounded_gap(v)}{over_refits(v)}"
    return "–" if v.difference is None or v.wording.format == "score" else f"Δ{v.difference:.2g}"


def says_what(cell: Cell) -> str:
    """What a corpus does on an axis, without its name: direction, values and size.

    For example ``shorter: mean length 141 words (human: 172, −18 %), 2.3 human bands``. Where a distance speaks, a
    second statistic says in which direction, with its own values; where a thing does, its name does.
    """
    v = cell.row
    if v.p_adjusted is None:
        return f"not tested: {v.method.reason}" if v.method.reason else "not tested"
    if not v.differs:
        power = f"; a difference of {value(v, v.mde)} would have been found in 80 % of cases" if v.mde else ""
        if v.finding == "within human variation":
            return f"{finding(v)} ({bands(v)})"
        return f"not told apart from {one_line(text_of(v.reference, HUMAN), 40)}{power}"
    small = "a small change: " if cell.small else ""
    undecided = f", undecided whether beyond {variation(v)}" if v.finding == "undecided" else ""
    beside = "" if cell.beside is None else f"; {cell.beside.direction}: {versus(cell.beside)}"
    what = said(cell.findings[0]) if cell.thing is not None else stated(cell)
    # the band is that of the largest change alone
    size = "" if cell.findings and cell.findings[0].others else bands(v)
    return f"{small}{', '.join(s for s in (what, size) if s)}{undecided}{beside}"


def stated(cell: Cell) -> str:
    """Direction and values of a row that differs; what a clause says has its own verb, and a name is told once."""
    v, direction = cell.row, cell.direction
    values = versus(cell)
    if v.wording.clause:
        return values
    start = f"{direction or 'differs'}: " if direction or not cell.small else ""
    return f"{start}{values.removeprefix(f'{label(v)} ' if label(v) in direction else '')}"


def said(f: Finding) -> str:
    """A finding with both values, such as ``18 % of documents open with “Here's” (human: 42 %)``."""
    if f.thing is None:
        return stated(Cell(f.row))
    things = (f.thing, *f.others)
    new, old = (sum(getattr(t, side) for t in things) for side in ("generated", "real"))
    share, unit = f.unit.startswith("%"), f.row.wording.item
    rates = [f"{rounded(a, b)}{' %' if share else ''}" for a, b in ((new, old), (old, new))]
    verb = unit.partition(" ")
    per = f"{rates[0]} of {unit}" if share else f"{rates[0]} in 1,000 {unit}"
    if share and not new:
        per = f"no {verb[0].rstrip('s')} {verb[2].replace(' ', 's ', 1) if ' ' in verb[2] else verb[2] + 's'}"
    length = f.unit.partition(", ")[2]
    named = [f"“{_spaced(t.text, 60)}”" for t in things[:NAMED]]
    more = [f"{counted(len(f.others) + 1 - NAMED, 'other')}"] if len(things) > NAMED else []
    return f"{per} {joined([*named, *more], 'or')} ({_of(f.row)}: {rates[1]}{f'; {length}' if length else ''})"


def versus(cell: Cell) -> str:
    """Values of both texts: ``mean length 141 words (human: 172, −18 %)``; of a distance, it and its interval."""
    v, change = cell.row, cell.change
    if v.wording.format == "score":
        return f"{label(v)}, adjusted p {p_value(v.p_adjusted)}"
    if v.method.family == "distance":
        interval = "" if v.low is None or v.high is None else f" ({rounded(v.low, v.high)} to {rounded(v.high, v.low)})"
        return f"{label(v)} {value(v, v.difference)}{interval}"
    relative = "" if change is None or v.wording.format == "share" else f", {signed_percent(change)}"
    if relative and v.generated_value and v.real_value:
        generated, real = compared(v.generated_value, v.real_value), compared(v.real_value, v.generated_value)
    else:
        generated, real = value(v, v.generated_value, v.real_value), value(v, v.real_value, v.generated_value)
    if v.wording.clause:
        none = v.wording.format == "share" and not v.generated_value
        clause = v.wording.clause.replace("{} of", "none of the", 1) if none else v.wording.clause
        return f"{clause.format(generated)} ({_of(v)}: {real})"
    unit = f" {v.wording.unit}" if v.wording.unit else ""
    return f"{label(v)} {generated}{unit} ({_of(v)}: {real}{relative})"


def _of(v: Verdict) -> str:
    """Whose value stands beside that of the generated text: people's, or those of another model."""
    return "human" if v.reference == "real" else one_line(v.reference, 40)


def axis_sentences(axis: AxisAnswer) -> list[tuple[str, str]]:
    """What each corpus does on an axis: pairs of its name and a sentence and all statistics that differ."""
    also = [f"; also different: {joined([label(v) for v in c.also])}" if c.also else "" for c in axis.cells]
    return [(c.generated, says_what(c) + others) for c, others in zip(axis.cells, also, strict=True)]


def axes(n: int) -> str:
    """Number of axes.

    >>> axes(1), axes(17)
    ('1 axis', '17 axes')
    """
    return counted(n, "axis", "axes")


def largest_gaps(answer: Answer, count: int = 3) -> list[tuple[str, str]]:
    """Sentences on the axes with the largest gaps, but for the one that `first_sentences` names.

    Returns
    -------
    Pairs of an axis and a sentence about the corpus that is farthest from human text on it.
    """
    first = "" if answer.largest is None else answer.largest.row.critic
    worst = [(axis, axis.worst) for axis in answer.axes[:count] if axis.worst.differs and axis.critic != first]
    return [(a.axis, f"{c.generated}: {says_what(c)}") for a, c in worst]


def unscored_lines(results: Sequence[CriticResult]) -> list[str]:
    """How many documents of each corpus have no score and why; the most under any critic, where critics disagree."""
    counts: dict[tuple[str, str], list[int]] = {}
    for u in (u for result in results for u in result.unscored):
        counts.setdefault((u.corpus, u.reason), []).append(u.count)
    lines = []
    for (corpus, reason), tallies in counts.items():
        same = len(tallies) == len(results) and len(set(tallies)) == 1
        under = "" if same else f" under {len(tallies)} of {len(results)} critics"
        most = "" if len(set(tallies)) == 1 else "up to "
        lines.append(f"{most}{counted(max(tallies), 'document')} of {corpus!r} unscored ({reason}){under}")
    return lines


def legend(answer: Answer) -> list[str]:
    """What numbers and signs of the overview table mean, in lines of at most 80 characters."""
    cells = [c for axis in answer.axes for c in axis.cells]
    model = "" if answer.against is None else answer.against.reference
    unknown = any(c.row.p_adjusted is not None and size(c.row)[0] == "Δ" for c in cells)
    lines = _bands_of(cells)
    if model and any(c.row.gap is not None for c in cells):
        lines = [f"1: as far as random halves of {model} usually lie apart."]
    whose = "that" if model else "human"
    lines.append(f"↑ ↓ significantly higher, lower · ** beyond {whose} variation, * differs, *= a small change")
    if not model and any(c.rank is not None for c in answer.corpora) and any(not c.row.headline for c in cells):
        lines.append("mean and rank: by the headline statistic of each axis, the same for all texts")
    if any(over_refits(c.row) for c in cells):
        lines.append("± standard deviation over fits of the critic")
    if any(c.row.p_adjusted is None for c in cells):
        lines.append("n/a not tested")
    without = (
        "without a band: the difference itself" if model else "Δ the difference itself, since no human band is known"
    )
    return lines + [without] * unknown


def _bands_of(cells: Sequence[Cell]) -> list[str]:
    """What human bands are, where they come from if they are default ones, and why intervals are wide."""
    sources = {c.row.band_source for c in cells if c.row.gap is not None}
    registers = {c.row.band_register for c in cells if c.row.band_source == "default"}
    register = registers.pop() if len(registers) == 1 else ""
    named = register if register in atlas()["registers"] else "predicted from other texts"
    known, others = (len({c.row.critic for c in cells if c.row.band_source in s}) for s in (sources, ("default",)))
    which = "default" if others == known else f"default on {others} of {axes(known)}"
    default = f" ({which}: {named})" if others else ""
    lines = [f"Human bands{default}: 95 % of pairs of authors lie within 1."] if sources else []
    if others and any(_is_wide(c.row) for c in cells):
        lines.append(f"Wide intervals: authors of other kinds of text differ more, or less; see {arg('register')}.")
    return lines


def _is_wide(v: Verdict) -> bool:
    """Whether a default band leaves a gap open by more than `WIDE`."""
    low, high = v.gap_interval or (1.0, 1.0)
    return v.band_source == "default" and v.differs and high > WIDE * low


def axis_line(axis: AxisAnswer) -> str:
    """An axis on which nothing differs, in one line; the smallest difference that would have been found, if known."""
    tested = [c for c in axis.cells if c.row.p_adjusted is not None]
    if not tested:
        reasons = list(dict.fromkeys(c.row.method.reason for c in axis.cells if c.row.method.reason))
        return f"not tested: {'; '.join(reasons)}" if reasons else "not tested"
    left_out = [c.generated for c in axis.cells if c.row.p_adjusted is None]
    also = f" ({joined(left_out)}: not tested)" if left_out else ""
    detectable = [c.row for c in tested if c.row.mde]
    if not detectable:
        return f"not told apart from human text{also}"
    v = max(detectable, key=lambda v: v.mde or 0.0)
    power = f"a difference of {value(v, v.mde)} would have been found in 80 % of cases"
    return f"not told apart from human text{also}; {power}"


def overuse_lines(overused: Sequence[CorpusOveruse]) -> list[tuple[str, str]]:
    """Sentences on what corpora say too often or too rarely: pairs of the kind of thing and a sentence with an example.

    >>> from momus.evidence import Overuse, Overused
    >>> said = Overused("so it was", 0.0, 12.5, "and «so it was» , then")
    >>> overuse_lines([CorpusOveruse("a", "keyness", Overuse("over-used phrases", "% of documents", (said,)))])
    [('over-used phrases', 'a: “so it was” (12 % of documents, human: 0 %), as in “and «so it was», then”')]
    """
    lines = []
    for f in overused:
        things = [f"“{_spaced(i.text, 160)}” ({_rate(i.generated, i.real, f.overuse.unit)})" for i in f.overuse.items]
        example = f.overuse.items[0].example
        also = f", as in “{_spaced(example, 160)}”" if example else ""
        others = f"; also {joined(things[1:])}" if things[1:] else ""
        lines.append((f.overuse.what, f"{f.generated}: {things[0]}{also}{others}"))
    return lines


def _rate(generated: float, real: float, unit: str) -> str:
    """How often generated text has a thing, and human text."""
    percent = " %" if unit.startswith("%") else ""
    return f"{rounded(generated, real)} {unit}, human: {rounded(real, generated)}{percent}"


def _spaced(text: str, clip: int) -> str:
    """Tokens with the spaces of running text: none before a comma or within quotation marks."""
    line = one_line(text, clip)
    line = re.sub(r"\s+(»?)\s*([,.;:!?…)\]}”])(?=\s|$|[”»])", r"\1\2", line)
    return re.sub(r"([(\[{“])\s+", r"\1", line)
