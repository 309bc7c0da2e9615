"""Evidence on coreference: unlikely mentions, windows too frequent or too rare, and first mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.critic import Pooled
from momus.evidence import Evidence, MarkedDocument, Step, Table
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.coreference.process import UNLIKELY
from momus_critics.coreference.symbols import Alphabet
from momus_critics.figures import percent

if TYPE_CHECKING:
    from momus_critics.coreference.critic import Coreference

SHOWN, LEAST = 15, 5
AROUND = 90
"""Characters of context on each side of a mention."""


def spelled(critic: Coreference, keys: Ints) -> list[str]:
    """Windows as text, such as ``Male:0 . he:0``, without the padding before a document."""
    names = Alphabet(critic.classes).kinds
    kinds, entities = critic.process_.coder.symbols(keys, critic.order)
    rows = zip(kinds.tolist(), entities.tolist(), strict=True)
    return [" ".join(names[k] if e < 0 else f"{names[k]}:{e}" for k, e in zip(*row, strict=True) if k) for row in rows]


def best(critic: Coreference, keys: Ints) -> list[tuple[str, float]]:
    """The likeliest last symbol of each window, with its log-probability."""
    likeliest = []
    for key in keys.tolist():
        outcomes = critic.process_.outcomes(key)
        log_p = critic.process_.of_windows(outcomes)
        top = int(log_p.argmax())
        likeliest.append((spelled(critic, outcomes[top : top + 1])[0].rsplit(" ", 1)[-1], float(log_p[top])))
    return likeliest


def _legend(critic: Coreference) -> str:
    """What the symbols stand for."""
    return Alphabet(critic.classes).legend


def show(critic: Coreference, real: Pooled, generated: Pooled) -> list[Evidence]:
    """Tables of unlikely windows (the headline), contributions to Latent NLL, ratios, and first mentions."""
    # counts of each window in both texts, (2, W), and its contribution to the difference in Latent NLL per symbol, (W,)
    a, b = (s.counts.get("windows", {}) for s in (real, generated))
    keys = np.array(sorted({*map(int, a), *map(int, b)}), dtype=np.int64)
    counts = np.array([[float(t.get(float(k), 0.0)) for k in keys.tolist()] for t in (a, b)]).reshape(2, len(keys))
    totals = np.maximum(counts.sum(axis=1), 1.0)
    share = counts / totals[:, None]
    log_p = critic.process_.of_windows(keys) if len(keys) else np.zeros(0)
    gain = (share[1] - share[0]) * -log_p
    return [
        _unlikely(critic, keys, counts, totals, log_p),
        _contributions(critic, keys, counts, gain, log_p),
        _ratios(critic, keys, counts, totals),
        _introductions(critic, real, generated),
    ]


def _contributions(critic: Coreference, keys: Ints, counts: Floats, gain: Floats, log_p: Floats) -> Table:
    top = np.argsort(-gain, kind="stable")[:SHOWN]
    words = spelled(critic, keys[top])
    rows = [
        (w, float(counts[0, i]), float(counts[1, i]), float(np.exp(log_p[i])), float(gain[i]))
        for w, i in zip(words, top, strict=True)
    ]
    return Table(
        "mention-contributions",
        "Windows of mentions that contribute most to the difference in Latent NLL",
        ("window", "real", "generated", "P of the last symbol", "contribution, nats per symbol"),
        rows,
        note=f"{_legend(critic)} Contribution: (share in generated − share in real text) × −log P.",
    )


def _ratios(critic: Coreference, keys: Ints, counts: Floats, totals: Floats) -> Table:
    # log-ratio of the shares of the windows frequent in both texts; the largest and the smallest are shown
    often = np.flatnonzero((counts >= LEAST).all(axis=0))
    ratio = np.log(counts[1, often] / totals[1]) - np.log(counts[0, often] / totals[0])
    order = np.argsort(-ratio, kind="stable")
    chosen = np.unique(np.concatenate([order[:SHOWN], order[-SHOWN:]])) if len(order) else order
    chosen = chosen[np.argsort(-ratio[chosen], kind="stable")]
    words = spelled(critic, keys[often[chosen]])
    rows = [
        (w, float(counts[0, often[i]]), float(counts[1, often[i]]), float(ratio[i]))
        for w, i in zip(words, chosen, strict=True)
    ]
    title = f"Windows by log-ratio of their shares (at least {LEAST} occurrences in both texts)"
    return Table("mention-ratios", title, ("window", "real", "generated", "log-ratio"), rows, note=_legend(critic))


def _unlikely(critic: Coreference, keys: Ints, counts: Floats, totals: Floats, log_p: Floats) -> Table:
    """Unlikely windows, those first that contribute most to the difference of the headline."""
    unlikely = np.flatnonzero(log_p < UNLIKELY)
    # occurrences per 1,000 symbols in each text, (2, U); the side with more of them is shown first
    rate = 1000 * counts[:, unlikely] / totals[:, None]
    sums = rate.sum(axis=1)
    excess = (rate[1] - rate[0]) * (1.0 if sums[1] >= sums[0] else -1.0)
    top = unlikely[np.lexsort((log_p[unlikely], -excess))][:SHOWN]
    words, better = spelled(critic, keys[top]), best(critic, keys[top])
    rows = [
        (w, float(counts[0, i]), float(counts[1, i]), float(log_p[i]), name, p)
        for w, i, (name, p) in zip(words, top, better, strict=True)
    ]
    return Table(
        "mention-unlikely",
        f"Unlikely mentions (log P below {UNLIKELY:.0f}) that contribute most to the difference",
        ("window", "real", "generated", "log P", "likeliest instead", "its log P"),
        rows,
        note=f"Of 1,000 symbols, {sums[0]:.1f} are unlikely in real and {sums[1]:.1f} in generated text. "
        f"{_legend(critic)}",
    )


def _introductions(critic: Coreference, real: Pooled, generated: Pooled) -> Table:
    """Kinds of first mentions, the largest difference first."""
    names = Alphabet(critic.classes).kinds
    counts = [s.arrays.get("first", np.zeros(len(names))) for s in (real, generated)]
    share = [c / max(c.sum(), 1.0) for c in counts]
    order = np.argsort(-np.abs(share[1] - share[0]), kind="stable")
    rows = [
        (names[k], percent(share[0][k]), percent(share[1][k]), percent(share[1][k] - share[0][k]))
        for k in order
        if counts[0][k] + counts[1][k] > 0
    ]
    return Table(
        "mention-introductions",
        "How persons are first mentioned",
        ("first mention", "real %", "generated %", "difference"),
        rows,
        note=f"Of {counts[0].sum():,.0f} persons in real and {counts[1].sum():,.0f} in generated text. "
        f"{_legend(critic)}",
    )


def explain(critic: Coreference, document: Corpus) -> MarkedDocument | None:
    """The least likely mentions of a document in context, in the order of the text."""
    latents = critic.project(document)
    if not len(latents.states):
        return None
    log_p = critic.process_.of_windows(latents.windows)
    mentions = np.flatnonzero(latents.entities >= 0)
    chosen = np.sort(mentions[np.argsort(log_p[mentions], kind="stable")][:SHOWN])
    text = document[0].text
    windows, better = spelled(critic, latents.windows[chosen]), best(critic, latents.windows[chosen])
    steps = []
    for i, window, (name, p) in zip(chosen.tolist(), windows, better, strict=True):
        start, end = (int(x) for x in latents.spans[i])
        before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
        note = f"characters {start:,}–{end:,}; likeliest instead: {name} (log P {p:.2f})"
        shown = f"…{before}[{text[start:end]}]{after}…".replace("\n", " ")
        steps.append(Step(window, shown, -float(log_p[i]), bool(log_p[i] < UNLIKELY), note))
    return MarkedDocument(document.name, document.ids[0], float(-log_p.sum()), "nats", steps, _legend(critic))
