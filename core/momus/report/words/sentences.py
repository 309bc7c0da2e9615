"""Sentences about the answer of a comparison; the only place where they are made."""

from __future__ import annotations

import re
from collections.abc import Sequence

from momus.report.safe import one_line
from momus.report.words.broken import broken_lines
from momus.report.words.findings import statistic_name
from momus.report.words.format import HUMAN, compared, number, p_value, percent, rounded, signed_percent
from momus.report.words.joint import count
from momus.runs.answer import Answer, AxisAnswer, Cell, CorpusAnswer, CorpusOveruse
from momus.runs.result import CriticResult
from momus.text.counting import counted, joined, text_of
from momus.verdicts.atlas import atlas
from momus.verdicts.band import OWN
from momus.verdicts.verdict import Verdict

ARROWS = {1: "↑", -1: "↓", 0: ""}
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
    second statistic says in which direction, with its own values.
    """
    v = cell.row
    if v.p_adjusted is None:
        return f"not tested: {v.method.reason}" if v.method.reason else "not tested"
    if not v.differs:
        power = f"; a difference of {value(v, v.mde)} would have been found in 80 % of cases" if v.mde else ""
        if v.finding == "within human variation":
            return f"{finding(v)} ({bands(v)})"
        return f"not told apart from {one_line(text_of(v.reference, HUMAN), 40)}{power}"
    sizes = [s for s in (versus(cell), bands(v)) if s]
    start = cell.direction or "differs"
    endings = {
        "within human variation": f", {finding(v)}",
        "undecided": f", undecided whether beyond {variation(v)}",
    }
    beside = "" if cell.beside is None else f"; {cell.beside.direction}: {versus(cell.beside)}"
    return f"{start}: {', '.join(sizes)}{endings.get(v.finding, '')}{beside}"


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
        return f"{v.wording.clause.format(generated)} ({_of(v)}: {real})"
    unit = f" {v.wording.unit}" if v.wording.unit else ""
    return f"{label(v)} {generated}{unit} ({_of(v)}: {real}{relative})"


def _of(v: Verdict) -> str:
    """Whose value stands beside that of the generated text: people's, or those of another model."""
    return "human" if v.reference == "real" else one_line(v.reference, 40)


def axis_sentences(axis: AxisAnswer) -> list[tuple[str, str]]:
    """What each corpus does on an axis: pairs of its name and a sentence and all statistics that differ."""
    return [(c.generated, says_what(c) + _also(c)) for c in axis.cells]


def _also(cell: Cell) -> str:
    return f"; also different: {joined([label(v) for v in cell.also])}" if cell.also else ""


def first_sentences(answer: Answer) -> list[str]:
    """What is broken, then the answer: nearest text, number of axes beyond human variation, largest gap."""
    sentences = broken_lines(answer.broken or (), answer.reference)
    sentences += [answer.layout] if answer.layout else []
    sentences.append(_nearest(answer) if len(answer.corpora) > 1 else _single(answer.corpora[0]))
    largest = answer.largest
    if largest is not None:
        sentences.append(_largest(answer, largest))
    return sentences


def _single(corpus: CorpusAnswer) -> str:
    where = "the only axis" if corpus.tested == 1 else f"any of {axes(corpus.tested)}"
    if not corpus.differs:
        return f"{corpus.generated} is not told apart from human text on {where}."
    if corpus.tested == 1:
        beyond = ", beyond human variation" if corpus.beyond else ""
        return f"{corpus.generated} differs from human text on {where}{beyond}."
    return (
        f"{corpus.generated} is beyond human variation on {corpus.beyond} of {axes(corpus.tested)}, and differs on "
        f"{corpus.differs}."
    )


def _nearest(answer: Answer) -> str:
    """Who is nearest, and on how many axes each corpus is beyond human variation."""
    who = f"Too close to call: {joined(answer.tied, 'or')}" if len(answer.tied) > 1 else ""
    if answer.nearest is not None:
        who = f"{answer.nearest.generated} is {'nearer' if len(answer.corpora) == 2 else 'nearest'} to human text"
    if all(c.tested == 1 for c in answer.corpora):
        what = _on_one_axis(answer.corpora)
    elif any(c.beyond for c in answer.corpora):
        return f"{who}. {_beyond(answer.corpora)}".removeprefix(". ")
    else:
        what = _none_beyond(answer.corpora)
    return f"{who}; {what}." if who else f"{what[0].upper()}{what[1:]}."


def _beyond(corpora: Sequence[CorpusAnswer]) -> str:
    """On how many axes each corpus is beyond human variation, most first."""
    by: dict[int, list[str]] = {}
    for c in corpora:
        by.setdefault(c.beyond, []).append(c.generated)
    said: list[str] = []
    for n in sorted(by, reverse=True):
        of = "" if said else f" of {axes(corpora[0].tested)}"
        said.append(f"{joined(by[n])} on {n or 'none'}{of}{' each' if n and len(by[n]) > 1 else ''}")
    return f"Beyond human variation: {'; '.join(said)}."


