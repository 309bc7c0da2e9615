"""Optional powers of a critic, one mixin each.

A method is used only if the critic inherits its mixin: without it, any name is free for a helper. The conformance
checks point out methods that look like those of a mixin and are not used.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from momus.critic.reporting import Reporting
from momus.critic.rows import Counted, Pooled, Rows, Summary
from momus.numeric.types import Floats

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.critic.portions import Counts
    from momus.critic.reporting import Note
    from momus.critic.statistic import Statistic
    from momus.evidence import Evidence, MarkedDocument
    from momus.text.corpus import Corpus

Kind = Literal["exact", "bound"]
"""What a critic knows of log P(x): its value, or a lower bound (the sum of the three parts)."""
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
    """Statistics beside Latent NLL and Latent PPL, tested on pooled per-document sufficient statistics.

    Attributes
    ----------
    tested
        What `statistics` returns, where it does not depend on the parameters, nor on what was learned.
    """

    tested: ClassVar[Sequence[Statistic]] = ()

    @abstractmethod
    def sufficient_statistics(self, latents: Any) -> Mapping[str, Rows]:
        """Per-document rows by name, each with one row per element of ``latents``."""

    def statistics(self) -> Sequence[Statistic]:
        """Functions of the pooled rows, tested beside Latent NLL and Latent PPL."""
        return self.tested


class EvidenceMixin:
    """What readers see beside the numbers; each method has a default that shows nothing.

    Evidence is tables and figures that show what makes the difference, computed from two summaries.
    """

    def summarize(self, latents: Any) -> Summary:
        """Summarise a batch, mergeably: the summary of two texts is the sum of their summaries.

        The default pools the critic's sufficient statistics.
        """
        rows = self.sufficient_statistics(latents) if isinstance(self, StatisticsMixin) else {}
        return Pooled.of_rows(rows, len(latents))

    def evidence(self, real: Any, generated: Any) -> list[Evidence]:
        """Show what makes the difference between two summaries of the kind that `summarize` returns."""
        return []

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the unlikely steps of one document (a corpus of one); None where there is nothing to mark."""
        return None

    def notes(self) -> Sequence[Note | str]:
        """What a reader should know about the fitted critic; a plain string is a note without a warning."""
        return ()

    @property
    def state_names(self) -> Sequence[str]:
        """Names of the states of the fitted critic, for latents that are state sequences; default: their numbers."""
        return ()


class ItemsMixin(ABC):
    """Things that a document has or lacks, such as phrases: of two models it is told which vanished and which came."""

    @abstractmethod
    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """By kind, how often each document has each item (0 to 1), from the rows of scores: (documents, items)."""


class DecompositionMixin(ABC):
    """The parts of log P(x) of each document, of which Latent NLL is one (`Decomposition`).

    Attributes
    ----------
    evidence_kind
        Whether the last column is log P(x), or a lower bound of it.
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


class FieldsMixin:
    """Fields of records that a critic reads beside the text, such as the prompt; readers keep them unasked.

    Attributes
    ----------
    needs
        Names of the fields: ``prompt_text``, ``reference`` (`momus.reading.paths.BESIDE`), or any other.
    """

    needs: ClassVar[tuple[str, ...]] = ()


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


def has_latents(critic: Critic[Any] | type[Critic[Any]]) -> bool:
    """Whether a critic reads latents off documents, whose Latent NLL is compared; a `StatisticCritic` does not."""
    return critic._latent


def fields_read(critic: object) -> tuple[str, ...]:
    """The fields that a critic, or a class of critics, reads beside the text.

    >>> fields_read(object())
    ()
    """
    cls = critic if isinstance(critic, type) else type(critic)
    return tuple(cls.needs) if issubclass(cls, FieldsMixin) else ()


def headline_of(critic: Critic[Any]) -> str:
    """Name of the statistic whose p decides the verdict of a critic."""
    if critic.reporting.headline:
        return critic.reporting.headline
    if not has_latents(critic) and isinstance(critic, StatisticsMixin):
        return next((s.name for s in critic.statistics()), "")
    return "latent_ppl" if critic.sequence else "latent_nll"


def defines(critic: object, mixin: type[Any], method: str) -> bool:
    """Whether a critic, or a class of critics, has its own version of a method for which a mixin has a default.

    >>> class Silent(EvidenceMixin):
    ...     pass
    >>> defines(Silent, EvidenceMixin, "explain"), defines(object(), EvidenceMixin, "explain")
    (False, False)
    """
    cls = critic if isinstance(critic, type) else type(critic)
    return issubclass(cls, mixin) and getattr(cls, method) is not getattr(mixin, method)


def unused(critic: object, mixin: type[Any]) -> list[str]:
    """Methods of a critic that are called like those of a mixin, and are never used since it does not inherit that."""
    names = [name for name in vars(mixin) if not name.startswith("_")]
    return [] if isinstance(critic, mixin) else [name for name in names if hasattr(critic, name)]


def check_reporting(cls: type) -> None:
    """Refuse a class with an attribute that belongs into its `Reporting`; methods and parameters may have any name.

    Raises
    ------
    TypeError
        The message says where to write the value.
    """
    parameters = inspect.get_annotations(cls)  # annotated attributes are parameters
    for field in fields(Reporting):
        value = vars(cls).get(field.name)
        if field.name not in parameters and isinstance(value, str | int | tuple | dict):
            raise TypeError(
                f"{cls.__name__}.{field.name} would never be read: write reporting = Reporting({field.name}=…)"
            )
