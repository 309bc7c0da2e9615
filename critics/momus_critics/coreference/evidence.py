"""Evidence on references to persons: windows of mentions in words, and tables of the unlikely and the unequal ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.critic import Pooled
from momus.critic.shifts import Shifts
from momus.evidence import Evidence, MarkedDocument, Step, Table
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.coreference.process import UNLIKELY, ChainProcess
from momus_critics.coreference.symbols import KINDS, LEGEND, MentionChains

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
        return [
            self._unlikely_table(keys, counts, totals, log_p),
            self._windows_table(keys, share, gain),
            self._introductions_table(real, generated),
        ]

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

    def _windows_table(self, keys: Ints, share: Floats, gain: Floats) -> Table:
        """Windows by their part of the difference in Latent NLL; ``share`` is (2, W)."""
        top = np.argsort(-np.abs(gain), kind="stable")[:SHOWN]
        items = Shifts.of_shares(
            "window",
            self.spelled(keys[top]),
            share[:, top],
            "per 1,000 symbols",
            1000,
            effect=gain[top],
            measure="contribution, nats per symbol",
        )
        title = "Windows of mentions that contribute most to the difference in Latent NLL"
        note = f"{LEGEND} Contribution: (share in generated − share in real text) × −log P."
        return items.table("mention-windows", title, note=note)

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

    def _introductions_table(self, real: Pooled, generated: Pooled) -> Table:
        """Kinds of first mentions, the largest difference first."""
        counts = [s.arrays.get("first", np.zeros(len(KINDS))) for s in (real, generated)]
        shares = (c / max(c.sum(), 1.0) for c in counts)
        return Shifts.of_shares("first mention", KINDS, shares, "% of persons").table(
            "mention-introductions",
            "How persons are first mentioned",
            note=f"Of {counts[0].sum():,.0f} persons in real and {counts[1].sum():,.0f} in generated text. {LEGEND}",
        )
