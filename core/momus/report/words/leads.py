"""The first sentences of an answer: what is unchanged or broken, what leads, on how many axes texts differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from momus.against.versions import Against, Unchanged
from momus.joint.better import NEARER, Better
from momus.joint.dependence import Dependence
from momus.joint.slices import Slices
from momus.report.safe import one_line
from momus.report.words.format import HUMAN, percent, rounded
from momus.report.words.joint import count
from momus.report.words.sentences import axes, said, says_what, versus
from momus.report.words.slices import alike_sentences, slice_sentences, win_sentences
from momus.runs.answer import Answer, Cell, CorpusAnswer
from momus.runs.broken import Broken
from momus.text.counting import counted, joined, text_of

IDS, EACH, AXES = 3, 2, 3
"""Documents that are named, and broken kinds in a line, of which there are two at most; axes that are listed."""
PER_STEP = "nats per step"
"""The unit of directions that do not depend on how long documents are."""


def first_sentences(answer: Answer) -> list[str]:
    """What is unchanged and broken, then the answer: the nearest text, what leads, on how many axes, what follows.

    Where the reference is text of a model, nothing here speaks of people.
    """
    against, several, lead = answer.against, len(answer.corpora) > 1, leading_sentence(answer)
    broken = broken_lines(answer.broken or (), answer.reference, answer.slices)
    single = [b.alone for b in answer.broken or ()] == [True]
    order = [a.critic for a in answer.axes]
    broken += dependence_lines(sorted(answer.dependences, key=lambda d: order.index(d.critic)), single)
    broken += broken_lines(answer.mended, heads=("Broken before", "Also broken before"))
    sentences = [*unchanged_lines(against.unchanged if against else ()), *broken, *slice_lines(answer)]
    if against is None:
        sentences += [s for s in (answer.layout, _nearest(answer) if several else "") if s]
    sentences += [lead] if lead else []
    if not several:
        sentences += [s for s in [_single(answer, bool(lead))] if s]
    elif against is not None:
        counts = joined([f"{c.generated} on {differing(c)}" for c in answer.corpora])
        tested = max(c.tested for c in answer.corpora)
        sentences.append(f"Against {against.reference}, of {axes(tested)}: {counts} differ.")
    directions = [] if against is None else _directions(against)
    sentences += [*following(answer), *directions, *better_lines(answer)]
    return [*sentences, *alike_sentences(answer.slices), *win_sentences(answer.wins, answer.alpha)]


def _directions(against: Against) -> list[str]:
    """Which text is more predictable under the other, and where most, if all axes on which this differs agree.

    Per step alone: of a whole document, the Latent NLL rises with its length.
    """
    sure = [d for d in against.directions if d.p_adjusted <= against.alpha and d.unit == PER_STEP]
    if len({(d.generated, d.difference > 0) for d in sure}) != 1:
        return []
    d = max(sure, key=lambda d: abs(d.difference) / (abs(d.new_under_old) + abs(d.old_under_new)))
    texts = d.generated, against.reference
    one, other = texts if d.difference < 0 else texts[::-1]
    a, b = sorted((d.new_under_old, d.old_under_new))
    return [
        f"{one} is more predictable under {other} than {other} under {one}, most in {d.axis} "
        f"({rounded(a, b)} against {rounded(b, a)} {d.unit})."
    ]


def broken_lines(
    broken: Sequence[Broken],
    reference: str = "real",
    slices: Sequence[Slices] = (),
    heads: tuple[str, str] = ("Broken", "Also broken"),
) -> list[str]:
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
        lines.append(f"{heads[start > 0]}: {said}{also}.")
    return lines


def _said(b: Broken, reference: str, slices: Sequence[Slices]) -> str:
    fault, name = b.fault, one_line(b.generated, 40)
    if b.alone:
        return (
            f"1 document of {name} says “{one_line(fault.quotes[0], 40)}” {fault.times:,} times ({_ids(fault.ids, 1)})"
        )
    of = one_line(text_of(b.reference or reference, HUMAN), 40)
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


def dependence_lines(dependences: Sequence[Dependence], single: bool = False) -> list[str]:
    """What goes with the documents that were told as broken, or that ``single`` one, and what one other carries.

    >>> row = "new", "length", "length", "mean"
    >>> dependence_lines([Dependence(*row, "", 0.1, True)])
    ['Without them, new does not differ in length.']
    >>> dependence_lines([Dependence(*row, "a512", 2.1, False)])
    ['1 document of new carries a difference (a512): without it, that in length is 2.1 times as large.']
    """
    by_text, by_document = dict[str, list[Dependence]](), dict[tuple[str, str], list[Dependence]]()
    for d in dependences:
        if d.document:
            by_document.setdefault((d.generated, d.document), []).append(d)
        elif d.vanishes:
            by_text.setdefault(d.generated, []).append(d)
    without = "; ".join(map(_alike, by_text.values()))
    lines = [f"Without {'it' if single else 'them'}, {without}."] if without else []
    for most in sorted(by_document.values(), key=lambda of: -sum(d.vanishes for d in of))[:1]:
        d, gone = max(most, key=lambda d: abs(1 - d.left)), [d for d in most if d.vanishes]
        what = _alike(gone) if gone else f"that in {d.axis} is {rounded(d.left)} times as large"
        text, document = one_line(d.generated, 40), one_line(d.document, 24)
        lines.append(f"1 document of {text} carries a difference ({document}): without it, {what}.")
    return lines


def _alike(dependences: Sequence[Dependence]) -> str:
    axes, rest = [d.axis for d in dependences], len(dependences) - AXES
    listed = [*axes[:AXES], counted(rest, "other axis", "other axes")] if rest > 0 else axes
    return f"{one_line(dependences[0].generated, 40)} does not differ in {joined(listed, 'or')}"


def unchanged_lines(unchanged: Sequence[Unchanged]) -> list[str]:
    """How many answers changed, where some did not: the first thing that a comparison of versions says.

    >>> unchanged_lines([Unchanged("new", 200, 190, 41.0, ("a3", "a17"))])
    ['new changed 10 of 200 answers; they differ from word 41 on (median; a3, a17 …).']
    """
    lines = []
    for u in unchanged:
        name, changed = one_line(u.generated, 40), u.pairs - u.equal
        if not changed:
            lines.append(f"{name} changed none of {counted(u.pairs, 'answer')}.")
            continue
        where = "" if u.word is None else f"; they differ from word {u.word:,.0f} on (median; {_ids(u.ids, changed)})"
        lines.append(f"{name} changed {changed:,} of {counted(u.pairs, 'answer')}{where}.")
    return lines


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


def _single(answer: Answer, lead: bool) -> str:
    """On how many axes the only text differs from the reference, beside what is broken."""
    (corpus,), reference, broken = answer.corpora, _reference(answer), bool(answer.broken or answer.mended)
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
        return "It is beyond human variation." if corpus.beyond else ""  # else the first sentence has said so
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
