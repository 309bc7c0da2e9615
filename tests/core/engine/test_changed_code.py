"""The code of a critic is part of every key: what other code computed is computed again, and said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.core.engine import changed_code
from tests.core.engine.changed_code import AFTER, BEFORE, calibrated, compared

STEPS = Path(changed_code.__file__)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name, n, mean in (("real", 60, 30), ("made", 40, 12), ("fit", 60, 30)):
        texts = [" ".join(rng.choice(["ab", "cd", "ef"], 1 + rng.poisson(mean))) for _ in range(n)]
        lines = [json.dumps({"id": f"{name}{i}", "text": t}) for i, t in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "mine.py").write_text(BEFORE)
    return tmp_path


def in_another_process(folder, step):
    command = [sys.executable, str(STEPS), str(folder), step]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.partition("RESULT ")[2])


def in_this_process(folder, step):
    return json.loads(json.dumps(getattr(changed_code, step)(folder)))


@pytest.mark.parametrize("run", [in_this_process, pytest.param(in_another_process, marks=pytest.mark.slow)])
def test_a_critic_that_was_edited_is_fitted_scored_and_measured_again(folder, run):
    run(folder, "before")
    (folder / "mine.py").write_text(AFTER)
    found = run(folder, "after")
    fresh = {"compared": compared(folder)["values"], "calibrated": calibrated(folder)["values"]}
    fresh = json.loads(json.dumps(fresh))
    assert found["reuse"]["values"] == found["resume"]["values"] == fresh["compared"]
    said = " ".join(found["reuse"]["warnings"])
    assert f"Critic 'mine' was fitted again: its code has changed since ({folder / 'run'})." in said
    said = " ".join(found["resume"]["warnings"])
    assert "Critic 'mine' was computed again: its code has changed since." in said
    assert "cannot be resumed: changed since it was begun: the code of 'mine': its code" in found["score"]["refused"]
    assert found["calibrate"]["values"] == fresh["calibrated"]
    said = " ".join(found["calibrate"]["warnings"])
    assert "Critic 'mine' was fitted and measured again: its code has changed since." in said


def test_code_that_did_not_change_is_taken_over(folder):
    first = in_another_process(folder, "before")
    found = in_another_process(folder, "after")
    assert not [w for r in found.values() for w in r.get("warnings", ()) if " again: " in w]
    assert found["score"] == {"scored": 20}, "the part that was missing"
    assert found["calibrate"]["values"] == first["calibrate"]["values"]


def test_a_run_without_digests_is_read_and_never_taken_over(folder):
    from momus.comparison import read_comparison
    from momus.history.kept import KeptRun, changed_inputs, incomparable
    from momus.runs.manifest import write_manifest

    for name in ("run", "other"):
        compared(folder, out=folder / name)
    older = folder / "run"
    for path in (older / "run.json", older / "critics" / "mine" / "result.json"):
        content = json.loads(path.read_text())
        for record in (content.get("signature", {}), content, *content.get("critics", ())):
            record.pop("source", None)
            record.get("fitted_on", {}).pop("source", None)
        path.write_text(json.dumps(content))
    without_source(older / "critics" / "mine")
    for written in (older / "critics" / "mine", older):
        write_manifest(written)
    assert "length" in str(read_comparison(older))
    runs = KeptRun.read(older), KeptRun.read(folder / "other")
    assert incomparable(*runs, "mine") == ""
    (change,) = [c for c in changed_inputs(*runs) if c.kind == "code"]
    assert (change.name, change.before) == ("momus", "")
    said = " ".join(compared(folder, reuse=older)["warnings"])
    assert "fitted again: an older version of Momus did not note its code" in said
    said = " ".join(compared(folder, out=older, resume=True)["warnings"])
    assert "computed again: an older version of Momus did not note its code" in said


def without_source(critic):
    """Make a saved critic one of an older version."""
    from momus.critic.saved import _content_digest

    path = critic / "critic.json"
    content = json.loads(path.read_text())
    del content["state"]["fitted_on_"]["source"]
    content["sha256"]["content"] = _content_digest(content)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


@pytest.mark.slow
def test_a_change_of_core_is_said_once_for_all_critics(tmp_path, monkeypatch):
    import momus
    from momus.critic.source import source_digest

    def changed(critic):
        return {**source_digest(critic), "core": "other"}

    rng = np.random.default_rng(0)
    fit, real, made = ([" ".join(rng.choice(["ab", "cd", "ef"], 20)) for _ in range(40)] for _ in range(3))
    critics = ["length", "unigram", "type-token", "repetition", "rank-frequency", "symbol-share"]
    options = {"fit": fit, "critics": critics, "permutations": 99}
    momus.compare(real, {"made": made}, out=tmp_path / "run", **options)
    monkeypatch.setattr("momus.engine.reuse.source_digest", changed)
    for more, what in (
        ({"reuse": tmp_path / "run"}, "fitted"),
        ({"out": tmp_path / "run", "resume": True}, "computed"),
    ):
        (said,) = [w for w in momus.compare(real, {"made": made}, **options, **more).warnings if " again: " in w]
        listed = "'length', 'unigram', 'type-token', 'repetition' and 2 others"
        assert said.startswith(f"Critics {listed} were each {what} again: the code of Momus has changed since")


def test_runs_of_different_code_are_not_compared(folder):
    from momus.errors import UsageError
    from momus.history.diff import diff_runs
    from momus.history.kept import KeptRun, changed_inputs
    from momus.history.view import input_line

    compared(folder, out=folder / "old")
    (folder / "mine.py").write_text(AFTER)
    compared(folder, out=folder / "new")
    with pytest.raises(UsageError, match="mine: its code differs"):
        diff_runs(folder / "old", folder / "new")
    changes = changed_inputs(KeptRun.read(folder / "old"), KeptRun.read(folder / "new"))
    assert [input_line(c) for c in changes] == ["code of critic mine: changed"]


def test_rows_of_other_code_are_said_to_be_such(folder):
    import momus
    from momus.critic.registry import make_critics, named
    from momus.engine.scoring import score_parts
    from momus.errors import StoreError

    (critic,) = make_critics([named(f"{folder}/mine.py:Mine")])
    critic.fit(folder / "fit.jsonl").save(folder / "fitted")
    for name in ("real", "made"):
        score_parts([folder / "fitted"], [folder / f"{name}.jsonl"], folder / f"rows-{name}")
    rows = folder / "rows-real", {"made": folder / "rows-made"}
    assert not [w for w in momus.compare(*rows, permutations=99).warnings if "present code" in w]
    (folder / "mine.py").write_text(AFTER)
    named(f"{folder}/mine.py:Mine")
    (said,) = [w for w in momus.compare(*rows, permutations=99).warnings if "present code" in w]
    assert "Critic 'mine' scored the rows" in said
    assert "its code has changed since" in said
    score_parts([folder / "fitted"], [folder / "made.jsonl"], folder / "rows-made", overwrite=True)
    with pytest.raises(StoreError, match="was scored by other code of 'mine'"):
        momus.compare(*rows, permutations=99)
