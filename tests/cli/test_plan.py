"""`momus plan` on a small run: its table, and what it refuses."""

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import momus
from momus.cli.plan import plan
from momus.errors import MomusError

app = typer.Typer()
app.command()(plan)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rng = np.random.default_rng(0)

    def texts(n, mean):
        return [" ".join(rng.choice([f"w{i}" for i in range(40)], 5 + rng.poisson(mean))) for _ in range(n)]

    out = tmp_path_factory.mktemp("plan") / "run"
    momus.compare(
        texts(60, 40), {"g": texts(60, 36), "h": texts(60, 40)}, fit=texts(80, 40), out=out, permutations=199,
        critics=["length", "type-token", "unigram", "stopword-share", "symbol-share", "keyness"],
    )  # fmt: skip
    return out


def called(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=True)


def test_every_headline_row_has_a_line(run):
    done = called(run, "--difference", 0.1)
    assert done.exit_code == 0, done.output
    for name in ("length of documents", "vocabulary"):
        assert done.output.count(name) >= 2
    assert "60 | 60" in done.output


def test_no_number_of_documents_is_given_where_the_value_grows_with_them(run):
    done = called(run, "--difference", 20)
    assert "value grows with the documents" in " ".join(done.output.replace("│", " ").split())


def test_the_power_asked_for(run):
    assert "90 % power" in called(run, "--difference", 0.2, "--power", 0.9).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--power", "2", "--difference", 0.2], "between"),
        (["--difference", "0"], "above 0"),
        ([], "smallest difference that would matter"),
    ],
)
def test_wrong_options_are_refused(run, arguments, message):
    error = called(run, *arguments).exception
    assert isinstance(error, MomusError)
    assert message in str(error)


def test_a_folder_without_a_run_is_refused(tmp_path):
    assert isinstance(called(tmp_path).exception, MomusError)
