"""Marks and letter case: dashes, quotation marks, capitals, digits, and how often each stands in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from momus.critic import Counts, LogPrior, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.shifts import shift_table
from momus.critic.statistic import total_variation
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.types import Floats, Ints
from momus.text.blocks import PROSE, Kind
from momus.text.corpus import Corpus
from momus.text.languages import ANY
from momus.text.plain import INVISIBLE, in_place
from momus_critics.evidence import Mark, mark_passage
from momus_critics.marks.characters import (
    CLASSES,
    CODE,
    LETTERS,
    LOWER,
    NAMES,
    UNCASED,
    CharacterCounts,
    classes_of,
    count_characters,
)

PLURALS = {
    "em dash": "em dashes", "en dash": "en dashes", "ellipsis": "ellipses", "parenthesis": "parentheses",
    "mark of layout": "marks of layout", "capital among capitals": "capitals in a row",
}  # fmt: skip
LEAST = 1e-6
"""Smallest correlation and share of a class: one that is never seen keeps a probability."""
TOLD = tuple(code for code in range(len(CLASSES)) if code not in (LOWER, UNCASED))
"""Classes whose rates are tested."""
OF_SENTENCES = (CODE["full stop"], CODE["capital"])
"""Classes that there are more of where sentences are shorter."""
QUOTES = tuple(CODE[f"{kind} quotation mark"] for kind in ("straight", "curly", "other", "single"))
PRESENT: dict[str, tuple[int, ...]] = {
    "quotation marks": QUOTES,
    **{
        f"{name}s": (CODE[name],)
        for name in ("semicolon", "colon", "digit", "question mark", "exclamation mark", "repeated mark")
    },
    "other symbols": (CODE["other symbol"],),
    "em dashes": (CODE["em dash"],),
    "parentheses": (CODE["parenthesis"],),
    "marks of layout": (CODE["mark of layout"],),
}
"""Classes of which it is tested how many documents have any: many have none, so that rates are skewed."""
SPELLED: tuple[Kind, ...] = (*PROSE, "title", "heading")
"""Blocks whose marks are counted."""
SHOWN = 160
"""Tokens of an explained passage."""


def _row(code: int) -> str:
    return NAMES[code].replace(" ", "_")


def _with(what: str) -> str:
    return f"with_{what.replace(' ', '_')}"


def _plural(code: int) -> str:
    return PLURALS.get(NAMES[code], f"{NAMES[code]}s")


class Marks(MergeableMixin, TextCritic[CharacterCounts]):
    """z counts the characters of a document by class; P_c(z | N) is a generalised Dirichlet-multinomial.

    Characters without spaces fall into classes: dashes, quotation marks, brackets, digits, capitals, small letters, ….
    Class after class takes a beta-binomial number of the characters that the classes before it have left (Connor and
    Mosimann 1969), so that each class varies between documents as much as it does in real text. Means and correlations
    within documents are fitted by moments.

    >>> from momus import Corpus
    >>> critic = Marks().fit(Corpus.from_texts(["She came - late.", "He said: no!", "It is his."]))
    >>> z = critic.project(Corpus.from_texts(["We don’t know — yet…"]))
    >>> [(name, int(n)) for name, n in zip(NAMES, z.counts[0]) if n]  # doctest: +NORMALIZE_WHITESPACE
    [('em dash', 1), ('ellipsis', 1), ('inner apostrophe', 1), ('capital', 1), ('small letter', 12)]
    """

    name = "marks"
    axis = "marks and case"
    question = (
        "Do dashes, quotation marks, capitals and digits stand as often as in real text? z counts characters by class."
    )
    reporting = Reporting(
        headline="marks",
        directions=directions("more|less usual in its marks"),
        limits="It cannot see whether a mark stands in its place: only how often each kind stands in a document.",
    )
    reads = "spelled"
    scripts = ANY

    def fit_counts(self, real: Corpus) -> Counts:
        """Sums and sums of squares over documents."""
        hits = self.project(real).counts
        left = _left(hits)
        totals = [hits, left, hits * hits, left * left]
        return Counts.of(totals=np.array([t.sum(axis=0) for t in totals]))

    def fit_from(self, counts: Counts) -> Self:
        """Turn sums into shares and correlations."""
        hits, left, hits_squared, left_squared = counts.array("totals").astype(np.float64)
        # half a character to each side: no class is impossible
        share = (hits + 0.5) / (left + 1.0)
        spread = share * (1 - share)
        # E Σ h² = p² Σ n² + p (1 − p) (Σ n + ρ Σ n (n − 1))
        pairs = np.maximum(spread * (left_squared - left), LEAST)
        correlation = (hits_squared - share**2 * left_squared - spread * left) / pairs
        self.shares_ = share
        self.correlations_ = np.clip(correlation, LEAST, 0.9)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a word."""
        return [None if any(map(str.isalnum, spelled(d.text))) else "no word" for d in batch]

    def project(self, batch: Corpus) -> CharacterCounts:
        """Count characters by class."""
        return count_characters([INVISIBLE.sub("", spelled(d.text)) for d in batch])

    def log_prior(self, latents: CharacterCounts) -> LogPrior:
        """log P_c(z | N), N characters."""
        return LogPrior.of_vectors(self._log_probabilities(latents.counts).sum(axis=1))

    def _log_probabilities(self, hits: Ints) -> Floats:
        """log P of the number of each class among the characters left for it, (n, K − 1); the last has no choice."""
        from scipy.special import betaln

        left = _left(hits)[:, :-1]
        strength = (1 - self.correlations_[:-1]) / self.correlations_[:-1]
        alpha, beta = self.shares_[:-1] * strength, (1 - self.shares_[:-1]) * strength
        hit, missed = hits[:, :-1], left - hits[:, :-1]
        ways = -betaln(hit + 1, missed + 1) - np.log(left + 1)  # log of left over hit
        return np.asarray(ways + betaln(hit + alpha, missed + beta) - betaln(alpha, beta))

    def sufficient_statistics(self, latents: CharacterCounts) -> Mapping[str, Rows]:
        """Characters of each class beside words, per 1,000 words; documents with some; and the mixture of marks."""
        words, ones = latents.words.astype(np.float64), np.ones(len(latents))
        rates = {_row(code): np.column_stack([1000.0 * latents.counts[:, code], words]) for code in TOLD}
        having = {
            _with(what): np.column_stack([latents.counts[:, codes].any(axis=1), ones])
            for what, codes in PRESENT.items()
        }
        return {**rates, **having, "marks": latents.counts[:, :LETTERS].astype(np.float64)}

    tested = (
        Statistic.distance("marks", "marks", total_variation, "total variation of the marks"),
        *(
            Statistic.ratio(
                _row(code),
                _row(code),
                _plural(code),
                f"poorer|richer in {_plural(code)}",
                unit="per 1,000 words",
                needs="a word",
                general=code in OF_SENTENCES,
            )
            for code in TOLD
        ),
        *(Statistic.having(f"{_with(what)}_share", _with(what), what) for what in PRESENT),
    )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """How often each class stands in 1,000 words, the largest factor first."""
        # sums of 1,000 times the characters and of words, (classes, 2)
        sums = [np.array([t.arrays[_row(code)] for code in TOLD]) for t in (real, generated)]
        a, b = (x[:, 0] / np.maximum(x[:, 1], 1.0) for x in sums)
        # a twentieth of a mark per 1,000 words keeps factors of what one text lacks finite
        factor = np.log((b + 0.05) / (a + 0.05))
        names = [_plural(code) for code in TOLD]
        note = (
            "Two hyphens in a row are an em dash, three dots an ellipsis; !! or ,, is one repeated mark. How many "
            "documents have any of a class is among the statistics."
        )
        title, unit, measure = "Marks, digits and capitals", "per 1,000 words", "logarithm of the factor"
        of: dict[str, Any] = {"effect": factor, "measure": measure, "note": note}
        return [shift_table("marks", title, "character", names, (a, b), unit, 1, **of)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the characters of those classes that real text has less often."""
        z = self.project(document)
        log_p = self._log_probabilities(z.counts)[0]
        expected = self.shares_ * _left(z.counts)[0]
        more = [c for c in TOLD if z.counts[0, c] > expected[c]]
        marked = sorted(more, key=lambda c: log_p[c])[:3]
        text = spelled(document[0].text)
        codes = classes_of(text)
        pieces, marks = [], {}
        start = 0
        for place in np.flatnonzero(np.isin(codes, marked)).tolist():
            if place > start:
                pieces.append(text[start:place])
            note = f"{z.counts[0, codes[place]]:,} here, {expected[codes[place]]:.1f} expected"
            marks[len(pieces)] = Mark(NAMES[codes[place]], note)
            pieces.append(text[place])
            start = place + 1
        pieces += [text[start:]] if start < len(text) else []
        return mark_passage(self, document, z, pieces, marks, shown=SHOWN)


def spelled(text: str) -> str:
    r"""Prose and headings as they are spelled and in their places, with spaces for signs of layout, code and tables.

    >>> spelled("## So\n\n1. *It’s* 5 p.m.")
    '   So\n\n    It’s  5 p.m.'
    """
    return in_place(text, SPELLED)


def _left(hits: Ints) -> Ints:
    """Characters that are left for each class once those before it have theirs, (n, K)."""
    return np.asarray(hits[:, ::-1].cumsum(axis=1)[:, ::-1])
