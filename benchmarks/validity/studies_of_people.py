"""Simulated studies with people: are known preferences recovered, and lazy raters found?

1. Simulated raters with known preferences, noise and bias answer whole studies (`simulated_raters.py`),
   which are read as real answers are. Reported: how often the 95 % intervals of preferences hold the truth, that of a
   new rater about new passages, each by itself and all at once, and how often a critic without any bearing on the
   answers gets p ≤ 0.05.
2. How often a preference between two corpora is found, by its size, and by the numbers of items and raters.
3. One rater of each study answers at random, attention checks included. Reported: how often `momus study read` leaves
   this rater out, how often it flags this rater, and how often it does either to the others.

Answers of real people: `human_answers.py`.

Run:  python benchmarks/validity/studies_of_people.py [--studies 500] [--part coverage|power|lazy] [--kind pairs]
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from simulated_raters import Truth, simulated_answers

from momus_people.answers import RaterAnswers, scores_of
from momus_people.axis import axis_rows
from momus_people.design import drawn
from momus_people.estimate import preference
from momus_people.excerpts import YARDSTICKS, Excerpt
from momus_people.protocol import Protocol
from momus_people.result import left_out, rater_rows
from momus_people.study import Study, name_of

SETTINGS = {
    "ratings of five": (Protocol(items=60, raters=5), 3, Truth({}, 0.8, 0.3, 0.5)),
    "ratings of two": (Protocol(items=90, raters=3, scale=("no", "yes")), 3, Truth({}, 0.8, 0.5, 0.5)),
    "pairs": (Protocol(kind="pair", items=60, raters=5), 3, Truth({}, 0.8, 0.3, 0.5)),
    "pairs with ties": (Protocol(kind="pair", items=80, raters=8, ties=True), 2, Truth({}, 0.5, 0.2, 0.3)),
}
"""Protocol, number of corpora, and standard deviations of each kind of simulated study."""
TESTED = 60
"""Studies in which a critic without bearing on the answers is tested."""
DRAWS = 100_000
"""Draws from which a true preference is computed."""
PREFERENCES = (0.6, 0.65, 0.7, 0.75)
"""Preferences that are to be found."""
SPREAD = 0.7
"""Standard deviation of the true effects of corpora, in logits."""


def pool(corpora: int, size: int, rng: np.random.Generator) -> dict[str, list[Excerpt]]:
    """Passages without texts, with prompts that all corpora share, and with random yardsticks."""
    names = ["real", *(f"model-{k}" for k in range(1, corpora))]
    return {
        n: [
            Excerpt(n, f"{n}:{i}", f"p{i}", ("…",), (), dict.fromkeys(YARDSTICKS, 0.0) | _random(rng))
            for i in range(size)
        ]
        for n in names
    }


def _random(rng: np.random.Generator) -> dict[str, float]:
    return dict(zip(YARDSTICKS, rng.normal(size=len(YARDSTICKS)).tolist(), strict=True))


def simulated_study(protocol: Protocol, corpora: int, rng: np.random.Generator) -> Study:
    """Draw a study of such passages."""
    found = pool(corpora, 4 * protocol.items, rng)
    design = drawn(found, protocol)
    return Study(name_of(protocol, design), protocol, list(found), design)


def answered(study: Study, truth: Truth, seed: int) -> RaterAnswers:
    """Read the answers of simulated raters, without files."""
    return RaterAnswers.of(study, simulated_answers(study, truth, seed))


def true_preference(protocol: Protocol, truth: Truth, first: float, second: float, rng: np.random.Generator) -> float:
    """Probability that a new rater prefers a new passage of the first of two corpora, ties counting half."""
    taste, other = rng.normal(size=(2, DRAWS)) * truth.taste
    lean = rng.normal(size=DRAWS) * truth.leniency
    if protocol.kind == "rating":
        shares = np.arange(1, len(protocol.scale)) / len(protocol.scale)
        passages, noise = rng.normal(size=(2, DRAWS)) * truth.passage, rng.logistic(size=(2, DRAWS))
        latent = np.stack([first + taste, second + other]) + lean + passages + noise
        one, two = np.searchsorted(np.log(shares / (1 - shares)), latent)
        return float(np.mean((one > two) + 0.5 * (one == two)))
    side = np.where(rng.random(DRAWS) < 0.5, 1, -1)  # 1: the first corpus is on the left
    difference = first + taste - second - other + rng.normal(size=DRAWS) * truth.passage
    latent = side * (side * difference + lean + rng.logistic(size=DRAWS))
    alike = 0.5 if protocol.ties else 0.0
    return float(np.mean((latent > alike) + 0.5 * (np.abs(latent) <= alike)))


def one_study(name: str, s: int, tested: bool) -> dict[str, Any]:
    """Simulate and read one study; its seed says everything about it."""
    protocol, corpora, base = SETTINGS[name]
    rng = np.random.default_rng([s, 1])
    study = simulated_study(replace(protocol, seed=s), corpora, rng)
    effects = rng.normal(size=corpora) * SPREAD
    effects -= effects.mean()
    truth = replace(base, effects=dict(zip(study.corpora, effects.tolist(), strict=True)))
    answers = answered(study, truth, s).items(range(protocol.raters))
    scores, others = scores_of(study, answers), study.corpora[1:]
    true = np.array([true_preference(protocol, truth, e, effects[0], rng) for e in effects[1:]])
    alone, together = (
        np.array([(p.value, p.low, p.high) for n in others if (p := preference(scores, n, "real", tests))])
        for tests in (1, len(others))
    )
    row: dict[str, Any] = {
        "seed": s,
        "each": ((alone[:, 1] <= true) & (true <= alone[:, 2])).tolist(),
        "together": bool(((together[:, 1] <= true) & (true <= together[:, 2])).all()),
        "bias": (np.sign(true - 0.5) * (alone[:, 0] - true)).tolist(),
        "width": (alone[:, 2] - alone[:, 1]).tolist(),
    }
    if tested:
        passages = study.design.passages
        chance = {"x": rng.normal(size=len(passages)).tolist()}
        rows = axis_rows(scores, chance, {}, [e.yardsticks for e in passages], s)
        row["p"] = next(r.p for r in rows if r.critic == "x")
    return row


def coverage(name: str, studies: int, first: int, folder: Path, minutes: float) -> None:
    """Print how often intervals hold the truth; studies that the folder holds are not simulated again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"coverage-{name.replace(' ', '-')}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    started = time.monotonic()
    with path.open("a") as file:
        for s in range(first + len(rows), first + studies):
            if time.monotonic() - started > 60 * minutes:
                break
            rows.append(one_study(name, s, s < first + TESTED))
            file.write(json.dumps(rows[-1]) + "\n")
    each = np.mean([v for r in rows for v in r["each"]])
    together = np.mean([r["together"] for r in rows])
    bias, width = ([v for r in rows for v in r[k]] for k in ("bias", "width"))
    p = np.array([r["p"] for r in rows if "p" in r])
    shares = (f"{each:.1%}", f"{together:.1%}", f"{np.mean(bias):+.3f}", f"{np.mean(width):.2f}")
    print(f"| {name} | {len(rows)} | {' | '.join(shares)} | {(p <= 0.05).mean():.1%} of {len(p)} |", flush=True)


