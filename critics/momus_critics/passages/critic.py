"""The critic of order in text without marks: neither titles nor section breaks are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import ExplanationMixin, Note, Rows, Statistic, mean
from momus.critic.tools import adapter_names, make_adapter
from momus.errors import FittingError, UsageError
from momus.estimator import Estimator
from momus.evidence import MarkedDocument
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_critics.chains import evidence
from momus_critics.chains import posterior as joint
from momus_critics.chains.base import ChainCritic
from momus_critics.chains.posterior import ChainLatents
from momus_critics.passages.features import LsaEmbedder, PlaceFeatures
from momus_critics.passages.pieces import corpus_pieces, place_classes, returning, split_pieces, state_names
from momus_critics.passages.segmenter import Segmenter


@dataclass(frozen=True)
class PassageLatents(ChainLatents):
    """A chain, and how much of the text returns.

    Attributes
    ----------
    returns
        (n, 2): pieces that return, and all pieces of a document.
    """

    returns: Floats = field(default_factory=lambda: np.zeros((0, 2)))


class Passages(ChainCritic, ExplanationMixin):
    """z is a chain of stretches of text, each in one of K states that are found, not given; P_c(z) a Markov chain.

    Text is cut into pieces of some sentences; an embedding of each is projected on the directions that tell where in a
    document a piece stands; an explicit-duration HSMM, fitted by EM, groups pieces into stretches. Latent NLL is that
    of the most probable chain of stretches, end included. Beside it stands the share of pieces that return.

    Parameters
    ----------
    number
        K; 0 chooses it by held-out likelihood.
    words
        Least words of a piece.
    most_pieces
        Pieces of a document that are read.
    embedder
        ``lsa`` (latent semantic analysis), or an adapter: ``transformers`` takes an encoder.
    model, options
        The adapter's model, and more parameters of it.
    bins
        Stretches of a document that the features tell apart.
    alike
        A piece returns when its embedding has at least this cosine with that of an earlier piece of its document.
    temper
        Weight of a piece against the chain, see `Segmenter`.
    seed
        Seeds the embedding, k-means, and the documents held out.
    """

    name = "passages"
    axis = "order of passages"
    question = (
        "Do the parts of a running text follow one another as in real documents? z is a chain of stretches found by a "
        "hidden semi-Markov model over sentences, without titles or breaks."
    )
    needs = 10
    uses_device = True

    def __init__(
        self,
        *,
        number: int = 0,
        words: int = 60,
        most_pieces: int = 2000,
        embedder: str = "lsa",
        model: str = "",
        options: dict[str, Any] | None = None,
        bins: int = 16,
        temper: float = 0.2,
        alike: float = 0.9,
        seed: int = 0,
    ) -> None:
        self.number = number
        self.words = words
        self.most_pieces = most_pieces
        self.embedder = embedder
        self.model = model
        self.options = options
        self.bins = bins
        self.temper = temper
        self.alike = alike
        self.seed = seed

    def component(self, attribute: str) -> Estimator:
        """Make an unfitted part."""
        if attribute == "embedder_":
            if self.embedder == "lsa":
                return LsaEmbedder(seed=self.seed, **(self.options or {}))
            return make_adapter("embedder", self.embedder, {"model": self.model, **(self.options or {})}, own=("lsa",))
        if attribute == "places_":
            return PlaceFeatures(bins=self.bins)
        if attribute == "segmenter_":
            return Segmenter(states=self.number, temper=self.temper, seed=self.seed)
        return super().component(attribute)

    def fit(self, real: Corpus) -> Self:
        """Learn embedding, discriminants, states and transitions from real documents."""
        if self.embedder not in ("lsa", *adapter_names("embedder")):
            names = ", ".join(("lsa", *adapter_names("embedder")))
            raise UsageError(f"passages: embedder is {self.embedder!r}", hint=f"choose one of {names}")
        pieces, offsets = corpus_pieces(real, self.words, self.most_pieces)
        if np.median(np.diff(offsets)) < 3:
            raise FittingError(
                f"critic 'passages': half of the {len(real)} documents of {real.name!r} have fewer than 3 pieces of "
                f"{self.words} words",
                hint="give longer documents, or a smaller `words`",
            )
        embedder: Any = self.component("embedder_")
        embedder.device = self.device
        self.embedder_: Any = embedder.fit(pieces)
        x = self.embedder_.embed(pieces)
        places: Any = self.component("places_")
        self.places_: Any = places.fit(x, place_classes(offsets, self.bins))
        features = self.places_.transform(x)
        segmenter: Any = self.component("segmenter_")
        segmenter.device = self.device
        self.segmenter_: Any = segmenter.fit(features, offsets)
        chains = self.segmenter_.decode(features, offsets)
        flat = np.concatenate([np.repeat(s, np.diff(b)) for s, b in chains])
        used = np.unique(flat)
        self.kept_ = np.full(len(self.segmenter_.mean_), -1, dtype=np.int64)
        self.kept_[used] = np.arange(len(used))
        if len(used) < 2:
            raise FittingError(
                f"critic 'passages': the documents of {real.name!r} fall into one state",
                hint="give more real text, longer documents, or another embedder",
            )
        self.titles_ = state_names(pieces, self.kept_[flat], len(used))
        labels, chain_offsets = self._chain(chains)
        self.learn_chain(labels, chain_offsets, self.seed)
        self.pieces_ = len(pieces)
        return self

    def _chain(self, chains: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """States, one a stretch, and where documents begin; a state never seen in fitting joins the last one."""
        states = np.concatenate([self.kept_[s] for s, _ in chains])
        states = np.where(states < 0, self.kept_.max(), states)
        return states, offsets_of([len(s) for s, _ in chains])

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a word."""
        _, offsets = corpus_pieces(batch, self.words, 1)
        return [None if n else "no words" for n in np.diff(offsets)]

    def _embed(self, batch: Corpus) -> tuple[Floats, NDArray[np.int64]]:
        self.embedder_.device = self.segmenter_.device = self.device
        pieces, offsets = corpus_pieces(batch, self.words, self.most_pieces)
        return self.embedder_.embed(pieces), offsets

    def _decode(self, x: Floats, offsets: NDArray[np.int64]) -> list[Any]:
        return list(self.segmenter_.decode(self.places_.transform(x), offsets))

    def project(self, batch: Corpus) -> PassageLatents:
        """Find the most probable chain of stretches, and the pieces that say again what an earlier one said."""
        x, piece_offsets = self._embed(batch)
        states, offsets = self._chain(self._decode(x, piece_offsets))
        chain = joint.factorised(states, offsets, None, self.shares_, self.transitions_)
        shared = {f.name: getattr(chain, f.name) for f in fields(chain)}
        returns = returning(x, piece_offsets, self.alike)
        counted = np.column_stack([np.add.reduceat(returns, piece_offsets[:-1]), np.diff(piece_offsets)])
        return PassageLatents(**shared, returns=counted.astype(np.float64))

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Those of the chain, and the numbers of pieces that return and of all."""
        assert isinstance(latents, PassageLatents)
        return {**super().sufficient_statistics(latents), "returns": latents.returns}

    def statistics(self) -> Sequence[Statistic]:
        """Those of the chain, and the share of pieces that return."""
        return (*super().statistics(), Statistic("return_share", "returns", "value", mean))

    def segment(self, batch: Corpus) -> list[NDArray[np.int64]]:
        """The state of each piece of each document, in the pieces of `split_pieces`."""
        self.check_fitted()
        return [np.repeat(self.kept_[s], np.diff(b)) for s, b in self._decode(*self._embed(batch))]

    def notes(self) -> list[Note]:
        """How many states there are and why."""
        tried = ", ".join(f"{k:.0f}: {v:.3f}" for k, v in self.segmenter_.curve_)
        how = f"chosen by held-out log-likelihood a piece ({tried} nats)" if tried else "as asked"
        return [
            Note(f"{self.states} states, {how}; named by their most telling words."),
            Note(f"Fitted on {self.pieces_:,} pieces; smoothing constant {self.constant_:.3g}."),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the stretches, with transitions below 1 % marked."""
        ((_, borders),) = self._decode(*self._embed(document))
        pieces = split_pieces(document[0].text, self.words)[: self.most_pieces]
        texts = [" ".join(pieces[a:b]) for a, b in pairwise(borders)]
        return evidence.explain(self, document, texts)
