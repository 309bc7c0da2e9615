"""Cut running text into pieces: groups of sentences, found from words and punctuation alone.

Line ends, blank lines and markup decide nothing, so a text and its reformatted copy have the same pieces.
Features of pieces say where in a document a piece stands, and nothing of its subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import group_sums, offsets_of, owners_of, places_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.plain import read_as

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"\n+|(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_WORD = re.compile(r"[^\W_]+")
_STOP = re.compile(r"[.!?…](?:[^\w\s]|_)*\s|[。！？]")
_TAGS = (
    "a|abbr|b|blockquote|br|center|code|dd|del|details|div|dl|dt|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|sub|"
    "summary|sup|table|tbody|td|th|thead|tr|u|ul"
)
_MARKUP = re.compile(
    rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>"  # HTML tags
    r"|<!--.*?-->"
    r"|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);"  # HTML entities
    r"|(?<=\])\([^()\s]*(?:\s+\"[^\"]*\")?\)",  # targets of Markdown links
    re.DOTALL,
)
_SYMBOLS = re.compile(r"[*`~#>\[\]\\]+|(?<![^\W_])_+|_+(?![^\W_])")
"""Symbols of markup; an underscore is one at the border of a word."""
_REPEATED = 5
"""Length in words of the runs by which repeated text is recognised."""
RETURNED = 0.5
"""A piece returns if at least this share of its runs of words occurred earlier in its document."""
MOST = 2000
"""Most pieces that are read per document."""


def spans(text: str, words: int) -> list[tuple[int, int]]:
    r"""Where pieces begin and end: after the first sentence that ends at ``words`` words or later, or at 2 × ``words``.

    Tags, entities and targets of links hold no words; symbols such as ``#``, ``*`` and ``_`` are not words. A remainder
    shorter than half of ``words`` belongs to the piece before it. Consecutive spans touch, and cover the text.

    >>> text = "One two. Three four.\n\n# Five\nsix."
    >>> [text[a:b] for a, b in spans(text, 3)]
    ['One two. Three four.\n\n# ', 'Five\nsix.']
    """
    bare = _MARKUP.sub(lambda match: " " * len(match.group()), text)
    words_at = [m.span() for m in _WORD.finditer(bare)]
    if not words_at:
        return []
    cuts, count = [0], 0  # cuts: the character at which each piece begins
    for (_, end), (start, _) in pairwise(words_at):
        count += 1
        if count >= 2 * words or (count >= words and _STOP.search(bare, end, start)):
            cuts.append(start)
            count = 0
    if len(cuts) > 1 and 2 * (count + 1) < words:
        cuts.pop()
    return list(pairwise([*cuts, len(text)]))


def plain(text: str) -> str:
    r"""The text without markup, and with single spaces for white space.

    >>> plain("A **bold** [link](https://a.b)\n\nand `code`.")
    'A bold link and code.'
    """
    return " ".join(_SYMBOLS.sub("", _MARKUP.sub(" ", text)).replace("|", " ").split())


def split_pieces(text: str, words: int) -> list[str]:
    r"""Cut text into plain pieces, see `spans`.

    >>> split_pieces("One two. Three *four*.\n\nFive six.", words=3)
    ['One two. Three four.', 'Five six.']
    """
    return [plain(text[a:b]) for a, b in spans(text, words)]


def sentences(text: str) -> list[str]:
    r"""Cut text at blank lines and at the ends of sentences.

    >>> sentences("One two. Three!\n\nFour")
    ['One two.', 'Three!', 'Four']
    """
    cuts = (s for paragraph in _PARAGRAPH.split(text) for s in _SENTENCE.split(paragraph))
    return [s.strip() for s in cuts if s.strip()]


def corpus_pieces(corpus: Corpus, words: int, most: int = MOST) -> tuple[list[str], Ints]:
    r"""Pieces of the prose of all documents, at most ``most`` each, and where each document begins, int64 (n + 1,).

    Section marks are ignored: sections are joined by blank lines, as in running text.

    >>> corpus_pieces(Corpus.from_sections([[("", "## One\n\n* Two *three*."), ("", "- Four, `five`.")]]), words=3)
    (['Two three. Four, five.'], array([0, 1]))
    """
    texts = corpus.section_texts
    pieces: list[str] = []
    offsets = [0]
    for start, end in pairwise(offsets_of(corpus.section_counts)):
        prose = "\n\n".join(read_as(text, "prose") for text in texts.slice(start, end - start).to_pylist())
        pieces += split_pieces(prose, words)[:most]
        offsets.append(len(pieces))
    return pieces, np.array(offsets, dtype=np.int64)


def returning(pieces: Sequence[str], offsets: Ints) -> Floats:
    """Whether the text of each piece occurred before in its document, float (N,), 0 or 1.

    A piece returns if at least half of its runs of five words (of fewer, in a shorter piece) occurred earlier in the
    document; copies count wherever the borders of pieces fall.

    >>> again = ["the cat sat on the mat", "it was warm and dry there", "so the cat sat on the mat"]
    >>> returning(again, np.array([0, 3])).tolist()
    [0.0, 0.0, 1.0]
    """
    returns = np.zeros(len(pieces))
    for first, end in pairwise(offsets):
        seen: set[tuple[str, ...]] = set()
        for i in range(first, end):
            words = _WORD.findall(pieces[i].casefold())
            runs = [tuple(words[j : j + _REPEATED]) for j in range(max(1, len(words) - _REPEATED + 1))]
            returns[i] = sum(run in seen for run in runs) >= RETURNED * len(runs)
            seen.update(runs)
    return returns


def state_names(pieces: Sequence[str], states: Ints, count: int) -> list[str]:
    """Name states by the three words that occur in more of their pieces than of other states' (smoothed log odds)."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counter = CountVectorizer(binary=True, min_df=2, max_features=20_000, token_pattern=r"[^\W\d_]{3,}")
        occurs = counter.fit_transform(pieces)  # 0/1, (pieces, words)
    except ValueError:  # no word is left
        return [f"state {k + 1}" for k in range(count)]
    vocabulary = counter.get_feature_names_out()
    # pieces that hold each word, within each state and in all others, (K, words); then z-scores of the log odds ratio
    inside = np.stack([np.asarray(occurs[states == k].sum(axis=0)).ravel() for k in range(count)]).astype(float)
    n = np.bincount(states, minlength=count).astype(float)[:, None]
    outside = inside.sum(axis=0) - inside
    odds = _logit((inside + 0.5) / (n + 1)) - _logit((outside + 0.5) / (n.sum() - n + 1))
    spread = np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5))
    best = np.argsort(-odds / spread, axis=1, kind="stable")[:, :3]
    return [f"{k + 1}: {' · '.join(vocabulary[i] for i in row)}" for k, row in enumerate(best)]


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))


