"""Diversity: how much the answers to one prompt differ from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

import numpy as np
from scipy import sparse

from momus.critic import Counted, LogPrior, Note, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.hooks import AdvancedMixin, ReadingMixin
from momus.critic.splitting import usable_documents
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument, Step, Table
from momus.numeric.ragged import distinct
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted, joined
from momus.text.tokens import Tokenizer
from momus_critics.diversity.answers import (
    GROUPS,
    AnswerSpread,
    alike,
    baseline_of,
    between_similarity,
    by_prompt,
    centroids,
    effective_number,
    has_several,
    prompt_means,
    relative_variance,
    vectors,
)
from momus_critics.evidence import distributions, marked
from momus_critics.prose.examples import Exampled
from momus_critics.prose.reading import BREAK, paragraph_tokenizer, read_prose

LEAST_SD = 0.1
"""Smallest standard deviation of z, which keeps P_c proper if all prompts are alike."""
WORDS = 30
"""Words of an answer that are shown."""
SHOWN, LINES = 10, 3
"""Prompts of a table, and groups of answers shown of each."""


@parametrized
class Diversity(TextCritic[AnswerSpread], AdvancedMixin, ReadingMixin):
    """z is the similarity of the answers to one prompt, on the logit scale; P_c(z) is normal, fitted on real text.

    Rows are prompts. Answers are vectors of their words, weighted by inverse document frequency in real text, where a
    word that it lacks has the frequency 0. The similarity of a prompt is the mean cosine of pairs of its answers, which
    does not depend on how many there are. Prompts with one answer are unscored. Where a text answers no prompt twice,
    documents of one group (author, site) stand in for answers.

    Parameters
    ----------
    alike
        Cosine from which two answers are shown as the same.
    tokens
        Name of the tokenizer of words, see `momus.critic.TokenCritic`.

    >>> corpus = Corpus.from_texts(["a b c", "a b d", "e f", "e g"], prompts=["p", "p", "q", "q"])
    >>> critic = Diversity().fit(corpus)
    >>> critic.score(corpus).ids
    ['p', 'q']
    """

    name = "diversity"
    axis = "variety between answers"
    reads = "prose"
    question = (
        "Do several answers to one prompt differ as much as several people's do? z is the similarity of the answers to "
        "a prompt."
    )
    reporting = Reporting(
        headline="similarity",
        directions=directions("more|less usual in variety"),
        limits="It compares words: the same story in other words is another answer.",
    )
    unit = "prompt"
    min_documents = 4

    alike: Annotated[float, Range(0, 1)] = 0.8
    tokens: str = "words"

    @property
    def reader(self) -> Tokenizer:
        """The tokenizer that answers are read with."""
        return paragraph_tokenizer(self.tokens)

    def units(self, corpus: Corpus) -> Corpus:
        """One row per prompt."""
        return by_prompt(corpus)

    def nothing_to_see(self, texts: Sequence[Corpus]) -> str:
        """Say so where no text has several answers to a prompt, nor, in their place, several documents of a group."""
        return "" if any(map(has_several, texts)) else "one document per prompt"

    def fit(self, real: Corpus) -> Self:
        """Weigh the words, and learn how alike real answers to one prompt are."""
        answers = by_prompt(real)
        self.baseline_ = baseline_of(usable_documents(real))
        # words are weighed by all answers, similarity is of prompts with two or more
        several = answers.take(np.flatnonzero(answers.section_counts > 1))
        if len(several) < 2:
            raise FittingError(
                "critic 'diversity' is not tested: one document per prompt",
                hint="give several answers per prompt, with a prompt_id, or real text with a group_id",
            )
        # inverse document frequencies of all words: log((1 + n) / (1 + d)) + 1
        prose = read_prose(answers.tokens(self.reader))
        sections = _answer_of(answers, self.reader)
        pairs, _ = distinct(sections, prose.ids)  # distinct (answer, word), (2, pairs)
        frequency = np.bincount(pairs[1], minlength=len(prose.words))  # answers with each word
        keep = np.array([w[:1].isalnum() for w in prose.words], dtype=bool)
        total = int(answers.section_counts.sum())
        self.words_ = [w for w, k in zip(prose.words, keep.tolist(), strict=True) if k]
        self.idf_ = np.log((1 + total) / (1 + frequency[keep])) + 1.0
        self.unknown_idf_ = float(np.log(1 + total) + 1.0)
        self.size_, self.grouped_ = int(np.median(several.section_counts)), list[str]()
        z = _logit(self.project(several).similarity)
        # equal similarities would leave no spread, and any other one impossible
        self.mean_, self.sd_ = float(z.mean()), float(max(z.std(), LEAST_SD))
        self.prompts_ = len(several)
        return self

    def settle(self, texts: Sequence[Corpus]) -> bool:
        """Count distinct answers among as many as half the repeated prompts of each text have."""
        sizes = []
        for text in texts:
            counts = by_prompt(text).section_counts
            if (counts > 1).any():
                sizes.append(int(np.median(counts[counts > 1])))
        # the effective number grows with the answers: all texts count as many, those of the poorest
        size = min(sizes, default=self.size_)
        grouped = [t.name for t in texts if baseline_of(usable_documents(t)) == GROUPS]
        changed = (size, grouped) != (self.size_, self.grouped_)
        self.size_, self.grouped_ = size, grouped
        return changed

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Prompts with one answer."""
        return ["one document per prompt" if n < 2 else None for n in batch.section_counts.tolist()]

    def project(self, batch: Corpus) -> AnswerSpread:
        """Compare the answers to each prompt."""
        x, words = self._vectors(batch)
        similarity, distinct, groups = [], [], []
        counts = batch.section_counts
        first = 0
        for count in counts.tolist():
            mine = x[first : first + count]  # (count, V)
            first += count
            k = np.asarray((mine @ mine.T).toarray())  # cosines, (count, count)
            # vectors of zeros too are equal to themselves: an answer counts as one
            np.fill_diagonal(k, 1.0)
            similarity.append((float(k.sum()) - count) / max(count * (count - 1), 1))
            distinct.append(effective_number(k[: self.size_, : self.size_]))
            groups.append(alike(k, self.alike))
        texts = [[" ".join(s.text.split()[:WORDS]) for s in d.sections] for d in batch]
        mean_cosine, number_distinct = (np.array(v, dtype=np.float64) for v in (similarity, distinct))
        means = prompt_means(x, counts)
        return AnswerSpread(mean_cosine, number_distinct, means, words, groups, counts, texts, list(batch.ids))

    def _vectors(self, batch: Corpus) -> tuple[sparse.csr_array, list[str]]:
        """One vector per answer, and the words of their columns: ``words_``, then those that the real text lacks."""
        prose = read_prose(batch.tokens(self.reader))
        sections = _answer_of(batch, self.reader)
        known = set(self.words_)
        # in the order of the alphabet, so that sums over the columns depend on no other answer
        words = [*self.words_, *sorted(w for w in prose.words if w[:1].isalnum() and w not in known)]
        idf = np.concatenate([self.idf_, np.full(len(words) - len(known), self.unknown_idf_)])
        x = vectors(prose, sections, {w: i for i, w in enumerate(words)}, idf)
        # answers without a token at the end of the batch have no row yet
        x.resize((int(batch.section_counts.sum()), len(idf)))
        return x, words

    def log_prior(self, latents: AnswerSpread) -> LogPrior:
        """log P_c of the logit of the similarity."""
        from scipy.stats import norm

        return LogPrior.of_vectors(norm.logpdf(_logit(latents.similarity), self.mean_, self.sd_))

    def sufficient_statistics(self, latents: AnswerSpread) -> Mapping[str, Rows]:
        """Similarity, effective number of distinct answers, and answers in groups, each beside ones; mean vectors."""
        ones = np.ones(len(latents))
        full = latents.counts >= self.size_  # (n,)
        same = np.array([any(len(g) > 1 for g in groups) for groups in latents.groups], dtype=np.float64)
        return {
            "similarity": np.column_stack([latents.similarity, ones]),
            # prompts with too few answers do not count
            "distinct": np.column_stack([np.where(full, latents.distinct, 0.0), full]),
            "same": np.column_stack([same, ones]),
            "prompts": centroids(latents.similarity, latents.means, latents.columns),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Similarity within and between prompts, distinct answers, and prompts with answers that are the same."""
        of = f" of {self.size_}" if hasattr(self, "size_") else ""
        return (
            Statistic.ratio(
                "similarity",
                "similarity",
                "similarity of answers to a prompt",
                "more varied|more alike between answers",
                effect="difference",
            ),
            Statistic.ratio(
                "distinct",
                "distinct",
                f"effective number of distinct answers{of}",
                "poorer|richer in distinct answers",
                needs="as many answers to its prompt",
            ),
            Statistic.value(
                "between_similarity",
                "prompts",
                between_similarity,
                "similarity of answers to different prompts",
                "more varied|more alike between prompts",
            ),
            Statistic.value(
                "relative_variance",
                "prompts",
                relative_variance,
                "variance within prompts, relative to different prompts",
                "poorer|richer in variance within prompts",
                decides=False,
            ),
            Statistic.share(
                "same_share", "same", "prompts with answers that are the same", "poorer|richer in equal answers"
            ),
        )

    def summarize(self, latents: AnswerSpread) -> Exampled:
        """Distribution of similarities, and the prompts whose answers are most alike."""
        table = Counted.of_values(np.round(latents.similarity, 3)).total()
        examples = []
        for i, groups in enumerate(latents.groups):
            shown = " | ".join(f"{len(g)} × {latents.texts[i][g[0]]} …" for g in groups[:LINES])
            more = f" | {len(groups) - LINES} more" if len(groups) > LINES else ""
            sizes = f"{counted(int(latents.counts[i]), 'answer')} in {counted(len(groups), 'group')}"
            text = f"{latents.prompts[i]}: {sizes}: {shown}{more}"
            examples.append(("prompts", -float(latents.similarity[i]), text))
        return Exampled.of(Pooled(len(latents), {}, {"similarity": table}), examples, SHOWN)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Distribution of the similarity of answers, and the prompts with the least variety."""
        rows = [
            (role, round(-rank, 3), answers)
            for role, text in (("generated", generated), ("real", real))
            for rank, answers in text.examples.get("prompts", ())
        ]
        x, title = Axis("mean cosine of two answers"), "Similarity of the answers to a prompt"
        return [
            distributions((real, generated), "similarity", "similarity", title, x, "share of prompts"),
            Table("alike", "Prompts whose answers are most alike", ("text", "similarity", "answers in groups"), rows),
        ]

    def notes(self) -> list[Note]:
        """What the critic was fitted on."""
        notes = [Note(f"Fitted on {counted(self.prompts_, 'set')} of {self.baseline_}.")]
        names = joined([f"{name!r}" for name in self.grouped_])
        return notes + [
            Note(f"No prompt of {names} is answered twice: documents of one group stand in for answers.")
        ] * bool(names)

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """The answers to one prompt, those marked that are much like another one."""
        latents = self.project(document)
        if not latents.texts or len(latents.texts[0]) < 2:
            return None
        steps = []
        for number, group in enumerate(latents.groups[0], 1):
            for i in group:
                label = f"group {number}" if len(group) > 1 else ""
                steps.append(Step(label, latents.texts[0][i], None, len(group) > 1))
        note = (
            f"Mean similarity {latents.similarity[0]:.2f}; effective number of distinct answers "
            f"{latents.distinct[0]:.2f}."
        )
        return marked(self, document, latents, steps, note=note)


def _logit(similarity: Floats) -> Floats:
    """log((s + 0.01) / (1.01 − s)), which is finite for answers that are all the same or share no word."""
    s = np.clip(similarity, 0.0, 1.0)
    return np.asarray(np.log((s + 0.01) / (1.01 - s)))


def _answer_of(answers: Corpus, reader: Tokenizer) -> Ints:
    """The number of the answer of each token, borders of paragraphs left out: int64 (N,)."""
    table = answers.tokens(reader)
    breaks = np.array([w == BREAK for w in table.vocabulary], dtype=bool)
    return np.asarray(table.sections[~breaks[table.ids]])
