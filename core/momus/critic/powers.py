"""Optional powers of a critic, one mixin each.

A critic that defines one of their methods inherits the mixin too; `Critic` refuses a class that does not, since its
method would otherwise be silently ignored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from momus.critic import hooks
from momus.critic.rows import Counted, Pooled, Rows, Summary
from momus.critic.statistic import Reporting
from momus.estimator import ComponentsMixin
from momus.numeric.types import Floats

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.critic.portions import Counts
    from momus.critic.statistic import Statistic
    from momus.evidence import Evidence, MarkedDocument
    from momus.laws import Law
    from momus.text.corpus import Corpus

Kind = Literal["exact", "bound", "estimate"]
"""What a critic knows of log P(x): its value, a lower bound (the sum of the three parts), or a Monte-Carlo estimate."""
PARTS = ("log_prior", "log_likelihood", "entropy", "log_evidence")
"""Names of the three parts and of log P(x), in the order of the columns of `Decomposition.columns`."""


@dataclass(frozen=True)
class Decomposition:
    """The parts of log P(x) of n documents, float arrays (n,) in nats: Latent NLL is one.

    For any q(z), with KL the Kullback–Leibler divergence (Deng et al. 2022, appendix A),

        log P(x) = E_q log P(z) + E_q log P(x | z) + H(q) + KL(q ‖ P(z | x))

    The first part is −Latent NLL. The second says how well z realises x, the third how uncertain z is given x. The
    paper's three parts are those of the exact posterior, where the divergence is 0. A critic that reads a cruder one,
    such as its most probable z, has a gap.

    Attributes
    ----------
    log_prior
        E_q log P(z), −Latent NLL.
    log_likelihood
        E_q log P(x | z).
    entropy
        H(q); of a density (shares, log-odds) it may be negative.
    log_evidence
        log P(x), as far as the critic knows it (`DecompositionMixin.evidence_kind`).

    >>> one = np.array([-2.0])
    >>> parts = Decomposition(one, np.array([-5.0]), np.array([0.5]), np.array([-6.0]))
    >>> parts.gap.tolist(), parts.columns.tolist()
    ([0.5], [[-2.0, -5.0, 0.5, -6.0]])
    """

    log_prior: Floats
    log_likelihood: Floats
    entropy: Floats
    log_evidence: Floats

    @property
    def gap(self) -> Floats:
        """KL(q ‖ P(z | x)), (n,): 0 where q is the posterior, or where log P(x) is known as a bound only."""
        gap: Floats = self.log_evidence - (self.log_prior + self.log_likelihood + self.entropy)
        return gap

    @property
    def columns(self) -> Floats:
        """The parts side by side, (n, 4), see `PARTS`."""
        return np.column_stack([self.log_prior, self.log_likelihood, self.entropy, self.log_evidence])


class StatisticsMixin(ABC):
    """Statistics beside Latent NLL and Latent PPL, tested on pooled per-document sufficient statistics."""

    @abstractmethod
    def sufficient_statistics(self, latents: Any) -> Mapping[str, Rows]:
        """Per-document rows by name, each with one row per element of ``latents``."""

    def statistics(self) -> Sequence[Statistic]:
        """Functions of the pooled rows, tested beside Latent NLL and Latent PPL."""
        return ()


class EvidenceMixin(ABC):
    """Evidence: tables and figures that show what makes the difference, computed from two summaries."""

    def summarize(self, latents: Any) -> Summary:
        """Summarise a batch, mergeably: the summary of two texts is the sum of their summaries.

        The default pools the critic's sufficient statistics.
        """
        rows = self.sufficient_statistics(latents) if isinstance(self, StatisticsMixin) else {}
        return Pooled.of_rows(rows, len(latents))

    @abstractmethod
    def evidence(self, real: Any, generated: Any) -> list[Evidence]:
        """Show what makes the difference between two summaries of the kind that `summarize` returns."""


class ItemsMixin(ABC):
    """Things that a document has or lacks, such as phrases: of two models it is told which vanished and which came."""

    @abstractmethod
    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """By kind, how often each document has each item (0 to 1), from the rows of scores: (documents, items)."""


class ExplanationMixin(ABC):
    """Marked documents: one document step by step, with the unlikely steps marked."""

    @abstractmethod
    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark one document (a corpus of one); None where there is nothing to mark."""


class PowersMixin(StatisticsMixin, EvidenceMixin, ExplanationMixin, ABC):
    """Statistics, evidence and marked documents: the powers that most critics have."""


