"""Order of passages in text without titles or section breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy.special import softmax

from momus.critic import Note, Rows, Statistic
from momus.critic.hooks import DeviceMixin, check_fitted
from momus.errors import FittingError
from momus.estimator import construct, parametrized
from momus.evidence import MarkedDocument
from momus.numeric.ragged import group_sums, offsets_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.chains import posterior as joint
from momus_critics.chains.base import ChainCritic
from momus_critics.chains.posterior import ChainLatents
from momus_critics.passages.pieces import PlaceFeatures, corpus_pieces, returning, state_names
from momus_critics.passages.segmenter import Segmenter
from momus_critics.passages.tfidf import WordPairs, make_embedder
from momus_critics.passages.typed import TypedSections, type_names

OWN = ("words", "lsa")
"""Embedders that need no adapter."""
LEAST = 4
"""Fewest pieces of a document, and fewest stretches of half of the real documents, whose order can be judged."""


@dataclass(frozen=True)
class PassageLatents(ChainLatents):
    """Chains of stretches, with counts of repeated pieces and the places of pieces.

    Attributes
    ----------
    returns
        (n, 2): numbers of returning pieces and of all pieces of each document.
    misplacement
        (n,): see `PlaceFeatures.misplacement`.
    faults
        (n, 2): evidence of faults and disorder in nats, see `TypedSections.fault_evidence`; None without types.
    """

    returns: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    misplacement: Floats = field(default_factory=lambda: np.zeros(0))
    faults: Floats | None = None


TYPED = (
    Statistic.ratio(
        "fault_evidence",
        "fault_evidence",
        "evidence of faults of order",
        ChainCritic.reporting.directions["latent_ppl"],
        unit="√nats",
    ),
    Statistic.ratio(
        "type_disorder", "type_disorder", "disorder of section types", "more|less orderly", unit="nats per document"
    ),
)
"""Statistics of the types of sections, where these were learned from titles."""


@parametrized
class Passages(ChainCritic, DeviceMixin):
    """z is a chain of stretches of text, each in one of K learned states; P_c(z) is a Markov chain.

    Text is cut into pieces of a few sentences, by words and punctuation alone: line ends and markup decide nothing. The
    vectors of the pieces predict their place in the document; these predictions, centred by document, so that its
    subject drops out, are the features. An explicit-duration HSMM, fitted by EM, groups pieces into stretches. The
    posterior over the states of these stretches is exact: P_c(z | x) ∝ P_c(z) Π P(x_m | z_m). The share of returning
    pieces is reported too.

    If the text that it is fitted on has sections with titles that recur, types of sections are learned from these, and
    the evidence of faults of their order is tested too (`TypedSections`). All text is scored as running text.

    Parameters
    ----------
    n_states
        K; 0 chooses it by held-out likelihood.
    piece_length
        Number of words after which a piece ends with its sentence; it ends at twice as many in any case.
    embedder
        ``words`` (TF-IDF of words and their pairs), ``lsa`` (latent semantic analysis), or an adapter:
        ``transformers`` takes an encoder.
    model, options
        The adapter's model, and the embedder's further parameters.
    titles
        ``auto``: types of sections are learned from the titles of the fitted text, if these recur; ``never``: none
        are.
    seed
        Seeds folds, k-means, and the documents held out.
    """

    name = "passages"
    axis = "passage order"
    reads = "prose"
    question = (
        "Are the passages of a running text in the order of real documents? z is the chain of stretches that a hidden "
        "semi-Markov model infers from sentences, without titles or section breaks."
    )
    reporting = replace(
        ChainCritic.reporting,
        together="once",
        headline="misplacement",
        directions={
            **ChainCritic.reporting.directions,
            "posterior_entropy": ("less varied in passages", "more varied in passages"),
        },
        limits="It cannot see the order within a passage, nor whether a passage fits the subject of its document.",
    )
    min_documents = 10

    n_states: Annotated[int, Range(0, 500)] = 0
    piece_length: Annotated[int, Range(1, 10**6)] = 30
    embedder: str = "words"
    model: str = ""
    options: dict[str, Any] | None = None
    titles: Literal["auto", "never"] = "auto"
    seed: int = 0

    def _new_embedder(self) -> Any:
        """The unfitted embedder."""
        if self.embedder == "words":
            return construct(WordPairs, self.options or {}, "embedder 'words'")
        model = {"model": self.model} if self.model else {}
        return make_embedder(self.embedder, {**model, **(self.options or {})}, {"seed": self.seed}, OWN)

    # a saved state is read into these; what they are fitted with stands in `fit`
    _new_places, _new_segmenter, _new_typed = PlaceFeatures, Segmenter, TypedSections

    @property
    def _typed(self) -> TypedSections | None:
        return getattr(self, "typed_", None)

    def fit(self, real: Corpus) -> Self:
        """Learn embedding, features of place, states and transitions from real documents."""
        pieces, offsets = corpus_pieces(real, self.piece_length)
        if np.median(np.diff(offsets)) < LEAST:
            raise FittingError(
                f"critic 'passages': half of the {counted(len(real), 'document')} of {real.name!r} have fewer than "
                f"{LEAST} pieces of {self.piece_length} words",
                hint="give longer documents, or lower piece_length",
            )
        embedder, segmenter = self._new_embedder(), Segmenter(states=self.n_states, seed=self.seed)
        embedder.device = segmenter.device = self.device
        self.places_ = PlaceFeatures(seed=self.seed)
        self.embedder_ = embedder.fit(pieces)
        features = self.places_.fit_transform(self.embedder_.embed(pieces), offsets)
        self.segmenter_ = segmenter.fit(features, offsets)
        chains = self.segmenter_.decode(features, offsets)
        # the state of each piece, (pieces,); kept_ renumbers the states that occur 0, 1, …, and is −1 for the others
        flat = np.concatenate([np.repeat(states, np.diff(borders)) for states, borders in chains])
        used = np.unique(flat)
        self.kept_ = np.full(len(self.segmenter_.mean_), -1, dtype=np.int64)
        self.kept_[used] = np.arange(len(used))
        if len(used) < 2:
            raise FittingError(
                f"critic 'passages': all pieces of {real.name!r} are in one state",
                hint="give more real text, longer documents, or another embedder",
            )
        self.titles_ = state_names(pieces, self.kept_[flat], len(used))
        labels, chain_offsets = self._chain(chains)  # (stretches,), (n + 1,)
        self._learn_chain(labels, chain_offsets, self.seed)
        stretches = float(np.median(np.diff(chain_offsets)))
        if stretches < LEAST:  # documents of a stretch or two have no order that could be learned
            raise FittingError(
                f"critic 'passages': the documents of {real.name!r} have {stretches:g} stretches each in the median, "
                f"and order needs {LEAST}",
                hint="give longer documents",
            )
        self.typed_ = TypedSections(seed=self.seed).fit(real) if self.titles == "auto" and type_names(real) else None
        return self

    def _chain(self, chains: list[Any]) -> tuple[Ints, Ints]:
        """One state per stretch, and where documents begin; a state unseen in fitting is mapped to the last one."""
        numbers = np.concatenate([self.kept_[states] for states, _ in chains])
        numbers = np.where(numbers < 0, self.kept_.max(), numbers)
        return numbers, offsets_of([len(states) for states, _ in chains])

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Reject documents that are too short to have an order."""
        _, offsets = corpus_pieces(batch, self.piece_length, LEAST)
        short = f"fewer than {LEAST} pieces of {self.piece_length} words"
        return [None if n >= LEAST else short if n else "no words" for n in np.diff(offsets)]

    def _features(self, pieces: Sequence[str], offsets: Ints) -> Floats:
        """Features of pieces, (N, V)."""
        self.embedder_.device = self.segmenter_.device = self.device
        return np.asarray(self.places_.transform(self.embedder_.embed(pieces), offsets))

    def project(self, batch: Corpus) -> PassageLatents:
        """Infer the stretches and the posterior of their states, and count the pieces that repeat earlier text."""
        pieces, piece_offsets = corpus_pieces(batch, self.piece_length)
        features = self._features(pieces, piece_offsets)
        chains = self.segmenter_.decode(features, piece_offsets)
        _, offsets = self._chain(chains)
        chain = joint.chained(self._types(features, piece_offsets, chains), offsets, self.shares_, self.transitions_)
        returns = group_sums(returning(pieces, piece_offsets), piece_offsets)
        counts = np.column_stack([returns, np.diff(piece_offsets)]).astype(np.float64)
        misplacement = self.places_.misplacement(features, piece_offsets)
        faults = None if self._typed is None else np.column_stack(self._typed.fault_evidence(batch))
        return PassageLatents(**vars(chain), returns=counts, misplacement=misplacement, faults=faults)

    def _types(self, features: Floats, offsets: Ints, chains: list[Any]) -> Floats:
        """P(z_m | x_m) of each stretch on its own, ∝ P(z_m) P(x_m | z_m), (M, K)."""
        # the first piece of each stretch, (M,), and the segmenter's state of each state of the chain, (K,)
        starts = np.concatenate(
            [first + borders[:-1] for first, (_, borders) in zip(offsets[:-1], chains, strict=True)]
        )
        order = np.argsort(self.kept_)[-self.states :]
        log_q = np.add.reduceat(self.segmenter_.log_density(features)[:, order], starts.astype(np.int64), axis=0)
        return np.asarray(softmax(log_q + np.log(self.shares_), axis=1))

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Those of the chain, misplacement, and the numbers of returning pieces and of all pieces."""
        assert isinstance(latents, PassageLatents)
        one = np.ones(len(latents))
        misplaced = np.column_stack([latents.misplacement, one])
        rows = {**super().sufficient_statistics(latents), "misplacement": misplaced, "returns": latents.returns}
        if latents.faults is not None:
            # the root spreads documents in order and those with many faults alike, as in `sections`
            rows["fault_evidence"] = np.column_stack([np.sqrt(latents.faults[:, 0]), one])
            rows["type_disorder"] = np.column_stack([latents.faults[:, 1], one])
        return rows

    def statistics(self) -> Sequence[Statistic]:
        """Misplacement, those of the chain, and the share of returning pieces."""
        misplacement = Statistic.ratio(
            "misplacement", "misplacement", "misplacement", "more|less orderly", unit="nats per √piece"
        )
        returns = Statistic.share(
            "return_share", "returns", "share of passages that return", "less|more repetitive in content"
        )
        return (*(() if self._typed is None else TYPED), misplacement, *super().statistics(), returns)

    def _decode(self, batch: Corpus) -> tuple[list[str], list[tuple[Ints, Ints]]]:
        """The pieces of a batch, and states and borders of the stretches of each document, see `Segmenter.decode`."""
        pieces, offsets = corpus_pieces(batch, self.piece_length)
        return pieces, self.segmenter_.decode(self._features(pieces, offsets), offsets)

    def segment(self, batch: Corpus) -> list[Ints]:
        """The state of each piece that `corpus_pieces` cuts, one array per document."""
        check_fitted(self)
        return [np.repeat(self.kept_[states], np.diff(borders)) for states, borders in self._decode(batch)[1]]

    def notes(self) -> list[Note]:
        """The number of states, and how it was chosen."""
        curve = ", ".join(f"{k:.0f}: {v:.3f}" for k, v in self.segmenter_.curve_)
        how = f"chosen by held-out log-likelihood per piece ({curve} nats)" if curve else "as requested"
        notes = [
            Note(f"{self.states} states, {how}; named by their most distinctive words."),
        ]
        if self._typed is None:
            return [*notes, Note("No types of sections were learned: the fitted text has no titles that recur.")]
        types = counted(len(self._typed.types_), "section type")
        return [
            *notes,
            Note(f"{types} learned from the titles of the fitted text; scored texts are read without titles."),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the stretches, with transitions below 1 % marked."""
        pieces, ((_, borders),) = self._decode(document)
        texts = [" ".join(pieces[a:b]) for a, b in pairwise(borders)]
        return self._shown(document, texts)
