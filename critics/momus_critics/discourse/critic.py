"""The critic of discourse: an n-gram process over classes of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

import numpy as np

from momus.critic import Counted, Counts, LogPrior, MergeableMixin, Note, Reporting, Rows, Statistic
from momus.critic.fitted import Fitted
from momus.critic.hooks import NamedStatesMixin, NotesMixin
from momus.critic.statistic import total_variation
from momus.estimator import ComponentsMixin, Estimator, parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import float_sums, offsets_of, owners_of
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.discourse import evidence
from momus_critics.discourse.classes import (
    FIRST_CONNECTIVE,
    FIRST_PERSON,
    FIRST_PERSON_SHORT,
    PARAGRAPH,
    QUESTION,
    SPEECH,
    STATES,
    THIRD_PERSON,
    Moves,
    sentence_classes,
)
from momus_critics.keyness.testing import largest_gap
from momus_critics.prose.examples import Exampled
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import ProseCritic


@parametrized
class Discourse(MergeableMixin, ProseCritic[Moves], ComponentsMixin, NotesMixin, NamedStatesMixin):
    """z is the sequence of classes of sentences, P_c(z) an n-gram process over it.

    A sentence is speech, a question, or belongs to the sense of the connective that it opens with (contrast, cause,
    addition, time, condition, example, conclusion; a closed list of English words and phrases), else it is plain. A
    mark stands before each paragraph.

    Parameters
    ----------
    order
        n.
    tokens
        See `ProseCritic`.

    >>> from momus import Corpus
    >>> critic = Discourse().fit(Corpus.from_texts(["It rains. But why? So it is.", "He left. Then she left.", "No."]))
    >>> [critic.state_names[i] for i in critic.project(Corpus.from_texts(["But no. If only!"])).states]
    ['paragraph', 'contrast', 'condition']
    """

    name = "discourse"
    axis = "connectives and discourse"
    question = (
        "Are sentences tied together as in real text, by connectives, questions and speech? z is the class of each "
        "sentence in turn."
    )
    reporting = Reporting(
        headline="transitions",
        directions={
            "latent_nll": ("more usual in discourse", "less usual in discourse"),
            "latent_ppl": ("more predictable in discourse", "less predictable in discourse"),
            "posterior_entropy": ("less varied in discourse", "more varied in discourse"),
        },
        layout=("breaks", "spacing"),
        limits="It knows English connectives at the start of sentences only, and not whether they are right.",
    )
    sequence = True
    min_documents = 3

    order: Annotated[int, Range(1, 6)] = 3

    def component(self, attribute: str) -> Estimator:
        """Make the unfitted process."""
        if attribute == "process_":
            return DenseNGrams(symbols=len(STATES), order=self.order)
        return super().component(attribute)

    @property
    def state_names(self) -> Sequence[str]:
        """The classes."""
        return STATES

    def fit_counts(self, real: Corpus) -> Counts:
        """Count n-grams of classes."""
        z = self.project(real)
        ngrams = DenseNGrams(symbols=len(STATES), order=self.order).count(z.states, z.offsets)
        return ngrams + Counts.of(sentences=[(z.states != PARAGRAPH).sum()])

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of n-grams."""
        self.process_: DenseNGrams = DenseNGrams(symbols=len(STATES), order=self.order).learn(counts)
        self.sentences_ = int(counts.array("sentences")[0])
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.component("process_", DenseNGrams)
        state.integer("sentences_")

    def project(self, batch: Corpus) -> Moves:
        """Classify the sentences of each document."""
        prose = self.prose(batch)
        classes, first = sentence_classes(prose)
        owners = owners_of(prose.offsets)[first]
        paragraphs = prose.paragraphs[first]
        begins = np.ones(len(first), dtype=bool)
        begins[1:] = (paragraphs[1:] != paragraphs[:-1]) | (owners[1:] != owners[:-1])
        # a state for each sentence, and one more before those that begin a paragraph
        repeats = 1 + begins.astype(np.int64)
        at = np.cumsum(repeats) - 1  # place of each sentence among the states
        states = np.full(int(repeats.sum()), PARAGRAPH, dtype=np.int64)
        states[at] = classes
        offsets = offsets_of(np.bincount(owners, repeats, len(prose)).astype(np.int64))
        one, other = (prose.is_any(w) for w in (FIRST_PERSON | FIRST_PERSON_SHORT, THIRD_PERSON))
        persons = np.column_stack([float_sums(one, prose.offsets), float_sums(one | other, prose.offsets)])
        return Moves(states, offsets, None, np.repeat(first, repeats), prose, persons)

    def log_prior(self, latents: Moves) -> LogPrior:
        """Sum of log P_c over the states of each document and its end."""
        return LogPrior(self.process_.totals(latents.states, latents.offsets), latents.lengths + 1)

    def sufficient_statistics(self, latents: Moves) -> Mapping[str, Rows]:
        """Pairs of neighbouring classes; connectives, questions and speech beside sentences; persons."""
        z, size = latents.states, len(STATES)
        sentences = float_sums(z != PARAGRAPH, latents.offsets)
        # the pair of each state with the one before it, −1 for the first of a document
        pairs = np.full(len(z), -1, dtype=np.int64)
        pairs[1:] = z[:-1] * size + z[1:]
        pairs[latents.offsets[:-1][latents.lengths > 0]] = -1
        shares = {"connectives": z >= FIRST_CONNECTIVE, "questions": z == QUESTION, "speech": z == SPEECH}
        return {
            "pairs": Counted.of_tokens(pairs, latents.offsets, np.arange(size * size)),
            **{k: np.column_stack([float_sums(v, latents.offsets), sentences]) for k, v in shares.items()},
            # one pronoun of each person keeps texts without any pronoun defined
            "persons": latents.persons + np.array([0.5, 1.0]),
            "openings": evidence.Openings.of(latents).rows(latents, sentences),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Total variation of pairs of classes; shares of connectives, questions, speech, first person; openings."""
        shares = (
            ("connective_share", "connectives", "sentences that open with a connective", "connectives"),
            ("question_share", "questions", "questions", "questions"),
            ("speech_share", "speech", "sentences of speech", "speech"),
            ("first_person_share", "persons", "first person among pronouns", "the first person"),
        )
        return (
            Statistic(
                "transitions",
                "pairs",
                "distance",
                total_variation,
                label="total variation of pairs of sentence classes",
            ),
            Statistic(
                "largest_gap",
                "openings",
                "distance",
                largest_gap,
                uneven="itself",
                label="largest gap of an opening (Cohen’s h of shares of sentences)",
            ),
            *(
                Statistic.share(name, rows, label, (f"poorer in {noun}", f"richer in {noun}"))
                for name, rows, label, noun in shares
            ),
        )

    def summarize(self, latents: Moves) -> Exampled:
        """Counts of classes, of pairs of them, and of how sentences open."""
        return evidence.summary(latents)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Over-used and under-used openings of sentences, classes, and which class follows which."""
        return evidence.show(real, generated)

    def notes(self) -> list[Note]:
        """Size of the training data."""
        return [Note(f"{self.order}-grams of the classes of {counted(self.sentences_, 'sentence')}.")]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show one document sentence by sentence, the least likely classes marked."""
        return evidence.explain(self, document)
