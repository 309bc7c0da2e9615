"""Simulated raters with known preferences: to rehearse a study, and to test what is said about it.

Run:  python benchmarks/validity/simulated_raters.py STUDY real=2 model=-1 [--lazy 5]
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from momus.files import write_json
from momus.numeric.types import Floats
from momus_people.answers import ANSWERS
from momus_people.design import Trial
from momus_people.study import Study, read_study

SIDES = ("right", "equal", "left")


@dataclass(frozen=True)
class Truth:
    """What simulated raters think, in logits.

    Attributes
    ----------
    effects
        Quality of each corpus.
    passage, taste, leniency
        Standard deviations: of passages of one corpus (for pairs: of pairs), of a rater's taste in a corpus, and of
        raters' leniency (for pairs: preference for the left side).
    beyond
        A further effect of single passages, by their numbers: what an axis is to be found by.
    lazy
        Numbers of raters who answer at random, attention checks included.
    careless
        Share of the trials that the others answer at random.
    """

    effects: Mapping[str, float]
    passage: float = 0.8
    taste: float = 0.3
    leniency: float = 0.5
    beyond: Mapping[int, float] = field(default_factory=dict)
    lazy: Collection[int] = ()
    careless: float = 0.0


def simulated_answers(study: Study, truth: Truth, seed: int = 0) -> list[dict[str, Any]]:
    """Answer files of all raters, as their pages would save them.

    Ratings follow cumulative logits with thresholds that make the categories about equally frequent; pairs the logistic
    function of the difference (alike within half a logit).
    """
    rng = np.random.default_rng([seed, 7])
    p, design = study.protocol, study.design
    effect = np.array([truth.effects[e.corpus] + truth.beyond.get(k, 0.0) for k, e in enumerate(design.passages)])
    if p.kind == "pair":
        first = np.array([i[0] for i in design.items])
        effect[first] += rng.normal(size=len(first)) * truth.passage
    else:
        effect = effect + rng.normal(size=len(effect)) * truth.passage
    corpora = {n: i for i, n in enumerate(study.corpora)}
    corpus = np.array([corpora[e.corpus] for e in design.passages])
    files = []
    for rater, name in enumerate(study.raters):
        taste = rng.normal(size=len(corpora)) * truth.taste
        lean = float(rng.normal() * truth.leniency)
        quality = effect + taste[corpus]
        answers: list[dict[str, Any]] = []
        for t in (t for t in design.trials if t.rater == rater):
            asleep = rater in truth.lazy or rng.random() < truth.careless
            if t.role == "check" and not asleep:
                value = t.expected
            else:
                value = _answer(study, t, np.zeros(len(quality)) if asleep else quality, 0.0 if asleep else lean, rng)
            seconds = round(float(rng.lognormal(3.0, 0.4)), 1)
            answers.append({"trial": t.code, "answer": value, "seconds": seconds, "at": f"{len(answers):06d}"})
        files.append({"format": ANSWERS, "study": study.name, "rater": name, "comment": "", "answers": answers})
    return files


def _answer(study: Study, trial: Trial, quality: Floats, lean: float, rng: np.random.Generator) -> Any:
    p, shown = study.protocol, list(trial.passages)
    if p.kind == "rating":
        shares = np.arange(1, len(p.scale)) / len(p.scale)
        thresholds = np.log(shares / (1 - shares))
        return int((quality[shown[0]] + lean + rng.logistic() > thresholds).sum())
    latent = quality[shown[0]] - quality[shown[1]] + lean + rng.logistic()
    cuts = np.array([-0.5, 0.5] if p.ties else [0.0])
    k = int((latent > cuts).sum())
    return SIDES[k] if p.ties else SIDES[2 * k]


def main() -> None:
    """Write ``answers-RATER.json`` of all raters of a study."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("effects", nargs="+", metavar="CORPUS=LOGITS", help="quality of each corpus")
    parser.add_argument("--lazy", type=int, nargs="*", default=(), help="numbers of raters who answer at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    effects = {name: float(logits) for name, _, logits in (e.rpartition("=") for e in options.effects)}
    truth = Truth(effects, lazy={number - 1 for number in options.lazy})
    for answers in simulated_answers(read_study(options.study), truth, options.seed):
        write_json(Path(f"answers-{answers['rater']}.json"), answers)


if __name__ == "__main__":
    main()
