"""Reviewed documents in words: a sentence for each, the axes, and the places.

No sentence speaks of who wrote a text: it is odd among a body, or it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from momus.review.forced import Choice, Pair
from momus.review.judging import OddAxis, Review, Reviewed
from momus.review.spans import Span
from momus.text.counting import counted
from momus.visible import visible

SHOWN = 100
"""Characters of a place that are shown."""
MANY = 10
"""Documents from which on their false-discovery rate is told."""
TOP = 3
"""Axes that the sentence names."""


def sentence(document: Reviewed, review: Review) -> str:
    """What is said of a document first.

    >>> review = Review("essays", 80, 80, 0.05, (100, 900), ("rhythm",), False, {}, ())
    >>> sentence(Reviewed("a", 210, 210, 0.03, (OddAxis("rhythm", "sentence rhythm", 0.01, False),)), review)
    'odder than 97 in 100 texts of essays: sentence rhythm'
    >>> sentence(Reviewed("a", 210, 210, 0.41), review)
    'not odd: 41 in 100 texts of essays are at least as odd'
    """
    body = visible(review.body)
    if document.category in review.categories:
        body += f" with {visible(review.by)} {visible(document.category or '')}"
    if document.p is None:
        return f"not judged: {document.why_not}"
    extent = ""
    if document.judged < document.words:
        extent = f"; judged by {document.judged:,} of its {document.words:,} words"
    faults = ", ".join(axis_words(fault) for fault in document.remarks)
    if not document.odd(review.level):
        broken = f"; but it has a fault: {faults}" if faults else ""
        return f"not odd: {_in_100(document.p)} in 100 texts of {body} are at least as odd{broken}{extent}"
    axes = ", ".join(map(axis_words, (*document.remarks, *document.axes)[:TOP]))
    axes = axes or "a little on many axes, on none by itself"
    return f"odder than {_in_100(1 - document.p)} in 100 texts of {body}: {axes}{extent}"


def _in_100(share: float) -> str:
    return f"{100 * share:.3g}"


def axis_words(axis: OddAxis) -> str:
    """An axis, and which end is odd."""
    return f"{visible(axis.axis)}{' (too even)' if axis.small else ''}"


def place_words(span: Span) -> str:
    """A place: its line, what stands there, and what the critic remarks."""
    where = f"line {span.line}: " if span.line else ""
    text = visible(" ".join(span.text.split()))
    quoted = f"“{text if len(text) <= SHOWN else text[:SHOWN] + '…'}”" if text else ""
    often = f"expected once in {np.exp(span.cost):,.0f}" if not (text or span.note) and span.cost else ""
    told = (span.label, span.note, often)
    remark = "; ".join(visible(words) for words in told if words and words.lower() != text.lower())
    return f"{where}{quoted}{' ' if quoted and remark else ''}{f'({remark})' if remark and quoted else remark}"


def review_lines(review: Review) -> Iterator[str]:
    """The lines of a terminal: the oddest documents first, each with its axes and places."""
    marked = review.marked
    ids = {document.id for document in marked}
    for document in [*marked, *(d for d in review.documents if d.id not in ids)]:
        yield f"{visible(document.id)}: {sentence(document, review)}"
        for axis in (*document.remarks, *document.axes):
            yield f"  {axis_words(axis)}, p {axis.p:.2g}"
            yield from (f"    {place_words(span)}" for span in axis.spans)
            # what is said of marks has no meaning here
            note = re.split(r"\s*(?:Marked:|Tokens \d|Each )", axis.note)[0]
            if note and not any(span.line for span in axis.spans):
                yield f"    {visible(note)}"
    judged = [d for d in review.documents if d.p is not None]
    yield ""
    if len(judged) > 1:
        expected = review.level * len(judged)
        line = (
            f"{len(review.odd):,} of {counted(len(judged), 'document')} are odd at {review.level:g}; "
            f"of human ones, {expected:.3g} would be."
        )
        if len(judged) >= MANY:
            sure = sum((d.q or 0.0) <= review.level for d in judged)
            line += f" At a false-discovery rate of {review.level:g}: {sure:,}."
        if others := len(marked) - len(review.odd):
            line += (
                f" {others:,} more {'has' if others == 1 else 'have'} a fault that at most 2 in 100 human ones have."
            )
        yield line
    if review.known:
        yield f"p says nothing of {counted(review.known, 'document')} of {visible(review.body)} itself."
    yield _calibration(review)


def _calibration(review: Review) -> str:
    axes = "" if review.contrast else f" on {len(review.axes)} axes"
    odd = "more like the text of models than these" if review.contrast else "unlike these"
    apart = ""
    if review.by:
        by, others = visible(review.by), sum(d.category not in review.categories for d in review.documents)
        sizes = ", ".join(f"{visible(name)} {n:,}" for name, n in review.categories.items())
        apart = f", each by those of its {by} ({sizes})" if sizes else f"; too few have one {by} to judge apart"
        apart += f"; {counted(others, 'document')} with another {by} or none by all" if sizes and others else ""
    return (
        f"Judged by {review.calibrating:,} held-out documents of {visible(review.body)}{axes}, "
        f"at their length{apart}. Odd means {odd}; it does not say who wrote a text."
    )


def choice_lines(choice: Choice) -> Iterator[str]:
    """The lines of a terminal: the pairs, the surest first, with reasons and places; then how many on each side."""
    for pair in sorted(choice.pairs, key=lambda pair: 1.0 if pair.rate is None else pair.rate):
        yield f"{visible(' | '.join(dict.fromkeys(pair.ids)))}: {pair_sentence(pair, choice)}"
        for reason in pair.reasons:
            yield from (f"  {visible(reason.axis)}, {place_words(span)}" for span in reason.spans if span.line)
        yield from (f"  differs in {place_words(span)}" for span in pair.spans)
    level = choice.reviews[0].level
    first, second = (f"({choice.odder(side, level):,} told at {100 * level:.3g} %)" for side in (0, 1))
    a, b = map(visible, choice.names)
    compared = counted(sum(pair.rate is not None for pair in choice.pairs), "pair")
    yield ""
    yield (
        f"{a} is odder in {choice.odder(0):,} of {compared} {first}, {b} in {choice.odder(1):,} {second}. "
        f"Told: at most {100 * level:.3g} in 100 pairs of human documents differ as much."
    )
    for name, number in zip((a, b), choice.left_out, strict=True):
        if number:
            yield f"{counted(number, 'document')} of {name} without a partner: left out."
    yield _calibration(choice.reviews[0])


def pair_sentence(pair: Pair, choice: Choice) -> str:
    """What is said of two documents.

    >>> review = Review("essays", 80, 80, 0.05, (100, 900), ("rhythm",), False, {}, ())
    >>> pair_sentence(Pair(("q", "q"), (0.03, 0.4), 0, 0.02, False), Choice(("new", "old"), (review, review), ()))
    'new is odder (p 0.03, old 0.4); 2 in 100 pairs of human documents differ as much'
    """
    if None in pair.p:
        of = zip(pair.ids, choice.reviews, strict=True)
        reasons = {d.why_not: None for id, review in of for d in review.documents if d.id == id and d.why_not}
        return f"not compared: {'; '.join(reasons)}"
    if pair.odder is None:
        return f"equally odd (p {pair.p[0]:.2g})"
    odder, other = pair.odder, 1 - pair.odder
    names = [visible(name) for name in choice.names]
    axes = ", ".join(visible(reason.axis) for reason in pair.reasons)
    return (
        f"{names[odder]} is odder (p {pair.p[odder]:.2g}, {names[other]} {pair.p[other]:.2g}){axes and ': '}{axes}; "
        f"{_in_100(pair.rate or 0.0)} in 100 pairs of human documents differ as much"
    )
