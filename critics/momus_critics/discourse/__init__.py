"""Discourse: an n-gram process over connectives, questions and speech, in the order in which they follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy import sparse

from momus.critic import (
    Counted,
    Counts,
    LogPrior,
    MergeableMixin,
    Pooled,
    Reporting,
    Rows,
    StateSequences,
    Statistic,
    directions,
)
from momus.critic.shifts import shift_table
from momus.critic.statistic import total_variation
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument, Step
from momus.numeric.ragged import changes, distinct, float_sums, offsets_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL
from momus_critics.evidence import highest, marked
from momus_critics.prose.examples import DOCUMENTS, Exampled, first_of_each, largest_gap, ranks, usage_tables
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import Prose, ProseCritic

CONNECTIVES: dict[str, tuple[str, ...]] = {
    "contrast": (
        *("but", "however", "yet", "still", "nevertheless", "nonetheless", "although", "though", "instead", "whereas"),
        *("on the other hand", "in contrast", "by contrast", "on the contrary", "even so", "conversely", "despite"),
    ),
    "cause": (
        *("because", "so", "therefore", "thus", "hence", "consequently", "accordingly", "since"),
        *("as a result", "for this reason", "that is why"),
    ),
    "addition": (
        *("and", "also", "moreover", "furthermore", "besides", "additionally", "likewise", "similarly", "or", "nor"),
        *("in addition", "as well as", "what is more", "not only"),
    ),
    "time": (
        *("then", "when", "after", "before", "while", "until", "once", "meanwhile", "suddenly", "later", "soon", "now"),
        *("afterwards", "eventually", "at last", "at first", "first", "second", "next", "as soon as", "finally"),
    ),
    "condition": ("if", "unless", "otherwise", "whether", "provided that", "in case"),
    "example": (
        *("indeed", "in fact", "for example", "for instance", "in particular", "specifically", "in other words"),
        *("that is", "especially", "of course"),
    ),
    "conclusion": (
        *("overall", "ultimately", "in conclusion", "in summary", "in short", "in the end", "to sum up"),
        *("all in all", "at the end of the day", "to conclude", "in essence"),
    ),
}
"""Words and phrases that open a sentence, by sense."""
STATES = ("paragraph", "plain", "speech", "question", *CONNECTIVES)
PARAGRAPH, PLAIN, SPEECH, QUESTION = range(4)
FIRST_CONNECTIVE = 4
OPENING = frozenset('"“«„‹「『')
DASHES = frozenset("—–-")
ASKING = frozenset("?？؟")
FIRST_PERSON = frozenset(FIRST)
FIRST_PERSON_SHORT = frozenset(("i'm", "i've", "i'd", "i'll", "i’m", "i’ve", "i’d", "i’ll", "we're", "we’re"))
THIRD_PERSON = frozenset((*MALE, *FEMALE, *PLURAL))


def sentence_classes(prose: Prose) -> tuple[Ints, Ints]:
    """The class of each sentence, and the first token of each: int64 (S,) both.

    A sentence with an opening quotation mark, or that begins with a dash, is speech; one that ends with a question mark
    is a question, unless it is speech; others go by the connective that they open with.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> text = "He came. But why? “No,” she said. In fact, he left. However it rained."
    >>> prose = read_prose(Corpus.from_texts([text]).tokens(paragraph_tokenizer("words")))
    >>> [STATES[i] for i in sentence_classes(prose)[0]]
    ['plain', 'question', 'speech', 'example', 'contrast']
    """
    first = prose.starts[:-1]
    count = len(first)
    classes = np.full(count, PLAIN, dtype=np.int64)
    number = {w: i for i, w in enumerate(prose.words)}
    for sense, phrases in enumerate(CONNECTIVES.values(), FIRST_CONNECTIVE):
        for phrase in phrases:
            opens = np.ones(len(first), dtype=bool)  # whether each sentence opens with the phrase, (S,)
            for k, word in enumerate(phrase.split(" ")):
                at = np.minimum(first + k, max(len(prose.ids) - 1, 0))  # (S,); beyond the text, the sentence differs
                same = prose.sentences[at] == prose.sentences[first]
                opens &= (prose.ids[at] == number.get(word, -1)) & same
            classes[opens] = sense
    asks, quotes, dash = (prose.is_any(words) for words in (ASKING, OPENING, DASHES))
    # later assignments win: speech over questions, questions over connectives
    classes[np.bincount(prose.sentences, asks, count) > 0] = QUESTION
    classes[np.bincount(prose.sentences, quotes, count) > 0] = SPEECH
    if count:
        classes[dash[first]] = SPEECH
    return classes, first


@dataclass(frozen=True)
class SentenceClasses(StateSequences):
    """Classes of sentences, each paragraph preceded by a mark, and the tokens they were read from.

    Attributes
    ----------
    starts
        int64 (N,): first token of each state's sentence, or of the paragraph.
    prose
        The tokens.
    persons
        float64 (n, 2): pronouns of the first person, and of the first and third.
    """

    starts: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    prose: Prose = None  # type: ignore[assignment]
    persons: Floats = None  # type: ignore[assignment]


SHOWN, WORDS = 20, 2
"""Openings of a table, and words of an opening."""
EXAMPLE = 14
"""Tokens of an example."""
SHARES = (
    ("connective_share", "connectives", "sentences that open with a connective", "connectives", "a sentence"),
    ("question_share", "questions", "questions", "questions", "a sentence"),
    ("speech_share", "speech", "sentences of speech", "speech", "a sentence"),
    ("first_person_share", "persons", "first person among pronouns", "the first person", "such a pronoun"),
)
"""Shares: their name, rows, label, in what a text is rich, and what a document must have."""


@parametrized
class Discourse(MergeableMixin, ProseCritic[SentenceClasses]):
    """z is the sequence of classes of sentences, P_c(z) an n-gram process over it.

    A sentence is speech, a question, or belongs to the sense of the connective that it opens with (contrast, cause,
    addition, time, condition, example, conclusion; a closed list of English words and phrases), else it is plain. A
    mark stands before each paragraph.

    Parameters
    ----------
    order
        n.

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
        directions=directions(
            "more|less usual in discourse", "more|less predictable in discourse", "less|more varied in discourse"
        ),
        layout=("breaks", "spacing"),
        limits="It knows English connectives at the start of sentences only, and not whether they are right.",
    )
    sequence = True
    min_documents = 3

    order: Annotated[int, Range(1, 6)] = 3

    def _new_process(self) -> DenseNGrams:
        """The unfitted process."""
        return DenseNGrams(symbols=len(STATES), order=self.order)

    state_names = STATES

    def fit_counts(self, real: Corpus) -> Counts:
        """Count n-grams of classes."""
        z = self.project(real)
        return self._new_process().count(z.states, z.offsets)

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of n-grams."""
        self.process_ = self._new_process().learn(counts)
        return self

    def project(self, batch: Corpus) -> SentenceClasses:
        """Classify the sentences of each document."""
        prose = self._prose(batch)
        classes, first = sentence_classes(prose)
        owners = owners_of(prose.offsets)[first]
        begins = changes(prose.paragraphs[first]) | changes(owners)  # (S,)
        # a state for each sentence, and one more before those that begin a paragraph
        repeats = 1 + begins.astype(np.int64)
        at = np.cumsum(repeats) - 1  # place of each sentence among the states
        states = np.full(int(repeats.sum()), PARAGRAPH, dtype=np.int64)
        # what is left of the fill are the marks before paragraphs
        states[at] = classes
        offsets = offsets_of(np.bincount(owners, repeats, len(prose)).astype(np.int64))
        one, other = (prose.is_any(w) for w in (FIRST_PERSON | FIRST_PERSON_SHORT, THIRD_PERSON))
        persons = np.column_stack([float_sums(one, prose.offsets), float_sums(one | other, prose.offsets)])
        return SentenceClasses(states, offsets, None, np.repeat(first, repeats), prose, persons)

    def log_prior(self, latents: SentenceClasses) -> LogPrior:
        """Sum of log P_c over the states of each document and its end."""
        return LogPrior(self.process_.totals(latents.states, latents.offsets), latents.lengths + 1)

    def sufficient_statistics(self, latents: SentenceClasses) -> Mapping[str, Rows]:
        """Pairs of neighbouring classes; connectives, questions and speech beside sentences; persons."""
        z, size = latents.states, len(STATES)
        sentences = float_sums(z != PARAGRAPH, latents.offsets)  # (n,)
        # the pair of each state with the one before it, −1 for the first of a document
        pairs = np.full(len(z), -1, dtype=np.int64)
        pairs[1:] = z[:-1] * size + z[1:]
        pairs[latents.offsets[:-1][latents.lengths > 0]] = -1
        names, starts, which = openings_of(latents)
        owner = np.searchsorted(latents.prose.offsets, starts, side="right") - 1  # document of each opening
        counts = sparse.csr_array((np.ones(len(owner)), (owner, which)), shape=(len(sentences), len(names)))
        shares = {"connectives": z >= FIRST_CONNECTIVE, "questions": z == QUESTION, "speech": z == SPEECH}
        return {
            "pairs": Counted.of_tokens(pairs, latents.offsets, np.arange(size * size)),
            **{k: np.column_stack([float_sums(v, latents.offsets), sentences]) for k, v in shares.items()},
            "persons": latents.persons,
            # numbers of sentences, then of those with each opening, (n, 1 + V)
            "openings": Counted(
                sparse.csr_array(sparse.hstack([sparse.csr_array(sentences[:, None]), counts])), ["", *names]
            ),
        }

    tested = (
        Statistic.distance("transitions", "pairs", total_variation, "total variation of pairs of sentence classes"),
        Statistic.distance(
            "largest_gap",
            "openings",
            largest_gap,
            "largest gap of an opening (Cohen’s h of shares of sentences)",
            uneven="itself",
            item="sentences open with",
        ),
        *(Statistic.share(k, rows, label, f"poorer|richer in {noun}", needs=of) for k, rows, label, noun, of in SHARES),
    )

    def summarize(self, latents: SentenceClasses) -> Exampled:
        """Numbers of classes and of openings, with an example of each opening."""
        counts, examples = _openings(latents)
        arrays = {"classes": np.bincount(latents.states, minlength=len(STATES)).astype(np.float64)}
        return Exampled.of(Pooled(len(latents), arrays, counts), examples)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Over-used and under-used openings of sentences, and classes."""
        classes = [t.arrays["classes"] for t in (real, generated)]
        a, b = (max(float(c.sum() - c[PARAGRAPH]), 1.0) for c in classes)  # sentences
        title, kind = "Openings of sentences", "openings"
        told = [i for i in range(len(STATES)) if i != PARAGRAPH]
        shares = classes[0][told] / a, classes[1][told] / b
        names = [STATES[i] for i in told]
        return [
            *usage_tables(
                (real, generated), kind, title, "opening", "sentences", (a, b), SHOWN, "openings of sentences"
            ),
            shift_table("classes", "Classes of sentences", "class", names, shares, "% of sentences"),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show one document sentence by sentence, the tenth of least likely classes marked."""
        z = self.project(document)
        if not len(z.states):
            return None
        values, _ = self.process_.log_probabilities(z.states, z.offsets)
        odd = set(highest(-values[: len(z.states)]))
        steps = []
        for i, (state, start) in enumerate(zip(z.states.tolist(), z.starts.tolist(), strict=True)):
            same = z.prose.codes[z.prose.sentences == z.prose.sentences[start]][:EXAMPLE]
            text = "" if state == PARAGRAPH else " ".join(z.prose.spelled[c] for c in same.tolist())
            steps.append(Step(STATES[state], text, -float(values[i]), i in odd))
        note = "Each sentence by its first words; marked: least likely classes."
        return marked(self, document, z, steps, note=note)


def openings_of(z: SentenceClasses) -> tuple[list[str], Ints, Ints]:
    """The first two words of sentences; symbols between them are left out, and so are sentences of one word.

    Returns
    -------
    Distinct openings, (V,); the first token of each sentence that has one, and the number of its opening, (S,).
    """
    prose = z.prose
    starts = z.starts[np.asarray(z.states) != PARAGRAPH]
    words = np.flatnonzero(prose.alphabetic)
    at = np.searchsorted(words, starts)
    # of the last sentences of the batch, too few words may follow
    starts, at = starts[at + WORDS <= len(words)], at[at + WORDS <= len(words)]
    if len(at):
        same = prose.sentences[words[at + WORDS - 1]] == prose.sentences[starts]  # both words in the sentence
        starts, at = starts[same], at[same]
    pairs = prose.ids[words[at]] * len(prose.words) + prose.ids[words[at + 1]] if len(at) else at
    distinct, which = np.unique(pairs, return_inverse=True)
    names = [f"{prose.words[p // len(prose.words)]} {prose.words[p % len(prose.words)]}" for p in distinct.tolist()]
    return names, starts, which


def _openings(z: SentenceClasses) -> tuple[dict[str, dict[str | float, float]], list[tuple[str, float, str]]]:
    """Numbers of sentences and of documents by two first words, and an example of each, whichever it is."""
    prose, (names, starts, where) = z.prose, openings_of(z)
    rank = ranks(prose.hashes, starts, range(8))
    examples = []
    for i in first_of_each(where, rank).tolist():
        start, stop = int(starts[i]), int(starts[i]) + EXAMPLE
        codes = prose.codes[start:stop][prose.sentences[start:stop] == prose.sentences[start]]
        text = " ".join(prose.spelled[c] for c in codes.tolist())
        examples.append((f"openings {names[int(where[i])]}", float(rank[i]), text))
    (within, _), _ = distinct(where, owners_of(prose.offsets)[starts])
    counted = {"openings": where, DOCUMENTS + "openings": within}
    numbers = {key: np.bincount(of, minlength=len(names)).astype(np.float64).tolist() for key, of in counted.items()}
    counts = {key: dict[str | float, float](zip(names, n, strict=True)) for key, n in numbers.items()}
    return counts, examples
