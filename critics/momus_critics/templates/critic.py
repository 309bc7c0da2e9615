"""The critic of sentence templates: an n-gram process over parts of speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from momus.critic import (
    Counted,
    Counts,
    LogPrior,
    MergeableMixin,
    Note,
    Reporting,
    Rows,
    StateSequences,
    Statistic,
    resource,
)
from momus.critic.fitted import Fitted
from momus.critic.hooks import NamedStatesMixin, NotesMixin, ParameterRolesMixin
from momus.critic.statistic import total_variation
from momus.critic.tools import make_adapter
from momus.errors import UsageError
from momus.estimator import ComponentsMixin, Estimator, parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import group_sums, kept_offsets, offsets_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.keyness.testing import largest_share_gap
from momus_critics.prose.examples import Exampled
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import Prose, ProseCritic
from momus_critics.templates import evidence

TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
"""Universal parts of speech (de Marneffe et al. 2021)."""
OPENING = 3
"""Tags of an opening."""


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
class Templates(
    MergeableMixin, ProseCritic[Tagged], ComponentsMixin, NotesMixin, NamedStatesMixin, ParameterRolesMixin
):
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
    tokens
        See `ProseCritic`.
    """

    name = "templates"
    axis = "sentence templates"
    question = (
        "Are sentences built after as many different patterns as in real text? z is the part of speech of each word."
    )
    reporting = Reporting(
        directions={
            "latent_nll": ("more usual in sentence patterns", "less usual in sentence patterns"),
            "latent_ppl": ("more predictable in sentence patterns", "less predictable in sentence patterns"),
            "posterior_entropy": ("less varied in word classes", "more varied in word classes"),
        },
        limits="It cannot see words, only their classes, nor the errors of its tagger, which count as the text's.",
        stepless="no token",
    )
    sequence = True
    required_params: ClassVar[tuple[str, ...]] = ("tagger",)
    min_documents = 3

    order: Annotated[int, Range(1, 5)] = 4
    max_tokens: Annotated[int, Range(0, 100_000_000)] = 500
    tagger: str = ""
    model: str = ""

    def component(self, attribute: str) -> Estimator:
        """Make the unfitted process."""
        if attribute == "process_":
            return DenseNGrams(symbols=len(TAGS), order=self.order)
        return super().component(attribute)

    @property
    def state_names(self) -> Sequence[str]:
        """The parts of speech."""
        return TAGS

    def fit_counts(self, real: Corpus) -> Counts:
        """Count n-grams of tags, and the openings of sentences."""
        z = self.project(real)
        ngrams = DenseNGrams(symbols=len(TAGS), order=self.order).count(z.states, z.sentences)
        openings = Counts.of_values(openings=z.openings[z.openings >= 0])
        return ngrams + openings + Counts.of(sentences=[len(z.owners)])

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of n-grams, and choose the commonest openings."""
        self.process_: DenseNGrams = DenseNGrams(symbols=len(TAGS), order=self.order).learn(counts)
        codes, numbers = counts.numbers("openings")
        self.openings_ = np.sort(codes[np.lexsort((codes, -numbers))[:COMMON]])
        self.sentences_ = int(counts.array("sentences")[0])
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.component("process_", DenseNGrams)
        state.ascending("openings_", kind="i")
        state.integer("sentences_")

    def project(self, batch: Corpus) -> Tagged:
        """Tag the tokens of each document."""
        prose = self.prose(batch)
        limit = self.max_tokens or int(prose.lengths.max(initial=0))
        keep = np.arange(len(prose.ids)) - np.repeat(prose.offsets[:-1], prose.lengths) < limit
        offsets = kept_offsets(keep, prose.offsets)
        codes, sentences = prose.codes[keep], prose.sentences[keep]
        words = [prose.spelled[c] for c in codes.tolist()]
        tagger, number = resource(_tagger, self.tagger, self.model), {t: i for i, t in enumerate(TAGS)}
        states: list[int] = []
        other = number["X"]
        with stage(f"tagging {batch.name}", len(batch)) as advance:
            for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                (tags,) = tagger.tag([words[start:stop]])
                states += [number.get(t, other) for t in tags]
                advance(1)
        _, first, lengths = np.unique(sentences, return_index=True, return_counts=True)
        owners = np.searchsorted(offsets, first, side="right") - 1
        kept = Prose(
            prose.ids[keep],
            prose.words,
            offsets,
            sentences,
            prose.paragraphs[keep],
            prose.alphabetic[keep],
            prose.capitalised[keep],
            codes,
            prose.spelled,
        )
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
        offsets = offsets_of(np.bincount(latents.owners[long], minlength=n))
        known = np.isin(openings, self.openings_) & long
        common = np.bincount(latents.owners, known, n)
        verbs = group_sums(
            np.isin(latents.states, [TAGS.index("VERB"), TAGS.index("AUX")]).astype(float), latents.offsets
        )
        sizes = len(TAGS) ** OPENING
        return {
            "openings": Counted.of_tokens(openings[long], offsets, np.arange(sizes)),
            # half a sentence keeps texts of short sentences alone defined
            "common": np.column_stack([common + 0.5, np.bincount(latents.owners, long, n) + 1.0]),
            "verbs": np.column_stack([np.asarray(verbs, dtype=np.float64), latents.lengths]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Total variation of openings, the largest gap of one, the share of common ones, and the share of verbs."""
        return (
            Statistic("openings", "openings", "distance", total_variation, label="total variation of openings"),
            Statistic(
                "largest_gap",
                "openings",
                "distance",
                largest_share_gap,
                uneven="itself",
                label="largest gap of an opening (Cohen’s h of shares of sentences)",
            ),
            Statistic.share(
                "common_share",
                "common",
                f"share of the {COMMON} commonest openings",
                ("poorer in common openings", "richer in common openings"),
            ),
            Statistic.share("verb_share", "verbs", "share of verbs", ("poorer in verbs", "richer in verbs")),
        )

    def summarize(self, latents: Tagged) -> Exampled:
        """Counts of templates and openings, with examples."""
        return evidence.summary(latents, OPENING)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Over-used and under-used templates and openings, with concordance lines of both texts."""
        return evidence.show(real, generated, TAGS)

    def notes(self) -> list[Note]:
        """Size of the training data."""
        limit = f", the first {self.max_tokens:,} words and symbols of each document" if self.max_tokens else ""
        return [Note(f"{self.order}-grams of parts of speech of {counted(self.sentences_, 'sentence')}{limit}.")]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tenth of the words whose part of speech is least likely."""
        z = self.project(document)
        if not len(z.states):
            return None
        values, framed = self.process_.log_probabilities(z.states, z.sentences)
        ends = framed[1:] - 1
        nats: Floats = -np.delete(values, ends)
        total = -float(values.sum())
        return evidence.explain(document, z.prose, z.states.astype(np.int64), nats, total, TAGS)


def _tagger(name: str, model: str) -> Tagger:
    """Make a tagger."""
    tagger = make_adapter("tagger", name, {"model": model})
    if not isinstance(tagger, Tagger):
        raise UsageError(f"tagger {name!r} is a {type(tagger).__name__} without tag()")
    return tagger