Vectors: TypeAlias = Floats | sparse.csr_array
WAVES = 6
"""Number of cosines over the relative place in the document."""
REACHES = (2.0, 8.0)
"""Lengths in pieces over which nearness to the start and to the end falls by e."""
FOLDS = 5
PENALTY = 8.0
"""Weight of the squared coefficients of the regressions."""


def place_targets(offsets: Ints) -> Floats:
    """Functions of the place of each piece that its text shall predict, (N, WAVES + 2 len(REACHES)).

    Piece m of M has cos(kπ(m + ½)/M) for k = 1 … WAVES, exp(−m/r) and exp(−(M − 1 − m)/r) for each reach r.

    >>> place_targets(np.array([0, 3]))[:, 0].round(2).tolist()
    [0.87, 0.0, -0.87]
    """
    lengths = np.diff(offsets)
    place, length = places_of(offsets), np.repeat(lengths, lengths)  # (N,) both
    waves = [np.cos(k * np.pi * (place + 0.5) / length) for k in range(1, WAVES + 1)]
    ends = [np.exp(-distance / r) for distance in (place, length - 1 - place) for r in REACHES]
    return np.column_stack([*waves, *ends])


def centred(y: Floats, offsets: Ints) -> Floats:
    """Rows (N, V) minus the mean row of their document.

    >>> centred(np.array([[1.0], [3.0], [5.0]]), np.array([0, 2, 3])).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    lengths = np.diff(offsets)
    means = group_sums(y, offsets) / np.maximum(lengths, 1)[:, None]
    return np.asarray(y - np.repeat(means, lengths, axis=0))


def place_classes(offsets: Ints, bins: int) -> Ints:
    """Number of the part that each piece lies in, of ``bins`` equal parts per document: int64 (N,).

    >>> place_classes(np.array([0, 4, 5]), bins=2).tolist()
    [0, 0, 1, 1, 1]
    """
    lengths = np.diff(offsets)
    # np.repeat gives each piece the length of its document, (N,)
    return np.asarray(((places_of(offsets) + 0.5) / np.repeat(lengths, lengths) * bins).astype(np.int64))


@parametrized
class PlaceFeatures(Estimator):
    """Ridge regressions of place on the vectors of pieces, centred by document, then linear discriminants of the place.

    The subject of a text says little about the place of a piece; the wording of openings, methods and closings does.
    Centring removes what all pieces of a document share. Only the order of real text is needed for this, no titles.

    Parameters
    ----------
    bins
        Number of equal parts of a document that the discriminants tell apart.
    seed
        Seeds the folds.
    """

    bins: int = 12
    seed: int = 0

    def fit_transform(self, x: Vectors, offsets: Ints) -> Floats:
        """Learn, and return the features (N, V) of each fold of documents by regressions on the other folds.

        Features of the documents that a regression was fitted on would promise more than those of new documents keep.
        """
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        targets = place_targets(offsets)
        folds = min(FOLDS, len(offsets) - 1)
        fold = np.random.default_rng(self.seed).permutation(len(offsets) - 1)[owners_of(offsets)] % folds  # (N,)
        y = np.zeros_like(targets)
        for f in range(folds if folds > 1 else 0):
            held = fold == f
            y[held] = _product(x[held], *self._regression(x[~held], targets[~held]))
        self.coefficients_, self.constant_ = self._regression(x, targets)
        y = centred(y if folds > 1 else _product(x, self.coefficients_, self.constant_), offsets)
        places = place_classes(offsets, self.bins)
        usable = np.isin(places, np.flatnonzero(np.bincount(places) > 1))  # one piece has no covariance
        if not usable.any() or len(np.unique(places[usable])) < 2 or not y.std():
            self.axes_ = np.zeros((y.shape[1], 1))
            self.profile_ = np.zeros((self.bins, 1))
            return np.asarray(y @ self.axes_)
        # shrinkage towards a multiple of the identity (Ledoit and Wolf), for the covariance within parts
        model = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(y[usable], places[usable])
        axes = model.scalings_[:, : min(self.bins - 1, len(model.classes_) - 1, y.shape[1])]
        # deviation of each piece from the mean of its part, along each discriminant, (N, V)
        projected = y[usable] @ axes
        means = np.stack([projected[places[usable] == c].mean(axis=0) for c in model.classes_])
        within = projected - means[np.searchsorted(model.classes_, places[usable])]
        self.axes_ = np.asarray(axes / np.maximum(within.std(axis=0), 1e-9))
        features = np.asarray(y @ self.axes_)
        self.profile_ = self._profile(features, places)
        return features

    def _profile(self, features: Floats, places: Ints) -> Floats:
        """Mean features of each part of a document, (bins, V); a part without a piece lies between its neighbours."""
        seen = np.unique(places)
        means = np.stack([features[places == bin_].mean(axis=0) for bin_ in seen])
        return np.column_stack([np.interp(np.arange(self.bins), seen, column) for column in means.T])

    def misplacement(self, features: Floats, offsets: Ints) -> Floats:
        """How badly pieces fit the places where they stand, in nats per √piece, float array (n,).

        Σ_i [log mean_j P(x_i | place j) − log P(x_i | place i)] / √M for the M pieces of a document, j over its places,
        P(x | place) normal around the part's mean with unit variance: the loss against a random place of the same
        document. Below 0 for text in order; the root scales sums of different lengths alike.

        Parameters
        ----------
        features
            (N, V), as from `transform`.
        offsets
            Where the pieces of each document begin, (n + 1,); each has one at least.
        """
        lengths, places = np.diff(offsets), place_classes(offsets, self.bins)
        # log P(x_i | part) up to what all parts share, (N, bins)
        fit = features @ self.profile_.T - 0.5 * (self.profile_**2).sum(axis=1)
        counts = np.bincount(owners_of(offsets) * self.bins + places, minlength=len(lengths) * self.bins)
        shares = counts.reshape(-1, self.bins) / lengths[:, None]
        loss = logsumexp(fit, axis=1, b=np.repeat(shares, lengths, axis=0)) - fit[np.arange(len(fit)), places]
        return np.asarray(group_sums(loss, offsets) / np.sqrt(lengths))

    def _regression(self, x: Vectors, targets: Floats) -> tuple[Floats, Floats]:
        """Coefficients (D, targets) and constants (targets,)."""
        from sklearn.linear_model import Ridge

        solver = "sparse_cg" if sparse.issparse(x) else "auto"
        model = Ridge(PENALTY, solver=solver, tol=1e-3, max_iter=100).fit(x, targets)
        return np.ascontiguousarray(model.coef_.T), np.asarray(model.intercept_)

    def transform(self, x: Vectors, offsets: Ints) -> Floats:
        """Features of vectors (N, D), float array (N, V)."""
        return np.asarray(centred(_product(x, self.coefficients_, self.constant_), offsets) @ self.axes_)


def _product(x: Vectors, coefficients: Floats, constant: Floats) -> Floats:
    return np.asarray(x @ coefficients + constant)
