"""The composite action, by running its steps as GitHub does, and the hook for commits."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "examples" / "gate" / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}


def run_step(name, folder, **inputs):
    """Run a step in a folder with inputs, the others by default."""
    values = {key: given.get("default", "") for key, given in ACTION["inputs"].items()} | inputs
    step = STEPS[name]
    filled = {k: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], v) for k, v in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    github = {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    env = {**os.environ, **github, **filled, "PATH": path}
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers of a version, of one that cuts them off, and of one like the first."""
    where = tmp_path_factory.mktemp("action")
    for name, cut in (("old", 60), ("same", 60), ("cut", 12)):
        rows = (
            {"id": f"{i}", "prompt_id": f"{i}", "text": " ".join(f"word{i * k % 7}" for k in range(cut + i % 5)) + "."}
            for i in range(60)
        )
        (where / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return where


@pytest.mark.parametrize(("generated", "code"), [pytest.param("same", 0, marks=pytest.mark.slow), ("cut", 7)])
def test_a_build_passes_or_stops(folder, generated, code):
    texts = {"against": "old=old.jsonl", "generated": f"new={generated}.jsonl", "critics": "length", "run": generated}
    done = run_step("gate", folder, **texts)
    assert done.returncode == code, done.stderr
    report = (folder / "output").read_text().splitlines()[-1].removeprefix("report=")
    assert (folder / report).exists()
    assert (folder / "summary").read_text()


def test_no_input_is_a_command(folder):
    hostile = 'old=old.jsonl"; touch stolen; echo "$(touch stolen)'
    done = run_step("gate", folder, against=hostile, generated="new=same.jsonl", critics="length", run="hostile")
    assert done.returncode not in (0, 7)
    assert not (folder / "stolen").exists()


def test_every_input_is_used_and_every_variable_is_an_input():
    used = set(re.findall(r"inputs\.(\w+)", json.dumps(ACTION["runs"])))
    assert used == ACTION["inputs"].keys()


@pytest.mark.slow
def test_the_checkout_is_installed(tmp_path, monkeypatch):
    for name, value in {"TARGET": str(tmp_path), "NO_DEPS": "1", "NO_BUILD_ISOLATION": "0", "NO_INDEX": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    assert run_step("install", tmp_path, package=str(ROOT)).returncode == 0
    assert (tmp_path / "momus").is_dir()


def test_the_hook_names_a_command_with_files():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", *hook["entry"].split(), "--help"], capture_output=True, text=True, check=True
    )
    assert "--body" in done.stdout
    assert "FILE" in done.stdout
