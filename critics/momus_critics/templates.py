"""Sentence templates: sequences of parts of speech, an n-gram process over them, and those that one text uses more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Protocol, Self, runtime_checkable

import numpy as np

from momus.critic import Counted, Counts, LogPrior, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.latents import StateSequences
from momus.critic.statistic import total_variation
from momus.critic.tools import make_adapter, resource
from momus.estimator import Estimator, parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import group_sums, kept_offsets, offsets_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus_critics.evidence import Mark, highest, mark_passage
from momus_critics.prose.examples import Exampled, first_of_each, largest_share_gap, ranks, usage_tables
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import Prose, ProseCritic

TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
"""Universal parts of speech (de Marneffe et al. 2021)."""
OPENING = 3
"""Tags of an opening."""
LENGTH, SHOWN = 5, 15
"""Tags of a template, and rows of a table."""
AROUND = 5
"""Tokens of context on each side of a template."""
BASE = 64
"""Factor of the codes of tags in evidence, which count from 1."""


@dataclass(frozen=True)
class Tagged(StateSequences):
    """Parts of speech of the tokens.

    Attributes
    ----------
    sentences
        int64 (sentences + 1,): first token of each sentence among the states.
    owners
        int64 (sentences,): document of each sentence.
    prose
        The tokens, up to the limit of each document.
    """

    sentences: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    owners: Ints = None  # type: ignore[assignment]
    prose: Prose = None  # type: ignore[assignment]

    @property
    def openings(self) -> Ints:
        """Code of the first three tags of each sentence, −1 for shorter ones: int64 (sentences,)."""
        starts, lengths = self.sentences[:-1], np.diff(self.sentences)
        code = np.zeros(len(starts), dtype=np.int64)
        for k in range(OPENING):
            code = code * len(TAGS) + self.states[np.minimum(starts + k, max(len(self.states) - 1, 0))]
        return np.where(lengths >= OPENING, code, -1)


COMMON = 20
"""How many of the commonest openings of real text count as common."""


@runtime_checkable
class Tagger(Protocol):
    """What gives parts of speech."""

    def tag(self, documents: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tag each token of each document."""
        ...


