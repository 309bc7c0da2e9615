"""The contract of a critic: a generative process P_c(z) P_c(x | z), fitted on real text, that looks at one axis.

A critic defines three methods: how to learn P_c from real text (`fit`), how to project text to latents by the posterior
P_c(z | x) (`project`), and what log P_c(z) those latents have (`log_prior`). This class and the modules around it
provide the rest: Latent NLL and Latent PPL, rows and reasons, batches, intervals and tests, saving. Optional powers
(statistics, evidence, marked documents, an aggregated posterior) are the mixins in `momus.critic.powers`; critics of
running text subclass `momus.critic.RunningTextCritic`, those of tokens `momus.critic.TokenCritic`.
"""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.guard import guard_methods
from momus.critic.hooks import (
    AdvancedMixin,
    ReadingMixin,
    check_fitted,
    corpus_for,
    scored_units,
    tokenizer_of,
)
from momus.critic.latents import StateSequences
from momus.critic.powers import EvidenceMixin, MergeableMixin, StatisticsMixin, check_reporting
from momus.critic.reporting import Note, Reporting
from momus.critic.scores import LogPrior, Scores
from momus.critic.source import source_digest
from momus.critic.splitting import check_enough, documents_to_fit, other_splitting, splitting_of
from momus.estimator import Estimator, check_params, parametrized, reset
from momus.laws.law import Law
from momus.reading import TextSource
from momus.text.corpus import Corpus
from momus.text.languages import ANY, WORDS, Scripts
from momus.text.plain import Reads
from momus.text.running import RunningText, blocks
from momus.text.tokens import Tokenizer, get_tokenizer

Z = TypeVar("Z")


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
    sequence
        Whether z is a sequence of discrete states: a Latent PPL is then defined, and outliers are ranked per step.
    min_documents
        The smallest number of usable documents that `fit` accepts.
    reporting
        What only readers see: what leads the sentence, directions, limits (`momus.critic.Reporting`).
    """

    name: ClassVar[str]
    axis: ClassVar[str]
    question: ClassVar[str] = ""
    sequence: ClassVar[bool] = False
    min_documents: ClassVar[int] = 2
    reporting: ClassVar[Reporting] = Reporting()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the methods of each subclass (`_fitting`, `guard_methods`), and refuse what belongs into `reporting`."""
        super().__init_subclass__(**kwargs)
        check_reporting(cls)
        cls._made_at = time.time()
        if "fit" in vars(cls) or cls.fit is vars(MergeableMixin)["fit"]:
            cls.fit = _fitting(cls.fit)  # type: ignore[method-assign]
        guard_methods(cls)

    # The three methods that every critic implements

    @abstractmethod
    def fit(self, real: Corpus) -> Self:
        """Learn P_c on real text; whatever is learned goes into attributes whose names end in ``_``.

        Callers may give a path or texts in memory; this method gets a corpus. Documents that are blank or
        could not be read are dropped before this is called, and the results of an earlier fit are reset.
        """

    @abstractmethod
    def project(self, batch: Corpus) -> Z:
        """Infer the posterior P_c(z | x): one element per document, in order."""

    @abstractmethod
    def log_prior(self, latents: Z) -> LogPrior:
        """Compute E_{z ~ P_c(z|x)} log P_c(z) in nats, and the number of scored steps, of each document."""

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Say why a document cannot be projected, None where it can; called after `fit`, before `project`."""
        return [None] * len(batch)

    # What the base class provides

    def score(
        self, texts: TextSource, *, batch_size: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Scores:
        """Score every document: one row per id, in order.

        Parameters
        ----------
        texts
            A corpus, a path, or texts in memory, see `momus.read_corpus`.
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

        return score(self, scored_units(self, corpus_for(self, texts)), batch_size=batch_size, progress=progress)

    def save(self, folder: str | Path) -> None:
        """Write ``critic.json`` and ``arrays.safetensors`` into a folder; a critic that was saved there is replaced.

        Raises
        ------
        StoreError
            The critic cannot be stored, or the folder holds such files that Momus did not write.
        """
        from momus.critic.saved import save_critic

        check_fitted(self)
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

    _in_fit: bool = False
    _latent: ClassVar[bool] = True
    _textless: ClassVar[bool] = False  # whether documents without text are scored, too
    _made_at: ClassVar[float]
    fitted_on_: dict[str, Any]
    fitted_hashes_: NDArray[np.uint64]


