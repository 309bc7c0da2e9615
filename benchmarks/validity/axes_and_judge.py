"""Repetition, rhythm, keyness, discourse and templates beside the judge of the long stories: one attempt.

Everything below was fixed before any of these critics was compared with the judge's scores:

* Texts and protocol are those of ``ranking.py``: critics fitted on stretches of 60 novels, the first 25,000 characters
  of each story, models with at least four judged stories, yardsticks as there. Each critic has its default parameters
  and is represented by its headline; every statistic that it reports is taken.
* Stories are whole documents, three stretches of each novel. ``keyness`` reads pieces of 1,000 words and, as in any
  comparison, chooses its terms from held-out novels and all stories together. ``templates`` (spaCy's tagger) reads the
  first 1,000 words and symbols, and is fitted on one stretch of each novel. ``diversity`` is left out: no model answers
  a prompt twice.
* Tables: ρ and ρ given the five yardsticks, of the headlines (Holm over five) and of all statistics (Holm over all).
* What a critic adds: ridge regression of the score on the ranks of all statistics of the critic, with both the model
  and the prompt of a story held out (``yardsticks.held_out``). Predictions are centred within prompts and averaged
  over the stories of a model. Printed: their ρ with the judge, and given the yardsticks, with intervals over models and
  over families; Holm over six rows (five critics, and all five together).
* Gains over the yardsticks in held-out ρ, of yardsticks and headlines, and of yardsticks and all statistics.

Run:  python benchmarks/validity/axes_and_judge.py [--out DIR] [--critics repetition,…]
Data: as for ``ranking.py``.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from ranking import (
    RESAMPLES,
    Reading,
    all_scores,
    associations,
    combine,
    family,
    measured,
    pieces,
    show,
    stories,
    whole,
)
from yardsticks import YARDSTICKS, held_out, over_groups, partial_spearman

from momus_critics.discourse import Discourse
from momus_critics.keyness import Keyness
from momus_critics.repetition import Repetition
from momus_critics.rhythm import Rhythm
from momus_critics.templates import Templates

AXES = {
    "repetition": Reading(Repetition),
    "rhythm": Reading(Rhythm),
    "keyness": Reading(Keyness, pieces, attend=True),
    "discourse": Reading(Discourse),
    "templates": Reading(partial(Templates, tagger="spacy", max_tokens=1000), whole, 1),
}


def added(judged: pd.DataFrame, sets: dict[str, list[str]]) -> None:
    """Print what predictions from the statistics of each critic add to the yardsticks, model and prompt held out."""
    frame = judged.copy()
    for label, names in sets.items():
        frame[label] = held_out(judged, names, ranks=True, kinds=("both",))["both"]
        frame[label] -= frame.groupby("prompt")[label].transform("mean")
    table = associations(frame, list(sets))
    show("Predictions with model and prompt held out (partial: given all five yardsticks)", table)
    print("\n| predictions | over families, given yardsticks |\n|---|---|")
    for label in sets:
        means = frame.groupby("model")[[label, "judge", *YARDSTICKS]].mean()
        x, y, controls = (means[k].to_numpy() for k in (label, "judge", list(YARDSTICKS)))
        groups = [family(str(m)) for m in means.index]
        low, high = over_groups(partial_spearman, groups, x, y, controls, resamples=RESAMPLES)
        print(f"| {label} | [{low:.2f}, {high:.2f}] |")


def main() -> None:
    """Score the stories and compare with the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-scores"), help="folder of scores, reused if present")
    parser.add_argument("--critics", default=",".join(AXES))
    a = parser.parse_args()
    critics = a.critics.split(",")
    table = stories()
    found, headlines = all_scores(table["text"].tolist(), critics, a.out, "start", AXES)
    judged = measured(table, found)
    print(f"{judged['model'].nunique()} models, {len(judged)} stories")
    # a constant statistic says nothing about any model
    names = [c for c in found.columns if np.ptp(judged[c].dropna()) > 0]
    heads = list(headlines.values())
    show("Critics by their headline (partial: given all five yardsticks)", associations(judged, heads))
    show(f"All {len(names)} statistics", associations(judged, names).sort_values("p"))
    sets = {critic: [n for n in names if n.startswith(f"{critic}: ")] for critic in critics}
    added(judged, {**sets, "all five": names})
    combine(
        judged,
        {
            "yardsticks": list(YARDSTICKS),
            "headlines": heads,
            "all statistics": names,
            "yardsticks and headlines": [*YARDSTICKS, *heads],
            "yardsticks and all statistics": [*YARDSTICKS, *names],
        },
    )


if __name__ == "__main__":
    main()
