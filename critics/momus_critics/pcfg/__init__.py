"""Likelihood under a probabilistic context-free grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from momus.critic import LogPrior, Note, Pooled, Reporting, Rows, directions
from momus.critic.base import WordCritic
from momus.critic.hooks import DeviceMixin
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence
from momus.numeric.ragged import Ragged, float_sums, group_sums, on_grid
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import SPACED
from momus_critics.evidence import curves, means_by_class
from momus_critics.fits.known import unseen_types
from momus_critics.passages.pieces import sentences
from momus_critics.pcfg.grammar import Grammar, RuleCounts, read_trees

EDGES = np.array([0, 5, 10, 15, 20, 25, 30, 40])
"""Sentence lengths, in words, above which the classes of length begin."""


@dataclass(frozen=True)
class ParsedSentences(Ragged):
    """log p of each sentence, (N,), and its length in words, (N,); ``offsets`` are int64 (n + 1,)."""

    values: Floats
    words: Ints
    offsets: Ints


@parametrized
class Pcfg(WordCritic[ParsedSentences], DeviceMixin):
    """z is the text itself, sentence by sentence; P_c is a context-free grammar estimated from a treebank.

    The inside algorithm sums over derivations (Lari & Young 1990). This is a yardstick: the grammar comes from the
    treebank alone, and `fit` ignores the real text. Words that the treebank has once or never share the probability of
    an unknown word evenly: as one word, all of them would be commoner than most known ones.

    Parameters
    ----------
    treebank
        A file of bracketed trees, such as NLTK's sample of the Penn Treebank; `momus_preparing.treebank` writes
        one from dependency parses.
    max_sentence
        Maximum sentence length in words; longer sentences are left out.
    """

    name = "pcfg"
    axis = "sentence grammar"
    question = "Are sentences as well formed as in real text? z is the sentence, P_c a treebank grammar."
    reporting = Reporting(
        required=("treebank",),
        fitting=("treebank",),
        headline="latent_ppl",
        directions=directions("more|less probable under the grammar", "more|less usual in grammar"),
        limits="It cannot see meaning, nor how sentences follow each other: it reads each sentence alone.",
        aggregated=False,
    )
    sequence = True
    scripts = SPACED

    treebank: str = ""
    max_sentence: Annotated[int, Range(1, 1000)] = 40

    def fit(self, real: Corpus) -> Self:
        """Count the rules of the treebank.

        Raises
        ------
        ReadingError
            The treebank cannot be read.
        """
        rules = RuleCounts()
        for tree in read_trees(self.treebank):
            rules.add(tree)
        grammar = Grammar.of_rules(rules, lower=self.lower)
        self.labels_, self.words_, self.trees_ = grammar.labels, grammar.words, sum(rules.top.values())
        self.top_, self.binary_, self.lexical_ = grammar.top, grammar.binary, grammar.lexical
        words: Counter[str] = Counter()
        for (_, word), n in rules.lexical.items():
            words[word.lower() if self.lower else word] += n
        counts = np.array(list(words.values()))  # (types,)
        self.unknown_ = float((counts == 1).sum() + unseen_types(counts))
        return self

    def _sentences(self, batch: Corpus) -> tuple[list[list[str]], Ints]:
        """Words of each sentence of at most ``max_sentence`` words, and where documents begin, (n + 1,)."""
        split = self.tokenizer.split
        short: list[list[str]] = []
        offsets = [0]
        for document in batch:
            for sentence in sentences(document.text):
                words = split(sentence.lower() if self.lower else sentence)
                if 0 < len(words) <= self.max_sentence:
                    short.append(words)
            offsets.append(len(short))
        return short, np.array(offsets, dtype=np.int64)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Reject documents without a sentence of at most ``max_sentence`` words."""
        reason = f"no sentence of at most {self.max_sentence} words"
        return [reason if n == 0 else None for n in np.diff(self._sentences(batch)[1])]

    def project(self, batch: Corpus) -> ParsedSentences:
        """log p of each sentence."""
        split, offsets = self._sentences(batch)
        grammar = Grammar(self.labels_, self.words_, self.top_, self.binary_, self.lexical_)
        codes = [grammar.encode(s) for s in split]
        unknown = np.array([s.count(len(self.words_) - 1) for s in codes], dtype=np.float64)  # words, (N,)
        values = on_grid(grammar.log_likelihood(codes, self.device) - unknown * np.log(self.unknown_))
        return ParsedSentences(values, np.array([len(s) for s in split], dtype=np.int64), offsets)

    def log_prior(self, latents: ParsedSentences) -> LogPrior:
        """Sum of log p over sentences, and the number of words."""
        totals, words = (group_sums(x, latents.offsets) for x in (latents.values, latents.words))
        return LogPrior(np.asarray(totals, dtype=np.float64), np.asarray(words, dtype=np.int64))

    def sufficient_statistics(self, latents: ParsedSentences) -> Mapping[str, Rows]:
        """Sum of log p and number of sentences, by class of sentence length."""
        # one-hot length class of each sentence, (N, L); rows of [log p by class, 1 by class], (N, 2 L)
        length_class = np.eye(len(EDGES))[np.searchsorted(EDGES, latents.words, side="left") - 1]
        rows = np.hstack([length_class * latents.values[:, None], length_class])
        return {"lengths": float_sums(rows, latents.offsets)}

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Mean log-likelihood per sentence, by sentence length."""

        def points(summary: Pooled) -> tuple[Floats, Floats]:
            used, means = means_by_class(summary.arrays["lengths"], 5)
            return EDGES[used] + 2.5, means

        axes, title = (Axis("words per sentence"), Axis("mean log p, nats")), "Likelihood by sentence length"
        note = f"Grammar of {self.trees_:,} trees, {len(self.labels_)} labels. Points with at least five sentences."
        return [curves((real, generated), points, "sentence-likelihood", title, axes, note)]

    def notes(self) -> list[Note]:
        """Size of the grammar."""
        labels, words = counted(len(self.labels_), "label"), counted(len(self.words_), "word")
        return [Note(f"grammar of {counted(self.trees_, 'tree')}: {labels}, {words}")]