class AggregatedPosteriorMixin(ABC):
    """An aggregated posterior P_agg(z) for latents other than `StateSequences`, or another one for these."""

    @abstractmethod
    def aggregated_posterior(self, latents: Any) -> Rows:
        """Expected number of visits to, or mass of, each state, one row per document."""


class DecompositionMixin(ABC):
    """The parts of log P(x) of each document, of which Latent NLL is one (`Decomposition`).

    Attributes
    ----------
    evidence_kind
        Whether the last column is log P(x), a lower bound of it, or a Monte-Carlo estimate.
    evidence_of
        What log P(x) is the probability of, for readers, where that is not the text itself.
    """

    evidence_kind: ClassVar[Kind] = "exact"
    evidence_of: ClassVar[str] = ""

    @abstractmethod
    def decompose(self, batch: Corpus, latents: Any) -> Decomposition | None:
        """Decompose log P(x) of a batch; None if the posterior is read as a point of a density, which has no entropy.

        Parameters
        ----------
        latents
            What `project` returned for the batch.
        """


class MergeableMixin(ABC):
    """Fitting from counts that add up: fitted on parts of a text, in any order, equals fitted on the whole.

    A critic that names this class before `Critic` has its `fit`. `momus fit --jobs` counts the parts of a text in
    several processes (`momus.critic.portions.fit_portions`); the conformance check ``merging`` compares the two.
    """

    def fit(self, real: Corpus) -> Self:
        """Learn P_c from the counts of real text."""
        return self.fit_from(self.fit_counts(real))

    @abstractmethod
    def fit_counts(self, real: Corpus) -> Counts:
        """Count what fitting needs in a text, or in a part of it."""

    @abstractmethod
    def fit_from(self, counts: Counts) -> Self:
        """Learn P_c from the counts of a whole text."""


class LawsMixin(ABC):
    """Laws of running text; subclass `momus.critic.RunningTextCritic`, which has it."""

    @abstractmethod
    def laws(self) -> Sequence[Law]:
        """The numbers that a whole running text has, each with the way that its standard error is estimated."""


def headline_of(critic: Critic[Any]) -> str:
    """Name of the statistic whose p decides the verdict of a critic."""
    return critic.reporting.headline or ("latent_ppl" if critic.sequence else "latent_nll")


POWERS: Mapping[str, type[Any]] = {
    "sufficient_statistics": StatisticsMixin,
    "statistics": StatisticsMixin,
    "summarize": EvidenceMixin,
    "evidence": EvidenceMixin,
    "explain": ExplanationMixin,
    "items": ItemsMixin,
    "aggregated_posterior": AggregatedPosteriorMixin,
    "laws": LawsMixin,
    "decompose": DecompositionMixin,
    "fit_counts": MergeableMixin,
    "fit_from": MergeableMixin,
    "notes": hooks.NotesMixin,
    "oddity": hooks.OddityMixin,
    "tried": hooks.TrialMixin,
    "settle": hooks.SettlingMixin,
    "tokenizer": hooks.TokenizerMixin,
    "scripts": hooks.ScriptsMixin,
    "claims": hooks.ScriptsMixin,
    "assumed_language": hooks.LanguageMixin,
    "state_names": hooks.NamedStatesMixin,
    "unit": hooks.UnitsMixin,
    "units": hooks.UnitsMixin,
    "device": hooks.DeviceMixin,
    "required_params": hooks.ParameterRolesMixin,
    "fitting_params": hooks.ParameterRolesMixin,
    "component": ComponentsMixin,
}
"""Methods and attributes of the optional powers, and the mixin that each belongs to."""
BASES: Mapping[type[Any], str] = {LawsMixin: "momus.critic.RunningTextCritic"}
"""Bases that bring a mixin with all that it needs."""


def check_powers(cls: type) -> None:
    """Refuse a class that has a method of a power without its mixin, also if a helper class brings the method.

    Raises
    ------
    TypeError
        The message names the class to inherit from.
    """
    for method, mixin in POWERS.items():
        if hasattr(cls, method) and not issubclass(cls, mixin):
            base = BASES.get(mixin, f"{mixin.__module__}.{mixin.__name__}")
            raise TypeError(f"{cls.__name__} defines {method} but does not inherit {base}: it would never be used")
    for name in {f.name for f in fields(Reporting)} & vars(cls).keys():
        raise TypeError(f"{cls.__name__}.{name} would never be read: write reporting = Reporting({name}=…)")
