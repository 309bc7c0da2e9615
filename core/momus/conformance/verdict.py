"""Checks of statistics, verdicts, evidence and saved critics."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from momus.arguments import arg
from momus.conformance import corpora
from momus.conformance.subject import Skip, Subject, assert_same, not_used
from momus.critic import EvidenceMixin, RunningTextCritic, StatisticsMixin
from momus.critic.hooks import DeviceMixin, moved, row_unit, scored_units
from momus.critic.powers import headline_of
from momus.critic.registry import family_class
from momus.critic.scores import Scores
from momus.evidence import Evidence, from_json, to_json
from momus.text.corpus import Corpus
from momus.verdicts.judge import judge
from momus.verdicts.statistics import all_statistics, shown_statistic, wordings

SPLITS = 12
MOST_ALARMS = 4
"""More than 4 alarms in 12 independent tests at 5 % have probability 0.0002 (splits overlap: a rough bound)."""

LONGEST_PHRASE = 6
"""Words of a direction, at most."""
ORDINARY, LONG = 20, 20_000
"""Ordinary documents beside the odd ones of `corpora.edges`, none of them with so many characters."""


def statistics_are_sound(s: Subject) -> None:
    """Statistics have unique names and pool existing rows; the headline is one of them."""
    rows = s.scores.test_rows()
    statistics = all_statistics(s.fitted, list(s.scores.rows)) if not isinstance(s.critic, RunningTextCritic) else []
    names = [x.name for x in statistics]
    assert len(set(names)) == len(names), f"two statistics have the same name: {names}"
    for x in statistics:
        assert x.rows in rows, f"statistic {x.name!r} pools rows {x.rows!r}, which do not exist"
    if isinstance(s.critic, RunningTextCritic):
        names = [v.statistic for v in judge(s.fitted, s.scores, s.scores, permutations=99, resamples=99)]
    assert headline_of(s.fitted) in names, f"headline {headline_of(s.fitted)!r} is not one of {names}"


def directions_are_phrases(s: Subject) -> None:
    """What generated text is if a statistic is lower or higher is said in a few words, in two ways."""
    rows = list(s.scores.rows)
    if not shown_statistic(s.fitted, rows):
        raise Skip("no statistic of the critic has a direction")
    words = wordings(s.fitted, rows)
    known = {"latent_nll", "latent_ppl", "posterior_entropy"}
    unknown = sorted(set(s.fitted.reporting.directions) - known)
    assert not unknown, f"`directions` names {', '.join(unknown)}: give own statistics their direction themselves"
    for name, wording in words.items():
        for phrase in wording.direction:
            assert phrase.strip(), f"a direction of statistic {name!r} is empty"
            assert len(phrase.split()) <= LONGEST_PHRASE, (
                f"direction {phrase!r} of statistic {name!r} is too long: say in at most {LONGEST_PHRASE} words what "
                "generated documents are"
            )


def held_out_text_is_not_flagged(s: Subject) -> None:
    """Random halves of held-out real text are rarely told apart."""
    if isinstance(s.critic, RunningTextCritic):
        raise Skip("blocks of one text depend on each other; `momus calibrate` measures false alarms")
    alarms = 0
    row_of = {id: row for row, id in enumerate(s.scores.ids)}
    for seed in range(SPLITS):
        halves = s.held_out.split(0.5, seed, ("real", "other"))
        if seed and row_unit(s.critic) == "document":  # other checks ensure that a document's score is its own
            a, b = (s.scores.take(np.array([row_of[id] for id in half.ids]), half.name) for half in halves)
        else:
            a, b = (s.fitted.score(half) for half in halves)
        (headline,) = judge(s.fitted, a, b, only_headline=True, permutations=199, resamples=99, seed=seed)
        alarms += headline.p is not None and headline.p <= 0.05
    assert alarms <= MOST_ALARMS, f"{alarms} of {SPLITS} random halves of the same text are told apart at 5 %"


def different_documents_get_different_scores(s: Subject) -> None:
    """Very different documents do not all get the same score: the headline has something to compare."""
    if isinstance(s.critic, RunningTextCritic):
        nll = s.scores.nll[s.scores.scored]
        if len(nll) < 2:
            raise Skip(f"held-out text has {len(nll)} scored {row_unit(s.critic)}s")
        assert np.ptp(nll) > 0, f"all {len(nll)} {row_unit(s.critic)}s of held-out text have Latent NLL {nll[0]:g}"
        return
    some = [*s.held_out.take(np.arange(min(len(s.held_out), ORDINARY))), *s.beside(corpora.edges())]
    varied = Corpus.from_documents([d for d in some if len(d.text) < LONG], name="varied")
    a, b = (s.fitted.score(half) for half in varied.split(0.5, 0, ("real", "other")))
    (headline,) = judge(s.fitted, a, b, only_headline=True, permutations=99, resamples=99)
    if not (a.n_scored and b.n_scored):
        raise Skip("too few documents of very different texts are scored")
    assert headline.p is not None, (
        f"{a.n_scored + b.n_scored} documents, from ordinary ones to a single word and Greek, are all alike "
        f"({headline.method.reason}): project() or log_prior() does not depend on the text, or "
        f"these texts hold nothing that the critic looks at: check it on your own with {arg('corpus')}"
    )


def evidence_serialises(s: Subject) -> None:
    """Evidence and marked documents survive a round trip through JSON."""
    critic, items = s.fitted, list[Evidence]()
    if isinstance(critic, EvidenceMixin):
        items += critic.evidence(s.scores.summary, s.scores.summary)
    if isinstance(critic, EvidenceMixin) and s.scores.reasons[0] is None:
        marked = critic.explain(scored_units(critic, s.held_out).slice(0, 1))
        items += [marked] if marked is not None else []
    for item in items:
        text = json.dumps(to_json(item), allow_nan=False)
        copied = json.dumps(to_json(from_json(json.loads(text))), allow_nan=False)
        # equal as data: a whole number of a series is read as 1.0
        assert json.loads(copied) == json.loads(text), f"{item.name!r} changes in JSON"  # type: ignore[union-attr]
    if not items:
        raise Skip(f"the critic has no evidence{not_used(s.critic, EvidenceMixin)}")


def saved_critics_score_alike(s: Subject) -> None:
    """A critic gives the same scores after saving and loading."""
    with tempfile.TemporaryDirectory() as folder:
        s.fitted.save(folder)
        loaded = type(s.critic).load(folder, trust=True)
        assert loaded.get_params() == s.critic.get_params(), "saving and loading changes parameters"
        assert_same(s.scores, loaded.score(s.held_out), "after saving and loading")


def saved_critics_load_in_a_fresh_process(s: Subject) -> None:
    """A new process loads the critic and gives the same scores."""
    cls = type(s.critic)
    if "<locals>" in cls.__qualname__ or cls.__module__ == "__main__":
        raise Skip("no other process can import the class, which is defined in a function or a script")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        s.fitted.save(folder / "critic")
        sample = s.held_out.take(np.arange(min(len(s.held_out), 20)))
        import pyarrow.parquet as pq

        pq.write_table(sample.table, folder / "text.parquet")
        class_of = f"importlib.import_module({cls.__module__!r}).{cls.__qualname__}"
        if family_class(cls.name) is cls:
            class_of = f"importlib.import_module('momus.critic.registry').critic_class({cls.name!r})"
        script = (
            "import sys, json, importlib; sys.path[:0] = json.loads(sys.argv[1]);"
            "import pyarrow.parquet as pq; from momus.text.corpus import Corpus;"
            f"cls = {class_of};"
            "corpus = Corpus(pq.read_table(sys.argv[3]), 'text');"
            "scores = cls.load(sys.argv[2], trust=True).score(corpus);"
            "print(json.dumps([scores.nll.astype(object).tolist(), scores.steps.tolist(), list(scores.reasons)]))"
        )
        arguments = [json.dumps(sys.path), str(folder / "critic"), str(folder / "text.parquet")]
        done = subprocess.run(
            [sys.executable, "-P", "-c", script, *arguments], capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode and "No module named" in done.stderr:
            raise Skip(f"another process cannot import module {cls.__module__!r}")
        assert done.returncode == 0, f"loading in a new process fails: {done.stderr.strip().splitlines()[-1]}"
        nll, steps, reasons = json.loads(done.stdout.strip().splitlines()[-1])
    mine = s.fitted.score(sample)
    theirs = Scores(mine.critic, mine.corpus, mine.ids, mine.prompts, np.array(nll, float), np.array(steps), reasons)
    assert_same(mine, theirs, "in a new process")


def devices_are_respected(s: Subject) -> None:
    """Scoring after ``to("cpu")`` gives the same scores."""
    if not isinstance(s.critic, DeviceMixin):
        raise Skip("the critic uses no device")
    assert_same(s.scores, moved(s.refitted, "cpu").score(s.held_out), "on the CPU")


def critics_without_latents_have_statistics(s: Subject) -> None:
    """A critic of a whole corpus has statistics, and no Latent NLL of documents."""
    assert isinstance(s.critic, StatisticsMixin), "the critic has neither latents nor statistics"
    assert s.fitted.statistics(), "statistics() is empty: there is nothing to compare"  # type: ignore[attr-defined]
    scored = s.scores.nll[s.scores.scored]
    assert not scored.any(), "log_prior() is not 0: derive from momus.Critic if documents have latents"
