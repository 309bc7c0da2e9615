"""The contract of a critic: a generative process P_c(z) P_c(x | z), fitted on real text, that looks at one axis.

A critic defines three methods: how to learn P_c from real text (`fit`), how to project text to latents by the posterior
P_c(z | x) (`project`), and what log P_c(z) those latents have (`log_prior`). This class and the modules around it
provide the rest: Latent NLL and Latent PPL, rows and reasons, batches, intervals and tests, saving. Optional powers
(statistics, evidence, marked documents, an aggregated posterior) are the mixins in `momus.critic.powers`; critics of
running text subclass `momus.critic.RunningTextCritic`.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.powers import check_powers
from momus.critic.scores import LogPrior, Scores
from momus.critic.splitting import check_enough, documents_to_fit, other_splitting, splitting_of
from momus.errors import NotFittedError
from momus.estimator import Estimator, check_params, reset
from momus.numeric.types import Floats
from momus.text.scripts import SPACED, Scripts

if TYPE_CHECKING:
    from momus.text.corpus import Corpus
    from momus.text.tokens import Tokenizer

Z = TypeVar("Z")


@dataclass(frozen=True)
class Note:
    """A sentence for readers of the results of a fitted critic.

    Attributes
    ----------
    text
        An accuracy, a constant that was chosen, …
    warning
        Whether it makes the verdicts doubtful; a comparison then prints it beside them.
    """

    text: str
    warning: bool = False


def notes_of(critic: Critic[Any]) -> list[Note]:
    """The notes of a fitted critic; plain strings become notes without a warning."""
    notes = [note if isinstance(note, Note) else Note(str(note)) for note in critic.notes()]
    splitting = other_splitting(critic)
    return [*notes, Note(splitting, warning=True)] if splitting else notes


class Critic(Estimator, ABC, Generic[Z]):
    """A critic; subclass it, and implement `fit`, `project` and `log_prior`.

    Attributes
    ----------
    name
        The name that users type, in lower case with hyphens.
    axis
        What the critic looks at, in a few words.
    question
        What it asks of a text, in a sentence or two, for ``momus critics`` and the report.
    unit
        What one row stands for: ``document``, or ``block`` of running text.
    sequence
        Whether z is a sequence of discrete states: a Latent PPL is then defined, and outliers are ranked per step.
    headline
        Name of the headline statistic, whose p decides the verdict; default: ``latent_ppl`` of sequences, otherwise
        ``latent_nll``.
    told
        Name of the statistic that tells readers the direction and size of a difference, such as the mean length beside
        a test of the distribution; default: the headline, or the first of the critic's statistics with a direction.
    directions
        What generated text is if its Latent NLL, Latent PPL or posterior entropy is lower, and if it is higher, by the
        name of the statistic, where ``("more predictable", "less predictable")`` would mislead.
    limits
        What the critic cannot see, in one line, for the report.
    ordered
        Whether the order of the documents matters, as it does for running text. Others are fitted on the documents in
        one order, whatever their order in the corpus.
    guard
        Whether entropy and divergence of the aggregated posterior are reported beside Latent NLL of state sequences;
        turn it off only where the critic's own statistics say the same.
    no_steps
        Reason given for documents whose latents have no scored step (M = 0).
    oddity_unit
        Unit of what `oddity` returns, for readers, such as ``nats by the best repair``.
    needs
        The smallest number of usable documents that `fit` accepts.
    configured
        Parameters without which the critic cannot run; a run of all critics leaves it out unless they are given.
    scripts
        The scripts whose text the critic reads as meant; default: those that separate words by spaces. A comparison
        leaves the critic out of texts that are mostly in other scripts.
    uses_device
        Whether the critic computes on ``device`` (a torch device name); others run on the CPU.
    only_for_fitting
        Parameters with paths or addresses that a fitted critic does not use again.
    nonfinite
        Fitted attributes that may hold infinity or NaN.
    """

    name: ClassVar[str]
    axis: ClassVar[str]
    question: ClassVar[str] = ""
    unit: ClassVar[str] = "document"
    sequence: ClassVar[bool] = False
    headline: ClassVar[str] = ""
    told: ClassVar[str] = ""
    directions: ClassVar[Mapping[str, tuple[str, str]]] = {}
    limits: ClassVar[str] = ""
    ordered: ClassVar[bool] = False
    guard: ClassVar[bool] = True
    no_steps: ClassVar[str] = "no scored step"
    oddity_unit: ClassVar[str] = ""
    needs: ClassVar[int] = 2
    configured: ClassVar[tuple[str, ...]] = ()
    scripts: ClassVar[Scripts] = SPACED
    uses_device: ClassVar[bool] = False
    only_for_fitting: ClassVar[tuple[str, ...]] = ()
    nonfinite: ClassVar[tuple[str, ...]] = ()
    device: str = "cpu"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the `fit` of each subclass (see `_fitting`), and refuse powers that lack their mixin."""
        super().__init_subclass__(**kwargs)
        check_powers(cls)
        if "fit" in vars(cls):
            cls.fit = _fitting(cls.fit)  # type: ignore[method-assign]

    # The three methods that every critic implements

    @abstractmethod
    def fit(self, real: Corpus) -> Self:
        """Learn P_c on real text; whatever is learned goes into attributes whose names end in ``_``.

        Documents that are blank or could not be read are dropped before this is called, and the results of an earlier
        fit are reset.
        """

    @abstractmethod
    def project(self, batch: Corpus) -> Z:
        """Infer the posterior P_c(z | x): one element per document, in order."""

    @abstractmethod
    def log_prior(self, latents: Z) -> LogPrior:
        """Compute E_{z ~ P_c(z|x)} log P_c(z) in nats, and the number of scored steps, of each document."""

    # What a critic may override

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Say why a document cannot be projected, None where it can; called after `fit`, before `project`."""
        return [None] * len(batch)

    def oddity(self, latents: Z) -> Floats | None:
        """What ranks the documents as outliers, (n,), in `oddity_unit`; the largest is the oddest.

        None: their Latent NLL, per step for sequences.
        """
        return None

    def attend(self, texts: Sequence[Corpus]) -> bool:
        """Settle what is read of all texts of a comparison: titles, say, only if every text has them.

        Called once after `fit` and before any of these texts is scored. What is settled is a fitted attribute.

        Returns
        -------
        Whether the critic now reads otherwise than before, so that earlier scores do not serve.
        """
        return False

    def notes(self) -> Sequence[Note | str]:
        """What a reader of the results should know about the fitted critic."""
        return ()

    def claims(self) -> Scripts:
        """The scripts that the critic reads with its parameters; `scripts` unless a parameter decides."""
        return self.scripts

    def assumed_language(self, corpus: Corpus) -> str:
        """The language (ISO 639-1) that a text is read in although nothing says so; empty if none is assumed."""
        return ""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer that the critic reads text with; text is then split once for all batches."""
        return None

    @property
    def state_names(self) -> Sequence[str]:
        """Names of the states of a fitted critic whose latents are state sequences; empty: states have numbers."""
        return ()

    # What the base class provides

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` has run."""
        return hasattr(self, "fitted_on_")

    @property
    def is_configured(self) -> bool:
        """Whether all parameters named in `configured` are given."""
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
        """The headline statistic, whose p decides the verdict."""
        return self.headline or ("latent_ppl" if self.sequence else "latent_nll")

    def units(self, corpus: Corpus) -> Corpus:
        """The corpus that is scored, one row per document (`RunningTextCritic` cuts blocks of running text)."""
        return corpus

    def score(
        self, corpus: Corpus, *, batch_size: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Scores:
        """Score every document: one row per id, in order.

        Parameters
        ----------
        batch_size
            Documents per batch; changes memory and speed, not results.
        progress
            Called with the number of documents done, after each batch.

        Raises
        ------
        NotFittedError
            The critic is not fitted.
        """
        from momus.critic.scoring import score

        return score(self, self.units(corpus), batch_size=batch_size, progress=progress)

    def overlap(self, corpus: Corpus) -> int:
        """How many of these documents the critic was fitted on, by their text."""
        self.check_fitted()
        return int(np.isin(corpus.hashes, self.fitted_hashes_).sum())

    def save(self, folder: str | Path) -> None:
        """Write ``critic.json`` and ``arrays.safetensors`` into a folder."""
        from momus.critic.saved import save_critic

        self.check_fitted()
        save_critic(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, *, trust: bool = False, configured: dict[str, Any] | None = None) -> Self:
        """Read a critic that `save` wrote; the class is this one, whatever the folder says of its origin.

        Parameters
        ----------
        trust
            Whether the critic may use adapters, connect to addresses, and read the files that its parameters name.
        configured
            Parameters that the user gave in this process; a critic with the same ones needs no trust.

        Raises
        ------
        StoreError
            The folder holds no critic, one of another name, or one that must be trusted first.
        """
        from momus.critic.saved import load_critic

        return load_critic(Path(folder), cls, trust=trust, configured=configured)

    def check_state(self) -> None:
        """Check a fitted state that was read from a folder, with `momus.critic.Fitted`; a subclass overrides it.

        Raises
        ------
        StoreError
            An attribute is missing, or its type, shape or values are not those that `fit` leaves.
        """

    _in_fit: bool = False
    fitted_on_: dict[str, Any]
    fitted_hashes_: NDArray[np.uint64]


_Fit = TypeVar("_Fit", bound=Callable[..., Any])


def _fitting(fit: _Fit) -> _Fit:
    """Wrap a `fit`: reset, drop unusable documents, remember what the critic was fitted on."""

    @functools.wraps(fit)
    def wrapped(self: Critic[Any], real: Corpus) -> Any:
        if self._in_fit:  # a subclass called super().fit
            return fit(self, real)
        check_params(self)
        reset(self)
        usable, lacking = documents_to_fit(self, real)
        check_enough(self, real.name, len(usable), len(real), lacking)
        self._in_fit = True
        try:
            fit(self, usable if self.ordered else usable.canonical)
        except BaseException:
            reset(self)
            raise
        finally:
            self._in_fit = False
        self.fitted_hashes_ = np.unique(usable.hashes)
        self.fitted_on_ = {
            "corpus": real.name,
            "documents": len(usable),
            "left_out": len(real) - len(usable),
            "fingerprint": usable.fingerprint,
            "identity": usable.identity,
            **splitting_of(self.tokenizer, usable),
        }
        return self

    return wrapped  # type: ignore[return-value]
