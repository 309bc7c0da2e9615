"""Which documents are the odd ones out, and which step of them.

    python examples/outliers.py --out folder

Fits the critic of section order on real documentation, scores real and generated documents, and lists those that it
finds least likely, with the transitions that it marks. Writes ``outliers.csv`` (every document with its Latent NLL a
state), ``outliers.svg`` (how both sides are distributed, with the threshold that 5 % of real documents exceed) and
``explained.txt``. Prints what share of generated documents lies above the threshold, with an interval. A few seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from shared import GENERATED, REAL, corpus, figure, options, run

from momus.comparison.result import find_outliers
from momus.critic import Critic, Scores
from momus.critic.registry import critic_class


def main(argv: Sequence[str] | None = None) -> pd.DataFrame:
    """Score, rank and explain."""
    chosen = options(
        __doc__,
        argv,
        most={"type": int, "default": 0, "help": "documents of each file; 0 for all"},
        top={"type": int, "default": 5, "help": "outliers that are explained"},
        decoder={"default": "ancestral", "help": "ancestral, nucleus or nucleus-cool"},
    )
    critic: Critic[object] = critic_class("sections")(seed=chosen.seed).fit(corpus("fit.jsonl.gz", "fit", chosen.most))
    texts = [corpus("real.jsonl.gz", "real", chosen.most)]
    texts.append(corpus(f"generated-{chosen.decoder}.jsonl.gz", "generated", chosen.most))
    scores = [critic.score(t) for t in texts]
    frame = pd.concat([s.frame().assign(per_state=s.per_state) for s in scores], ignore_index=True)
    frame.sort_values("per_state", ascending=False).to_csv(chosen.out / "outliers.csv", index=False)
    lines = [line for t, s in zip(texts, scores, strict=True) for line in explained(critic, t, s, chosen.top)]
    (chosen.out / "explained.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    threshold = shown(scores, chosen.out)
    report(scores, threshold)
    return frame


def explained(critic: Critic[object], texts: object, scores: Scores, top: int) -> list[str]:
    """Lines on the least likely documents: what is marked in each."""
    found = [f"least likely of {scores.corpus} ({scores.n_scored} of {len(scores)} documents scored):"]
    for outlier in find_outliers(critic, texts, scores, top):  # type: ignore[arg-type]
        found.append(f"  {outlier.id}: {outlier.value:.2f} {outlier.unit}")
        found += [f"      {step.label} {step.note}".rstrip() for step in outlier.steps if step.marked]
    return found


def shown(scores: list[Scores], out: object) -> float:
    """Draw both distributions; returns the 95 % point of the real one."""
    real, generated = (s.per_state[s.scored] for s in scores)
    threshold = float(np.quantile(real, 0.95))
    axes, write = figure(out / "outliers.svg")  # type: ignore[operator]
    bins = np.linspace(0, max(real.max(), generated.max()), 40)
    for values, label, colour in ((real, "real", REAL), (generated, "generated", GENERATED)):
        axes.hist(values, bins, density=True, histtype="step", color=colour, label=f"{label}, n = {len(values)}")
    axes.axvline(threshold, color="0.5", lw=0.8, ls=":")
    axes.set_xlabel("Latent NLL, nats a state")
    axes.set_ylabel("density of documents")
    axes.legend(frameon=False)
    write()
    return threshold


def report(scores: list[Scores], threshold: float) -> None:
    """Print the share of generated documents above the threshold."""
    generated = scores[1].per_state[scores[1].scored]
    above = binomtest(int((generated > threshold).sum()), len(generated))
    low, high = above.proportion_ci()
    print(
        f"{above.statistic:.1%} of {len(generated)} generated documents are above {threshold:.2f} nats a state, which "
        f"5 % of real ones are (95 % interval {low:.1%} to {high:.1%}, Clopper–Pearson)"
    )


if __name__ == "__main__":
    run(main)
