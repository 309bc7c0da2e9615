"""The n-gram process over relabelled windows, with absolute discounting; every conditional distribution sums to 1.

    P_m(w | h) = max(c(h w) − D_m, 0) / c(h) + D_m N(h) / c(h) · s(w) P_{m−1}(w′ | h′)

h′ is h without its first symbol, relabelled; N(h) is the number of different w that follow h. Below the highest order,
counts are continuation counts (``kneser-ney``: Kneser & Ney 1995) or raw counts (``absolute``); D = n₁ / (n₁ + 2 n₂)
for each order (Deng et al. 2022, appendix G). If the first symbol's entity does not occur in h′, both that entity
and a truly new one are new in the shorter window: s(w) is then the share of such symbols that return to the dropped
entity, or its complement, estimated for each order; otherwise it is 1. Order 0 is uniform over kinds.
Evidence shows windows of mentions in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import Counts, Pooled
from momus.critic.shifts import shift_table
from momus.errors import UsageError
from momus.estimator import Estimator
from momus.evidence import Evidence, MarkedDocument, Step, Table
from momus.numeric.types import Floats, Ints
from momus.sequences.ngram import discount
from momus.text.corpus import Corpus
from momus_critics.coreference.symbols import KINDS, LEGEND, Chains, Coder, MentionChains

UNLIKELY = -7.0
"""log P_c of a symbol below which it is unlikely (Deng et al. 2022, table 13)."""


class ChainProcess(Estimator):
    """The n-gram process over windows of mentions.

    Parameters
    ----------
    kinds
        Number of kinds of symbols, padding (0) included.
    order
        n.
    discounting
        ``kneser-ney`` or ``absolute``.
    """

    def __init__(self, *, kinds: int, order: int = 5, discounting: str = "kneser-ney") -> None:
        self.kinds = kinds
        self.order = order
        self.discounting = discounting
        self.coder = Coder(kinds, order)
        if discounting not in ("kneser-ney", "absolute"):
            raise UsageError(f"discounting is {discounting!r}", hint="choose one of kneser-ney, absolute")
        if order < 1 or not self.coder.fits():
            raise UsageError(f"order is {order}, with {kinds} kinds", hint="give an order from 1 to 6")

    def fit(self, chains: Chains) -> Self:
        """Count windows of all orders, and smooth the counts."""
        return self.learn(self.count(chains))

    def count(self, chains: Chains) -> Counts:
        """Count windows of all orders."""
        return Counts.of_values(**{f"windows{m}": keys for m, keys in enumerate(self.coder.windows(chains), 1)})

    def learn(self, windows: Counts) -> Self:
        """Smooth the counts of windows."""
        raw = [windows.numbers(f"windows{m}") for m in range(1, self.order + 1)]
        tables = [(k, c.astype(np.float64)) for k, c in raw]
        if self.discounting == "kneser-ney":  # below order n, count the distinct windows one symbol longer
            for m in range(self.order - 1, 0, -1):
                longer = tables[m][0]
                # not a suffix of digits: entities are numbered anew when the first symbol goes
                short = self.coder.truncate(longer, m + 1)
                keys, counts = np.unique(short, return_counts=True)
                tables[m - 1] = keys, counts.astype(np.float64)
        self.discounts_ = np.array([discount(c, needs_twos=False) for _, c in tables])
        returns = [0.5]
        for m, (keys, counts) in enumerate(raw[1:], 2):
            gone, back, new = self.coder.left(keys, m)
            either = back | (gone & new)  # windows whose last entity is new once the first symbol is dropped
            returns.append(float((counts[back].sum() + 0.5) / (counts[either].sum() + 1.0)))
        self.returns_ = np.array(returns)
        # per order: windows and their counts, (W,); contexts (the window without its last digit), the sum of counts and
        # the number of different successors of each, (H,)
        for m, (grams, weights) in enumerate(tables, 1):
            contexts, where = np.unique(grams // self.coder.base, return_inverse=True)
            self._keep(m, grams, weights, contexts, np.bincount(where, weights), np.bincount(where).astype(np.float64))
        return self

    def _keep(self, m: int, *arrays: NDArray[np.generic]) -> None:
        """Store the tables of order m as fitted attributes, which are saved with the critic."""
        for name, array in zip(("keys", "counts", "contexts", "totals", "types"), arrays, strict=True):
            setattr(self, f"{name}{m}_", array)

    def log_probabilities(self, chains: Chains) -> Floats:
        """log P of each symbol given the preceding ones of its document, in nats, float array (N,)."""
        return self.of_windows(self.coder.windows(chains, (self.order,))[0])

    def of_windows(self, keys: Ints) -> Floats:
        """log P of the last symbol of each window of n symbols, (W,)."""
        # most windows recur: P is computed once for each
        distinct, where = np.unique(keys, return_inverse=True)
        return np.asarray(np.log(self._probabilities(distinct, self.order))[where])

    def _probabilities(self, keys: Ints, m: int) -> Floats:
        """P_m of the last symbol of each window of m symbols, (W,)."""
        if m == 0:
            return np.full(len(keys), 1 / (self.kinds - 1))
        if m == 1:
            lower = np.full(len(keys), 1 / (self.kinds - 1))
        else:
            # s(w) P_{m−1}(w′ | h′)
            lower = self._probabilities(self.coder.truncate(keys, m), m - 1)
            gone, back, new = self.coder.left(keys, m)
            share = self.returns_[m - 1]
            # in the shorter window, a return to the dropped entity and a new entity are one symbol: they share its mass
            lower = lower * np.where(back, share, np.where(gone & new, 1 - share, 1.0))
        table, counts, contexts, totals, types = (
            getattr(self, f"{name}{m}_") for name in ("keys", "counts", "contexts", "totals", "types")
        )
        # c(h w), c(h) and N(h) of each window, 0 if unseen; an unseen context uses the lower order alone
        count = _look_up(table, counts, keys)
        total, kinds = (_look_up(contexts, x, keys // self.coder.base) for x in (totals, types))
        seen = total > 0
        d = self.discounts_[m - 1]
        safe = np.where(seen, total, 1.0)
        return np.asarray(np.where(seen, np.maximum(count - d, 0) / safe + d * kinds / safe * lower, lower))

    def outcomes(self, key: int) -> Ints:
        """Keys of all windows of n symbols with the context of this one: one per possible last symbol."""
        n = self.order
        kinds, entities = self.coder.symbols(np.array([key]), n)
        known = int(entities[0, :-1].max(initial=-1)) + 1  # entities of the context; the next number is a new one
        # kind 1, the start of a sentence, has no entity
        after = [(1, -1), *((k, e) for k in range(2, self.kinds) for e in range(known + 1))]
        rows = np.repeat(kinds, len(after), axis=0), np.repeat(entities, len(after), axis=0)
        rows[0][:, -1], rows[1][:, -1] = np.array(after).T
        return self.coder.keys(*rows)


def _look_up(table: Ints, values: Floats, keys: Ints) -> Floats:
    """Values of keys in a sorted table, 0 for unknown keys."""
    if not len(table):
        return np.zeros(len(keys))
    # keys above all in the table would index past its end; the comparison then fails
    where = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[where] == keys, values[where], 0.0)


SHOWN = 15
"""Rows of a table."""
AROUND = 90
"""Characters of context on each side of a mention."""


@dataclass(frozen=True)
class WindowEvidence:
    """What the windows of a fitted process look like in words, and which of them two texts do not share.

    Windows are integers, as `ChainProcess` codes them.
    """

    process: ChainProcess

    def tables(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Unlikely windows with the likeliest alternative, windows by contribution, and first mentions."""
        # counts of each window in both texts, (2, W), and its part of the difference in Latent NLL per symbol, (W,)
        a, b = (s.counts.get("windows", {}) for s in (real, generated))
        keys = np.array(sorted({*map(int, a), *map(int, b)}), dtype=np.int64)
        counts = np.array([[float(t.get(float(k), 0.0)) for k in keys.tolist()] for t in (a, b)]).reshape(2, len(keys))
        totals = np.maximum(counts.sum(axis=1), 1.0)
        share = counts / totals[:, None]
        log_p = self.process.of_windows(keys) if len(keys) else np.zeros(0)
        gain = (share[1] - share[0]) * -log_p
        top = np.argsort(-np.abs(gain), kind="stable")[:SHOWN]
        windows = shift_table(
            "mention-windows",
            "Windows of mentions that contribute most to the difference in Latent NLL",
            "window",
            self.spelled(keys[top]),
            share[:, top],
            "per 1,000 symbols",
            1000,
            effect=gain[top],
            measure="contribution, nats per symbol",
            note=f"{LEGEND} Contribution: (share in generated − share in real text) × −log P.",
        )
        persons = [s.arrays.get("first", np.zeros(len(KINDS))) for s in (real, generated)]
        shares = (c / max(c.sum(), 1.0) for c in persons)
        of = f"Of {persons[0].sum():,.0f} persons in real and {persons[1].sum():,.0f} in generated text. {LEGEND}"
        title = "How persons are first mentioned"
        first = shift_table("mention-introductions", title, "first mention", KINDS, shares, "% of persons", note=of)
        return [self._unlikely_table(keys, counts, totals, log_p), windows, first]

    def marked(self, document: Corpus, latents: MentionChains) -> MarkedDocument | None:
        """Show the least likely mentions in context, in the order of the text, each with the likeliest alternative."""
        if not len(latents.states):
            return None
        log_p = self.process.of_windows(latents.windows)
        mentions = np.flatnonzero(latents.entities >= 0)
        chosen = np.sort(mentions[np.argsort(log_p[mentions], kind="stable")][:SHOWN])
        text = document[0].text
        windows, better = self.spelled(latents.windows[chosen]), self.best(latents.windows[chosen])
        steps = []
        for i, window, (name, p) in zip(chosen.tolist(), windows, better, strict=True):
            start, end = (int(x) for x in latents.spans[i])
            before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
            note = f"characters {start:,}–{end:,}; likeliest instead: {name} (log P {p:.2f})"
            shown = f"…{before}[{text[start:end]}]{after}…".replace("\n", " ")
            steps.append(Step(window, shown, -float(log_p[i]), bool(log_p[i] < UNLIKELY), note))
        return MarkedDocument(document.name, document.ids[0], float(-log_p.sum()), "nats", steps, LEGEND)

    def spelled(self, keys: Ints) -> list[str]:
        """Windows as text, such as ``Male:0 . he:0``, without the padding before a document."""
        kinds, entities = self.process.coder.symbols(keys, self.process.order)
        rows = zip(kinds.tolist(), entities.tolist(), strict=True)
        return [
            " ".join(KINDS[k] if e < 0 else f"{KINDS[k]}:{e}" for k, e in zip(*row, strict=True) if k) for row in rows
        ]

    def best(self, keys: Ints) -> list[tuple[str, float]]:
        """The likeliest last symbol of each window, with its log-probability."""
        likeliest = []
        for key in keys.tolist():
            outcomes = self.process.outcomes(key)
            log_p = self.process.of_windows(outcomes)
            top = int(log_p.argmax())
            likeliest.append((self.spelled(outcomes[top : top + 1])[0].rsplit(" ", 1)[-1], float(log_p[top])))
        return likeliest

    def _unlikely_table(self, keys: Ints, counts: Floats, totals: Floats, log_p: Floats) -> Table:
        """Unlikely windows, those first that contribute most to the difference of the headline."""
        unlikely = np.flatnonzero(log_p < UNLIKELY)
        # occurrences per 1,000 symbols in each text, (2, U); the side with more of them is shown first
        rate = 1000 * counts[:, unlikely] / totals[:, None]
        sums = rate.sum(axis=1)
        excess = (rate[1] - rate[0]) * (1.0 if sums[1] >= sums[0] else -1.0)
        top = unlikely[np.lexsort((log_p[unlikely], -excess))][:SHOWN]
        words, better = self.spelled(keys[top]), self.best(keys[top])
        rows = [
            (w, float(counts[0, i]), float(counts[1, i]), float(log_p[i]), name, p)
            for w, i, (name, p) in zip(words, top, better, strict=True)
        ]
        return Table(
            "mention-unlikely",
            f"Unlikely mentions (log P below {UNLIKELY:.0f}) that contribute most to the difference",
            ("window", "real", "generated", "log P", "likeliest instead", "its log P"),
            rows,
            note=f"Of 1,000 symbols, {sums[0]:.1f} are unlikely in real and {sums[1]:.1f} in generated text. {LEGEND}",
        )
