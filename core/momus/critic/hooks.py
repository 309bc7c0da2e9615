"""What only some critics need, one mixin with one method each, and functions that ask any critic for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from momus.critic.statistic import Note
from momus.errors import NotFittedError
from momus.numeric.types import Floats
from momus.reading import TextSource, as_corpus
from momus.text.languages import SPACED, Scripts

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.text.corpus import Corpus
    from momus.text.tokens import Tokenizer


class NotesMixin(ABC):
    """Notes for the readers of the results."""

    @abstractmethod
    def notes(self) -> Sequence[Note | str]:
        """What a reader should know about the fitted critic; a plain string is a note without a warning."""


class OddityMixin(ABC):
    """A measure that ranks documents as outliers in place of Latent NLL (per step, for sequences).

    Attributes
    ----------
    oddity_unit
        Its unit, for readers, such as ``nats by the best repair``.
    """

    oddity_unit: ClassVar[str] = ""

    @abstractmethod
    def oddity(self, latents: Any) -> Floats:
        """How odd each document is, (n,); the largest is the oddest."""


class TrialMixin(ABC):
    """A choice that `fit` makes by a trial, which further fits from other starts (`Reporting.restarts`) repeat."""

    @abstractmethod
    def tried(self) -> dict[str, Any]:
        """The parameters that stand for what was chosen, such as ``{"word_posterior": "point"}``."""


class SettlingMixin(ABC):
    """Choices that concern all texts of a comparison: titles, say, are read only if every text has them."""

    @abstractmethod
    def settle(self, texts: Sequence[Corpus]) -> bool:
        """Settle what is read of all texts; called once after `fit`, before any of them is scored.

        What is settled is a fitted attribute.

        Returns
        -------
        Whether earlier scores are invalid, since the critic now reads texts differently.
        """


class TokenizerMixin(ABC):
    """A tokenizer that the critic reads text with; text is then split once for all batches."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that the parameters name, None if these parameters need none."""


class ScriptsMixin:
    """Scripts other than those that separate words by spaces, which a critic reads otherwise.

    A comparison leaves the critic out of texts that are mostly in other scripts.

    Attributes
    ----------
    scripts
        The scripts that the critic reads as meant.
    """

    scripts: ClassVar[Scripts] = SPACED

    def claims(self) -> Scripts:
        """The scripts that the critic reads with its parameters."""
        return self.scripts


class LanguageMixin(ABC):
    """A language that the critic reads text in, although nothing says that the text is in it."""

    @abstractmethod
    def assumed_language(self, corpus: Corpus) -> str:
        """The language (ISO 639-1) that a text is read in although nothing says so; empty if none is assumed."""


class NamedStatesMixin(ABC):
    """Names of states, for latents that are state sequences; without them, states have numbers."""

    @property
    @abstractmethod
    def state_names(self) -> Sequence[str]:
        """Names of the states of the fitted critic."""


class FittedTogetherMixin:
    """Fitted on all texts of models that are compared, without their labels, instead of on the reference alone.

    Attributes
    ----------
    folded
        Whether each fold is scored by a critic of the other folds of all texts, and not all by one critic. One serves
        latents that mean something else in every fit, such as topic 3. Folds serve statistics of what few documents
        share: two of the reference with a rare name, in two folds, would make it known to each other, which no
        relabelling of documents accounts for.
    """

    folded: ClassVar[bool] = False


class UnitsMixin(ABC):
    """Rows that are not documents.

    Attributes
    ----------
    unit
        What one row stands for, such as ``prompt``.
    """

    unit: ClassVar[str]

    @abstractmethod
    def units(self, corpus: Corpus) -> Corpus:
        """The corpus that is scored, one row per unit."""


class DeviceMixin:
    """Computation on a device; other critics run on the CPU.

    Attributes
    ----------
    device
        A torch device name; parameters and results do not depend on it.
    """

    device: str = "cpu"

    def to(self, device: str) -> Self:
        """Compute on this device from now on."""
        self.device = device
        return self


class ParameterRolesMixin:
    """Parameters that are required, or that only fitting uses.

    Attributes
    ----------
    required_params
        Parameters without which the critic cannot run; a run of all critics leaves it out unless they are given.
    fitting_params
        Parameters with paths or addresses that a fitted critic does not use again.
    """

    required_params: ClassVar[tuple[str, ...]] = ()
    fitting_params: ClassVar[tuple[str, ...]] = ()


C = TypeVar("C")


def tokenizer_of(critic: object) -> Tokenizer | None:
    """The tokenizer that a critic reads text with, None if it has none."""
    return critic.tokenizer if isinstance(critic, TokenizerMixin) else None


def claimed_scripts(critic: object) -> Scripts:
    """The scripts that a critic reads; of a class, those that it reads with its default parameters."""
    if isinstance(critic, type):
        return critic.scripts if issubclass(critic, ScriptsMixin) else SPACED
    return critic.claims() if isinstance(critic, ScriptsMixin) else SPACED


def state_names_of(critic: object) -> Sequence[str]:
    """Names of the states of a fitted critic; empty if states have numbers."""
    return critic.state_names if isinstance(critic, NamedStatesMixin) else ()


def row_unit(critic: object) -> str:
    """What one row of a critic, or of a class of critics, stands for.

    >>> row_unit(object())
    'document'
    """
    cls = critic if isinstance(critic, type) else type(critic)
    return cls.unit if issubclass(cls, UnitsMixin) else "document"


def scored_units(critic: object, corpus: Corpus) -> Corpus:
    """The corpus that a critic scores, one row per unit."""
    return critic.units(corpus) if isinstance(critic, UnitsMixin) else corpus


def settled(critic: object, texts: Sequence[Corpus]) -> bool:
    """Let a critic settle what it reads of all texts; whether its earlier scores are invalid."""
    return isinstance(critic, SettlingMixin) and critic.settle(texts)


def moved(critic: C, device: str) -> C:
    """Move a critic to a device if it computes on one; returns the critic."""
    return critic.to(device) if isinstance(critic, DeviceMixin) else critic


def device_of(critic: object) -> str:
    """The device that a critic computes on.

    >>> device_of(object())
    'cpu'
    """
    return critic.device if isinstance(critic, DeviceMixin) else "cpu"


def missing_params(critic: object) -> list[str]:
    """The required parameters of a critic that are not given."""
    required = critic.required_params if isinstance(critic, ParameterRolesMixin) else ()
    return [name for name in required if not getattr(critic, name)]


def is_fitted(critic: Critic[Any]) -> bool:
    """Whether the `fit` of a critic has run."""
    return hasattr(critic, "fitted_on_")


def check_fitted(critic: Critic[Any]) -> None:
    """Raise `NotFittedError` before the `fit` of a critic has run."""
    if not is_fitted(critic):
        raise NotFittedError(
            f"critic {critic.name!r} is not fitted yet", hint="call fit(real) first, or load a fitted critic"
        )


def overlap(critic: Critic[Any], texts: TextSource) -> int:
    """Number of these documents that a critic was fitted on, by text."""
    check_fitted(critic)
    return int(np.isin(as_corpus(texts).hashes, critic.fitted_hashes_).sum())
