"""Write a critic that asks whether speech and narration alternate as in novels.

    python examples/own_critic.py --out folder

z is the sequence of the paragraphs of a passage, each of which either begins with a quotation mark (speech) or does not
(narration). P_c(z) is a Markov chain with start and end, smoothed by one half. The posterior is deterministic, since
the latent can be read off the text. The class below is complete: Latent NLL and Latent PPL, tests, outliers, saving and
the report come from the base class. The example first runs the conformance checks on it, then compares passages of six
novels with continuations by a small language model. Prints both results; writes ``turns.svg`` (transition probabilities
of both texts, with the counts behind them) and ``verdicts.csv``. Takes a few seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from shared import DECODERS, corpus, figure, options, run

import momus
from momus.conformance import check_critic
from momus.conformance.corpora import documents
from momus.critic import EvidenceMixin, Pooled, Rows, StatisticsMixin
from momus.evidence import Evidence, Heatmap
from momus.numeric.ragged import offsets_of

STATES = ("narration", "speech", "start or end")
SPEECH = re.compile(r"""\s*["“‘']""")


class Turns(momus.Critic[momus.StateSequences], StatisticsMixin, EvidenceMixin):
    """z: speech or narration, paragraph by paragraph; P_c: a Markov chain with start and end."""

    name = "turns"
    axis = "alternation of speech and narration"
    question = "Do paragraphs of speech and of narration follow one another as in real text?"
    sequence = True

    def fit(self, real: momus.Corpus) -> Self:
        """Estimate the transition probabilities from smoothed counts."""
        counts = self.pairs(self.project(real)).sum(axis=0) + 0.5
        self.log_move_ = np.log(counts / counts.sum(axis=1, keepdims=True))
        return self

    def project(self, batch: momus.Corpus) -> momus.StateSequences:
        """Classify each paragraph as speech or narration."""
        paragraphs = [[p for p in re.split(r"\n+", d.text) if p.strip()] for d in batch]
        states = [int(bool(SPEECH.match(p))) for document in paragraphs for p in document]
        # offsets[i]:offsets[i + 1] are the paragraphs of document i
        return momus.StateSequences(np.array(states, dtype=np.int64), offsets_of([len(p) for p in paragraphs]))

    def log_prior(self, latents: momus.StateSequences) -> momus.LogPrior:
        """Sum log transition probabilities, including the transitions from the start and to the end."""
        total = (self.pairs(latents) * self.log_move_).sum(axis=(1, 2))
        return momus.LogPrior(total, latents.lengths + 1)

    def pairs(self, latents: momus.StateSequences) -> np.ndarray:
        """Transition counts of each document, (n, 3, 3); state 2 is both start and end."""
        counts = np.zeros((len(latents), 3, 3))
        for i, (a, b) in enumerate(zip(latents.offsets[:-1], latents.offsets[1:], strict=True)):
            z = np.concatenate([[2], latents.states[a:b], [2]])
            np.add.at(counts[i], (z[:-1], z[1:]), 1)
        return counts

    def sufficient_statistics(self, latents: momus.StateSequences) -> Mapping[str, Rows]:
        """Transition counts of each document, (n, 9), which are pooled for the evidence."""
        return {"pairs": self.pairs(latents).reshape(len(latents), 9)}

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Heat map of the difference of transition probabilities."""
        a, b = (shares(s) for s in (real, generated))
        title = "Transitions: generated − real"
        return [Heatmap("turns", title, STATES, STATES, (b - a).tolist(), "difference of probabilities", limit=0.5)]


def shares(summary: Pooled) -> np.ndarray:
    """Transition probabilities of a summary, (3, 3); 0 for states without transitions."""
    counts = summary.arrays["pairs"].reshape(3, 3)
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def main(argv: Sequence[str] | None = None) -> momus.Comparison:
    """Check, compare and plot."""
    chosen = options(
        __doc__,
        argv,
        decoder={"default": DECODERS[0], "choices": DECODERS},
        permutations={"type": int, "default": 1999},
    )
    print(str(check_critic(Turns(), documents(60))).splitlines()[0])
    novels = corpus("prose.jsonl.gz", "novels")
    fit, real = novels.split(0.5, chosen.seed, ("fit", "real"))
    generated = corpus(f"generated-prose-{chosen.decoder}.jsonl.gz", "generated")
    seed, permutations = chosen.seed, chosen.permutations
    comparison = momus.compare(
        real, {"generated": generated}, fit=fit, critics=[Turns()], seed=seed, permutations=permutations
    )
    print(comparison)
    comparison.frame().to_csv(chosen.out / "verdicts.csv", index=False)
    critic = Turns().fit(fit)
    draw(chosen.out / "turns.svg", [critic.score(c).summary for c in (real, generated)])
    return comparison


def draw(path: Path, summaries: Sequence[object]) -> None:
    """Plot the transition probabilities of both texts."""
    axes, write = figure(path, columns=2)
    for ax, summary, title in zip(axes, summaries, ("real", "generated"), strict=True):
        assert isinstance(summary, Pooled)
        counts = summary.arrays["pairs"].reshape(3, 3)
        ax.imshow(shares(summary), vmin=0, vmax=1, cmap="Blues")
        for i, row in enumerate(shares(summary)):
            for j, value in enumerate(row):
                label = f"{value:.2f}\nn = {counts[i, j]:.0f}"
                ax.annotate(label, (j, i), ha="center", va="center", fontsize=7, color="w" if value > 0.6 else "k")
        ax.set_xticks(range(3), STATES, fontsize=7)
        ax.set_yticks(range(3), STATES, fontsize=7)
        ax.set_title(f"{title}, {summary.documents} passages", fontsize=9)
    write()


if __name__ == "__main__":
    run(main)
