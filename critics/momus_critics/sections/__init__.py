"""Section coherence: a chain of section types, inferred from the text of sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np

from momus.critic import Note, Rows, Statistic
from momus.critic.hooks import AdvancedMixin, DeviceMixin
from momus.critic.statistic import perplexity
from momus.critic.tools import SectionPosterior, make_adapter
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import MarkedDocument
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted, percentage
from momus.text.languages import WORDS
from momus.text.tokens import Tokenizer, get_tokenizer
from momus.text.vocabulary import OTHER, frequent_titles, normalize_title
from momus_critics.chains import posterior as joint
from momus_critics.chains.base import ChainCritic, repaired
from momus_critics.chains.posterior import ChainLatents
from momus_critics.chains.repair import best_repairs, fault_evidence
from momus_critics.sections.posterior import LinearPosterior

ACCURATE = 0.6
"""Accuracy on held-out sections below which verdicts are doubtful."""
TITLED = 0.9
"""Share of sections with a title from which a text counts as titled."""
BODIES, BOTH = "bodies", "titles and bodies"


@dataclass(frozen=True)
class SectionLatents(ChainLatents):
    """The chain under the posterior that is read, and, if that reads titles, the chain by bodies alone.

    Attributes
    ----------
    by_bodies
        None if titles are not read.
    """

    by_bodies: ChainLatents | None = None


@parametrized
class Sections(ChainCritic, DeviceMixin, AdvancedMixin):
    """z is the chain of section types; P_c(z) a first-order Markov chain; P_c(z_m | x_m) a text classifier.

    Latent NLL is the exact expectation of −log P_c(z) under the posterior, end state included; Deng et al. (2022,
    section 4) take it at the most probable types. Types are learned on the titles of real text. Where all texts of a
    comparison have titles, a section's type is inferred from its title and its body together: a title that names a type
    is certain, another one speaks by its words. Otherwise it is inferred from bodies alone, so that untitled
    generations and titled originals are treated alike.

    Parameters
    ----------
    posterior
        ``linear`` (TF-IDF and logistic regression on a section's text), ``titles`` (the titles themselves, never a
        body), or an adapter: ``transformers`` fine-tunes an encoder.
    titles
        ``auto``: titles are read too if all texts have them; ``never``: bodies alone are read.
    model
        The adapter's model: a folder, or a name on a model hub.
    options
        Further parameters of the adapter, such as ``{"epochs": 3, "rate": 2e-5}``.
    expectation
        ``chain``: under the posterior of the whole chain, P_c(z | x) ∝ P_c(z) Π P(z_m | x_m) / P(z_m); ``exact``: under
        the classifier's posterior, one section at a time; ``map``: under its most probable types only, as in the paper.
    min_count
        Titles in fewer real documents share the state ``<other>``.
    tokens, lower
        See `LinearPosterior`.
    seed
        Seeds the folds that choose smoothing and temperature.
    """

    name = "sections"
    axis = "section order"
    reads = "says"
    question = (
        "Are sections in the order of real documents? z is the chain of section types, P_c a Markov chain with start "
        "and end; types are inferred from each section's text."
    )
    reporting = replace(
        ChainCritic.reporting,
        oddity_unit="nats by the best repair",
        headline="fault_evidence",
        limits=(
            "It cannot see what a section says beyond its type: a body about something else passes if its type fits."
        ),
    )
    sequence = True
    scripts = WORDS
    min_documents = 5

    posterior: str = "linear"
    titles: Literal["auto", "never"] = "auto"
    model: str = ""
    options: dict[str, Any] | None = None
    expectation: Literal["chain", "exact", "map"] = "chain"
    min_count: Annotated[int, Range(1, 10**9)] = 5
    tokens: str = "words"
    lower: bool = True
    seed: int = 0

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer of the linear posterior; others need none."""
        return get_tokenizer(self.tokens, self.lower, "says") if self.posterior == "linear" else None

    def _new_posterior(self) -> Any:
        """The unfitted posterior of bodies."""
        if self.posterior == "linear":
            return self._new_titled(titles=False)
        parameters = {"model": self.model, "seed": self.seed, **(self.options or {})}
        return make_adapter("posterior", self.posterior, parameters, builtin=("linear", "titles"))

    def _new_titled(self, titles: bool = True) -> LinearPosterior:
        """The unfitted posterior of titles and bodies."""
        return LinearPosterior(tokens=self.tokens, lower=self.lower, titles=titles, seed=self.seed)

    def fit(self, real: Corpus) -> Self:
        """Learn section types, smoothed transitions and the posterior from titled real documents."""
        # documents with section marks and at least one title
        spans = zip(real.sectioned, pairwise(_offsets(real)), strict=True)
        titled = real.take([i for i, (s, (a, b)) in enumerate(spans) if s and any(real.section_titles[a:b])])
        titles, documents = _normalized(titled)
        self.titles_ = [*frequent_titles(titles, documents, self.min_count), OTHER]
        if len(self.titles_) < 3:
            raise FittingError(
                f"critic 'sections': {len(titled)} of {counted(len(real), 'document')} of {real.name!r} have titled "
                f"sections; {len(self.titles_) - 1} titles occur in at least {self.min_count} of them, and two are "
                "needed",
                hint="give more documents with `sections` and `section_names`, or lower min_count",
            )
        labels = self._labels(titles)  # (N,)
        self._learn_chain(labels, _offsets(titled), self.seed)
        if self.posterior != "titles":
            posterior = self._new_posterior()
            posterior.device = self.device
            self.posterior_ = posterior.fit(titled, labels, self.states)
        self.reads_ = BODIES
        if self._may_read_titles:
            self.titled_ = self._new_titled().fit(titled, labels, self.states)
        return self

    @property
    def _may_read_titles(self) -> bool:
        """Whether titles join bodies where all texts have them."""
        return self.posterior == "linear" and self.titles == "auto"

    def settle(self, texts: Sequence[Corpus]) -> bool:
        """Read titles too if they are there in all texts."""
        before = self.reads_
        if self._may_read_titles:
            # one way of reading for all texts, or a difference would be one of reading
            self.reads_ = BOTH if all(titled_share(text) >= TITLED for text in texts) else BODIES
        return self.reads_ != before

    def _labels(self, titles: Sequence[str]) -> Ints:
        """The number of each title's state, (N,); unknown titles are `OTHER`, the last."""
        index = {title: i for i, title in enumerate(self.titles_)}
        return np.array([index.get(t, self.states - 1) for t in titles], dtype=np.int64)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Reject documents without section marks, or, for ``posterior="titles"``, without titles."""
        reasons: list[str | None] = [None if s else "no sections" for s in batch.sectioned]
        if self.posterior == "titles":
            titles, offsets = batch.section_titles, _offsets(batch)
            for i, (start, stop) in enumerate(pairwise(offsets)):
                if reasons[i] is None and not any(titles[start:stop]):
                    reasons[i] = "no titles"
        return reasons

    def project(self, batch: Corpus) -> SectionLatents:
        """Infer the type of each section."""
        offsets = _offsets(batch)
        if self.posterior == "titles":
            states = self._labels(_normalized(batch)[0])
            return SectionLatents(**vars(joint.factorised(states, offsets, None, self.shares_, self.transitions_)))
        self.posterior_.device = self.device
        posterior: SectionPosterior = self.posterior_
        by_bodies = self._chain(posterior.predict(batch), offsets)
        if self.reads_ == BODIES:
            return SectionLatents(**vars(by_bodies))
        # P(z_m | title, body), (N, K): certain if the title names a type, else by the words of both
        marginals, labels = self.titled_.predict(batch), self._labels(_normalized(batch)[0])
        named = np.flatnonzero(labels < self.states - 1)  # the last state is that of all other titles
        marginals[named] = np.eye(self.states)[labels[named]]
        return SectionLatents(**vars(self._chain(marginals, offsets)), by_bodies=by_bodies)

    def _chain(self, marginals: Floats, offsets: Ints) -> ChainLatents:
        """The posterior of the chain from that of its sections."""
        if self.expectation == "chain":
            return joint.chained(marginals, offsets, self.shares_, self.transitions_)
        states = marginals.argmax(axis=1)
        if self.expectation == "exact":
            return joint.factorised(states, offsets, marginals, self.shares_, self.transitions_)
        return joint.factorised(states, offsets, None, self.shares_, self.transitions_, unread=marginals)

    def oddity(self, latents: ChainLatents) -> Floats:
        """How much likelier each document would be with one fault of order less, see `best_repairs`."""
        return best_repairs(latents.emission, latents.offsets, self.transitions_).gain  # (n,)

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Those of the chain, and evidence of faults; where titles are read, Latent NLL by bodies alone too."""
        rows = dict(super().sufficient_statistics(latents))
        evidence = fault_evidence(latents.emission, latents.offsets, self.transitions_, self.chance)
        one = np.ones(len(evidence))
        # the root spreads documents in order and those with many faults alike: a mean of nats is ruled by the latter
        rows["fault_evidence"] = np.column_stack([np.sqrt(evidence), one])
        rows["faults"] = np.column_stack([-np.expm1(-evidence), one])  # P(a fault | x) = 1 − exp(−evidence)
        if isinstance(latents, SectionLatents) and latents.by_bodies is not None:
            prior = self.log_prior(latents.by_bodies)
            rows["by_bodies"] = np.column_stack([-prior.values, prior.steps])
        return rows

    def statistics(self) -> Sequence[Statistic]:
        """Faults of order, those of the chain, and Latent PPL by bodies where titles are read."""
        faults = (
            Statistic.ratio(
                "fault_evidence",
                "fault_evidence",
                "evidence of faults of order",
                self.reporting.directions["latent_ppl"],
                unit="√nats",
            ),
            Statistic.share(
                "fault_share",
                "faults",
                "share of documents with a fault of order",
                "less|more often out of order",
                clause="{} of documents have sections out of order",
            ),
        )
        if getattr(self, "reads_", BODIES) == BODIES:
            return (*faults, *super().statistics())
        direction = self.reporting.directions["latent_ppl"]
        by_bodies = Statistic.value(
            "latent_ppl_by_bodies",
            "by_bodies",
            perplexity,
            "Latent PPL by bodies alone",
            direction,
            scale="log",
            decides=False,
        )
        return (*faults, *super().statistics(), by_bodies)

    def notes(self) -> list[Note]:
        """Accuracy of the posterior on held-out sections, and a warning if it is too weak.

        Under a weak posterior the chain outweighs the text, and disorder is mistaken for order.
        """
        notes = [Note(f"{self.states} section types, smoothing constant {self.constant_:.3g}.")]
        if self._may_read_titles:
            why = "all texts have titles" if self.reads_ == BOTH else "not all texts have titles"
            notes.append(Note(f"Types are inferred from {self.reads_}: {why}."))
        held_out = self.posterior_.held_out if self.posterior != "titles" else {}
        if not held_out:
            return notes
        accuracy, sections = held_out["accuracy"], held_out["sections"]
        notes.append(
            Note(
                f"Posterior {self.posterior}: {percentage(accuracy, 1)} of {sections:,.0f} held-out real sections are "
                f"typed correctly; expected calibration error {held_out['calibration_error']:.3f}."
            )
        )
        if accuracy < ACCURATE and self.reads_ == BODIES:
            notes.append(
                Note(
                    f"only {percentage(accuracy, 0)} of {sections:,.0f} held-out real sections are typed correctly. "
                    "The expected order then outweighs the text of sections, and Latent PPL may even fall if they are "
                    "shuffled; "
                    "check `disorder` too, or give both texts with their titles.",
                    warning=True,
                )
            )
        return notes

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the most probable types, with transitions below 1 % marked, and say which repair helps most."""
        return repaired(self, document, self._shown(document, document.section_texts.to_pylist()))


def titled_share(corpus: Corpus) -> float:
    """Share of the sections of sectioned documents that have a title; 0 without sections.

    >>> titled_share(Corpus.from_sections([[("A", "x"), (None, "y")]]))
    0.5
    """
    marked = np.repeat(corpus.sectioned, corpus.section_counts)  # (sections,)
    titled = np.array([bool(normalize_title(t)) for t in corpus.section_titles], dtype=bool)
    return float(titled[marked].mean()) if marked.any() else 0.0


def _offsets(corpus: Corpus) -> Ints:
    """Where the sections of each document begin, (n + 1,)."""
    return offsets_of(corpus.section_counts)


def _normalized(corpus: Corpus) -> tuple[list[str], Ints]:
    """The normalised title and the document of each section."""
    return [normalize_title(t) for t in corpus.section_titles], owners_of(_offsets(corpus))
