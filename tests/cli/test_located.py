"""Critics that are named by where their class is: ``package.module:Class`` and ``./file.py:Class``."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from momus.cli.app import app

SOURCE = '''
"""A critic of numbers of words, with latents and a helper of its own."""
from dataclasses import dataclass

import numpy as np
import momus
import momus.estimator


@dataclass(frozen=True)
class Counts:
    values: np.ndarray

    def __len__(self):
        return len(self.values)


class Fitted(momus.estimator.Estimator):
    pass


class Words(momus.Critic[Counts]):
    """z is log(1 + words)."""

    name = "NAME"
    axis = "words"

    def fit(self, real):
        z = self.project(real).values
        self.inner_ = Fitted()
        self.inner_.mean_, self.inner_.sd_ = float(z.mean()), float(z.std()) + 0.01
        return self

    def _new_inner(self):
        return Fitted()

    def project(self, batch):
        return Counts(np.log1p(np.array([len(d.text.split()) for d in batch], dtype=float)))

    def log_prior(self, z):
        return momus.LogPrior.of_vectors(-(((z.values - self.inner_.mean_) / self.inner_.sd_) ** 2) / 2)
'''


FEW = ("--permutations", 99, "--resamples", 99)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name, n, mean in (("real", 60, 30), ("made", 40, 12)):
        texts = [" ".join(rng.choice(["ab", "cd", "ef"], 1 + rng.poisson(mean))) for _ in range(n)]
        lines = [json.dumps({"id": f"{name}{i}", "text": t}) for i, t in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (tmp_path / "words.py").write_text(SOURCE.replace("NAME", "words-of-mine"))
    return tmp_path


def momus(folder, *arguments):
    environment = {**os.environ, "COLUMNS": "150", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "momus", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_compare_fit_and_score_take_a_file(folder):
    texts = ["-r", "real.jsonl", "-g", "made=made.jsonl"]
    code, output = momus(folder, "compare", *texts, "-c", "./words.py:Words,length", "-j", 2, "-o", "run", "-q", *FEW)
    assert code == 0, output
    rows = [json.loads(line) for line in (folder / "run" / "verdicts.jsonl").read_text().splitlines()]
    assert {r["critic"] for r in rows} == {"words-of-mine", "length"}
    saved = folder / "run" / "critics" / "words-of-mine"
    refused = CliRunner().invoke(app, ["score", str(saved), str(folder / "made.jsonl")]).exception
    assert "which is not registered" in str(refused)
    assert "as package.module:Class or ./file.py:Class" in str(refused), "a folder names no code to run"
    parts = ["-o", "rows", "--jobs", 2, "--part-size", 20, "-q"]
    code, output = momus(folder, "score", saved, "made.jsonl", "--classes", "words.py:Words", *parts)
    assert code == 0, output
    assert "40 documents in 2 parts" in output


@pytest.mark.slow
def test_fit_takes_a_module_of_the_current_folder(folder):
    code, output = momus(folder, "fit", "words:Words", "-f", "real.jsonl", "-o", "fitted")
    assert code == 0, output
    code, output = momus(folder, "score", "fitted", "made.jsonl", "--classes", "words:Words")
    assert code == 0, output
    assert "words-of-mine: Latent NLL" in output


@pytest.mark.parametrize(
    ("critic", "message"),
    [
        ("words.py:Nothing", "cannot be imported: AttributeError"),
        ("nowhere.py:Words", "cannot be imported: FileNotFoundError"),
        ("words.py:np", "is not a subclass of momus.Critic"),
        ("taken.py:Words", "is called 'length', as a critic of 'momus-criticism' is"),
        ("broken.py:Words", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_what_is_no_class_of_a_critic_is_refused(folder, critic, message):
    from momus.critic.registry import located, named
    from momus.errors import MomusError

    (folder / "taken.py").write_text(SOURCE.replace("NAME", "length"))
    (folder / "broken.py").write_text("1 / 0")
    with pytest.raises(MomusError, match=message):
        named(str(folder / critic))
    assert "length" not in located()


def test_a_name_for_score_must_be_a_class(folder):
    refused = (
        CliRunner().invoke(app, ["score", str(folder), str(folder / "made.jsonl"), "--classes", "length"]).exception
    )
    assert "names no class" in str(refused)
