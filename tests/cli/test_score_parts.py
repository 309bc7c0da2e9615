"""``momus score -o FOLDER``, and ``momus compare`` on rows and texts, as a user types them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.critic.registry import make_critics
from momus.errors import MomusError, UsageError

WORDS = ["the", "of", "rain", "house", "hill", "town", "and", "river", "light"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for seed, name in enumerate(("fit", "real", "generated")):
        rng = np.random.default_rng(seed)
        lines = [json.dumps({"text": " ".join(rng.choice(WORDS, rng.integers(5, 40)))}) for _ in range(40)]
        (folder / f"{name}.jsonl").write_text("\n".join([*lines, '{"text": ""}']) + "\n")
    corpus = momus.read_corpus(folder / "fit.jsonl")
    for critic in make_critics(["length", "unigram"]):
        critic.fit(corpus).save(folder / "run" / "critics" / critic.name)
    return folder


def call(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


def refused(*words):
    error = call(*words).exception
    assert isinstance(error, MomusError), error
    assert error.hint
    return str(error)


def test_score_compare_and_resume(place, tmp_path):
    for name in ("real", "generated"):
        done = call("score", place / "run", place / f"{name}.jsonl", "-o", tmp_path / name, "--jobs", 1,
                    "--part-size", 15)  # fmt: skip
        assert done.exit_code == 0, done
        assert "41 documents in 3 parts" in done.stdout
        assert "unscored: 1 (empty)" in done.stdout
        assert "unigram: Latent NLL" in done.stdout
    again = call("score", place / "run", place / "real.jsonl", "-o", tmp_path / "real", "--resume")
    assert "3 of them kept" in again.stdout
    run = tmp_path / "run"
    found = call("compare", "-r", tmp_path / "real", "-g", f"m={tmp_path / 'generated'}", "-o", run, "--quiet",
                 "--permutations", 99, "--resamples", 99, "--json")  # fmt: skip
    assert found.exit_code == 0, found.exception
    assert {row["critic"] for row in json.loads(found.stdout)["verdicts"]} == {"length", "unigram"}
    assert call("show", run).exit_code == 0
    assert call("outliers", run).exit_code == 0
    last = momus.read_comparison(run).documents
    assert sorted(last.groupby(["corpus", "critic"]).size().tolist()) == [41] * 4
    corpora = json.loads((run / "run.json").read_text())["corpora"]
    assert [c["name"] for c in corpora] == ["fit", "real", "m"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run/critics/length", "real.jsonl", "generated.jsonl"], "expected a critic and a text"),
        (["run/critics/length", "real.jsonl", "--jobs", "2"], "--jobs needs a folder"),
        (["real.jsonl", "-o", "R"], "holds no fitted critic"),
        (["run", "-o", "R"], "no text after the critics"),
        (["run", "generated.jsonl", "real.jsonl", "-o", "x.csv"], "expected a critic and a text"),
        (["run", "real.jsonl", "-o", "R", "--resume", "--overwrite"], "exclude each other"),
        (["run", "real.jsonl", "-o", "R", "--engine", "nothing"], "no adapter 'engine.nothing'"),
        (["run", "real.jsonl", "-o", "R", "--address", "host:1"], "--address"),
        (["run", "run/critics/length", "real.jsonl", "-o", "R"], "two critics 'length'"),
    ],
)
def test_what_cannot_be_is_said(place, tmp_path, words, said, monkeypatch):
    monkeypatch.chdir(place)
    assert said in refused("score", *(tmp_path / "R" if w == "R" else w for w in words))


def test_rows_beside_texts_and_runs(place, tmp_path):
    """A text beside rows is scored by the critics of the rows, and a run stands for the rows of its real text."""
    call("score", place / "run", place / "real.jsonl", "-o", tmp_path / "rows", "--jobs", 1)
    quick = "--permutations", 99, "--resamples", 99, "--quiet", "--json", "--jobs", 1, "--control-for", "length"
    text = "-g", f"m={place / 'generated.jsonl'}"
    found = call("compare", "-r", tmp_path / "rows", *text, "-o", tmp_path / "run", *quick)
    assert found.exit_code == 0, found.exception
    verdicts = json.loads(found.stdout)["verdicts"]
    whole = call("compare", "-r", place / "real.jsonl", "--fit", place / "fit.jsonl", *text, "-c", "length,unigram",
                 "-o", tmp_path / "whole", *quick)  # fmt: skip
    assert whole.exit_code == 0, whole.exception
    for one, other in zip(verdicts, json.loads(whole.stdout)["verdicts"], strict=True):
        assert one["statistic"] == other["statistic"]
        assert one["generated_value"] == pytest.approx(other["generated_value"])
        assert one["p"] == other["p"]
    rows = "-r", tmp_path / "rows", *text, "-o", tmp_path / "other"
    assert "--fit is for critics that are fitted now" in refused("compare", *rows, "--fit", place / "fit.jsonl")
    assert "no scores of type-token" in refused("compare", *rows, "-c", "type-token")


def test_a_text_without_documents_that_can_be_scored(place, tmp_path):
    (tmp_path / "blank.jsonl").write_text('{"text": " "}\n' * 3)
    done = call("score", place / "run", tmp_path / "blank.jsonl", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "none could be scored" in done.stderr
    (tmp_path / "other.jsonl").write_text('{"body": 3}\n' * 3)
    assert "none of the 3 records" in refused("score", place / "run", tmp_path / "other.jsonl", "-o",
                                              tmp_path / "other")  # fmt: skip
    assert isinstance(call("score", place / "run", "-", "-o", tmp_path / "o").exception, UsageError)
