"""The contract of a critic: a generative process P_c(z) P_c(x | z), fitted on real text, that looks at one axis.

A critic says three things: how to learn P_c on real text (`fit`), how to project text to latents by the posterior
P_c(z | x) (`project`), and what log P_c(z) those latents have (`log_prior`). Everything else is owed to it by this
class and by the rooms around it: Latent NLL and Latent PPL, rows and reasons, batches, intervals and tests, saving.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.errors import FittingError, NotFittedError
from momus.fitted import Fitted
from momus.rows import Rows
from momus.scores import LogPrior, Scores
from momus.summary import Pooled, Summary

if TYPE_CHECKING:
    from momus.blocks import LawStatistic
    from momus.corpus import Corpus
    from momus.evidence import Evidence, MarkedDocument
    from momus.inference import Statistic
    from momus.tokens import Tokenizer

Z = TypeVar("Z")


class Critic(Fitted, ABC, Generic[Z]):
    """A critic; subclass it, and implement `fit`, `project` and `log_prior`.

    Attributes
    ----------
    name
        How users call it, in lower case with hyphens.
    axis
        What it looks at, in a few words.
    question
        What it asks of a text, in a sentence or two, for ``momus critics`` and the report.
    unit
        What one row stands for: ``document``, or ``block`` of running text.
    sequence
        Whether z is a sequence of discrete states, so that a Latent PPL is defined and outliers are ranked by state.
    headline
        Name of the statistic that carries the verdict; default: ``latent_ppl`` of sequences, else ``latent_nll``.
    guard
        Whether entropy and divergence of the aggregated posterior stand beside Latent NLL of state sequences; a
        critic turns it off only where its own statistics say the same.
    needs
        The smallest number of usable documents that `fit` accepts.
    configured
        Parameters without which the critic cannot run; where they are not given, a run of all critics leaves it out.
    uses_device
        Whether the critic computes on ``device`` (a torch device name); others run on the CPU.
    """

    name: ClassVar[str]
    axis: ClassVar[str]
    question: ClassVar[str] = ""
    unit: ClassVar[str] = "document"
    sequence: ClassVar[bool] = False
    headline: ClassVar[str] = ""
    guard: ClassVar[bool] = True
    needs: ClassVar[int] = 2
    configured: ClassVar[tuple[str, ...]] = ()
    uses_device: ClassVar[bool] = False
    device: str = "cpu"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give each subclass's `fit` what every fit owes its caller (see `_fitting`)."""
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            cls.fit = _fitting(cls.fit)  # type: ignore[method-assign]

    # What a critic says

    @abstractmethod
    def fit(self, real: Corpus, validation: Corpus | None = None) -> Self:
        """Learn P_c on real text; whatever is learned goes into attributes whose names end in ``_``.

        Documents that are blank or could not be read are dropped before they come here, and what an earlier fit
        has learned is forgotten.
        """

    @abstractmethod
    def project(self, batch: Corpus) -> Z:
        """Infer the posterior P_c(z | x): one element a document, in order."""

    @abstractmethod
    def log_prior(self, latents: Z) -> LogPrior:
        """Compute E_{z ~ P_c(z|x)} log P_c(z) in nats, and the number of scored states, of each document."""

    # What a critic may say

    def units(self, corpus: Corpus) -> Corpus:
        """What rows stand for: the documents themselves, or blocks of running text."""
        return corpus

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Why a document cannot be projected, None where it can; called after `fit`, before `project`."""
        return [None] * len(batch)

    def rows(self, latents: Z) -> Mapping[str, Rows]:
        """Per-document sufficient statistics that the critic's own `statistics` pool.

        Rows called ``states`` stand for the aggregated posterior; those of state sequences are made by themselves.
        """
        return {}

    def statistics(self) -> Sequence[Statistic]:
        """Statistics of the critic's own, beside Latent NLL and Latent PPL."""
        return ()

    def laws(self) -> Sequence[LawStatistic]:
        """Numbers that a whole running text has (critics of blocks only), tested by the jackknife."""
        return ()

    def summarize(self, latents: Z) -> Summary:
        """Summarise a batch, mergeably: the summary of two texts is the sum of their summaries."""
        return Pooled.of_rows(self.rows(latents), len(latents))  # type: ignore[arg-type]

    def evidence(self, real: Any, generated: Any) -> list[Evidence]:
        """Show what makes the difference, from two summaries of the kind that `summarize` gives."""
        return []

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show one document (a corpus of one) step by step, with the unlikely steps marked."""
        return None

    def entropy(self, latents: Z) -> NDArray[np.float64] | None:
        """H(P_c(z | x)) of each document in nats, where the critic has it."""
        return None

    def notes(self) -> list[str]:
        """What a reader of the report should know of the fitted critic (an accuracy, a constant chosen, …)."""
        return []

    def cautions(self) -> list[str]:
        """What makes the verdicts of the fitted critic doubtful; a comparison prints it beside them."""
        return []

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that the critic reads text with, so that text is split once for all batches."""
        return None

    # What everybody gets

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` has run."""
        return hasattr(self, "fitted_on_")

    @property
    def is_configured(self) -> bool:
        """Whether all parameters are there without which it cannot run."""
        return all(getattr(self, name) for name in self.configured)

    def to(self, device: str) -> Self:
        """Compute on this device from now on; parameters and results do not change."""
        self.device = device
        return self

    def check_fitted(self) -> None:
        """Raise `NotFittedError` before `fit` has run."""
        if not self.is_fitted:
            raise NotFittedError(
                f"critic {self.name!r} is not fitted yet", hint="call fit(real) first, or load a fitted critic"
            )

    @property
    def headline_statistic(self) -> str:
        """The statistic that carries the verdict."""
        return self.headline or ("latent_ppl" if self.sequence else "latent_nll")

    def score(
        self,
        corpus: Corpus,
        *,
        batch_size: int | None = None,
        progress: Callable[[int], None] | None = None,
        units: bool = True,
    ) -> Scores:
        """Score every document: one row for each id, in order.

        Parameters
        ----------
        batch_size
            Documents at a time; changes memory and speed, not results.
        progress
            Called with the number of documents done, after each batch.
        units
            Whether the corpus is still to be cut by `units`; False for one that already is.

        Raises
        ------
        NotFittedError
            The critic is not fitted.
        """
        from momus.scoring import score

        whole = self.units(corpus) if units else corpus
        return score(self, whole, batch_size=batch_size, progress=progress)

    def overlap(self, corpus: Corpus) -> int:
        """How many of these documents the critic was fitted on, by their text."""
        self.check_fitted()
        return int(np.isin(corpus.hashes, self.fitted_hashes_).sum())

    def save(self, folder: str | Path) -> None:
        """Write ``critic.json`` and ``arrays.safetensors`` into a folder."""
        from momus.store.critics import save_critic

        self.check_fitted()
        save_critic(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a critic that `save` wrote; the class is this one, whatever the folder says of its origin.

        Raises
        ------
        StoreError
            The folder holds no critic, or one of another name.
        """
        from momus.store.critics import load_critic

        return load_critic(Path(folder), cls)

    _in_fit: bool = False
    fitted_on_: dict[str, Any]
    fitted_hashes_: NDArray[np.uint64]


_Fit = TypeVar("_Fit", bound=Callable[..., Any])


def _fitting(fit: _Fit) -> _Fit:
    """Wrap a `fit`: forget what was learned, drop unusable documents, remember what the critic was fitted on."""

    @functools.wraps(fit)
    def wrapped(self: Critic[Any], real: Corpus, validation: Corpus | None = None) -> Any:
        if self._in_fit:  # a subclass called super().fit
            return fit(self, real, validation)
        self.forget()
        usable = usable_documents(real)
        if len(usable) < self.needs:
            raise FittingError(
                f"critic {self.name!r} needs at least {self.needs} documents with text to be fitted; "
                f"{real.name!r} has {len(usable)} of {len(real)}",
                hint="give more real text with --fit",
            )
        self._in_fit = True
        try:
            fit(self, usable, None if validation is None else usable_documents(validation))
        except BaseException:
            self.forget()
            raise
        finally:
            self._in_fit = False
        self.fitted_hashes_ = np.unique(usable.hashes)
        self.fitted_on_ = {
            "corpus": real.name,
            "documents": len(usable),
            "left_out": len(real) - len(usable),
            "fingerprint": usable.fingerprint,
        }
        return self

    return wrapped  # type: ignore[return-value]


def usable_documents(corpus: Corpus) -> Corpus:
    """The documents that hold text."""
    broken = np.asarray([p is not None for p in corpus.problems], dtype=bool)
    keep = ~(broken | corpus.blank)
    return corpus if keep.all() else corpus.take(np.flatnonzero(keep))
