"""`table.py`: known answers on tiny texts, the list, the settings, and what it refuses."""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import momus
from momus.errors import MomusError, UsageError
from momus.progress import Silent

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from paper_table import reproduce as command
from papers import as_json, find_table, paper_tables, reproduce
from papers.reproduce import _parameters, reference_texts

app = typer.Typer()
app.command()(command)


def called(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=True)


def refusal(*arguments):
    error = called(*arguments).exception
    assert isinstance(error, MomusError)
    return f"{error.message} → {error.hint}"


def write(path, lengths, word="a"):
    path.write_text("".join(json.dumps({"text": " ".join([word] * int(n))}) + "\n" for n in lengths))
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    rng = np.random.default_rng(0)
    real = rng.integers(10, 20, 60)
    return {
        "fit": write(folder / "fit.jsonl", rng.integers(10, 20, 60)),
        "real": write(folder / "real.jsonl", real),
        "shorter": write(folder / "shorter.jsonl", rng.permutation(real) - 3),
        "far": write(folder / "far.jsonl", rng.integers(30, 40, 60)),
    }


@pytest.fixture(scope="module")
def lengths(texts):
    def found(name, **options):
        return reproduce(
            find_table(name), texts["real"], {"short": texts["shorter"], "far": texts["far"]}, texts["fit"],
            critics=["length"], permutations=99, reporter=Silent(), **options,
        )  # fmt: skip

    return found


def test_differences_of_means_are_exact(lengths):
    found = lengths("meister-6")
    real, short, far = found.rows
    (cell,) = short.cells
    assert [r.name for r in found.rows] == ["real", "short", "far"]
    assert cell.difference == pytest.approx(-3)
    assert cell.low < -3 < cell.high < 0
    assert (cell.n, real.cells[0].n) == (60, 60)
    assert far.cells[0].difference > 10
    assert found.left_out == ("stopword-share", "symbol-share")
    assert found.changed == ()


def test_disjoint_lengths_have_distance_one_and_chance_is_small(lengths):
    found = lengths("meister-3")
    real, _, far = (row.cells[0] for row in found.rows)
    assert far.distance
    assert far.value == pytest.approx(1)
    assert 0 < real.value < 0.3


def test_parameters_that_differ_are_named(lengths):
    found = lengths("meister-6", config={"length": {"bins": 4, "tokens": "whitespace"}})
    assert found.changed == (("length", "bins", None, 4),)
    with pytest.raises(UsageError, match="'topics', which meister-6 does not run"):
        lengths("meister-6", config={"topics": {}})


def test_json_has_the_printed_figures_of_the_columns_that_ran(lengths):
    content = json.loads(json.dumps(as_json(lengths("meister-3"))))
    assert content["printed"][-1] == {"name": "Trigram, beam", "figures": {"length D_p": "0.214"}}
    assert [m["name"] for m in content["measured"]] == ["real", "short", "far"]


def test_both_figures_are_printed_and_names_are_escaped(texts, tmp_path):
    done = called(
        "meister-6", "-r", texts["real"], "-f", texts["fit"], "-g", f"[red]x\x1b[2J[/red]={texts['far']}",
        "--critics", "length", "--permutations", 99, "--quiet", "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "-46.28" in done.output
    assert "[red]x" in done.output
    assert "\x1b[2J" not in done.output
    assert "cannot be equal" in done.output
    assert momus.read_comparison(tmp_path / "run").verdicts


def test_the_list_has_every_table_and_the_settings_are_toml():
    rows = json.loads(called("--json").stdout)
    assert [r["id"] for r in rows] == list(paper_tables())
    shown = called().stdout
    assert [t for t in paper_tables() if f" {t} " not in shown] == []
    settings = tomllib.loads(called("deng-7", "--settings").stdout)
    assert settings["topics"]["n_topics"] == 100


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["deng-22"], "did you mean deng-2"),
        (["deng-1"], "synthetic.py"),
        (["deng-8"], "no text for deng-8 ships"),
        (["deng-2", "-g", "a=b.jsonl"], "--real"),
        (["deng-2", "-r", "b.jsonl"], "--generated NAME=PATH"),
        (["deng-2", "--critics", "topics"], "it has sections"),
        (["deng-2", "--overwrite"], "--out"),
        (["lebrun-2", "--settings"], "no settings"),
        (["deng-6", "--settings", "--alternative", "absolute"], "absolute"),
        (["deng-2", "--alternative", "absolute"], "no alternative"),
        (["--real", "b.jsonl"], "no table was named"),
    ],
)
def test_refusals_say_how_to_go_on(arguments, says):
    assert says in refusal(*arguments)


def test_reference_texts_keep_lengths_and_shuffles_keep_words():
    real = momus.Corpus.from_texts(["a b c d e f", "g h i"])
    made = reference_texts(["1-gram shuffle", "Simon process", "Pitman–Yor process"], real, 0)
    assert all([len(d.text.split()) for d in corpus] == [6, 3] for corpus in made.values())
    assert sorted(" ".join(d.text for d in made["1-gram shuffle"]).split()) == list("abcdefghi")


def test_a_table_with_references_needs_no_generated_text(tmp_path):
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(3000)])
    weights = 1 / np.arange(1, 3001)

    def documents(name):
        path = tmp_path / f"{name}.jsonl"
        texts = (" ".join(rng.choice(words, 500, p=weights / weights.sum())) for _ in range(60))
        path.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts))
        return path

    found = reproduce(
        find_table("takahashi-1"), documents("real"), fit=documents("fit"), critics=["heaps"], permutations=99,
        reporter=Silent(),
    )  # fmt: skip
    real, shuffle = found.rows
    assert shuffle.name == "1-gram shuffle"
    cell = shuffle.cells[0]
    # a shuffle of independent draws has the same law: four standard errors, not two, so that chance fails no test
    assert abs(cell.difference) < cell.high - cell.low
    assert cell.difference == pytest.approx(cell.value - real.cells[0].value)
    assert cell.n == real.cells[0].n == 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deng-2", "meister-5"])
def test_a_table_runs_on_the_texts_that_ship(name):
    found = reproduce(find_table(name), permutations=99, reporter=Silent())
    assert found.shipped
    assert [r.name for r in found.rows] == ["real", "ancestral", "nucleus"]
    assert all(c is not None and c.value is not None for r in found.rows for c in r.cells)


def test_an_alternative_replaces_what_the_paper_names_and_is_no_change():
    table = find_table("deng-6")
    used, changed = _parameters(table, table.parameters("absolute"), ["coreference"], {}, False, False)
    assert used["coreference"] == {**table.parameters()["coreference"], "discounting": "absolute"}
    assert changed == ()
