"""Results in experiment trackers: what is sent, and what the real trackers have of it."""

import json
import re
from typing import ClassVar

import numpy as np
import pytest

import momus
from momus.cli.app import app
from momus.errors import MissingExtraError, MomusError, PluginError, UsageError
from momus.plugins import TRACKERS, registered
from momus_training import tracked
from momus_training.tracked import COLUMNS, ComparisonTracker, log_to, tracked_of

NAME = "mine/<b>1"
KEY = "momus/mine_b_1/length"


def texts(n, words, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(["sea", "ship", "wave", "sail"], rng.integers(words, 2 * words))) for _ in range(n)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    momus.compare(
        texts(40, 10, 0),
        {NAME: texts(40, 14, 1), "near": texts(40, 10, 2)},
        fit=texts(40, 10, 3),
        critics=["length", "symbol-share"],
        out=folder,
        permutations=199,
    )
    return folder


@pytest.fixture
def comparison(run):
    return momus.read_comparison(run)


def test_numbers_are_those_of_the_headline_verdicts(comparison):
    comparison.signature["command"] = "momus compare --real https://ann:hunter2@host/real.jsonl"
    tracked = tracked_of(comparison)
    (verdict,) = [v for v in comparison.verdicts if v.headline and v.generated == NAME and v.critic == "length"]
    low, high = verdict.gap_interval
    expected = {"gap": verdict.gap, "gap_low": low, "gap_high": high, "effect": verdict.effect, "differs": 1.0, "n": 40}
    assert {k: tracked.numbers[f"{KEY}/{k}"] for k in expected} == expected
    assert verdict.gap == pytest.approx(verdict.effect / verdict.band)
    assert len(tracked.rows) == len(tracked.table()) == 4
    assert all(np.isfinite(value) for value in tracked.numbers.values())
    assert tracked.numbers["momus/near/axes_tested"] <= 2
    assert tracked.settings["command"] == "momus compare --real https://***@host/real.jsonl"
    assert tracked.settings["documents of real"] == "40"
    assert not any(re.search(r"[^\w/.\-]", name) for name in tracked.numbers)


def test_what_does_not_exist_is_left_out(comparison):
    (untested,) = [
        v for v in comparison.verdicts if v.headline and v.generated == "near" and v.critic == "symbol-share"
    ]
    names = {name.rpartition("/")[2] for name in tracked_of(comparison).numbers if "/near/symbol-share/" in name}
    present = {k for k in ("effect", "difference", "p_adjusted") if getattr(untested, k) is not None}
    assert names & {"effect", "difference", "p_adjusted"} == present


class Recording(ComparisonTracker):
    """A tracker of somebody else, which keeps what it gets."""

    got: ClassVar[list] = []

    def send(self, tracked, place, *, run, step):
        Recording.got.append((tracked.report.read_text() if tracked.report else None, place, run, step))
        if place == "down":
            raise ConnectionError("no answer from https://ann:hunter2@host/v1")
        return f"place {place}"


def test_a_tracker_gets_the_report_only_if_it_may(comparison, monkeypatch):
    monkeypatch.setattr(tracked, "load_plugin", lambda group, name: Recording)
    Recording.got.clear()
    assert log_to(comparison, "own:here:there", step=4) == "place here:there"
    log_to(comparison, "own", run="r", report=False)
    (page, *first), second = Recording.got
    assert page.startswith("<!doctype html>") or page.lower().startswith("<!doctype")
    assert first == ["here:there", "momus", 4]
    assert second == (None, "", "r", None)
    with pytest.raises(MomusError, match=r"'own' failed: no answer from https://\*\*\*@host/v1(.|\n)*momus export RUN"):
        log_to(comparison, "own:down")


def test_unknown_trackers_and_missing_packages_are_named(comparison, monkeypatch):
    assert set(registered(TRACKERS)) >= {"wandb", "mlflow", "tensorboard"}
    with pytest.raises(PluginError, match=r"no tracker 'wanb'(.|\n)*did you mean 'wandb'"):
        log_to(comparison, "wanb:p")
    with pytest.raises(UsageError, match="names no tracker"):
        log_to(comparison, ":p")
    monkeypatch.setattr("momus.plugins.missing_packages", lambda distribution, extra: [extra])
    with pytest.raises(MissingExtraError, match=r"tracker 'wandb' needs wandb(.|\n)*\[wandb\]"):
        log_to(comparison, "wandb:p")


