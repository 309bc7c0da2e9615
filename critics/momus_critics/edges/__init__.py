"""Edges of documents: how they open, and how they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from momus.critic import Counted, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.powers import ItemsMixin
from momus.critic.shifts import Named, shift_table
from momus.critic.statistic import supremum
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument, Table
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.mentions import FIRST, SECOND
from momus_critics.chains.base import ChainCritic
from momus_critics.chains.posterior import ChainLatents, chained
from momus_critics.fits.mixtures import BernoulliMixture, names_of
from momus_critics.prose.examples import LEAST, Exampled, counts_of
from momus_critics.prose.reading import Prose, ProseCritic

WORDS: dict[str, frozenset[str]] = {
    "question": frozenset("?？؟"),
    "exclamation": frozenset("!！"),
    "ellipsis": frozenset(("…", "...")),
    "speech": frozenset('"“”„«»'),
    "first person": frozenset(FIRST),
    "address": frozenset(SECOND),
    "third person": frozenset(("he", "she", "him", "her", "his", "hers", "they", "them", "their")),
    "modal": frozenset(("will", "would", "can", "could", "may", "might", "must", "should", "shall", "cannot")),
    "negation": frozenset(("not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "without")),
    "general truth": frozenset(
        (
            *("always", "every", "everyone", "everything", "life", "world", "people", "human", "humanity", "sometimes"),
            *("reminder", "remember", "lesson", "forever", "hope", "future", "true", "truth", "power", "beauty"),
        )
    ),
    "conclusion": frozenset(
        ("overall", "conclusion", "ultimately", "summary", "thus", "therefore", "hence", "finally", "conclude")
    ),
    "contrast": frozenset(("but", "however", "yet", "though", "although", "while", "despite", "instead")),
    "past": frozenset(("was", "were", "had", "did", "said", "went", "came", "knew", "thought", "looked", "felt")),
    "present": frozenset(("is", "are", "am", "has", "have", "do", "does", "'s")),
    "greeting": frozenset(("dear", "hello", "hi", "thanks", "thank", "sincerely", "regards", "welcome", "please")),
}
"""Features that a sentence has if one of these words, in lower case, is in it."""
OTHERS = ("number", "name", "short", "long", "own paragraph", "markup")
FEATURES = (*WORDS, *OTHERS)
SHORT, LONG = 8, 25
"""A short sentence has fewer words, a long one more."""
LAYOUT = frozenset("#*_>|")
RECURRING = 2
"""Tokens of an opening that is counted over documents; an ending has its last mark besides."""
SEPARATOR, HEADING = " ", "#"


@dataclass(frozen=True)
class EdgeSentence:
    """The first or the last sentence of n documents.

    Attributes
    ----------
    features
        bool (n, F), by `FEATURES`.
    words
        n texts: the first or last words of the document, in lower case.
    paragraph
        float64 (n,): number of words of its paragraph; NaN where that is the whole document.
    numbers
        int64 (n,): number of the sentence over all documents, −1 where a document has none.
    texts
        n texts: the tokens of the sentence with spaces between.
    """

    features: Bools
    words: tuple[str, ...]
    paragraph: Floats
    numbers: Ints
    texts: tuple[str, ...]


def read_edges(prose: Prose) -> tuple[EdgeSentence, EdgeSentence]:
    """The first and the last sentence of documents that have tokens."""
    # the offsets of an empty document point at a token of the next one
    present = np.flatnonzero(prose.lengths > 0)
    first, last = np.full(len(prose), -1), np.full(len(prose), -1)
    first[present] = prose.sentences[prose.offsets[present]]
    last[present] = prose.sentences[prose.offsets[present + 1] - 1]
    return _edge(prose, first, at_end=False), _edge(prose, last, at_end=True)


def _edge(prose: Prose, chosen: Ints, at_end: bool) -> EdgeSentence:
    n, owners = len(prose), owners_of(prose.offsets)
    inside = prose.sentences == chosen[owners]  # tokens of the chosen sentences, (N,)

    def count(tokens: Bools) -> Floats:
        return np.bincount(owners, tokens & inside, n).astype(np.float64)

    columns = [count(prose.is_any(words)) > 0 for words in WORDS.values()]
    words = count(prose.alphabetic)
    digits = np.array([w[:1].isdigit() for w in prose.words], dtype=bool)[prose.ids]
    # a capital behind another word of the sentence, but for the pronoun
    follows = np.zeros(len(owners), dtype=bool)
    follows[1:] = inside[:-1] & inside[1:] & prose.alphabetic[:-1]
    names = prose.capitalised & follows & ~prose.is_any(frozenset("i"))
    begin, end = (np.searchsorted(prose.sentences, chosen + shift) for shift in (0, 1))  # tokens, (n,) each
    paragraph = np.where(chosen >= 0, prose.paragraphs[np.minimum(begin, max(len(prose.paragraphs) - 1, 0))], -1)
    same = prose.paragraphs == paragraph[owners]  # tokens of the chosen sentence's paragraph, (N,)
    columns += [count(digits) > 0, count(names) > 0, words < SHORT, words > LONG]
    columns += [np.bincount(owners, same & ~inside & prose.alphabetic, n) == 0, count(prose.is_any(LAYOUT)) > 0]
    length = np.where(np.bincount(owners, ~same, n) > 0, np.bincount(owners, same & prose.alphabetic, n), np.nan)
    texts = tuple(" ".join(prose.tokens(a, b)) for a, b in zip(begin.tolist(), end.tolist(), strict=True))
    # the first or last few tokens of each document, in lower case; final marks stand with the words
    ends = []
    for a, b in zip(prose.offsets[:-1].tolist(), prose.offsets[1:].tolist(), strict=True):
        while not at_end and a + 1 < b and prose.words[prose.ids[a]] == prose.words[prose.ids[a + 1]] == HEADING:
            a += 1  # a heading of any level is one mark
        codes = prose.ids[max(a, b - RECURRING - 1) : b] if at_end else prose.ids[a : min(b, a + RECURRING)]
        ends.append(SEPARATOR.join(prose.words[i] for i in codes.tolist()))
    return EdgeSentence(np.column_stack(columns), tuple(ends), length, chosen, texts)


TOLD = {
    "opens": {"question": "a question", "speech": "speech", "markup": "markup"},
    "ends": {
        "question": "a question",
        "speech": "speech",
        "general truth": "a general truth",
        "conclusion": "a conclusion",
        "own paragraph": "a one-sentence paragraph",
    },
}
"""Features of the first and of the last sentence whose shares are tested, and what sentences call them."""
SHOWN = 12
"""Recurring openings and endings that a table shows, and that may be named."""


def _row(where: str, feature: str) -> str:
    return f"{where}_{feature.replace(' ', '_')}"


@dataclass(frozen=True)
class EdgeLatents(ChainLatents):
    """Classes of the first and the last sentence of n documents, and what these sentences are like."""

    edges: tuple[EdgeSentence, ...] = ()


@parametrized
class Edges(ProseCritic[ChainLatents], ChainCritic, ItemsMixin):
    """z is the class of the first and of the last sentence; P_c(z) is a Markov chain, classes emit features.

    A class gives each functional feature of a sentence (a question, an address, a modal verb, a general truth, …) a
    probability: a mixture of independent features, fitted to first and to last sentences of real text; its size is
    chosen by BIC. The posterior is exact. Recurring first and last words are compared over documents besides.

    Parameters
    ----------
    n_states
        Most classes of first and of last sentences.
    seed
        Seed of the starts of the mixtures.

    >>> from momus import Corpus
    >>> texts = ["Who came? I did.", "Who left? He left.", "It rained. We slept."] * 4
    >>> critic = Edges(n_states=2).fit(Corpus.from_texts([f"{t} {i}" for i, t in enumerate(texts)]))
    >>> len(critic.titles_), critic.project(Corpus.from_texts(["Who? Me."])).lengths.tolist()
    (2, [2])
    """

    name = "edges"
    axis = "openings and endings"
    question = (
        "Do documents open and end as real ones do? z is the class of the first and of the last sentence: a question, "
        "an address, a general truth, …"
    )
    evidence_of = "the first and the last sentence, relative to how probable each class is on its own"
    reporting = Reporting(
        directions=directions(
            "more|less usual at its edges", "more|less usual at its edges", "less|more varied at its edges"
        ),
        limits="It reads function words and marks of the first and last sentence: whether an ending fits stays unseen.",
        layout=("breaks",),
    )
    min_documents = 10

    n_states: Annotated[int, Range(1, 50)] = 6
    seed: int = 0

    _new_opening = _new_ending = BernoulliMixture

    def fit(self, real: Corpus) -> Self:
        """Fit the classes of first and of last sentences, and count which follows which."""
        first, last = read_edges(self._prose(real))
        several = first.numbers < last.numbers
        if not several.any():
            raise FittingError(
                f"critic 'edges': no document of {real.name!r} has two sentences",
                hint="give text whose documents have a first and a last sentence to fit on",
            )
        self.opening_, self.ending_ = (
            BernoulliMixture(n_states=self.n_states, seed=self.seed).learn(features)
            for features in (first.features[several], last.features)
        )
        self.titles_ = [f"opens: {n}" for n in names_of(self.opening_, FEATURES)]
        self.titles_ += [f"ends: {n}" for n in names_of(self.ending_, FEATURES)]
        marginals, offsets = self._classes(first, last)
        self._learn_chain(marginals.argmax(axis=1), offsets, self.seed)
        return self

    def _classes(self, first: EdgeSentence, last: EdgeSentence) -> tuple[Floats, Ints]:
        """P(class | features) of each step, (N, K), and where documents begin: one step where there is one sentence."""
        several = first.numbers < last.numbers
        opening, ending = self.opening_.posterior(first.features), self.ending_.posterior(last.features)
        offsets = offsets_of(1 + several)
        k = opening.shape[1]
        # classes of openings and of endings are different states: a step has mass on one kind only
        marginals = np.zeros((int(offsets[-1]), k + ending.shape[1]))
        marginals[offsets[:-1][several], :k] = opening[several]
        marginals[offsets[1:] - 1, k:] = ending
        return marginals, offsets

    def project(self, batch: Corpus) -> EdgeLatents:
        """Infer the classes of the first and the last sentence under the chain."""
        first, last = read_edges(self._prose(batch))
        marginals, offsets = self._classes(first, last)
        # the mixtures' own shares are the prior that their posteriors hold
        prior = np.concatenate([self.opening_.shares_, self.ending_.shares_])  # (K,) of both kinds
        z = chained(marginals, offsets, prior, self.transitions_)
        return EdgeLatents(**vars(z), edges=(first, last))

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Features of the first and last sentence, length of the last paragraph, first and last words."""
        assert isinstance(latents, EdgeLatents)
        first, last = latents.edges
        ones = np.ones(len(latents))
        return {
            **{
                _row(where, feature): np.column_stack([edge.features[:, FEATURES.index(feature)], ones])
                for where, edge in (("opens", first), ("ends", last))
                for feature in TOLD[where]
            },
            "last_paragraph": np.column_stack([np.nan_to_num(last.paragraph), ~np.isnan(last.paragraph)]),
            "openings": _texts(first.words),
            "endings": _texts(last.words),
        }

    tested = (
        *(
            Statistic.distance(
                f"recurring_{rows}",
                rows,
                supremum,
                f"most changed of all {what}",
                uneven="itself",
                item=f"documents {verb} with",
            )
            for rows, what, verb in (("openings", "first words", "open"), ("endings", "last words", "end"))
        ),
        *(
            Statistic.share(
                f"{_row(where, feature)}_share",
                _row(where, feature),
                f"documents that {where[:-1]} with {what}",
                f"less|more often {where[:-1]}ing with {feature}",
                clause=f"{{}} of documents {where[:-1]} with {what}",
                general=feature == "own paragraph",  # as short as paragraphs are
            )
            for where in TOLD
            for feature, what in TOLD[where].items()
        ),
        Statistic.relative(
            "last_paragraph_words",
            "last_paragraph",
            "mean length of the last of several paragraphs",
            "shorter|longer in its last paragraph",
            unit="words",
            needs="several paragraphs",
        ),
    )

    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """The first and the last words of documents."""
        tables = {kind: rows[kind] for kind in ("openings", "endings")}
        return {kind: table for kind, table in tables.items() if isinstance(table, Counted)}

    def summarize(self, latents: ChainLatents) -> Exampled:
        """Transition counts, first and last words, and the shortest sentence of each."""
        assert isinstance(latents, EdgeLatents)
        first, last = latents.edges
        edges = {"openings": first, "endings": last}
        counts = {name: _texts(edge.words).total() for name, edge in edges.items()}
        examples = (
            (f"{name}:{words}", float(len(text)), text)
            for name, edge in edges.items()
            for words, text in zip(edge.words, edge.texts, strict=True)
        )
        return Exampled.of(Pooled(len(latents), {"transitions": latents.expected_count()}, counts), examples)

    def evidence(self, real: Any, generated: Any) -> list[Evidence]:
        """First and last words that recur, and the transitions that differ."""
        return [
            _recurring("openings", "first words", real, generated),
            _recurring("endings", "last words", real, generated),
            *super().evidence(real, generated),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the first and the last sentence with their classes."""
        first, last = read_edges(self._prose(document))
        several = first.numbers[0] < last.numbers[0]
        return self._shown(document, [*(first.texts if several else ()), *last.texts])


def _texts(words: Sequence[str]) -> Counted:
    labels, codes = np.unique(np.array(words, dtype=object).astype(str), return_inverse=True)
    return Counted.of_tokens(codes.astype(np.int64), np.arange(len(words) + 1), labels.tolist())


def _recurring(name: str, what: str, real: Exampled, generated: Exampled) -> Table:
    """First or last words by how much their share of documents differs."""
    texts, p, q = counts_of(real, generated, name)
    a, b = p[1:] / p[0], q[1:] / q[0]
    examples = generated.first(f"{name}:{text}" for text in texts)
    which = np.maximum(p[1:], q[1:]) >= LEAST
    named = Named(what, f"recurring_{name}", which, np.abs(b - a), exclusive=True)
    title, unit = f"{what.capitalize()} that differ most", "% of documents"
    return shift_table(f"edge-{name}", title, what, texts, (a, b), unit, examples=examples, named=named, most=SHOWN)