def power(studies: int) -> None:
    """Print how often a preference between two corpora is found, by its size."""
    print(f"| kind | items | raters | {' | '.join(f'{v:.0%}' for v in PREFERENCES)} |\n|---|---|---|---|---|---|---|")
    base = Truth({}, 0.8, 0.3, 0.5)
    for kind, items, raters in product(("rating", "pair"), (30, 60, 120), (5, 20)):
        protocol = Protocol(kind=kind, items=items, raters=raters)
        study = simulated_study(protocol, 2, np.random.default_rng(items))
        shares = []
        for wanted in PREFERENCES:

            def missed(d: float, wanted: float = wanted) -> float:
                return true_preference(protocol, base, d / 2, -d / 2, np.random.default_rng(0)) - wanted  # noqa: B023

            d = float(brentq(missed, 0.0, 6.0, xtol=0.01))
            truth = replace(base, effects=dict(zip(study.corpora, (d / 2, -d / 2), strict=True)))
            seen = 0
            for s in range(studies):
                answers = answered(study, truth, s).items(range(raters))
                estimate = preference(scores_of(study, answers), *study.corpora)
                seen += estimate is not None and estimate.low > 0.5
            shares.append(seen / studies)
        print(f"| {kind} | {items} | {raters} | {' | '.join(f'{v:.2f}' for v in shares)} |", flush=True)


def lazy(studies: int) -> None:
    """Print how often a rater who answers at random is left out and flagged, and how often the others are."""
    print("| study | checks | studies | lazy: left out | lazy: flagged | honest: left out | honest: flagged |")
    print("|---|---|---|---|---|---|---|")
    for name, checks in (
        ("ratings of five", 2),
        ("ratings of five", 4),
        ("pairs", 2),
        ("pairs", 5),
    ):
        protocol, corpora, base = SETTINGS[name]
        counts = {kind: np.zeros(3) for kind in ("lazy", "honest")}
        for s in range(studies):
            rng = np.random.default_rng([s, 3])
            study = simulated_study(replace(protocol, seed=s, checks=checks), corpora, rng)
            effects = rng.normal(size=corpora) * SPREAD
            truth = replace(base, effects=dict(zip(study.corpora, effects.tolist(), strict=True)), lazy={0})
            answers = answered(study, truth, s)
            out = left_out(answers)
            rows = rater_rows(study, answers, out, answers.missing.keys() - out, s)
            for k, row in enumerate(rows):
                counts["honest" if k else "lazy"] += (1, row.left_out, bool(row.flags))
        shares = [counts[kind][i] / counts[kind][0] for kind in ("lazy", "honest") for i in (1, 2)]
        print(f"| {name} | {checks} | {studies} | {' | '.join(f'{v:.1%}' for v in shares)} |", flush=True)


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--part", choices=("coverage", "power", "lazy"), action="append")
    parser.add_argument("--kind", choices=tuple(SETTINGS), action="append")
    parser.add_argument("--out", type=Path, default=Path("validity-studies-of-people"))
    parser.add_argument("--first", type=int, default=1000, help="seed of the first study")
    parser.add_argument("--minutes", type=float, default=60, help="stop each kind of simulated study after this time")
    options = parser.parse_args()
    parts = options.part or ["coverage", "power", "lazy"]
    if "coverage" in parts:
        print("| study | n | each interval | all intervals | bias | mean width | p ≤ 0.05 without effect |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for name in options.kind or SETTINGS:
            coverage(name, options.studies, options.first, options.out, options.minutes)
    if "power" in parts:
        power(min(options.studies, 200))
    if "lazy" in parts:
        lazy(min(options.studies, 300))


if __name__ == "__main__":
    main()
