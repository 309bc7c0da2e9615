"""The path of a text from sentence to sentence: jumps, standing still, and drifting away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.hooks import DeviceMixin
from momus.estimator import Estimator, parametrized
from momus.evidence import Axis, Evidence, MarkedDocument, Step
from momus.numeric.ragged import Ragged, distinct, float_sums, offsets_of, owners_of, places_of
from momus.numeric.rounding import without_rounding
from momus.numeric.types import Bools, Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import clipped
from momus_critics.evidence import curves, highest, marked
from momus_critics.fits.known import KNOWN_WORDS
from momus_critics.passages.pieces import centred
from momus_critics.passages.tfidf import make_embedder
from momus_critics.prose.reading import Prose, ProseCritic

SEVERAL = "sentences that differ"
"""What a document must have for its path to move."""
LEAST = 4
"""Fewest sentences of a document that has a path."""
LAGS = 10
"""Distances, in sentences, that the figure shows."""
LARGEST = 0.99
"""Largest correlation of neighbours: a walk that never forgets has no spread."""
COMMON = 0.1
"""Share of real documents that have a common word, of which it says nothing that it is taken up."""
SHOWN = 200


@dataclass(frozen=True)
class Paths(Ragged):
    """The sentences of n documents as points around the centre of their document.

    Attributes
    ----------
    points
        float64 (N, d): in standard deviations of real text along its principal directions.
    offsets
        int64 (n + 1,): first sentence of each document.
    texts
        N sentences.
    taken_up
        float64 (n, 2): how many of the uncommon words of each document's second half are in its first half, and their
        number.
    known
        float64 (n, 2): how many words of each document the vectors know, and their number; None if they are of an
        adapter.
    """

    points: Floats
    offsets: Ints
    texts: tuple[str, ...]
    taken_up: Floats
    known: Floats | None = None


@parametrized
class Path(ProseCritic[Paths], DeviceMixin):
    """z is the path of a document through a space of sentences; P_c(z) is an Ornstein–Uhlenbeck process.

    Sentences are vectors, less the mean of their document, along the d directions in which sentences of real documents
    vary most, each scaled to variance 1. Along each direction the process returns to the document's centre:
    x_t ~ N(φ x_{t−1}, 1 − φ²), x_1 ~ N(0, 1), with a φ per direction fitted on real text (compare Wang et al. 2022,
    Language modeling via stochastic processes, which bridges two ends by Brownian motion). Jumps make a document less
    probable, and so does standing still in what varies.

    Parameters
    ----------
    embedder
        Vectors of sentences: ``lsa`` (latent semantic analysis, fitted on the real text), or an embedder adapter such
        as ``transformers``.
    options
        Parameters of the adapter, for instance ``{model = "…"}``.
    n_dimensions
        d.
    seed
        Seed of the decomposition.
    """

    name = "path"
    axis = "path between sentences"
    question = (
        "Does text move on from sentence to sentence as real text does? z is the path of a document through a space of "
        "sentence vectors."
    )
    sequence = True
    min_documents = 10
    reporting = Reporting(
        directions=directions("more|less usual in its path", "more|less usual in its path"),
        limits="It sees what sentences are about, by their words: whether one follows from another, it cannot see.",
        general=True,
        aggregated=False,
    )

    embedder: str = "lsa"
    options: Mapping[str, Any] | None = None
    n_dimensions: Annotated[int, Range(1, 1000)] = 12
    seed: int = 0

    def _new_embedder(self) -> Estimator:
        """Make the unfitted embedder."""
        return make_embedder(self.embedder, self.options, {"dimensions": 64, "seed": self.seed})

    def fit(self, real: Corpus) -> Self:
        """Learn the vectors, the directions along which sentences vary, and how fast they return to the centre."""
        prose = self._prose(real)
        texts, offsets = _sentences(prose)
        # distinct pairs of a document and a word: how many documents have each word
        seen = np.bincount(distinct(owners_of(prose.offsets), prose.ids)[0][1])
        self.common_ = [prose.words[i] for i in np.flatnonzero(seen >= COMMON * len(prose)).tolist()]
        embedder: Any = self._new_embedder()
        embedder.device = self.device
        self.embedder_ = embedder.fit(texts)
        points = centred(self._embed(texts), offsets)
        freedom = np.maximum(np.diff(offsets) - 1, 0).sum()  # centring takes one degree from each document
        covariance = points.T @ points / max(float(freedom), 1.0)
        values, vectors = np.linalg.eigh(covariance)  # ascending
        top = np.argsort(-values, kind="stable")[: self.n_dimensions]
        top = top[values[top] > 1e-9 * max(float(values.max()), 1e-300)]
        # a sign by the largest entry: the same on every machine
        signs = np.sign(vectors[np.abs(vectors[:, top]).argmax(axis=0), top])
        self.axes_ = vectors[:, top] * signs / np.sqrt(values[top])  # (embedding, d), to variance 1
        products, variances = _neighbours(points @ self.axes_, offsets)
        ratio = products.sum(axis=0) / np.maximum(variances.sum(axis=0), 1e-12)  # (d,)
        self.correlations_ = np.clip(ratio, -LARGEST, LARGEST)
        return self

    def _embed(self, texts: Sequence[str]) -> Floats:
        self.embedder_.device = self.device
        return np.asarray(self.embedder_.embed(texts), dtype=np.float64)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents of too few sentences."""
        _, offsets = _sentences(self._prose(batch))
        return [f"fewer than {LEAST} sentences" if n < LEAST else None for n in np.diff(offsets)]

    def project(self, batch: Corpus) -> Paths:
        """Place each sentence around the centre of its document."""
        prose = self._prose(batch)
        texts, offsets = _sentences(prose)
        points = centred(self._embed(texts) if texts else np.zeros((0, len(self.axes_))), offsets)
        taken_up = _taken_up(prose, prose.alphabetic & ~prose.is_any(frozenset(self.common_)))
        known: Floats | None = None
        if self.embedder == "lsa":
            owners, seen = owners_of(prose.offsets), prose.is_any(frozenset(self.embedder_.vocabulary_))
            sides = (seen & prose.alphabetic, prose.alphabetic)
            known = np.column_stack([np.bincount(owners, x, len(prose)) for x in sides]).astype(np.float64)
        return Paths(points @ self.axes_, offsets, tuple(texts), taken_up, known)

    def log_prior(self, latents: Paths) -> LogPrior:
        """Sum of log P_c over sentences; a step for each."""
        return LogPrior(float_sums(self._log_densities(latents), latents.offsets), latents.lengths)

    def _log_densities(self, latents: Paths) -> Floats:
        """Log density of each sentence given the one before, (N,)."""
        x = latents.points
        before = np.zeros_like(x)
        # the first sentence of a document gets the last of another, which `first` leaves out
        before[1:] = x[:-1]
        first = places_of(latents.offsets) == 0
        mean = np.where(first[:, None], 0.0, self.correlations_ * before)  # (N, d)
        variance = np.where(first[:, None], 1.0, 1 - self.correlations_**2)
        return np.asarray(-0.5 * ((x - mean) ** 2 / variance + np.log(2 * np.pi * variance)).sum(axis=1))

    def sufficient_statistics(self, latents: Paths) -> Mapping[str, Rows]:
        """Squared steps, squared distances from the centre and between the halves of a document, words taken up."""
        x, n = without_rounding(latents.points), latents.lengths.astype(np.float64)
        d = float(max(x.shape[1], 1))
        squares = float_sums((x**2).sum(axis=1), latents.offsets)
        freedom = np.maximum(n - 1, 0)
        variance = squares / np.maximum(freedom, 1)
        same = np.zeros(len(x), dtype=bool)
        same[1:] = latents.documents[1:] == latents.documents[:-1]
        steps = np.zeros(len(x))
        steps[1:] = ((x[1:] - x[:-1]) ** 2).sum(axis=1)  # (N,), across documents too
        moved = float_sums(np.where(same, steps, 0.0), latents.offsets)
        return {
            # in random order, two sentences lie 2s² apart (squared), and there are n − 1 steps
            "jumps": np.column_stack([moved, 2 * variance * freedom]),
            "spread": np.column_stack([squares, d * freedom]),
            "drift": _drift(latents, squares),
            "taken_up": latents.taken_up,
            **({} if latents.known is None else {"known": latents.known}),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Steps beside those of shuffled sentences, spread, distance of the halves, words taken up and known.

        Sentences of unknown words lie close together, so that a text of these stands still.
        """
        return (
            Statistic.relative(
                "jumps",
                "jumps",
                "steps beside those of shuffled sentences",
                "steadier from sentence to sentence|jumpier",
                needs=SEVERAL,
            ),
            Statistic.relative(
                "spread", "spread", "spread around the centre", "standing still more|wandering farther", needs=SEVERAL
            ),
            Statistic.ratio(
                "drift",
                "drift",
                "distance between the halves",
                "closer between its halves|drifting farther",
                needs=SEVERAL,
            ),
            Statistic.share(
                "taken_up",
                "taken_up",
                "words of the second half that the first has",
                "taking up fewer|taking up more words",
                needs="a rare word in its second half",
            ),
            *((KNOWN_WORDS,) if self.embedder == "lsa" else ()),
        )

    def summarize(self, latents: Paths) -> Pooled:
        """Products of points by distance along the path."""
        sums = [_neighbours(latents.points, latents.offsets, k) for k in range(1, LAGS + 1)]
        products, variances = (np.array([side.sum() for side in sides]) for sides in zip(*sums, strict=True))
        return Pooled(len(latents), {"products": products, "variances": variances})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Correlation of sentences by their distance in the text."""

        def points(text: Pooled) -> tuple[Floats, Floats]:
            known = np.flatnonzero(text.arrays["variances"] > 0)
            return known.astype(np.float64) + 1.0, text.arrays["products"][known] / text.arrays["variances"][known]

        axes = Axis("distance in sentences"), Axis("correlation around the document's centre")
        title = "How alike sentences are, by their distance"
        note = "Sentences in random order have a correlation of 0 at every distance."
        return [curves((real, generated), points, "path-correlation", title, axes, note)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the sentences, with the tenth marked that the one before makes least likely."""
        z = self.project(document)
        values = -self._log_densities(z)
        jump, note = dict.fromkeys(highest(values), "jump"), "far from the sentence before"
        steps = [
            Step(jump.get(i, ""), clipped(text, SHOWN), float(values[i]), i in jump, note if i in jump else "")
            for i, text in enumerate(z.texts)
        ]
        return marked(self, document, z, steps, "nats per sentence")


def _sentences(prose: Prose) -> tuple[list[str], Ints]:
    """The sentences of n documents that have a word, tokens with spaces between, and where documents begin."""
    first, spelled = prose.starts, prose.tokens()
    kept = np.flatnonzero(np.bincount(prose.sentences, prose.alphabetic, len(first) - 1) > 0)
    texts = [" ".join(spelled[first[s] : first[s + 1]]) for s in kept.tolist()]
    owners = owners_of(prose.offsets)[first[kept]] if len(kept) else np.zeros(0, dtype=np.int64)
    return texts, offsets_of(np.bincount(owners, minlength=len(prose)))


def _taken_up(prose: Prose, counted: Bools) -> Floats:
    """How many different words of each document's second half are in its first half, and their number: (n, 2)."""
    n, owners = len(prose), owners_of(prose.offsets)
    late = 2 * places_of(prose.offsets) >= prose.lengths[owners]  # (tokens,)
    keys = owners * len(prose.words) + prose.ids  # a number for each word of each document
    second = np.unique(keys[counted & late])
    documents = second // max(len(prose.words), 1)
    shared = np.bincount(documents[np.isin(second, keys[counted & ~late])], minlength=n)
    return np.column_stack([shared, np.bincount(documents, minlength=n)]).astype(np.float64)


def _neighbours(points: Floats, offsets: Ints, lag: int = 1) -> tuple[Floats, Floats]:
    """Sums of products at a lag and their values at a correlation of 1, both (n, d), corrected for the centring.

    Around the mean of m independent points, products at lag k have the expectation −σ² (m − k) / m, which is added.
    """
    owners, m = owners_of(offsets), np.diff(offsets).astype(np.float64)[:, None]
    squares = float_sums(points**2, offsets)
    variance = squares / np.maximum(m - 1, 1)
    pairs = np.maximum(m - lag, 0)
    products = np.zeros_like(points)
    products[lag:] = np.where((owners[lag:] == owners[:-lag])[:, None], points[lag:] * points[:-lag], 0.0)
    return float_sums(products, offsets) + variance * pairs / np.maximum(m, 1), variance * pairs


def _drift(latents: Paths, squares: Floats) -> Floats:
    """Squared distance of the means of both halves beyond chance, beside the variance within them, (n, 2)."""
    x, n = latents.points, latents.lengths
    half = n // 2
    late = places_of(latents.offsets) >= half[latents.documents]
    sums = float_sums(np.where(late[:, None], x, 0.0), latents.offsets)  # of the second half, (n, d)
    one, other = np.maximum(half, 1), np.maximum(n - half, 1)
    # around the centre, the sums of the two halves are opposite
    first, second = -sums / one[:, None], sums / other[:, None]
    between = ((first - second) ** 2).sum(axis=1)
    within = without_rounding(squares - one * (first**2).sum(axis=1) - other * (second**2).sum(axis=1), squares)
    variance = within / np.maximum(n - 2, 1)
    # means of random halves lie s²(1/a + 1/b) apart by chance
    return np.column_stack([between - variance * (1 / one + 1 / other), variance])
