"""`review`: judge documents by a body of human text.

A document that is as long as those of the body is judged as it is, at its length. A shorter one is judged beside the
beginnings of held-out documents, of its length; a longer one by its stretches, of a length that most held-out documents
have, beside their beginnings; where text of models is given, by its beginning, as long as the longest held-out ones. So
no document is called odd for its length, or for being an excerpt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from momus.arguments import arg
from momus.critic.powers import EvidenceMixin
from momus.errors import UsageError
from momus.evidence import Step
from momus.inference.multiplicity import benjamini_hochberg
from momus.numeric.types import Floats, Ints
from momus.progress import Reporter, Silent
from momus.review.body import FITTED, REMARKABLE, STEP, Body, faults_of
from momus.review.spans import MOST, Span, span_of, spans_of, stretches, word_counts
from momus.review.yardstick import Judgement, Yardstick
from momus.text.corpus import Corpus
from momus.text.documents import Document

SHORTEST = 25
"""Words below which a document is not judged: too little can be told."""

CONTRAST = "like the text of models"
OF_WHOLE = "length"
"""The critic of how long documents are, which says nothing of stretches, nor of what is judged beside beginnings."""


@dataclass(frozen=True)
class OddAxis:
    """A document on one axis.

    Attributes
    ----------
    p
        Its conformal p-value under this critic alone.
    small
        Whether it is odd because it is too likely.
    spans
        Where, the costliest first.
    note
        What the critic remarks of the document as a whole.
    """

    critic: str
    axis: str
    p: float
    small: bool
    spans: tuple[Span, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Reviewed:
    """One document.

    Attributes
    ----------
    words
        Its number of words.
    judged
        How many of them were judged.
    p
        Share of human documents of the body that are at least as odd: over all axes, or, beside text of models, that
        are as much like it; None if it is not judged.
    axes
        The axes on which it is odd at the level, the oddest first.
    remarks
        What is broken in it, whatever its p is: faults that at most 2 in 100 documents of the body have.
    why_not
        Why it is not judged; empty if it is.
    q
        Smallest false-discovery rate at which it is among the odd ones of all documents (Benjamini & Hochberg 1995,
        valid for conformal p-values of one calibration: Bates et al. 2023); None if it is not judged.
    surprise
        What ranks it for p, in nats; None if it is not judged.
    category
        Its value of the field `Review.by`; None without one.
    faults
        Names of all its faults, those that are frequent in the body too.
    """

    id: str
    words: int
    judged: int
    p: float | None
    axes: tuple[OddAxis, ...] = ()
    remarks: tuple[OddAxis, ...] = ()
    why_not: str = ""
    q: float | None = None
    surprise: float | None = None
    category: str | None = None
    faults: tuple[str, ...] = ()

    def odd(self, level: float) -> bool:
        """Whether it is odd at a level: so is a human document of the body in ``level`` of cases."""
        return self.p is not None and self.p <= level


@dataclass(frozen=True)
class Review:
    """Documents that were judged by a body of human text, in their order.

    Attributes
    ----------
    body
        Name of the body.
    fitted, calibrating
        Number of its documents that critics were fitted on, and that calibrate.
    level
        Share of human documents of the body that are called odd.
    lengths
        Numbers of words between which documents are judged as they are.
    axes
        The axes.
    contrast
        Whether text of models was given too.
    left_out
        Why critics were left out, by name.
    known
        Number of the documents that are in the body too: of these, p says nothing.
    by
        The field whose categories are judged apart; empty: none.
    categories
        How many of the body's documents calibrate each category that is large enough; others are judged by all.
    """

    body: str
    fitted: int
    calibrating: int
    level: float
    lengths: tuple[int, int]
    axes: tuple[str, ...]
    contrast: bool
    left_out: dict[str, str]
    documents: tuple[Reviewed, ...]
    known: int = 0
    by: str = ""
    categories: dict[str, int] = field(default_factory=dict)

    @property
    def odd(self) -> list[Reviewed]:
        """The odd documents, the oddest first."""
        odd = [document for document in self.documents if document.odd(self.level)]
        return sorted(odd, key=lambda document: document.p or 0.0)

    @property
    def marked(self) -> list[Reviewed]:
        """The odd documents, the oddest first, then others with a fault."""
        return [*self.odd, *(d for d in self.documents if d.remarks and not d.odd(self.level))]


def review(
    documents: Corpus,
    body: Body,
    level: float = 0.05,
    reporter: Reporter | None = None,
    by: str = "",
    measured: tuple[Floats, Floats] | None = None,
) -> Review:
    """Judge documents: which are odd among human ones, on which axes, and where.

    Parameters
    ----------
    level
        Share of human documents of the body's kind that are called odd.
    by
        A metadata field of both texts, such as the register: a document is judged by those of its own category, so
        that the level holds in each (Mondrian conformal prediction: Vovk, Gammerman & Shafer 2005, section 4.5). If
        the body has too few of them, all of its documents judge.
    measured
        What `Body.measure` says of the documents, if it is known.

    Raises
    ------
    UsageError
        The level is not between 0 and 1, the body is too small for it, or none of its documents has the field.

    Examples
    --------
    >>> from momus.review import fit_body
    >>> rng = np.random.default_rng(0)
    >>> words = ["blue", "cat", "dog", "house", "red", "runs", "sees", "tree"]
    >>> sentence = lambda: " ".join(rng.choice(words, 5 + rng.poisson(3))).capitalize() + "."
    >>> text = lambda n: " ".join(sentence() for _ in range(n))
    >>> body = fit_body(Corpus.from_texts(text(20) for _ in range(100)), critics=["rhythm", "unigram"])
    >>> odd = review(Corpus.from_texts(["The cat sees. " * 60, text(20)]), body)
    >>> [document.odd(0.05) for document in odd.documents]
    [True, False]
    """
    if not 0 < level < 1:
        raise UsageError(f"the level is {level}", hint="give a number between 0 and 1, such as 0.05")
    if not body.calibrates(level):
        what = "groups" if any(group is not None for group in body.held.groups) else "documents"
        raise UsageError(
            f"{body.units} {what} of {body.name} calibrate: no p is as small as {level:g}",
            hint=f"give {int(np.ceil(1 / level / (1 - FITTED)))} {what} of human text, or a larger {arg('level')}",
        )
    reporter = reporter or Silent()
    of_categories = body.categories(by, level) if by else {}
    categories = documents.field(by) if by else [None] * len(documents)
    bodies = [of_categories.get(name or "", body) for name in categories]
    words = word_counts([document.text for document in documents])
    judged: dict[int, Reviewed] = {}
    with reporter.stage(f"judging {documents.name}", len(documents)) as advance:
        for (length, longer, _), rows in _classes(words, bodies).items():
            known = None if measured is None else (measured[0][rows], measured[1][rows])
            alike, judges = documents.take(rows), bodies[rows[0]]
            judged |= zip(rows, _judged(alike, words[rows], length, longer, judges, level, known), strict=True)
            advance(len(rows))
    reviewed = [judged[row] for row in range(len(documents))]
    rates = iter(benjamini_hochberg([d.p for d in reviewed if d.p is not None]).tolist())
    faults = faults_of(body.watch, documents)
    remarks = (_remarks(documents.take([i]), faults[i], judges) for i, judges in enumerate(bodies))
    return Review(
        body.name,
        body.fitted,
        body.units,
        level,
        body.lengths,
        tuple(critic.axis for critic in body.critics),
        body.contrast is not None,
        body.left_out,
        tuple(
            replace(d, remarks=of, q=None if d.p is None else next(rates), category=category, faults=tuple(names))
            for d, of, category, names in zip(reviewed, remarks, categories, faults, strict=True)
        ),
        int(np.isin(documents.hashes, body.hashes).sum()),
        by,
        {name: judges.units for name, judges in of_categories.items()},
    )


def _remarks(document: Corpus, faults: Sequence[str], body: Body) -> tuple[OddAxis, ...]:
    """What is broken in one document with these faults."""
    names = [name for name in faults if body.rate(name) <= REMARKABLE]
    if body.watch is None or not names:
        return ()
    marked = body.watch.explain(document) if isinstance(body.watch, EvidenceMixin) else None
    steps = {} if marked is None else {step.label: Step("", step.text) for step in marked.steps}
    spans = [span_of(steps.get(name, Step("", "")), document[0].text) for name in names]
    places = [(span,) if span.stop else () for span in spans]
    return tuple(OddAxis(body.watch.name, n, body.rate(n), False, p) for n, p in zip(names, places, strict=True))


def _classes(words: Ints, bodies: Sequence[Body]) -> dict[tuple[int, bool, int], list[int]]:
    """Rows of documents by the length of the stretches that judge them, whether they are longer, and their body.

    The length is 0 for documents that are judged as they are, and −1 for those that are too short.
    """
    classes: dict[tuple[int, bool, int], list[int]] = {}
    for row, (n, body) in enumerate(zip(words.tolist(), bodies, strict=True)):
        low, high = body.lengths
        if low <= n <= high:
            length = 0
        elif n > high:
            length = body.common if body.contrast is None else high
        else:
            # powers of the step, so that documents of like length share one yardstick; too short ones have their own
            length = round(STEP ** round(np.log(n) / np.log(STEP))) if n >= SHORTEST else -1
        classes.setdefault((length, n > high, id(body)), []).append(row)
    return classes


def _judged(
    documents: Corpus,
    words: Ints,
    length: int,
    longer: bool,
    body: Body,
    level: float,
    measured: tuple[Floats, Floats] | None,
) -> list[Reviewed]:
    """Judge documents of one class of `_classes`."""
    as_whole = length == 0 or (longer and body.contrast is not None)
    yardstick = None if length < 0 else body.whole if as_whole else body.beginnings(length)
    if yardstick is None:
        why = f"it has fewer than {SHORTEST} words" if length < 0 else "too few documents of the body are so long"
        return [
            Reviewed(d.id, int(n), 0, None, why_not=d.problem or why)
            for d, n in zip(documents, words.tolist(), strict=True)
        ]
    if longer:
        most = 1 if as_whole else max(int(level * (yardstick.units + 1)), 1)  # of more, no p would be small enough
        return [
            _by_stretches(documents.take([i]), int(n), length, most, yardstick, body, level)
            for i, n in enumerate(words.tolist())
        ]
    judgement = yardstick.judge(*(measured or body.measure(documents)), words)
    return [
        Reviewed(
            document.id,
            int(words[i]),
            int(words[i]),
            float(judgement.p[i]),
            _axes(documents.take([i]), judgement, i, body, level, length == 0) if judgement.p[i] <= level else (),
            surprise=float(judgement.surprise[i]),
        )
        for i, document in enumerate(documents)
    ]


def _by_stretches(
    document: Corpus, words: int, length: int, most: int, yardstick: Yardstick, body: Body, level: float
) -> Reviewed:
    """Judge a document that is longer than those of the body by its stretches: the oddest one tells.

    Its p-value is that of the oddest stretch times the number of stretches (Bonferroni): they depend on one another.
    """
    (d,) = document
    cut = stretches(d.text, length, most)
    pieces = Corpus.from_documents(
        [Document.plain(f"{d.id}:{start}", text, d.prompt, d.group) for start, text in cut], document.name
    )
    counts = word_counts([text for _, text in cut])
    judgement = yardstick.judge(*body.measure(pieces), counts)
    oddest = int(judgement.p.argmin())
    p = min(float(judgement.p[oddest]) * len(cut), 1.0)
    axes: tuple[OddAxis, ...] = ()
    if p <= level:
        start = cut[oddest][0]
        axes = tuple(
            replace(axis, spans=tuple(span.moved(start, d.text) for span in axis.spans))
            for axis in _axes(pieces.take([oddest]), judgement, oddest, body, level, False)
        )
    surprise = float(judgement.surprise[oddest] - np.log(len(cut)))
    return Reviewed(d.id, words, int(counts.sum()), p, axes, surprise=surprise)


def _axes(document: Corpus, judgement: Judgement, i: int, body: Body, level: float, whole: bool) -> tuple[OddAxis, ...]:
    """The axes on which an odd document, number i of a judgement, is odd by itself, the oddest first, with places."""
    alone: Floats = judgement.alone[i]
    axes, text = [], document[0].text
    if body.contrast is not None:  # it alone decides
        words = body.contrast.telling(document, MOST)
        spans = tuple(span_of(Step("", word), text) for word in words)
        axes.append(OddAxis("contrast", CONTRAST, float(judgement.p[i]), False, spans))
    for k in np.argsort(alone, kind="stable").tolist():
        if alone[k] > level:
            break
        critic, small = body.critics[k], bool(judgement.small[i, k])
        if critic.name == OF_WHOLE and not whole:
            continue
        marked = critic.explain(document) if isinstance(critic, EvidenceMixin) else None
        places = [] if marked is None or small else spans_of(marked, text)  # evenness has no place
        note = "" if marked is None else marked.note
        axes.append(OddAxis(critic.name, critic.axis, float(alone[k]), small, tuple(places), note))
    return tuple(axes)
