"""Keyness: the words and phrases that one text uses in more documents than another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from momus.arguments import arg
from momus.critic import Counted, LogPrior, Note, Reporting, Rows, Statistic, directions
from momus.critic.hooks import AdvancedMixin
from momus.critic.powers import ItemsMixin
from momus.critic.splitting import usable_documents
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.keyness import evidence
from momus_critics.keyness.latents import TermLatents, TermProcess, frequent_terms, key_of, term_latents
from momus_critics.prose.examples import Exampled, higher_criticism, largest_gap, mean_gap
from momus_critics.prose.reading import Prose, ProseCritic

PHRASE = 3
"""Tokens from which a term counts as a phrase."""
_ASKED: WeakKeyDictionary[Corpus, tuple[tuple[object, ...], tuple[list[str], int]]] = WeakKeyDictionary()
"""What was asked of the texts of the last comparison of each reference: critics of all folds ask it again."""


@parametrized
class Keyness(ProseCritic[TermLatents], ItemsMixin, AdvancedMixin):
    """z says which terms, words and phrases, a document has; P_c(z) is a product of Bernoulli distributions.

    A term has at most five tokens. Those of P_c are the most frequent ones of the text that the critic is fitted on. A
    comparison asks about the terms that are frequent in its texts, real and generated together: phrases that only one
    of them has are among them. Documents are counted, not tokens, so a word that fills one document counts once. Tests
    and scores take windows of as many tokens as half the documents of each text have, so longer documents do not count
    more; the shares that are told are those of whole documents.

    Parameters
    ----------
    vocabulary_size
        Largest number of terms of P_c, and of a comparison.
    min_count
        Smallest number of documents that a term must have.

    >>> from momus import Corpus
    >>> critic = Keyness(min_count=2).fit(Corpus.from_texts(["as it were", "as it is", "were it so"]))
    >>> critic.terms_
    ['as it', 'it', 'as', 'were']
    """

    name = "keyness"
    axis = "over-used words and phrases"
    question = (
        "Which words and phrases does generated text use in more documents, or in fewer, than real text? z says which "
        "of them a document has."
    )
    reporting = Reporting(
        oddity_unit="standard deviations beyond the expected Latent NLL",
        headline="higher_criticism",
        general=True,
        directions=directions("poorer|richer in rarer terms"),
        limits="It cannot see meaning: synonyms are different terms, and names of characters count as words.",
    )
    min_documents = 3

    vocabulary_size: Annotated[int, Range(10, 1_000_000)] = 4000
    min_count: Annotated[int, Range(2, 1_000_000)] = 4

    _new_process = TermProcess

    def fit(self, real: Corpus) -> Self:
        """Choose the terms of P_c, and estimate their probabilities."""
        prose = self._prose(real)
        terms = frequent_terms([prose], min(self.min_count, max(2, len(real) // 3)), self.vocabulary_size)
        if not terms:
            raise FittingError(
                f"critic 'keyness': no word is in {self.min_count} documents of {real.name!r}",
                hint=f"give more real text with {arg('fit')}, or a smaller min_count",
            )
        self.terms_, self.asked_ = terms, list(terms)
        # half of the documents fill it; in a longer one, long documents would have more terms
        self.window_ = _middle(prose)
        latents = self.project(real)
        self.process_: TermProcess = TermProcess().fit(latents.matrix, latents.lengths)
        return self

    def settle(self, texts: Sequence[Corpus]) -> bool:
        """Choose the terms and the window of a comparison.

        The terms are those frequent in all texts together, whichever text they come from. The window is the smallest
        median of the numbers of tokens of their documents.
        """
        named = self.tokens, self.min_count, self.vocabulary_size, *texts[1:]
        if texts[0] not in _ASKED or _ASKED[texts[0]][0] != named:
            _ASKED[texts[0]] = named, self._asked(texts)
        asked, window = _ASKED[texts[0]][1]
        # False: scores that were made before stay valid
        if not asked or (asked, window) == (self.asked_, self.window_):
            return False
        self.asked_, self.window_ = list(asked), window
        return True

    def _asked(self, texts: Sequence[Corpus]) -> tuple[list[str], int]:
        """The terms that are frequent in all texts together, and the window; 0 where no text has tokens."""
        # unusable documents are not scored, and must not decide the terms
        proses = [self._prose(t) for t in map(usable_documents, texts) if len(t)]
        return frequent_terms(proses, self.min_count, self.vocabulary_size), min(map(_middle, proses), default=0)

    @property
    def _columns(self) -> list[str]:
        """All terms, those of P_c first."""
        known = set(self.terms_)
        return [*self.terms_, *(t for t in self.asked_ if t not in known)]

    def project(self, batch: Corpus) -> TermLatents:
        """Look up the terms of each document."""
        columns = self._columns
        keys = np.array([key_of(t) for t in columns], dtype=np.uint64)
        order = np.argsort(keys)
        return term_latents(self._prose(batch), keys[order], order, columns, self.window_)

    def log_prior(self, latents: TermLatents) -> LogPrior:
        """log P_c of the terms of each document."""
        return LogPrior.of_vectors(self.process_.log_probabilities(latents.matrix, latents.lengths))

    def oddity(self, latents: TermLatents) -> Floats:
        """Latent NLL, standardised by its expectation for the length of the document."""
        return self.process_.standardised(latents.matrix, latents.lengths)

    def sufficient_statistics(self, latents: TermLatents) -> Mapping[str, Rows]:
        """The terms of each document, after a column of ones; numbers of phrases and of words."""
        number = {term: i for i, term in enumerate(self._columns)}
        asked = latents.matrix[:, [number[t] for t in self.asked_]]  # presence of the terms, CSR (n, asked)
        # the first column becomes the number of documents in every pooled row
        ones = sparse.csr_array(np.ones((len(latents), 1)))
        phrase = np.array([t.count(" ") + 1 >= PHRASE for t in self.asked_], dtype=np.float64)  # 0 or 1, (asked,)
        phrases = np.asarray(asked @ phrase, dtype=np.float64)
        return {
            "terms": Counted(sparse.csr_array(sparse.hstack([ones, asked])), ["", *self.asked_]),
            "phrases": np.column_stack([1000 * phrases, latents.lengths]),
        }

    tested = (
        Statistic.distance(
            "higher_criticism",
            "terms",
            higher_criticism,
            ties=mean_gap,
            uneven="itself",
            band=False,
            label="words and phrases as a whole (Higher Criticism)",
            format="score",
        ),
        Statistic.distance(
            "largest_gap",
            "terms",
            largest_gap,
            uneven="itself",
            label="largest gap of a word or phrase (Cohen’s h of shares of documents)",
            item="documents say",
        ),
        Statistic.relative(
            "phrases", "phrases", "recurring phrases per 1,000 words", "poorer|richer in recurring phrases"
        ),
    )

    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """Which words and phrases documents have, by the share of their windows."""
        terms = rows["terms"]
        assert isinstance(terms, Counted)
        return {"words and phrases": terms}

    def summarize(self, latents: TermLatents) -> Exampled:
        """Windows and documents by term, and a line of text with each."""
        return evidence.summary(latents, set(self.asked_))

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Over-used and under-used terms, each with a concordance line."""
        return evidence.show(real, generated)

    def notes(self) -> list[Note]:
        """Numbers of terms."""
        return [
            Note(
                f"{counted(len(self.terms_), 'term')} of the text that the critic was fitted on, and "
                f"{counted(len(self.asked_), 'term')} that at least {self.min_count} documents of the compared texts "
                f"have. Windows of {self.window_:,} words and symbols are compared. A term's rate grows with their "
                f"length to the power {self.process_.growth_:.2f}."
            )
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the terms of a document that are least likely in real text of its length."""
        return evidence.explain(self, document)


def _middle(prose: Prose) -> int:
    """The median number of tokens of documents with any."""
    lengths = prose.lengths[prose.lengths > 0]
    return max(int(np.median(lengths)), 1) if len(lengths) else 1
