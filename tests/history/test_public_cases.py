"""What public threads ask of a comparison of two runs, each on a small input of its own."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import momus
from momus import read_corpus
from momus.cli.app import app
from momus.errors import GateFailed, UsageError
from momus.history.gate import gate_run
from momus.history.rules import Rules
from momus.joint.better import Preference

RNG = np.random.default_rng(0)


def written(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def words(n):
    return " ".join(["word"] * int(n)) + "."


def answered(correct, ids=None, groups=None):
    rows = [{"id": f"{i}", "prompt_id": f"p{i}", "text": words(20), "correct": bool(c)} for i, c in enumerate(correct)]
    for row, group in zip(rows, groups if groups is not None else [None] * len(rows), strict=True):
        row |= {} if group is None else {"group_id": f"g{group}"}
    return rows if ids is None else [rows[i] for i in ids]


def gated(folder, old, new, **options):
    """The gate on whether answers are as often correct as before."""
    texts = [written(folder / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))]
    run = folder / "run"
    versions = {"against": {"old": texts[0]}, "generated": {"new": texts[1]}, "better": ("label:correct=higher",)}
    momus.compare(**versions, critics=["length"], out=run, overwrite=True, **options)
    (check,) = gate_run(run, Rules(better=(Preference.parse("label:correct=higher"),))).checks
    return check


def test_of_several_labels_one_is_named(tmp_path):
    """The one that most answers have is not the better one: a version that fails more must not count as better."""
    verdicts = {"old": OLD, "new": BROKEN}
    texts = {}
    for name, correct in verdicts.items():
        rows = [row | {"verdict": "pass" if row["correct"] else "fail"} for row in answered(correct)]
        texts[name] = written(tmp_path / f"{name}.jsonl", rows)
    line = ["gate", str(tmp_path / "run"), "--against", f"old={texts['old']}", "-g", f"new={texts['new']}"]
    line += ["-c", "length", "--better"]
    done = CliRunner().invoke(app, [*line, "label:verdict=higher"])
    assert isinstance(done.exception, UsageError)
    assert "label:verdict.fail_share=higher" in done.exception.hint
    done = CliRunner().invoke(app, [*line, "label:verdict.pass_share=higher"])
    assert isinstance(done.exception, GateFailed)


OLD = RNG.random(220) < 0.5
BROKEN = np.where(OLD & (np.cumsum(OLD) <= 14), False, OLD)
"""14 of 220 answers that were correct are not any more: 6.4 points, p = .18 by a test of two samples."""


def test_two_runs_on_the_same_documents_are_compared_pair_by_pair(tmp_path):
    """EleutherAI/lm-evaluation-harness#3831: a z-test of two samples misses what McNemar's test finds."""
    paired = gated(tmp_path, answered(OLD), answered(BROKEN))
    assert (paired.status, round(paired.value * 220)) == ("failed", 14)
    apart = gated(tmp_path, answered(OLD), answered(BROKEN), paired=False)
    assert apart.status == "passed"
    assert apart.value == pytest.approx(paired.value)
    assert apart.high - apart.low > 2 * (paired.high - paired.low)


def test_samples_are_matched_by_id_and_clusters_counted_once(tmp_path):
    """UKGovernmentBEIS/inspect_ai#2176: match by sample id, test pairs, account for clustering."""
    straight = gated(tmp_path, answered(OLD), answered(BROKEN))
    assert gated(tmp_path, answered(OLD), answered(BROKEN, ids=RNG.permutation(220))) == straight
    # all that broke belongs to one cluster of seven
    groups = np.minimum(np.arange(220) // 32, 6)
    clustered = gated(tmp_path, answered(OLD, groups=groups), answered(BROKEN, groups=groups))
    assert clustered.status == "passed"
    assert clustered.high - clustered.low > 1.5 * (straight.high - straight.low)


@pytest.mark.parametrize(("prompts", "sure"), [(50, False), (500, True)])
def test_counts_of_wins_say_whether_they_may_be_chance(tmp_path, prompts, sure):
    """confident-ai/deepeval#3161: 30 of 50 and 300 of 500 wins are not the same news."""
    sizes = RNG.integers(20, 40, prompts)
    longer = np.where(np.arange(prompts) % 5 < 3, 3, -3)
    sides = [
        [{"id": f"{i}", "prompt_id": f"p{i}", "text": words(n)} for i, n in enumerate(x)]
        for x in (sizes, sizes + longer)
    ]
    old, new = (read_corpus(written(tmp_path / f"{k}.jsonl", rows)) for k, rows in zip("ab", sides, strict=True))
    found = momus.compare(against={"old": old}, generated={"new": new}, critics=["length"])
    win = next(w for w in found.joint.wins if w.statistic == "mean_length")
    assert (win.more, win.prompts) == (0.6 * prompts, prompts)
    assert win.low < 0.6 < win.high
    assert (win.low > 0.5, win.p < 0.05) == (sure, sure)


def test_a_broken_slice_fails_although_the_mean_is_well(tmp_path):
    """A gate on the mean alone passes where one task in five loses a third, and the others gain."""
    rows = {"old": [], "new": []}
    for i in range(200):
        task, size = ("code" if i % 5 == 0 else f"task{i % 5}"), int(RNG.integers(40, 80))
        for name, share in (("old", 1.0), ("new", 0.67 if task == "code" else 1.09)):
            row = {"id": f"{i}", "prompt_id": f"p{i}", "task": task, "text": words(round(share * size))}
            rows[name].append(row)
    texts = {name: written(tmp_path / f"{name}.jsonl", of) for name, of in rows.items()}
    line = [
        "gate",
        str(tmp_path / "run"),
        "--against",
        f"old={texts['old']}",
        "-g",
        f"new={texts['new']}",
        "-c",
        "length",
    ]
    line += ["--better", "length=more", "--max", "length=10 % worse"]
    assert CliRunner().invoke(app, [*line, "--by", ""]).exit_code == 0
    done = CliRunner().invoke(app, [line[0], f"{line[1]}-by-task", *line[2:]])
    assert isinstance(done.exception, GateFailed)
    assert "length of documents in code" in done.exception.message
    assert "of documents in task" not in done.exception.message
    # all slices moved: the one that changed most is named first
    assert "differs in every slice, most in code, 40 of 200 answers: 3" in done.output


def test_a_chosen_answer_that_is_longer_in_all_pairs_is_shown_to_be_longer(tmp_path):
    """Each by the same number of words: a difference without error is no reason not to decide."""
    sizes = RNG.integers(30, 60, 200)
    rows = [{"prompt": f"q{i}", "chosen": words(n + 9), "rejected": words(n)} for i, n in enumerate(sizes)]
    file = written(tmp_path / "pairs.jsonl", rows)
    line = ["gate", str(tmp_path / "run"), "--pairs", file, "-c", "length", "--better"]
    done = CliRunner().invoke(app, [*line, "length=lower"])
    assert isinstance(done.exception, GateFailed)
    assert "longer (mean length" in done.exception.message
    assert "worse by +9, interval [+" in done.exception.message
    assert CliRunner().invoke(app, [*line, "length=higher"]).exit_code == 0
