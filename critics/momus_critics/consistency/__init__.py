"""Consistency: whether each section belongs to its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse

from momus.critic import LogPrior, Note, Pooled, Reporting, Rows, StateSequences, Statistic, directions
from momus.critic.base import WordCritic
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument, Step
from momus.numeric.ragged import float_sums, group_sums
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import clipped, counted
from momus_critics.consistency import model
from momus_critics.consistency.model import SectionVectors, grams
from momus_critics.evidence import curves, marked

BELONGS, STRANGER = 0, 1
STATES = ("belongs", "stranger")
MOST_FITTED = 1000
"""Documents from which loadings, D and ε are estimated; word frequencies come from all."""
TOLD_APART = 0.75
"""Share of sections preferred to one of another document, below which verdicts are doubtful."""
LEAST_KNOWN = 0.5
"""Share of known words of a scored document, relative to that of a real one."""
FOREIGN = "hardly a known word"
"""Why a document with fewer is unscored."""
EDGES: Floats = np.linspace(-20.0, 60.0, 161)
"""Bins of fit, in nats; the outer ones are open."""
NEAREST, ODD_WORDS, SHOWN_CHARACTERS = 2, 6, 240
"""What is shown of a section: the nearest others, words of strangers, and characters of its text."""


@dataclass(frozen=True)
class Memberships(StateSequences):
    """Whether each section belongs to its document or is a stranger, with probabilities in ``marginals``.

    Attributes
    ----------
    fit
        (N,) log Bayes factor of “belongs” of each section, nats.
    """

    fit: Floats = field(default_factory=lambda: np.zeros(0))


@parametrized
class Consistency(WordCritic[Memberships]):
    """z says of each section whether it belongs to its document or is a stranger; P_c(z) is Bernoulli.

    A document has a subject, a Gaussian vector. The vector of a section that belongs is the subject and noise, with a
    share of the subject that grows with the section's length; that of a stranger is unrelated. Subjects are integrated
    out, so the likelihood of each choice of strangers is closed (`momus_critics.consistency.model`). Titles and the
    order of sections are not used. Documents of hardly a known word are unscored: which of their words are common, and
    tie any two sections together, is not known.

    Parameters
    ----------
    seed
        Draws the foreign sections against which the model is fitted.

    >>> documents = [[("", f"thing{i} of kind{i}"), ("", f"thing{i} is a kind{i}")] for i in range(8)]
    >>> critic = Consistency().fit(Corpus.from_sections(documents))
    >>> mixed = Corpus.from_sections([documents[0], [documents[1][0], documents[2][1]]])
    >>> critic.project(mixed).states.tolist()
    [0, 0, 1, 1]
    """

    name = "consistency"
    axis = "consistency of sections"
    question = (
        "Does each section belong to its document? z is whether a section shares the subject of the others or is a "
        "stranger among them; words that few documents have tell."
    )
    reporting = Reporting(
        headline="stranger_share",
        directions=directions("more|less consistent", "more|less consistent"),
        limits=(
            "It cannot see contradictions: sections that name the same things belong together, whatever they say "
            "of them."
        ),
        aggregated=False,
    )
    sequence = True
    min_documents = 5

    seed: int = 0

    state_names = STATES

    _new_vectors = SectionVectors

    def fit(self, real: Corpus) -> Self:
        """Learn word frequencies, loadings, D, and the share of strangers in real text."""
        rows = np.flatnonzero([reason is None for reason in self.unscored(real)])
        if len(rows) < 2:
            raise FittingError(
                f"critic 'consistency': {len(rows)} of {counted(len(real), 'document')} of {real.name!r} have two "
                "sections with text, and two documents are needed",
                hint="give documents with `sections`",
            )
        used = real.take(rows)
        self.vectors_ = SectionVectors().fit(used.tokens(self.tokenizer))
        self.known_ = float(self.vectors_.known(used.tokens(self.tokenizer)).mean())
        random = np.random.default_rng(self.seed)
        if len(used) > MOST_FITTED:
            used = used.take(np.sort(random.permutation(len(used))[:MOST_FITTED]))
        table = used.tokens(self.tokenizer)
        x = self.vectors_.vectors(table, fitted=True)  # (N, V)
        offsets = table.document_sections
        within = grams(x, x, offsets)  # (M, M) for each document
        lengths = _split(np.diff(table.section_offsets).astype(np.float64), offsets)
        self.largest_, self.half_ = model.fit_loadings(within, lengths)
        loading = [self._loading(g, n) for g, n in zip(within, lengths, strict=True)]
        self._learn_dimensions(x, within, loading, offsets, random)
        self.rate_ = model.fit_rate(within, loading, self.dimensions_)
        return self

    def _learn_dimensions(
        self,
        x: sparse.csr_array,
        within: list[Floats],
        loading: list[Floats],
        offsets: Ints,
        random: np.random.Generator,
    ) -> None:
        """Fit D on each section against the section of another document in its place."""
        # chosen[m]: a section of another document, for section m, (N,): the documents are shifted by 1 to n − 1
        n, sizes = len(offsets) - 1, np.diff(offsets)
        other = (np.repeat(np.arange(n), sizes) + random.integers(1, n, x.shape[0])) % n
        chosen = offsets[other] + (random.random(len(other)) * sizes[other]).astype(np.int64)
        foreign = x[chosen]  # (N, V)
        norms = np.asarray(foreign.multiply(foreign).sum(axis=1)).ravel()
        every = np.concatenate(loading)  # (N,)
        between = grams(foreign, x, offsets)
        ratios: tuple[list[Floats], list[Floats]] = ([], [])
        for g, dots, a, start in zip(within, between, loading, offsets[:-1].tolist(), strict=True):
            here, ones = slice(start, start + len(a)), np.ones(len(a))
            ratios[0].append(model.ratio_to_others(g, np.diag(g), g, a, a, ones))
            ratios[1].append(model.ratio_to_others(dots, norms[here], g, every[chosen[here]], a, ones))
        native, strange = map(np.concatenate, ratios)
        self.dimensions_ = model.fit_dimensions(native, strange)
        self.compared_ = len(native)
        self.told_apart_ = float((native > strange).mean())

    def _loading(self, gram: Floats, lengths: Floats) -> Floats:
        """a_m of the sections of a document, (M,); 0 for a section without a word that has weight."""
        return np.where(np.diag(gram) > 0, model.loadings(lengths, self.largest_, self.half_), 0.0)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without section marks, with fewer than two sections that have words, or of hardly a known word."""
        table = batch.tokens(self.tokenizer)
        filled = group_sums((np.diff(table.section_offsets) > 0).astype(np.int64), table.document_sections)
        known = np.ones(len(batch), dtype=bool)
        if hasattr(self, "known_"):
            known = self.vectors_.known(table) >= LEAST_KNOWN * self.known_
        return [
            "no sections" if not marked else "fewer than two sections with words" if n < 2 else None if k else FOREIGN
            for marked, n, k in zip(batch.sectioned.tolist(), filled.tolist(), known.tolist(), strict=True)
        ]

    def project(self, batch: Corpus) -> Memberships:
        """Infer P(stranger) of each section, exactly for up to `model.EXACT` sections."""
        table = batch.tokens(self.tokenizer)
        x = self.vectors_.vectors(table)
        offsets, lengths = table.document_sections, np.diff(table.section_offsets)
        factors = [
            model.fit_of(g, self._loading(g, n), self.dimensions_, self.rate_)
            for g, n in zip(grams(x, x, offsets), _split(lengths.astype(np.float64), offsets), strict=True)
        ]
        factor = np.concatenate([np.zeros(0), *factors])
        stranger = model.stranger_probability(factor, self.rate_)
        marginals = np.column_stack([1 - stranger, stranger])
        return Memberships((stranger > 0.5).astype(np.int64), offsets, marginals, factor)

    def log_prior(self, latents: Memberships) -> LogPrior:
        """E log P_c(z) = Σ_m P(belongs) log(1 − ε) + P(stranger) log ε; M steps."""
        assert latents.marginals is not None
        values = latents.marginals @ np.log([1 - self.rate_, self.rate_])
        return LogPrior(float_sums(values, latents.offsets), latents.lengths)

    def sufficient_statistics(self, latents: Memberships) -> Mapping[str, Rows]:
        """Expected number of strangers, and the sum of log Bayes factors, beside the number of sections."""
        assert latents.marginals is not None
        sections = latents.lengths.astype(np.float64)
        strangers = group_sums(latents.marginals[:, STRANGER], latents.offsets)
        fit = group_sums(latents.fit, latents.offsets)
        return {"strangers": np.column_stack([strangers, sections]), "fit": np.column_stack([fit, sections])}

    tested = (
        Statistic.share("stranger_share", "strangers", "share of sections that do not belong", "more|less consistent"),
        Statistic.ratio(
            "fit", "fit", "fit of sections to their document", "looser|closer in subject", unit="nats per section"
        ),
    )

    def summarize(self, latents: Memberships) -> Pooled:
        """Numbers of sections by bins of fit, (161,)."""
        bins = np.clip(np.searchsorted(EDGES, latents.fit, side="right"), 0, len(EDGES) - 1)
        return Pooled(len(latents), {"fit": np.bincount(bins, minlength=len(EDGES)).astype(np.float64)})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """How well sections fit: cumulative distributions."""

        def points(text: Pooled) -> tuple[Floats, Floats]:
            counts = text.arrays["fit"]
            return EDGES, np.cumsum(counts) / max(counts.sum(), 1.0)  # bin i ends at EDGES[i]; the last one is open

        axes, title = (
            (Axis("fit of a section to its document, nats"), Axis("sections")),
            "Share of sections up to a fit",
        )
        note = "Log Bayes factor of “belongs” against “stranger”; below 0 the words speak for a stranger."
        return [curves((real, generated), points, "fit", title, axes, note, "steps")]

    def notes(self) -> list[Note]:
        """How well sections are told from those of other documents."""
        notes = [
            Note(
                f"{self.told_apart_:.1%} of {self.compared_:,} real sections fit their document better than a section "
                f"of another document does; {self.rate_:.1%} of real sections count as strangers."
            ),
        ]
        if self.told_apart_ < TOLD_APART:
            notes.append(
                Note(
                    f"only {self.told_apart_:.0%} of {self.compared_:,} real sections fit their document better than a "
                    "section of another document does: sections are too short, or all documents have one subject",
                    warning=True,
                )
            )
        return notes

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show each section, its nearest sections, and the heaviest words of strangers that no other section has."""
        table, latents = document.tokens(self.tokenizer), self.project(document)
        assert latents.marginals is not None
        x = self.vectors_.vectors(table)
        gram = np.asarray((x @ x.T).todense())
        cost = latents.marginals @ -np.log([1 - self.rate_, self.rate_])
        titles, texts = document.section_titles, document.section_texts.to_pylist()
        steps = []
        for m, (title, text) in enumerate(zip(titles, texts, strict=True)):
            stranger = bool(latents.states[m])
            others = [n for n in np.argsort(-gram[m], kind="stable").tolist() if n != m][:NEAREST]  # by cosine
            nearest = ", ".join(f"{titles[n] or f'section {n + 1}'} ({gram[m, n]:.2f})" for n in others)
            remarks = [f"P(stranger) = {latents.marginals[m, 1]:.2g}", f"nearest: {nearest}"]
            words = odd_words(x, m, table.vocabulary) if stranger else []
            if words:
                remarks.append(f"words that no other section has: {', '.join(words)}")
            label = f"{title or f'section {m + 1}'}: {'stranger' if stranger else 'belongs'}"
            steps.append(Step(label, clipped(text, SHOWN_CHARACTERS), float(cost[m]), stranger, "; ".join(remarks)))
        return marked(self, document, latents, steps, "nats per section")


def _split(values: Floats, offsets: Ints) -> list[Floats]:
    """The values of each document."""
    return np.split(values, offsets[1:-1])


def odd_words(x: sparse.csr_array, m: int, vocabulary: Sequence[str]) -> list[str]:
    """The words with the highest weight in section m that the other sections lack.

    >>> x = sparse.csr_array(np.array([[0.5, 0.8, 0.1], [0.9, 0.0, 0.0]]))
    >>> odd_words(x, 0, ["a", "b", "c"])
    ['b', 'c']
    """
    row = x[[m]].toarray().ravel()
    elsewhere = np.asarray(x.sum(axis=0)).ravel() - row  # (V,): 0 for words of section m alone
    weight = np.where(elsewhere <= 1e-12, row, 0.0)
    best = np.argsort(-weight, kind="stable")[:ODD_WORDS]
    return [vocabulary[i] for i in best.tolist() if weight[i] > 0]
