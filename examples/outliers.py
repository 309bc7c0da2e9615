"""Find the least likely documents, and their unlikely steps.

    python examples/outliers.py --out folder

Fits the critic ``sections`` on real documentation, scores real and generated documents, and lists the least likely ones
with their unlikely transitions. Writes ``outliers.csv`` (Latent NLL per step of every document), ``outliers.svg`` (the
distributions of both texts, with the threshold that 5 % of real documents exceed) and ``explained.txt``. Prints the
share of generated documents above the threshold, with a confidence interval. Takes a few seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from shared import GENERATED, REAL, corpus, figure, options, run

from momus import Corpus
from momus.critic import Critic
from momus.critic.registry import critic_class
from momus.critic.scores import Scores
from momus.runs.examples import find_outliers


def main(argv: Sequence[str] | None = None) -> pd.DataFrame:
    """Score, rank and explain."""
    chosen = options(
        __doc__,
        argv,
        most={"type": int, "default": 0, "help": "documents to read per file; 0 for all"},
        top={"type": int, "default": 5, "help": "number of outliers to explain per text"},
        decoder={"default": "ancestral", "help": "ancestral, nucleus or nucleus-cool"},
    )
    critic: Critic[object] = critic_class("sections")(seed=chosen.seed).fit(corpus("fit.jsonl.gz", "fit", chosen.most))
    texts = [corpus("real.jsonl.gz", "real", chosen.most)]
    texts.append(corpus(f"generated-{chosen.decoder}.jsonl.gz", "generated", chosen.most))
    scores = [critic.score(t) for t in texts]
    frame = pd.concat([s.frame().assign(per_step=s.per_step) for s in scores], ignore_index=True)
    frame.sort_values("per_step", ascending=False).to_csv(chosen.out / "outliers.csv", index=False)
    lines = [line for t, s in zip(texts, scores, strict=True) for line in explained(critic, t, s, chosen.top)]
    (chosen.out / "explained.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    threshold = draw(scores, chosen.out / "outliers.svg")
    report(scores, threshold)
    return frame


def explained(critic: Critic[object], texts: Corpus, scores: Scores, top: int) -> list[str]:
    """Lines of text that list the least likely documents and their marked steps."""
    lines = [f"least likely of {scores.corpus} ({scores.n_scored} of {len(scores)} documents scored):"]
    for outlier in find_outliers(critic, texts, scores, top):
        lines.append(f"  {outlier.id}: {outlier.value:.2f} {outlier.unit}")
        lines += [f"      {step.label} {step.note}".rstrip() for step in outlier.steps if step.marked]
    return lines


def draw(scores: list[Scores], path: Path) -> float:
    """Plot both distributions; return the 95 % quantile of the real one."""
    real, generated = (s.per_step[s.scored] for s in scores)
    threshold = float(np.quantile(real, 0.95))
    axes, write = figure(path)
    bins = np.linspace(0, max(real.max(), generated.max()), 40)
    for values, label, colour in ((real, "real", REAL), (generated, "generated", GENERATED)):
        axes.hist(values, bins, density=True, histtype="step", color=colour, label=f"{label}, n = {len(values)}")
    axes.axvline(threshold, color="0.5", lw=0.8, ls=":")
    axes.set_xlabel("Latent NLL, nats per step")
    axes.set_ylabel("density of documents")
    axes.legend(frameon=False)
    write()
    return threshold


def report(scores: list[Scores], threshold: float) -> None:
    """Print the share of generated documents above the threshold."""
    generated = scores[1].per_step[scores[1].scored]
    above = binomtest(int((generated > threshold).sum()), len(generated))
    low, high = above.proportion_ci()
    print(
        f"{above.statistic:.1%} of {len(generated)} generated documents exceed {threshold:.2f} nats per step, as do "
        f"5 % of real ones (95 % interval {low:.1%} to {high:.1%}, Clopper–Pearson)"
    )


if __name__ == "__main__":
    run(main)