def notes_of(critic: Critic[Any]) -> list[Note]:
    """The notes of a fitted critic; plain strings become notes without a warning."""
    notes = critic.notes() if isinstance(critic, EvidenceMixin) else ()
    splitting = other_splitting(critic)
    return [
        *(note if isinstance(note, Note) else Note(str(note)) for note in notes),
        *([Note(splitting, warning=True)] if splitting else []),
    ]


_Fit = TypeVar("_Fit", bound=Callable[..., Any])


def _fitting(fit: _Fit) -> _Fit:
    """Wrap a `fit`: reset, drop unusable documents, remember what the critic was fitted on."""

    @functools.wraps(fit)
    def wrapped(self: Critic[Any], real: TextSource) -> Any:
        real = corpus_for(self, real)
        if self._in_fit:  # a subclass called super().fit
            return fit(self, real)
        check_params(self)
        reset(self)
        usable, lacking = documents_to_fit(self, real)
        check_enough(self, real.name, len(usable), len(real), lacking)
        self._in_fit = True
        try:
            fit(self, usable if isinstance(self, RunningTextCritic) else usable.canonical)
        except BaseException:
            reset(self)
            raise
        finally:
            self._in_fit = False
        others = {"identity": usable.identity, **splitting_of(tokenizer_of(self), usable)}
        note_fit(self, real.name, usable.hashes, len(real) - len(usable), usable.fingerprint, **others)
        return self

    return wrapped  # type: ignore[return-value]


def note_fit(
    critic: Critic[Any], corpus: str, hashes: NDArray[np.uint64], left_out: int, fingerprint: str, **others: str
) -> None:
    """Let a critic remember what it was fitted on, and by what code."""
    critic.fitted_hashes_ = np.unique(hashes)
    critic.fitted_on_ = {
        "corpus": corpus,
        "documents": len(hashes),
        "left_out": left_out,
        "fingerprint": fingerprint,
        "source": source_digest(critic),
        **others,
    }


@dataclass(frozen=True)
class TokenStates(StateSequences):
    """One state per token, and the tokens themselves.

    Attributes
    ----------
    words
        int32 array (N,): the token of each state, as an index into ``vocabulary``.
    vocabulary
        The distinct words.
    """

    words: NDArray[np.int32] = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    vocabulary: Sequence[str] = ()


@parametrized
class TokenCritic(Critic[Z], ReadingMixin, ABC):
    """Base class of critics that read tokens.

    Parameters
    ----------
    tokens
        Name of the tokenizer: ``words``, or ``whitespace`` for text that is already tokenised.
    lower
        Whether to lower-case text first.
    """

    reads: ClassVar[Reads] = "prose"

    tokens: str = "words"
    lower: bool = True

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name."""
        return get_tokenizer(self.tokens, self.lower, self.reads)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in batch.tokens(self.tokenizer).lengths]

    @property
    def scripts(self) -> Scripts:
        """Scripts whose words can be told apart; any script of text that is already split."""
        return ANY if self.tokens == "whitespace" else WORDS


class TextCritic(Critic[Z], ReadingMixin, StatisticsMixin, EvidenceMixin, ABC):
    """A critic of texts, with statistics, evidence and marked documents."""


@parametrized
class WordCritic(TokenCritic[Z], StatisticsMixin, EvidenceMixin, ABC):
    """A critic of tokens, with statistics, evidence and marked documents."""


@parametrized
class CountingCritic(MergeableMixin, WordCritic[Z], ABC):
    """A `WordCritic` that is fitted on counts."""


@parametrized
class RunningTextCritic(TokenCritic[Z], EvidenceMixin, AdvancedMixin, ABC):
    """A critic whose unit is a block of running text instead of a document.

    A whole text is compared by its `laws`, each declared with its error estimate; Latent NLL is one value per block.

    Parameters
    ----------
    tokens, lower
        See `TokenCritic`.
    block
        Tokens per block.
    """

    unit = "block"
    min_documents = 1

    block: int = 56_200

    @abstractmethod
    def summarize(self, latents: Z) -> RunningText:
        """Return the running text of a batch, which is mergeable without loss."""

    @abstractmethod
    def laws(self) -> Sequence[Law]:
        """The numbers that a whole running text has, each with the way that its standard error is estimated."""

    def units(self, corpus: Corpus) -> Corpus:
        """Cut the running text of a corpus into blocks."""
        return blocks(corpus, self.tokenizer, self.block)