@parametrized
class Templates(MergeableMixin, ProseCritic[Tagged]):
    """z is the part of speech of each token, sentence by sentence, and P_c(z) an n-gram process over it.

    A template is a sequence of parts of speech (Shaib et al. 2024): *DET ADJ NOUN ADP DET NOUN* has many wordings. The
    process begins anew with each sentence, and each order backs off to the one below.

    Parameters
    ----------
    order
        n.
    max_tokens
        Tokens of a document that are tagged, from its beginning, which bounds the time; 0: all.
    tagger, model
        An adapter that gives parts of speech, such as ``spacy``, and its model. Tagging takes about a minute for
        400,000 words, so a run of all critics leaves this one out unless a tagger is named.
    """

    name = "templates"
    axis = "sentence templates"
    question = (
        "Are sentences built after as many different patterns as in real text? z is the part of speech of each word."
    )
    reporting = Reporting(
        required=("tagger",),
        directions=directions(
            "more|less usual in sentence patterns",
            "more|less predictable in sentence patterns",
            "less|more varied in word classes",
        ),
        limits="It cannot see words, only their classes, nor the errors of its tagger, which count as the text's.",
        stepless="no token",
    )
    sequence = True
    min_documents = 3

    order: Annotated[int, Range(1, 5)] = 4
    max_tokens: Annotated[int, Range(0, 100_000_000)] = 500
    tagger: str = ""
    model: str = ""

    def _new_process(self) -> DenseNGrams:
        """The unfitted process."""
        return DenseNGrams(symbols=len(TAGS), order=self.order)

    state_names = TAGS

    def fit_counts(self, real: Corpus) -> Counts:
        """Count n-grams of tags, and the openings of sentences."""
        z = self.project(real)
        ngrams = self._new_process().count(z.states, z.sentences)
        openings = Counts.of_values(openings=z.openings[z.openings >= 0])
        return ngrams + openings

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of n-grams, and choose the commonest openings."""
        self.process_ = self._new_process().learn(counts)
        codes, numbers = counts.numbers("openings")
        self.openings_ = np.sort(codes[np.lexsort((codes, -numbers))[:COMMON]])
        return self

    def project(self, batch: Corpus) -> Tagged:
        """Tag the tokens of each document."""
        prose = self._prose(batch)
        limit = self.max_tokens or int(prose.lengths.max(initial=0))
        keep = np.arange(len(prose.ids)) - np.repeat(prose.offsets[:-1], prose.lengths) < limit  # (N,)
        offsets = kept_offsets(keep, prose.offsets)
        codes, sentences = prose.codes[keep], prose.sentences[keep]
        words = [prose.spelled[c] for c in codes.tolist()]
        tagger = resource(make_adapter, "tagger", self.tagger, {"model": self.model}, kinds=(Estimator, Tagger))
        number = {t: i for i, t in enumerate(TAGS)}
        states: list[int] = []
        other = number["X"]
        with stage(f"tagging {batch.name}", len(batch)) as advance:
            for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                (tags,) = tagger.tag([words[start:stop]])
                states += [number.get(t, other) for t in tags]
                advance(1)
        _, first, lengths = np.unique(sentences, return_index=True, return_counts=True)
        owners = np.searchsorted(offsets, first, side="right") - 1
        of_tokens = ("ids", "sentences", "paragraphs", "alphabetic", "capitalised", "codes")
        kept = replace(prose, offsets=offsets, **{name: getattr(prose, name)[keep] for name in of_tokens})
        return Tagged(np.array(states, dtype=np.int64), offsets, None, offsets_of(lengths), owners, kept)

    def log_prior(self, latents: Tagged) -> LogPrior:
        """Sum of log P_c over the tags of each document, and the ends of its sentences."""
        totals = self.process_.totals(latents.states, latents.sentences)
        sentences = np.bincount(latents.owners, minlength=len(latents))
        return LogPrior(
            np.asarray(np.bincount(latents.owners, totals, len(latents)), dtype=np.float64), latents.lengths + sentences
        )

    def sufficient_statistics(self, latents: Tagged) -> Mapping[str, Rows]:
        """Openings of sentences, those that are common in real text, and nouns and verbs beside all words."""
        openings, n = latents.openings, len(latents)
        long = openings >= 0
        offsets = offsets_of(np.bincount(latents.owners[long], minlength=n))  # of sentences with an opening
        known = np.isin(openings, self.openings_) & long
        common = np.bincount(latents.owners, known, n)
        verbs = group_sums(
            np.isin(latents.states, [TAGS.index("VERB"), TAGS.index("AUX")]).astype(float), latents.offsets
        )
        sizes = len(TAGS) ** OPENING
        return {
            "openings": Counted.of_tokens(openings[long], offsets, np.arange(sizes)),
            "common": np.column_stack([common, np.bincount(latents.owners, long, n)]).astype(np.float64),
            "verbs": np.column_stack([np.asarray(verbs, dtype=np.float64), latents.lengths]),
        }

    tested = (
        Statistic.distance("openings", "openings", total_variation, "total variation of openings"),
        Statistic.distance(
            "largest_gap",
            "openings",
            largest_share_gap,
            "largest gap of an opening (Cohen’s h of shares of sentences)",
            uneven="itself",
        ),
        Statistic.share(
            "common_share",
            "common",
            f"share of the {COMMON} commonest openings",
            "poorer|richer in common openings",
            needs=f"a sentence of {OPENING} words",
        ),
        Statistic.share("verb_share", "verbs", "share of verbs", "poorer|richer in verbs"),
    )

    def summarize(self, latents: Tagged) -> Exampled:
        """Numbers of templates, and of openings of sentences, with a line of each, whichever it is."""
        states, starts = np.asarray(latents.states, dtype=np.int64), latents.sentences
        sentence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        counts: dict[str, dict[str | float, float]] = {}
        examples: list[tuple[str, float, str]] = []
        first = np.zeros(len(states), dtype=bool)
        first[starts[:-1]] = True
        for kind, length, at in (("templates", LENGTH, np.ones(len(states), dtype=bool)), ("openings", OPENING, first)):
            # tokens at which so many tokens of one sentence begin
            count = max(len(sentence) - length + 1, 0)
            begin = np.flatnonzero(at[:count] & (sentence[:count] == sentence[length - 1 : length - 1 + count]))
            codes = np.zeros(len(begin), dtype=np.int64)
            for k in range(length):
                codes = codes * BASE + states[begin + k] + 1
            distinct, where, number = np.unique(codes, return_inverse=True, return_counts=True)
            names = [spelled(c) for c in distinct.tolist()]
            counts[kind] = dict(zip(names, number.astype(np.float64).tolist(), strict=True))
            rank = ranks(latents.prose.hashes, begin, range(length + 2))
            for i in first_of_each(where, rank).tolist():
                whole = int(starts[sentence[begin[i]]]), int(starts[sentence[begin[i]] + 1])
                line = latents.prose.line(int(begin[i]), length, whole, AROUND)
                examples.append((f"{kind} {names[where[i]]}", float(rank[i]), line))
        sizes = np.array([len(states), len(starts) - 1], dtype=np.float64)
        return Exampled.of(Pooled(len(latents), {"sizes": sizes}, counts), examples)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Over-used and under-used templates and openings."""
        tables: list[Evidence] = []
        for kind, title, unit, size in (
            ("templates", "Templates", "words", 0),
            ("openings", "Openings of sentences", "sentences", 1),
        ):
            totals = real.arrays["sizes"][size], generated.arrays["sizes"][size]
            # only openings are tested, see `tested`
            named = "openings of sentences by part of speech" if kind == "openings" else ""
            tables += usage_tables((real, generated), kind, title, "template", unit, totals, SHOWN, named)
        return tables

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tenth of the words whose part of speech is least likely."""
        z = self.project(document)
        if not len(z.states):
            return None
        values, framed = self.process_.log_probabilities(z.states, z.sentences)
        ends = framed[1:] - 1
        nats: Floats = -np.delete(values, ends)
        words = z.prose.tokens()
        marks = {i: Mark(TAGS[int(z.states[i])], f"{nats[i]:.1f} nats") for i in highest(nats)}
        note = "Marked: words whose part of speech is least likely after those before it."
        return mark_passage(self, document, z, words, marks, values=nats, note=note)


def spelled(code: int) -> str:
    """The tags of a code.

    >>> spelled(1 * BASE + 2)
    'ADJ ADP'
    """
    spellings = []
    while code:
        spellings.append(TAGS[code % BASE - 1])
        code //= BASE
    return " ".join(reversed(spellings))
