"""Checks of statistics, verdicts, evidence, and of saved critics."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from momus.comparison.judge import all_statistics, judge
from momus.conformance.records import Skip
from momus.conformance.subject import Subject, same_scores, worst
from momus.critic import EvidenceMixin, ExplanationMixin, RunningTextCritic, Scores
from momus.evidence import Evidence, from_json, to_json

SPLITS = 12
MOST_ALARMS = 4
"""Of 12 independent tests at 5 %, more than 4 alarms have probability 0.0002 (the splits overlap: a rough bound)."""


def statistics_are_sound(s: Subject) -> None:
    """Statistics have names of their own, pool rows that exist, and hold the headline."""
    rows = s.scores.test_rows()
    statistics = all_statistics(s.fitted, list(s.scores.rows)) if not isinstance(s.given, RunningTextCritic) else []
    names = [x.name for x in statistics]
    assert len(set(names)) == len(names), f"two statistics have one name: {names}"
    for x in statistics:
        assert x.rows in rows, (
            f"statistic {x.name!r} pools rows {x.rows!r}, which are not there"
        )
    if not isinstance(s.given, RunningTextCritic):
        assert s.fitted.headline_statistic in names, f"headline {s.fitted.headline_statistic!r} is none of {names}"
    else:
        found = [v.statistic for v in judge(s.fitted, s.scores, s.scores, permutations=99, resamples=99)]
        assert s.fitted.headline_statistic in found, f"headline {s.fitted.headline_statistic!r} is none of {found}"


def held_out_text_is_not_flagged(s: Subject) -> None:
    """Two halves of held-out real text are not told apart, but for the odd false alarm."""
    if isinstance(s.given, RunningTextCritic):
        raise Skip("blocks of one text hang together; false alarms are measured by `momus calibrate`")
    alarms = 0
    for seed in range(SPLITS):
        a, b = (s.fitted.score(part) for part in s.held_out.split(0.5, seed, ("real", "other")))
        (headline,) = [v for v in judge(s.fitted, a, b, permutations=199, resamples=99, seed=seed) if v.headline]
        alarms += headline.p is not None and headline.p <= 0.05
    assert alarms <= MOST_ALARMS, f"{alarms} of {SPLITS} random halves of the same text are told apart at 5 %"


def evidence_serialises(s: Subject) -> None:
    """Evidence and explained documents turn into JSON and back."""
    critic, items = s.fitted, list[Evidence]()
    if isinstance(critic, EvidenceMixin):
        items += critic.evidence(s.scores.summary, s.scores.summary)
    if isinstance(critic, ExplanationMixin) and s.scores.reasons[0] is None:
        marked = critic.explain(critic.units(s.held_out).slice(0, 1))
        items += [marked] if marked is not None else []
    for item in items:
        text = json.dumps(to_json(item), allow_nan=False)
        assert json.dumps(to_json(from_json(json.loads(text))), allow_nan=False) == text, f"{item.name!r} changes"  # type: ignore[union-attr]
    if not items:
        raise Skip("the critic shows no evidence")


def saved_critics_score_alike(s: Subject) -> None:
    """A saved critic, loaded, gives the same scores."""
    with tempfile.TemporaryDirectory() as folder:
        s.fitted.save(folder)
        again = type(s.given).load(folder)
        assert again.get_params() == s.given.get_params(), "parameters change on the way"
        found = again.score(s.held_out)
        assert same_scores(s.scores, found), f"a loaded critic scores otherwise: {worst(s.scores, found)}"


def saved_critics_load_in_a_fresh_process(s: Subject) -> None:
    """A process that has seen nothing of the fit loads the critic and gives the same scores."""
    cls = type(s.given)
    if "<locals>" in cls.__qualname__ or cls.__module__ == "__main__":
        raise Skip("the class is defined inside of a function or script, so that no other process can import it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        s.fitted.save(folder / "critic")
        sample = s.held_out.take(np.arange(min(len(s.held_out), 20)))
        import pyarrow.parquet as pq

        pq.write_table(sample.table, folder / "text.parquet")
        script = (
            "import sys, json, importlib; sys.path[:0] = json.loads(sys.argv[1]);"
            "import pyarrow.parquet as pq; from momus.text.corpus import Corpus;"
            f"cls = importlib.import_module({cls.__module__!r}).{cls.__qualname__};"
            "corpus = Corpus(pq.read_table(sys.argv[3]), 'text');"
            "scores = cls.load(sys.argv[2]).score(corpus);"
            "print(json.dumps([scores.nll.astype(object).tolist(), scores.steps.tolist(), list(scores.reasons)]))"
        )
        arguments = [json.dumps(sys.path), str(folder / "critic"), str(folder / "text.parquet")]
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode and "No module named" in done.stderr:
            raise Skip(f"module {cls.__module__!r} cannot be imported by another process")
        assert done.returncode == 0, f"loading in a fresh process fails: {done.stderr.strip().splitlines()[-1]}"
        nll, states, reasons = json.loads(done.stdout.strip().splitlines()[-1])
    mine = s.fitted.score(sample)
    theirs = Scores(mine.critic, mine.corpus, mine.ids, mine.prompts, np.array(nll, float), np.array(states), reasons)
    assert same_scores(mine, theirs), f"a fresh process scores otherwise: {worst(mine, theirs)}"


def devices_are_respected(s: Subject) -> None:
    """Scoring on the CPU, said so, gives the same scores."""
    if not s.given.uses_device:
        raise Skip("the critic uses no device")
    critic = s.fit(s.fit_text).to("cpu")
    found = critic.score(s.held_out)
    assert same_scores(s.scores, found), f"on the CPU: {worst(s.scores, found)}"


CHECKS = (
    statistics_are_sound,
    held_out_text_is_not_flagged,
    evidence_serialises,
    saved_critics_score_alike,
    saved_critics_load_in_a_fresh_process,
    devices_are_respected,
)
