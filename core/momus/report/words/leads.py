"""The first sentences of an answer: what leads, on how many axes texts differ, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from momus.against.versions import Against
from momus.arguments import arg
from momus.joint.better import NEARER, Better
from momus.report.safe import one_line
from momus.report.words.broken import broken_lines, unchanged_lines
from momus.report.words.format import HUMAN, rounded
from momus.report.words.joint import count
from momus.report.words.sentences import axes, bands, said, says_what, versus
from momus.report.words.slices import alike_sentences, slice_sentences, win_sentences
from momus.runs.answer import Answer, Cell, CorpusAnswer
from momus.text.counting import counted, joined, text_of
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict


def first_sentences(answer: Answer) -> list[str]:
    """What is unchanged and broken, then the answer: the nearest text, what leads, on how many axes, what follows.

    Where the reference is text of a model, nothing here speaks of people.
    """
    against, several, lead = answer.against, len(answer.corpora) > 1, leading_sentence(answer)
    broken = broken_lines(answer.broken or (), answer.reference, answer.slices)
    sentences = [*unchanged_lines(against.unchanged if against else ()), *broken, *slice_lines(answer)]
    if against is None:
        sentences += [s for s in (answer.layout, _nearest(answer) if several else "") if s]
    sentences += [lead] if lead else []
    if not several:
        sentences.append(_single(answer, bool(lead)))
    elif against is not None:
        counts = joined([f"{c.generated} on {differing(c)}" for c in answer.corpora])
        tested = max(c.tested for c in answer.corpora)
        sentences.append(f"Against {against.reference}, of {axes(tested)}: {counts} differ.")
    directions = [] if against is None else _directions(against)
    sentences += [*following(answer), *directions, *better_lines(answer)]
    return [*sentences, *alike_sentences(answer.slices), *win_sentences(answer.wins, answer.alpha)]


def _directions(against: Against) -> list[str]:
    """Which text is more predictable under the other, on the axis where this differs most, if it does."""
    sure = [d for d in against.directions if d.p_adjusted <= against.alpha]
    if not sure:
        return []
    d = max(sure, key=lambda d: abs(d.difference))
    one, other = (d.generated, against.reference)[:: 1 if d.difference < 0 else -1]
    a, b = sorted((d.new_under_old, d.old_under_new))
    return [
        f"{one} is more predictable under {other} than {other} under {one}, most in {d.axis} "
        f"({rounded(a, b)} against {rounded(b, a)} {d.unit})."
    ]


def slice_lines(answer: Answer) -> list[str]:
    """In which slices the difference lives, but for what is broken."""
    slices = [
        replace(s, cells=tuple(c for c in s.cells if (c.critic, s.generated) not in answer.told_broken))
        for s in answer.slices
    ]
    return slice_sentences(slices, _reference(answer))


def better_lines(answer: Answer) -> list[str]:
    """Whether each text is worse or better by what the user named, with sizes and intervals: one sentence per text."""
    heads = {"worse": "worse in", "better": "better in", "not shown": "not shown to be worse or better in"}
    lines = []
    for name in dict.fromkeys(b.row.generated for b in answer.better):
        of_text = [b for b in answer.better if b.row.generated == name]
        by = {head: [better_words(b) for b in of_text if b.finding == key] for key, head in heads.items()}
        told = "; ".join(f"{head} {joined(words)}" for head, words in by.items() if words)
        lines.append(f"By what you named, {one_line(name, 60)} is {told}.")
    return lines


def better_words(b: Better) -> str:
    """One preference: ``broken documents (28 % have a fault (old: 24 %); worse by 3.9 points, −8.3 to 16)``."""
    if b.reason:
        return f"{b.row.axis} ({one_line(b.reason, 80)})"
    sign, word = (1, "worse") if b.worse > 0 else (-1, "better")
    unit, factor = ("points", 100) if b.row.wording.format == "share" else (b.row.wording.unit, 1)
    values = versus(Cell(b.row))
    if b.preference.direction == NEARER:
        unit, factor, values = "human bands", 1, "distance to human text"
    size, *ends = (rounded(sign * factor * x) for x in (b.worse, *(b.low, b.high)[::sign]))
    return f"{b.row.axis} ({values}; {word} by {f'{size} {unit}'.strip()}, {' to '.join(ends)})"


def leading_sentence(answer: Answer) -> str:
    """What a reader of a text would see first, with its axis; empty where nothing differs."""
    cell = answer.largest
    if cell is None:
        return ""
    axis, name = answer.axis(cell.row.critic), one_line(cell.generated, 60)
    reference = one_line(_reference(answer), 40)
    shared = len(answer.corpora) > 1 and all(c.differs for c in axis.cells)
    shared = shared and all(answer.first_axis(c.generated) == axis.critic for c in answer.corpora)
    most = "most in" if max(c.tested for c in answer.corpora) > 1 else "in"
    text = says_what(cell)
    if shared:
        everyone = "Both" if len(answer.corpora) == 2 else f"All {count(len(answer.corpora))}"
        return f"{everyone} differ from {reference} {most} {axis.axis} – {name}: {text}."
    return f"{name} differs from {reference} {most} {axis.axis}: {text}."


def following(answer: Answer, most: int = 3) -> list[str]:
    """The findings behind the first one, in one sentence; with several texts, none, as the list of gaps has them."""
    if len(answer.corpora) > 1 or not answer.findings:
        return []
    first = answer.largest
    said_first = first.findings[0].row if first is not None and first.findings else None
    told = [f for f in answer.findings if f.row is not said_first and f.row.wording.concrete and not f.small]
    told = [f for f in told if f.weight > 0 and (f.row.critic, f.row.generated) not in answer.told_broken][:most]
    return [f"Also: {'; '.join(map(said, told))}."] if told else []


def pair_lines(pairs: Sequence[Verdict], verdicts: Sequence[Verdict], most: int = 6) -> list[tuple[str, str]]:
    """Where generated texts differ from each other, those first that differ on most axes: pairs of names, a sentence.

    Parameters
    ----------
    pairs
        Rows of pairs, which are of headline statistics alone.
    verdicts
        Rows against human text, whose values both texts of a pair have.

    >>> pair_lines([], [])
    []
    """
    by: dict[tuple[str, str], list[Verdict]] = {}
    for v in pairs:
        by.setdefault((v.generated, v.reference), []).append(v)
    ordered = sorted(by.items(), key=lambda item: -sum(v.differs for v in item[1]))
    lines = [(f"{one} and {other}", _pair(rows, verdicts)) for (one, other), rows in ordered[:most]]
    rest = counted(len(ordered) - most, "more pair")
    return lines if len(ordered) <= most else [*lines, (rest, f"{arg('every', True)} shows them")]


def _pair(rows: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """On how many axes two generated texts differ, and the largest difference with the values of both."""
    tested = [v for v in rows if v.p_adjusted is not None]
    differing = [v for v in tested if v.differs]
    if not differing:
        where = "the only axis" if len(tested) == 1 else f"any of {axes(len(tested))}"
        return f"not told apart on {where}" if tested else "not tested"
    lead = max(differing, key=lambda v: (v.gap or 0.0, abs(v.effect or 0.0)))
    most = "most in " if len(differing) > 1 else "in "
    return f"differ on {len(differing)} of {axes(len(tested))}, {most}{lead.axis}{_values(lead, verdicts)}"


def _values(pair: Verdict, verdicts: Sequence[Verdict]) -> str:
    """The values of a pair by the statistic that is farthest from human text in one of both, and its size."""
    of = {(v.generated, v.statistic): v for v in verdicts if v.critic == pair.critic and v.method.family != "distance"}
    told = [v for v in speaking(list(of.values())) if v.generated in (pair.generated, pair.reference) and v.differs]
    size = f", {bands(pair)}" if pair.gap is not None else ""
    if not told:
        return size
    row = max(told, key=lambda v: v.gap or 0.0)
    one, other = (of.get((name, row.statistic)) for name in (pair.generated, pair.reference))
    if one is None or other is None:  # a statistic that not both texts have
        return size
    both = replace(one, reference=other.generated, real_value=other.generated_value)
    size = size if row.statistic == pair.statistic else ""  # of another statistic, which is not named
    return f" – {one_line(pair.generated, 40)}: {versus(Cell(both))}{size}"


def _single(answer: Answer, lead: bool) -> str:
    """On how many axes the only text differs from the reference, beside what is broken."""
    (corpus,), reference, broken = answer.corpora, _reference(answer), bool(answer.broken)
    if broken and corpus.differs and not lead:
        return f"Otherwise, {corpus.generated} is not told apart from {reference}."
    if not corpus.differs:
        where = "the only axis" if corpus.tested == 1 else f"any of {axes(corpus.tested)}"
        return f"{'Otherwise, ' if broken else ''}{corpus.generated} is not told apart from {reference} on {where}."
    if answer.against is not None:
        if corpus.small:
            return f"Of {axes(corpus.tested)}, it differs on {differing(corpus)}."
        return f"It differs on {differing(corpus)} of {axes(corpus.tested)}."
    if corpus.tested == 1:
        return f"It is {'' if corpus.beyond else 'not shown to be '}beyond human variation."
    beyond = f"{corpus.beyond or 'none'} of {axes(corpus.tested)}"
    return f"It is beyond human variation on {beyond}, and differs on {differing(corpus)}."


def _reference(answer: Answer) -> str:
    """What readers are told that the reference is."""
    return text_of(answer.reference, HUMAN)


def differing(corpus: CorpusAnswer) -> str:
    """On how many axes a text differs, and on how many of them by a small change."""
    return f"{corpus.differs}{f', {corpus.small} of them by a small change' if corpus.small else ''}"


def _nearest(answer: Answer) -> str:
    """Who is nearest, and on how many axes each corpus is beyond human variation."""
    who = f"Too close to call: {joined(answer.tied, 'or')}" if len(answer.tied) > 1 else ""
    if len(answer.tied) == 1:
        who = f"{answer.tied[0]} is most likely the nearest to human text"
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
