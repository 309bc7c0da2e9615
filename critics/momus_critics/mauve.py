"""MAUVE: the divergence frontier of two texts over clusters of features (Pillutla et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import rel_entr

from momus.critic import LogPrior, Note, Pooled, Reporting, Rows, StateSequences, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.hooks import DeviceMixin
from momus.critic.shifts import shift_table
from momus.critic.statistic import entropy, shares
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument, Step
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus.text.languages import WORDS
from momus.text.plain import read_as
from momus_critics.passages.tfidf import make_embedder

SCALE, MIXTURES = 5.0, 25
SHOWN, EXCERPT = 20, 80
"""Regions in the table, and characters of the document that stands for a region."""
FIRST = 400
"""Words read per document."""


def frontier_area(p: Floats, q: Floats) -> Floats:
    """Area under the divergence curve of each pair of histograms: MAUVE, from 0 to 1.

    The curve is (exp(−c KL(q‖r)), exp(−c KL(p‖r))) for mixtures r = w p + (1 − w) q, with c = 5 and 25 weights, and the
    corners of the unit square (Pillutla et al. 2021, section 2 and appendix).

    Parameters
    ----------
    p, q
        Counts or shares, (B, K).

    >>> frontier_area(np.array([[1.0, 1.0]]), np.array([[2.0, 2.0]])).round(3).tolist()
    [1.0]
    """
    p, q = shares(p), shares(q)
    # coordinates of the curve, (B,) for each mixture and both corners; sorted, x rises and y falls
    x, y = [np.zeros(len(p))], [np.ones(len(p))]
    for w in np.linspace(1e-6, 1 - 1e-6, MIXTURES):
        r = w * p + (1 - w) * q
        # Kullback–Leibler divergences in nats, (B,)
        x.append(np.exp(-SCALE * rel_entr(q, r).sum(axis=1)))
        y.append(np.exp(-SCALE * rel_entr(p, r).sum(axis=1)))
    x.append(np.ones(len(p)))
    y.append(np.zeros(len(p)))
    return np.asarray(np.trapezoid(-np.sort(-np.stack(y), axis=0), np.sort(np.stack(x), axis=0), axis=0))


def gap(p: Floats, q: Floats) -> Floats:
    """1 − MAUVE, a distance: 0 for equal histograms."""
    return np.asarray(1.0 - frontier_area(p, q))


def effective_number(pooled: Floats) -> Floats:
    """How many regions of equal size would have the entropy of the histogram: exp of the entropy, from 1 to K.

    Of histograms of several clusterings side by side, the regions of all.

    >>> effective_number(np.array([[2.0, 2.0, 0.0]])).round(6)
    array([2.])
    """
    return np.asarray(np.exp(entropy(pooled)))


@parametrized
class Mauve(TextCritic[StateSequences], DeviceMixin):
    """z is the cluster of a document's features; P_c(z) is the share of real text in that cluster.

    A yardstick. The clusters are learned from the real text that the critic is fitted on, not from both texts together:
    they do not depend on the text under test, and a refit on the same text reproduces them. The verdict compares 1 −
    MAUVE of the two histograms with its value by chance: with few documents, MAUVE is far below 1 even between halves
    of one text.

    K-means ends in another optimum for another seed or slightly other text, and MAUVE with it. So documents are counted
    in the regions of several clusterings side by side: a divergence of such histograms is the mean over clusterings.

    Parameters
    ----------
    embedder
        ``lsa`` (latent semantic analysis of the first words), or an embedder adapter such as ``transformers``.
    options
        Parameters of the adapter, for instance ``{model = "…"}``.
    n_states
        Number of clusters; 0 uses a tenth of the number of fitted documents, from 2 to 500.
    clusterings
        Number of clusterings, each from another start of k-means.
    seed
        Seeds k-means.
    """

    name = "mauve"
    axis = "MAUVE"
    reads = "prose"
    question = "Does text fall into the same regions of a feature space as real text? z is the region of a document."
    reporting = Reporting(
        together="once",
        general=True,  # regions of text move with whatever narrower axes find
        headline="mauve_gap",
        directions=directions("in larger|in smaller regions of real text", "in larger|in smaller regions of real text"),
        limits=(
            "It cannot see what its features do not encode: those of the default, word order and text after 400 words."
        ),
        aggregated=False,
    )
    sequence = True
    scripts = WORDS
    min_documents = 4

    embedder: str = "lsa"
    options: Mapping[str, Any] | None = None
    n_states: Annotated[int, Range(0, 10**6)] = 0
    clusterings: Annotated[int, Range(1, 1000)] = 5
    seed: int = 0

    def _new_embedder(self) -> Any:
        """The unfitted embedder."""
        return make_embedder(self.embedder, self.options, {"dimensions": 50})

    def fit(self, real: Corpus) -> Self:
        """Cluster the features of real text by k-means, along their principal directions."""
        from sklearn.cluster import KMeans

        embedder = self._new_embedder()
        embedder.device = self.device
        self.embedder_ = embedder.fit(_texts(real))
        x = self.embedder_.embed(_texts(real))
        # principal directions that hold at least 90 % of the variance, (V, rank), and coordinates along them, (n, rank)
        self.mean_ = x.mean(axis=0)
        _, s, v = np.linalg.svd(x - self.mean_, full_matrices=False)
        rank = int(np.searchsorted(np.cumsum(s**2) / max(float((s**2).sum()), 1e-300), 0.9)) + 1
        self.directions_ = v[:rank].T.copy()
        k = self.n_states or int(np.clip(len(real) // 10, 2, 500))
        z = (x - self.mean_) @ self.directions_
        k = min(k, len(np.unique(z.round(9), axis=0)))  # no more clusters than distinct documents
        # centres of each clustering, (clusterings, K, rank)
        fits = (KMeans(k, n_init=1, random_state=self.seed + i).fit(z) for i in range(self.clusterings))
        self.centres_ = np.stack([fit.cluster_centers_ for fit in fits])
        nearest = self._nearest(z)
        # id and first words of the real document nearest to each centre; empty for a region without one
        distance = ((z - self.centres_[0][nearest[:, 0]]) ** 2).sum(axis=1)
        central: dict[int, int] = {}  # the row of the nearest document of each region
        for row in np.argsort(distance, kind="stable").tolist():
            central.setdefault(int(nearest[row, 0]), row)
        self.exemplars_ = [
            [real.ids[central[i]], _beginning(real[central[i]].text)] if i in central else ["", ""] for i in range(k)
        ]
        counts = np.bincount(nearest.ravel(), minlength=self.centres_[..., 0].size) + 0.5  # (clusterings · K,)
        self.log_probabilities_ = np.log(counts.reshape(-1, k) / counts.reshape(-1, k).sum(axis=1, keepdims=True))
        return self

    def _nearest(self, z: Floats) -> Ints:
        """The nearest centre of each document in each clustering, numbered over all of them: (n, clusterings)."""
        # squared distance without |z|², which is the same for all centres, (clusterings, n, K)
        distance = (self.centres_**2).sum(axis=2)[:, None] - 2 * (z @ self.centres_.transpose(0, 2, 1))
        first = np.arange(len(self.centres_)) * self.centres_.shape[1]
        # rounded: a document between two centres must not change with the order of sums
        return np.asarray(distance.round(9).argmin(axis=2).T + first, dtype=np.int64)

    def project(self, batch: Corpus) -> StateSequences:
        """The nearest cluster of each document in each clustering."""
        self.embedder_.device = self.device
        z = (self.embedder_.embed(_texts(batch)) - self.mean_) @ self.directions_
        return StateSequences(self._nearest(z).ravel(), np.arange(len(batch) + 1) * self.clusterings)

    def log_prior(self, latents: StateSequences) -> LogPrior:
        """Log of the cluster's share of real text, the mean over clusterings."""
        logs = self.log_probabilities_.ravel()[latents.states].reshape(-1, self.clusterings)  # (n, clusterings)
        return LogPrior(logs.mean(axis=1), np.ones(len(latents), dtype=np.int64))

    def sufficient_statistics(self, latents: StateSequences) -> Mapping[str, Rows]:
        """One count per document and clustering, in the column of its cluster."""
        regions = latents.states.reshape(-1, self.clusterings)
        counts = np.zeros((len(latents), self.log_probabilities_.size))
        np.put_along_axis(counts, regions, 1.0, axis=1)
        return {"regions": counts}

    tested = (
        Statistic.distance("mauve_gap", "regions", gap, "1 − MAUVE"),
        Statistic.value(
            "effective_regions",
            "regions",
            effective_number,
            "effective number of kinds of text",
            "narrower|wider in kinds of text",
            scale="log",
        ),
    )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """The regions whose share differs most, each with a real document."""
        both = [shares(s.arrays["regions"][None]) for s in (real, generated)]
        # the regions of the first clustering, whose documents are a part of all counts
        p, q = (side[0, : len(self.exemplars_)] * self.clusterings for side in both)
        names = [self._region(i) for i in range(len(self.exemplars_))]
        title, item = "Regions whose share differs most", "region, with its most central real document"
        note = self.notes()[0].text
        return [shift_table("regions", title, item, names, (p, q), most=SHOWN, note=note)]

    def _region(self, i: int) -> str:
        """Number of a region, and the real document that stands for it."""
        name, text = self.exemplars_[i]
        return f"region {i + 1}: {text} ({name})" if name else f"region {i + 1}"

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the region of a document, with a real document of that region; marked if real text is rare there."""
        z = self.project(document)
        i = int(z.states[0])
        share = float(np.exp(self.log_probabilities_[0, i]))
        rare = share < 0.5 / len(self.exemplars_)
        beginning = _texts(document)[0][: 5 * EXCERPT]
        steps = [
            Step(f"region {i + 1}", beginning, -float(np.log(share)), rare, f"as the fitted text in {self._region(i)}")
        ]
        note = f"{percentage(share, 1)} of the fitted text is in region {i + 1}."
        return MarkedDocument(document.name, document.ids[0], -float(np.log(share)), "nats", steps, note)

    def notes(self) -> list[Note]:
        """The settings that the value depends on."""
        fits, k, d = self.centres_.shape
        return [
            Note(
                f"MAUVE with {k} clusters of real text, averaged over {fits} clusterings, {d} directions of "
                f"{self.embedder} features, seed {self.seed}, "
                f"c = {SCALE:g}; values under other settings are not comparable."
            )
        ]


def _beginning(text: str) -> str:
    """The first characters of a text, on one line."""
    line = " ".join(text[: 4 * EXCERPT].split())
    return line if len(line) <= EXCERPT else line[:EXCERPT].rsplit(" ", 1)[0] + " …"


def _texts(corpus: Corpus) -> list[str]:
    """The first words of the prose of each document; an encoder would truncate long documents anyway."""
    return [" ".join(read_as(d.text[: 20 * FIRST], "prose").split()[:FIRST]) for d in corpus]