# The real trackers; each test is skipped where its package is not installed


def test_tensorboard_has_scalars_answer_and_report(run, comparison, tmp_path, capsys):
    pytest.importorskip("tensorboard", reason="pip install -e examples/training[tensorboard]")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for step in (1, 2):
        command = ["export", str(run), "--to", f"tensorboard:{tmp_path}", "--name", "r", "--step", str(step)]
        app(command, standalone_mode=False)
    shown = f"Sent to tensorboard, folder {tmp_path / 'r'}\nNext: tensorboard --logdir {tmp_path}\n"
    assert shown in capsys.readouterr().out
    events = EventAccumulator(str(tmp_path / "r")).Reload()
    numbers = tracked_of(comparison).numbers
    tags = set(events.Tags()["tensors"])
    assert set(numbers) | {"momus/answer", "momus/settings"} == tags
    points = events.Tensors(f"{KEY}/gap")
    assert [p.step for p in points] == [1, 2]
    assert points[0].tensor_proto.float_val[0] == pytest.approx(numbers[f"{KEY}/gap"], rel=1e-6)
    assert (tmp_path / "r" / "report-2.html").read_text().lower().startswith("<!doctype")


@pytest.mark.slow
def test_wandb_offline_run_has_numbers_table_and_report(comparison, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="pip install -e examples/training[wandb]")
    wandb.teardown()  # it keeps the folder in which it was first used
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", "k" * 32 + "hunter2k")
    monkeypatch.chdir(tmp_path)
    where = log_to(comparison, "wandb:team/project", run="r", step=7)
    (path,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    assert str(path.parent) in where
    content = path.read_bytes()  # records of protobuf, with values as JSON
    for name, value in tracked_of(comparison).numbers.items():
        if name.startswith(KEY):
            assert name.encode() in content
            assert (json.dumps(int(value)) if value.is_integer() else json.dumps(value)).encode() in content
    assert b"team" in content
    assert b"project" in content
    (table,) = path.parent.glob("files/media/table/momus/*.json")
    assert json.loads(table.read_text())["columns"] == list(COLUMNS)
    assert list(path.parent.glob("files/media/html/momus/report*.html"))
    stored = b"".join(p.read_bytes() for p in path.parent.rglob("*") if p.is_file())
    assert b"hunter2" not in stored, "the key is not stored"


@pytest.mark.slow
def test_wandb_active_run_is_used_and_stays_open(comparison, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="pip install -e examples/training[wandb]")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    with wandb.init(project="p", name="training") as active:
        assert "'training'" in log_to(comparison, "wandb", report=False)
        assert wandb.run is active
        assert active.summary[f"{KEY}/n"] == 40


@pytest.mark.slow
def test_mlflow_run_has_metrics_tags_and_artifacts(comparison, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="pip install -e examples/training[mlflow]")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hunter2")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    where = log_to(comparison, "mlflow:evaluation", run="r", step=3)
    client = mlflow.MlflowClient()
    (kept,) = client.search_runs([client.get_experiment_by_name("evaluation").experiment_id])
    assert kept.info.run_id in where
    assert (kept.info.run_name, kept.info.status) == ("r", "FINISHED")
    assert kept.data.metrics == tracked_of(comparison).numbers
    assert client.get_metric_history(kept.info.run_id, f"{KEY}/gap")[0].step == 3
    assert kept.data.tags["momus.documents_of_real"] == "40"
    names = {a.path.rpartition("/")[2] for a in client.list_artifacts(kept.info.run_id, "momus/step-3")}
    assert names == {"verdicts.json", "answer.md", "report.html"}
    stored = b"".join(p.read_bytes() for p in (tmp_path / "store").rglob("*") if p.is_file())
    assert b"hunter2" not in stored
    with mlflow.start_run() as active:
        log_to(comparison, "mlflow", report=False)
        assert mlflow.active_run().info.run_id == active.info.run_id
    assert client.get_run(active.info.run_id).data.metrics[f"{KEY}/n"] == 40
