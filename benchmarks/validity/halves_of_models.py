"""How often a comparison from A to B tells random halves of one model's answers apart, which share no prompt.

Run:  python benchmarks/validity/halves_of_models.py [--critics edges] [--splits 100] [--size 100]
Data: ``answers`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from version_pairs import answers

import momus
from momus import Corpus
from momus.verdicts.table import speaking

DATA = Path(os.environ.get("MOMUS_DATA", "../shared/data"))
MODELS = ("gpt-4o-2024-05-13", "claude-2", "Mistral-7B-Instruct-v0.2", "alpaca-7b", "vicuna-7b", "phi-2")
ALPHA = 0.05


def told(model: str, critics: Sequence[str], size: int, seed: int) -> tuple[dict[str, float], bool]:
    """p of each axis of two random halves, and whether a direction is told."""
    texts = answers(DATA / "answers", model)
    ids = sorted(texts)
    drawn = [ids[i] for i in np.random.default_rng([seed, *model.encode()]).permutation(len(ids))[: 2 * size]]
    sides = (drawn[:size], drawn[size:])
    old, new = (
        Corpus.from_texts([texts[i] for i in side], ids=side, prompts=side, name=name)
        for side, name in zip(sides, "ab", strict=True)
    )
    c = momus.compare(
        generated={"new": new}, against={"old": old}, critics=list(critics), permutations=999, resamples=99, seed=seed
    )
    assert c.against is not None
    p = {v.critic: float(v.p_axis if v.p_axis is not None else 1.0) for v in speaking(c.verdicts)}
    return p, any(d.p_adjusted <= ALPHA for d in c.against.directions)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates of all models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--critics", default="edges")
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--size", type=int, default=100)
    a = parser.parse_args(arguments)
    alarms: dict[str, list[bool]] = {}
    for seed in range(a.splits):
        for model in MODELS:
            axes, direction = told(model, a.critics.split(","), a.size, seed)
            for name, p in {**axes, "any direction": 0.0 if direction else 1.0}.items():
                alarms.setdefault(name, []).append(p <= ALPHA)
        print(seed + 1, {name: f"{sum(x)} of {len(x)}" for name, x in alarms.items()}, flush=True)


if __name__ == "__main__":
    main()