def _none_beyond(corpora: Sequence[CorpusAnswer]) -> str:
    """That no corpus is beyond human variation on any axis, and on how many axes they differ."""
    counts = [c.differs for c in corpora]
    if len(set(counts)) == 1:
        differ = f"{'both differ' if len(counts) == 2 else 'each differs'} on {counts[0]}"
    elif len(counts) == 2:
        differ = joined([f"{c.generated} differs on {c.differs}" for c in corpora])
    else:
        differ = f"they differ on {min(counts)} to {max(counts)}"
    return f"no text is shown to be beyond human variation on any of {axes(corpora[0].tested)}; {differ}"


def _on_one_axis(corpora: Sequence[CorpusAnswer]) -> str:
    """Which corpora are beyond human variation on the only axis."""
    beyond = [c.generated for c in corpora if c.beyond]
    are = f"{joined(beyond)} {'is' if len(beyond) == 1 else 'are'}" if beyond else "no text is shown to be"
    return f"{are} beyond human variation on the only axis"


def _largest(answer: Answer, cell: Cell) -> str:
    axis = answer.axis(cell.row.critic)
    shared = len(answer.corpora) > 1 and all(_largest_axis(answer, c.generated) == axis.critic for c in answer.corpora)
    largest = (cell.row.gap or 0.0) >= max(a.size for a in answer.axes)
    where = axis.axis if largest else f"{axis.axis}, from which larger gaps may follow"
    if shared:
        all_of_them = "Both" if len(answer.corpora) == 2 else f"All {count(len(answer.corpora))}"
        start = f"{all_of_them} depart {'most' if largest else 'mainly'} in {where}"
        return f"{start} – {cell.generated} {'is ' if cell.direction else ''}{says_what(cell)}."
    return f"{'Largest' if largest else 'Main'} gap: {cell.generated} in {where} – {says_what(cell)}."


def _largest_axis(answer: Answer, generated: str) -> str | None:
    """The critic on whose axis a corpus has its largest gap."""
    cells = [(a, c) for a in answer.axes for c in a.cells if c.generated == generated and c.differs]
    return max(cells, key=lambda x: x[0].counted(x[1]))[0].critic if cells else None


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
    said = "" if answer.largest is None else answer.largest.row.critic
    worst = [(axis, axis.worst) for axis in answer.axes[:count] if axis.worst.differs and axis.critic != said]
    return [(a.axis, f"{c.generated} {'is ' if c.direction else ''}{says_what(c)}") for a, c in worst]


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
    sources = {c.row.band_source for c in cells if c.row.gap is not None}
    unknown = any(c.row.p_adjusted is not None and size(c.row)[0] == "Δ" for c in cells)
    registers = {c.row.band_register for c in cells if c.row.band_source == "default"}
    register = registers.pop() if len(registers) == 1 else ""
    named = register if register in atlas()["registers"] else "predicted from other texts"
    known, others = (len({c.row.critic for c in cells if c.row.band_source in s}) for s in (sources, ("default",)))
    which = "default" if others == known else f"default on {others} of {axes(known)}"
    default = f" ({which}: {named})" if others else ""
    lines = [f"Human bands{default}: 95 % of pairs of authors lie within 1."] if sources else []
    lines.append("↑ ↓ significantly higher, lower · ** beyond human variation, = within, * differs")
    if any(c.rank is not None for c in answer.corpora) and any(not c.row.headline for c in cells):
        lines.append("rank: by the headline statistic of each axis, the same for all texts")
    if any(over_refits(c.row) for c in cells):
        lines.append("± standard deviation over fits of the critic")
    if any(c.row.p_adjusted is None for c in cells):
        lines.append("n/a not tested")
    return lines + ["Δ the difference itself, since no human band is known"] * unknown


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


def finding_words(v: Verdict) -> str:
    """The finding of a row, with what a test of equivalence adds, so that both agree.

    A difference can be significant, and significantly small: *differs, but significantly by less than 0.2*.
    """
    words = v.finding
    if v.delta is None or v.equivalent is None or v.p_adjusted is None:
        return words
    delta = number(v.delta)
    if v.differs:
        return f"{words}, but significantly by less than {delta}" if v.equivalent else words
    return (
        f"{words}, and significantly less than {delta} apart"
        if v.equivalent
        else f"{words}; {delta} apart is not excluded"
    )


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
        lines.append((f.overuse.what, f"{f.generated}: {things[0]}{also}{_others(things[1:])}"))
    return lines


def _rate(generated: float, real: float, unit: str) -> str:
    """How often generated text has a thing, and human text."""
    percent = " %" if unit.startswith("%") else ""
    return f"{rounded(generated, real)} {unit}, human: {rounded(real, generated)}{percent}"


def _others(things: Sequence[str]) -> str:
    return f"; also {joined(things)}" if things else ""


def _spaced(text: str, clip: int) -> str:
    """Tokens with the spaces of running text: none before a comma or within quotation marks."""
    line = one_line(text, clip)
    line = re.sub(r"\s+(»?)\s*([,.;:!?…)\]}”])(?=\s|$|[”»])", r"\1\2", line)
    return re.sub(r"([(\[{“])\s+", r"\1", line)
