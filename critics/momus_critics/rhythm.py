"""Rhythm: how long the sentences of a document are, one after another; an autoregressive process over their lengths.

The number of words of sentence t, less one, is negative binomial with mean m_t and shape r:

    log m_t = b₀ + b₁ (log x_{t−1} − c) + b₂ (mean of log x_1 … log x_{t−1} − c) + b₃ [first of its paragraph]

c is the mean of log x in real text; both memories are 0 at the first sentence of a document. All parameters by maximum
likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import gammaln, xlog1py

from momus.critic import Counted, LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.statistic import mean
from momus.errors import FittingError
from momus.estimator import Estimator
from momus.evidence import Axis, Evidence, MarkedDocument
from momus.numeric.ragged import Ragged, changes, float_sums, group_sums, offsets_of, owners_of
from momus.numeric.rounding import without_rounding
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.evidence import Mark, distributions, highest, mark_passage, words_of
from momus_critics.prose.reading import BREAK, CLOSERS, TERMINALS, Prose, ProseCritic


@dataclass(frozen=True)
class SentenceLengths(Ragged):
    """Sentences of n documents.

    Attributes
    ----------
    words
        int64 (S,): number of words of each sentence, at least 1.
    begins
        bool (S,): whether it is the first of its paragraph.
    offsets
        int64 (n + 1,): first sentence of each document.
    """

    words: Ints
    begins: Bools
    offsets: Ints


def sentence_lengths(prose: Prose) -> SentenceLengths:
    """Count words by sentence; sentences without a word, and fragments, are left out (`whole_sentences`).

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> corpus = Corpus.from_texts(["One, two. Three!", "Four"])
    >>> z = sentence_lengths(read_prose(corpus.tokens(paragraph_tokenizer("words"))))
    >>> z.words.tolist(), z.offsets.tolist()
    ([2, 1, 1], [0, 2, 3])
    """
    numbers, first, words = whole_sentences(prose)
    begins = changes(prose.paragraphs[first])
    offsets = offsets_of(np.bincount(owners_of(prose.offsets)[first], minlength=len(prose)))
    return SentenceLengths(words[numbers], begins, offsets)


def whole_sentences(prose: Prose) -> tuple[Ints, Ints, Ints]:
    """Numbers and first tokens of the sentences that count, and the words of all: (S,), (S,) and (sentences,).

    A paragraph or list item that ends without a full stop, question or exclamation mark is no sentence: an entry of a
    list, what announces one, or cut off. Of a document in which none ends with such a mark (verse, captions) all count.
    """
    first, last = prose.starts[:-1], prose.starts[1:] - 1
    words = np.bincount(prose.sentences, prose.alphabetic, len(first)).astype(np.int64)
    closing = prose.is_any(CLOSERS)
    for _ in range(2):  # the mark stands before a bracket and a quotation mark that close
        last = last - (closing[last] & (last > first))
    ended = np.fromiter((w[-1:] in TERMINALS for w in prose.words), bool, len(prose.words))[prose.ids[last]]
    owners = owners_of(prose.offsets)[first]
    keeps_all = np.bincount(owners[ended], minlength=len(prose)) == 0
    numbers = np.flatnonzero((words > 0) & (ended | keeps_all[owners]))
    return numbers, first[numbers], words


def moments(z: SentenceLengths) -> tuple[Floats, Floats]:
    """Spread of log lengths within documents and the correlation of neighbours, as sums per document.

    With x the logarithms of the n lengths of a document and x̄ their mean, the sum of squares Σ (x − x̄)² has n − 1
    degrees of freedom. The sum of products of neighbours, Σ (x_t − x̄)(x_{t+1} − x̄), of independent lengths has the
    expectation −σ² (n − 1) / n, which is added back, so that documents of any length estimate a correlation of 0.

    Returns
    -------
    squares
        (n, 2): sum of squares and degrees of freedom.
    neighbours
        (n, 2): sum of products, and its value at a correlation of 1.
    """
    owners, n = z.documents, z.lengths.astype(np.float64)
    x = np.log(z.words.astype(np.float64))
    means = float_sums(x, z.offsets) / np.maximum(n, 1)
    # lengths that are all equal would leave rounding, and correlations of it
    centred = without_rounding(x - means[owners])
    squares = np.bincount(owners, centred**2, len(z))
    variance = squares / np.maximum(n - 1, 1)
    same = owners[1:] == owners[:-1]
    raw = np.bincount(owners[1:][same], (centred[1:] * centred[:-1])[same], len(z))
    pairs = np.maximum(n - 1, 0)
    neighbours = np.column_stack([raw + variance * pairs / np.maximum(n, 1), variance * pairs])
    return np.column_stack([squares, pairs]), neighbours


COEFFICIENTS = 4
RIDGE = 1e-5
"""Penalty on squared coefficients but the first, per sentence: keeps those finite that the text does not determine."""


def penalised_loss(parameters: Floats, x: Floats, y: Floats) -> tuple[float, Floats]:
    """Mean of −log P of counts y (S,) given columns x (S, C), in nats, with the penalty; and its gradient (C + 1,).

    The parameters are the C coefficients and the logarithm of the shape.
    """
    from scipy.special import digamma, gammaln

    b, r = parameters[:-1], np.exp(parameters[-1])
    # the search may try wild coefficients: exp must stay finite there
    m = np.exp(np.clip(x @ b, -20, 20))
    value = gammaln(y + r) - gammaln(r) - gammaln(y + 1) + r * np.log(r / (r + m)) + y * np.log(m / (r + m))
    to_b = x.T @ ((y - m) * r / (r + m)) / len(y)
    to_r = r * (digamma(y + r) - digamma(r) + np.log(r / (r + m)) + 1 - (r + y) / (r + m))
    # the first coefficient is the mean, which is not shrunk
    shrunk = np.concatenate([[0.0], b[1:]])
    gradient = np.append(-to_b + 2 * RIDGE * shrunk, -to_r.mean())
    return float(-value.mean() + RIDGE * (shrunk**2).sum()), gradient


class LengthProcess(Estimator):
    """The autoregressive negative binomial process; see the module."""

    def fit(self, z: SentenceLengths) -> Self:
        """Maximise the likelihood by L-BFGS with its gradient."""
        from scipy.optimize import minimize

        self.centre_ = float(np.log(z.words).mean())
        # counts from 0: a sentence has one word at least
        x, y = self._memory(z), z.words - 1.0
        start = np.zeros(COEFFICIENTS + 1)
        start[0] = np.log(max(y.mean(), 0.1))
        # a text whose sentences are all of one length has no finite shape
        bounds = [(-20, 20)] * COEFFICIENTS + [(-7, 7)]
        optimum = minimize(penalised_loss, start, (x, y), jac=True, method="L-BFGS-B", bounds=bounds)
        self.coefficients_ = np.asarray(optimum.x[:-1], dtype=np.float64)
        self.shape_ = float(np.exp(optimum.x[-1]))
        return self

    def _memory(self, z: SentenceLengths) -> Floats:
        """Columns of the regression, float64 (S, 4)."""
        x = np.log(z.words.astype(np.float64)) - self.centre_
        owners = z.documents
        first = z.offsets[:-1][owners]  # first sentence of each one's document
        place = np.arange(len(x)) - first
        # the first sentence of a document gets another's last one; `later` sets it to 0, the mean of real text
        before = np.concatenate([[0.0], x[:-1]]) if len(x) else x
        total = np.concatenate([[0.0], np.cumsum(x)])
        mean = (total[:-1] - total[first]) / np.maximum(place, 1)  # over all sentences before, in the document
        later = place > 0
        return np.column_stack([np.ones(len(x)), np.where(later, before, 0), np.where(later, mean, 0), z.begins])

    def means(self, z: SentenceLengths) -> Floats:
        """Expected number of words of each sentence given those before it: float64 (S,)."""
        return np.asarray(1 + np.exp(np.clip(self._memory(z) @ self.coefficients_, -20, 20)))

    def log_probabilities(self, z: SentenceLengths) -> Floats:
        """log P of each sentence's number of words given those before it, in nats: float64 (S,)."""
        m, more, r = self.means(z) - 1, z.words - 1, self.shape_
        p = r / (r + m)
        coefficient = gammaln(r + more) - gammaln(more + 1) - gammaln(r)
        return np.asarray(coefficient + r * np.log(p) + xlog1py(more, -p))


