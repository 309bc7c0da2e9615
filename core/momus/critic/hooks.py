"""What only some critics need, with defaults that change nothing, and functions that ask any critic for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from momus.critic.powers import fields_read
from momus.errors import NotFittedError
from momus.numeric.types import Floats
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.text.languages import SPACED, Scripts

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.critic.rows import Rows
    from momus.text.corpus import Corpus
    from momus.text.tokens import Tokenizer


class ReadingMixin:
    """How the critic reads text: its tokenizer, its scripts and its language.

    Text is split once for all batches. A comparison leaves the critic out of texts that are mostly in other scripts
    than those it reads: by default, scripts that separate words by spaces.
    """

    @property
    def scripts(self) -> Scripts:
        """The scripts that the critic reads as meant; a class attribute where they depend on no parameter."""
        return SPACED

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that the parameters name, None if these parameters need none."""
        return None

    def assumed_language(self, corpus: Corpus) -> str:
        """The language (ISO 639-1) that a text is read in although nothing says so; empty if none is assumed."""
        return ""


class AdvancedMixin:
    """What few critics need; each method has a default that changes nothing.

    Attributes
    ----------
    unit
        What one row stands for, such as ``prompt``, for critics whose rows are not documents.
    """

    unit: ClassVar[str] = "document"

    @property
    def corrected(self) -> bool:
        """Whether rows hold corrections of some documents for all, so that those of one say nothing of it alone."""
        return False

    def units(self, corpus: Corpus) -> Corpus:
        """The corpus that is scored, one row per unit."""
        return corpus

    def oddity(self, latents: Any) -> Floats | None:
        """How odd each document is, (n,), to rank outliers in place of Latent NLL; the largest is the oddest.

        `Reporting.oddity_unit` says what it is measured in.
        """
        return None

    def aggregated_posterior(self, latents: Any) -> Rows | None:
        """Expected number of visits to, or mass of, each state, one row per document.

        It defines P_agg(z) for latents other than `StateSequences`, or another one for these.
        """
        return None

    def tried(self) -> dict[str, Any]:
        """What `fit` chose by a trial, as parameters, such as ``{"word_posterior": "point"}``.

        Further fits from other starts (`Reporting.restarts`) repeat it.
        """
        return {}

    def nothing_to_see(self, texts: Sequence[Corpus]) -> str:
        """Why these texts have nothing that the critic looks at, by a cheap look before `fit`; empty if they may have.

        A run of all critics leaves out a critic that says so; one that was asked for runs nevertheless.
        """
        return ""

    def settle(self, texts: Sequence[Corpus]) -> bool:
        """Settle what is read of all texts of a comparison: titles, say, are read only if every text has them.

        Called once after `fit`, before any of them is scored. What is settled is a fitted attribute.

        Returns
        -------
        Whether earlier scores are invalid, since the critic now reads texts differently.
        """
        return False


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


C = TypeVar("C")


def tokenizer_of(critic: object) -> Tokenizer | None:
    """The tokenizer that a critic reads text with, None if it has none."""
    return critic.tokenizer if isinstance(critic, ReadingMixin) else None


def claimed_scripts(critic: object) -> Scripts:
    """The scripts that a critic reads; of a class, those that it reads with its default parameters."""
    critic = critic() if isinstance(critic, type) and issubclass(critic, ReadingMixin) else critic
    return critic.scripts if isinstance(critic, ReadingMixin) else SPACED


def row_unit(critic: object) -> str:
    """What one row of a critic, or of a class of critics, stands for.

    >>> row_unit(object())
    'document'
    """
    cls = critic if isinstance(critic, type) else type(critic)
    return cls.unit if issubclass(cls, AdvancedMixin) else "document"


def scored_units(critic: object, corpus: Corpus) -> Corpus:
    """The corpus that a critic scores, one row per unit."""
    return critic.units(corpus) if isinstance(critic, AdvancedMixin) else corpus


def settled(critic: object, texts: Sequence[Corpus]) -> bool:
    """Let a critic settle what it reads of all texts; whether its earlier scores are invalid."""
    return isinstance(critic, AdvancedMixin) and critic.settle(texts)


def moved(critic: C, device: str) -> C:
    """Move a critic to a device if it computes on one; returns the critic."""
    return critic.to(device) if isinstance(critic, DeviceMixin) else critic


def device_of(critic: object) -> str:
    """The device that a critic computes on.

    >>> device_of(object())
    'cpu'
    """
    return critic.device if isinstance(critic, DeviceMixin) else "cpu"


def missing_params(critic: Critic[Any]) -> list[str]:
    """The required parameters of a critic that are not given."""
    return [name for name in critic.reporting.required if not getattr(critic, name)]


def is_fitted(critic: Critic[Any]) -> bool:
    """Whether the `fit` of a critic has run."""
    return hasattr(critic, "fitted_on_")


def check_fitted(critic: Critic[Any]) -> None:
    """Raise `NotFittedError` before the `fit` of a critic has run."""
    if not is_fitted(critic):
        raise NotFittedError(
            f"critic {critic.name!r} is not fitted yet", hint="call fit(real) first, or load a fitted critic"
        )


def with_needs(reading: ReadingOptions | None, critics: Iterable[Critic[Any] | type[Critic[Any]]]) -> ReadingOptions:
    """How to read texts for some critics: with the fields that these read beside the text.

    >>> with_needs(None, []).kept
    ()
    """
    return (reading or ReadingOptions()).needing([name for critic in critics for name in fields_read(critic)])


def corpus_for(critic: Critic[Any], texts: TextSource) -> Corpus:
    """The texts that a method of a critic is called with, as a corpus with the fields that the critic reads."""
    return as_corpus(texts, reading=with_needs(None, [critic]))


def overlap(critic: Critic[Any], texts: TextSource) -> int:
    """Number of these documents that a critic was fitted on, by text."""
    check_fitted(critic)
    return int(np.isin(as_corpus(texts).hashes, critic.fitted_hashes_).sum())
