"""Which axes move when nothing but a sign changes: bullets, quotation marks, line ends (`signs.CHANGES`).

Critics are fitted on answers of models to some prompts, and compare 200 answers to other prompts with the same answers
after a change. Told is the largest gap over the statistics of an axis, in human bands of the atlas; of a distance, all
of it and not only what is beyond chance. Critics that such answers cannot be scored by are told too.

Run:  python benchmarks/validity/sign_invariance.py [--answers 200] [--critics length,unigram] [--changes CRLF,…]
      [--rows]
Data: ``answers`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from signs import CHANGES
from studies import data

from momus import Corpus, read_corpus
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import settled
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.errors import MomusError
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import total
from momus.plugins import CRITICS, registered
from momus.verdicts.judge import judge, same_columns
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import all_statistics

MODELS = ("gpt-4o-2024-05-13", "claude-3-opus-20240229", "gemini-pro", "wizardlm-70b")
"""Models with different layouts; the answers to a prompt stand for those of one model."""
FITTED = 200
PARAMS: dict[str, dict[str, Any]] = {"passages": {"piece_length": 30}, "templates": {"tagger": "spacy"}}
"""Answers are short for passages; templates need a tagger."""
ROUNDING = 1e-9
LIMIT = 0.1
"""Largest gap, in human bands, of an axis that does not look at signs."""
OF_SIGNS = ("layout", "marks")
SETTINGS = Settings(permutations=19, resamples=9)
"""No test is read: effects and bands alone."""


def answers(fitted: int, tested: int) -> tuple[Corpus, Corpus]:
    """Answers to fit on, and others to prompts that follow."""
    corpora = [read_corpus(data() / "answers" / f"{model}.jsonl.gz") for model in MODELS]
    by_prompt = [d for documents in zip(*corpora, strict=True) for d in documents]
    cut = by_prompt[:fitted], by_prompt[fitted : fitted + tested]
    return tuple(  # type: ignore[return-value]  # a tuple of two
        Corpus.from_texts([d.text for d in part], [d.id for d in part], [d.prompt for d in part], name)
        for part, name in zip(cut, ("fitted", "answers"), strict=True)
    )


def changed(corpus: Corpus, change: Callable[[str], str]) -> Corpus:
    """The documents after a change."""
    texts = [change(d.text) for d in corpus]
    return Corpus.from_texts(texts, corpus.ids, [d.prompt for d in corpus], "changed")


@dataclass(frozen=True)
class Move:
    """How far a change moves a statistic, in human bands; NaN where it has no band."""

    change: str
    statistic: str
    bands: float
    before: float | None
    after: float | None


def moves(critic: Critic[Any], before: Corpus, after: Mapping[str, Corpus]) -> Iterator[Move]:
    """What each change moves of a fitted critic."""
    scores = critic.score(before)
    for name, corpus in after.items():
        others = critic.score(corpus)
        if same_rows(scores, others):
            yield Move(name, "", 0.0, None, None)
            continue
        distances = {} if isinstance(critic, RunningTextCritic) else raw_distances(critic, scores, others)
        for v in judge(critic, scores, others, SETTINGS):
            size = distances.get(v.statistic, v.effect)
            bands = math.nan if size is None or not v.band else abs(size) / v.band
            yield Move(name, v.statistic, bands, v.real_value, v.generated_value)


def same_rows(one: Scores, other: Scores) -> bool:
    """Whether all rows of two tables are equal but for rounding; tests would find no difference."""
    rows = one.test_rows(), other.test_rows()
    if not np.array_equal(one.scored, other.scored):
        return False
    for key in rows[0]:
        sides = same_columns({key: rows[0][key]}, {key: rows[1][key]})
        a, b = (side[key] for side in sides)
        if a.shape != b.shape or abs(a - b).max() > ROUNDING * abs(a).max():
            return False
    return True


def raw_distances(critic: Critic[Any], one: Scores, other: Scores) -> dict[str, float]:
    """The distances of a critic as they are, of which a verdict takes off what chance makes."""
    distances = {}
    for s in all_statistics(critic, list(one.rows)):
        if s.kind == "distance":
            sides = same_columns({s.rows: one.test_rows()[s.rows]}, {s.rows: other.test_rows()[s.rows]})
            distances[s.name] = float(both_values(s, Prepared(*(total(side[s.rows]) for side in sides)))[1][0])
    return distances


def largest(found: Sequence[Move]) -> dict[str, Move]:
    """The largest move, by the name of the change."""
    known = [m for m in found if not math.isnan(m.bands)]
    return {m.change: m for m in sorted(known, key=lambda m: m.bands)}


def main() -> None:
    """Measure and print, a line per critic; then the changes that change none of the answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--critics", default="")
    parser.add_argument("--changes", default="")
    parser.add_argument("--rows", action="store_true", help="print every row that moves by more than the limit")
    args = parser.parse_args()
    fit, before = answers(FITTED, args.answers)
    names = args.changes.split(",") if args.changes else list(CHANGES)
    after = {name: changed(before, CHANGES[name]) for name in names}
    texts = {d.id: d.text for d in before}
    touched = {name: sum(d.text != texts[d.id] for d in corpus) for name, corpus in after.items()}
    measured: dict[str, dict[str, Move]] = {}
    for name in args.critics.split(",") if args.critics else sorted(registered(CRITICS)):
        try:
            (critic,) = make_critics([name], {name: PARAMS.get(name, {})})
            critic.fit(fit)
            settled(critic, [before])
            found = list(moves(critic, before, after))
        except MomusError as error:
            print(f"{name:15} not measured: {str(error).splitlines()[0]}", flush=True)
            continue
        measured[name] = largest(found)
        top = max(measured[name].values(), key=lambda m: m.bands)
        over = sum(m.bands > LIMIT for m in measured[name].values())
        print(
            f"{name:15} {top.bands:8.3f} {top.statistic:25} {top.change:27} {over:3} of {len(after)} beyond", flush=True
        )
        for m in found if args.rows else ():
            if m.bands > LIMIT:
                print(f"    {m.change:27} {m.statistic:25} {m.bands:8.3f}  {m.before} → {m.after}", flush=True)
    print({name: count for name, count in touched.items() if not count})


if __name__ == "__main__":
    main()