UNEQUAL = "sentences of several lengths"
"""What a document must have for a spread."""


def spread(pooled: Floats) -> Floats:
    """Standard deviation from sums of squares and degrees of freedom, (B, 2)."""
    return np.asarray(np.sqrt(mean(pooled)))


class Rhythm(ProseCritic[SentenceLengths]):
    """z is the sequence of sentence lengths of a document, P_c(z) an autoregressive negative binomial process.

    People vary the length of their sentences, and drift: a passage of long sentences follows one of short ones. The
    mean of P_c depends on the sentence before, on all sentences before, and on whether a paragraph begins.

    >>> from momus import Corpus
    >>> critic = Rhythm().fit(Corpus.from_texts(["One. Two words. Three more.", "One more. Or so.", "Yes. No."]))
    >>> critic.project(Corpus.from_texts(["It is so. No?"])).words.tolist()
    [3, 1]
    """

    name = "rhythm"
    axis = "rhythm of sentences"
    question = (
        "Do the lengths of sentences vary and drift as in real text? z is the number of words of each sentence in turn."
    )
    reporting = Reporting(
        headline="spread",
        directions=directions("more|less usual in rhythm", "more|less predictable in rhythm"),
        layout=("breaks", "spacing"),
        limits="It cannot see words: only how long sentences and paragraphs are.",
    )
    sequence = True
    min_documents = 3

    _new_process = LengthProcess

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents that are too short to have a rhythm."""
        lengths = sentence_lengths(self._prose(batch)).lengths
        return ["fewer than two sentences" if n < 2 else None for n in lengths]

    def fit(self, real: Corpus) -> Self:
        """Fit the process."""
        z = sentence_lengths(self._prose(real))
        if (z.lengths < 2).all():
            raise FittingError(
                f"critic 'rhythm': no document of {real.name!r} has two sentences", hint="give running text to fit on"
            )
        self.process_ = self._new_process().fit(z)
        return self

    def project(self, batch: Corpus) -> SentenceLengths:
        """Count the words of each sentence."""
        return sentence_lengths(self._prose(batch))

    def log_prior(self, latents: SentenceLengths) -> LogPrior:
        """Sum of log P_c over the sentences of each document."""
        values = group_sums(self.process_.log_probabilities(latents), latents.offsets)
        return LogPrior(np.asarray(values, dtype=np.float64), latents.lengths)

    def sufficient_statistics(self, latents: SentenceLengths) -> Mapping[str, Rows]:
        """Sums of squares and of products of log lengths, words, sentences, and paragraphs."""
        squares, neighbours = moments(latents)
        sentences = latents.lengths.astype(np.float64)
        words, paragraphs = (
            np.asarray(group_sums(x.astype(np.float64), latents.offsets), dtype=np.float64)
            for x in (latents.words, latents.begins)
        )
        return {
            "squares": squares,
            "neighbours": neighbours,
            "words": np.column_stack([words, sentences]),
            # the only paragraph of a document is as long as the document, which is the question of *length*
            "paragraphs": np.column_stack([sentences, paragraphs]) * (paragraphs > 1)[:, None],
        }

    tested = (
        Statistic.value(
            "spread",
            "squares",
            spread,
            "spread of sentence lengths in a document",
            "more uniform|more varied in rhythm",
            scale="log",
            unit="log words",
            needs=UNEQUAL,
        ),
        Statistic.ratio(
            "neighbour_correlation",
            "neighbours",
            "correlation of neighbouring sentence lengths",
            ("more changeable between sentences", "steadier between sentences"),
            needs=UNEQUAL,
        ),
        Statistic.relative(
            "sentence_length", "words", "mean length of sentences", "shorter|longer in its sentences", unit="words"
        ),
        Statistic.relative(
            "paragraph_length",
            "paragraphs",
            "mean length of paragraphs",
            "shorter|longer in its paragraphs",
            unit="sentences",
            needs="several paragraphs",
        ),
    )

    def summarize(self, latents: SentenceLengths) -> Pooled:
        """Sentence lengths."""
        words = Counted.of_values(latents.words.astype(np.float64)).total()
        return Pooled(len(latents), {}, {"words": words})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Distribution of sentence lengths."""
        x, title = Axis("words per sentence", "log"), "Cumulative distribution of sentence length"
        return [distributions((real, generated), "words", "sentence-lengths", title, x, "share of sentences")]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tenth of the sentences whose lengths are least likely."""
        words, prose = words_of(document, self.tokenizer, BREAK), self._prose(document)
        z = sentence_lengths(prose)
        if not len(z.words):
            return None
        nats, means = -self.process_.log_probabilities(z), self.process_.means(z)
        numbers = whole_sentences(prose)[0]
        values: Floats = np.zeros(len(words))
        marks: dict[int, Mark] = {}
        odd = set(highest(nats))
        for i, number in enumerate(numbers.tolist()):
            tokens = np.flatnonzero(prose.sentences == number)
            values[tokens[0]] = nats[i]  # a sentence's nats stand with its first token
            if i in odd:
                mark = Mark(f"{int(z.words[i])} words", f"{means[i]:.0f} expected here")
                marks |= dict.fromkeys(tokens.tolist(), mark)
        note = f"{len(z.words):,} sentences of {z.words.mean():.1f} words on average. Marked: least likely lengths."
        return mark_passage(self, document, z, words, marks, values=values, note=note)
