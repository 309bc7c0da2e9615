"""Outliers: ties share their rank, texts and human references are shown; documents odd on several axes are found."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import rankdata
from typer.testing import CliRunner

import momus
from momus import Corpus
from momus.cli.app import app
from momus.errors import UsageError
from momus.outliers import flagged, listed
from momus.outliers.rows import Measure

CRITICS = ["length", "unigram", "symbol-share", "stopword-share", "type-token"]
PLANTED = "§ % # xylem " * 250


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def written(n, seed, word):
    """Documents of three lengths, so that many values are equal."""
    rng = np.random.default_rng(seed)
    words = ["the", "sun", "rose", "over", "a", "hill", "and", "then", "it", "set", word, "slowly", ",", "."]
    return [" ".join(rng.choice(words, 30 * (1 + i % 3))) for i in range(n)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("outliers") / "run"
    ids = [str(i) for i in range(60)]
    real = Corpus.from_texts(written(60, 1, "red"), ids=[f"h{i}" for i in ids], prompts=ids, name="real")
    texts = [*written(59, 2, "blue"), PLANTED]
    made = Corpus.from_texts(texts, ids=[f"g{i}" for i in ids], prompts=[*ids[:59], None], name="[red]made")
    fit = Corpus.from_texts(written(120, 3, "red"), name="fit")
    settings = {"permutations": 99, "resamples": 99, "top": 4}
    momus.compare(
        real, {"[red]made": made}, fit=fit, critics=CRITICS, out=out, reporter=momus.progress.Silent(), **settings
    )
    return out


def test_ties_share_their_ranks_and_are_in_the_order_of_ids(folder):
    found = listed(folder, "length", 8)
    frame = pq.read_table(folder / "documents.parquet").to_pandas()
    nll = frame[(frame["critic"] == "length") & (frame["corpus"] == "[red]made")].set_index("id")["nll"]
    ranks = pd.DataFrame({m: rankdata(-nll, method=m) for m in ("min", "max")}, index=nll.index)
    for o in found.outliers:
        assert (o.first, o.last) == tuple(ranks.loc[o.id]), o
    assert any(o.first < o.last for o in found.outliers)
    assert [(-o.value, o.id) for o in found.outliers] == sorted((-o.value, o.id) for o in found.outliers)
    assert found.tied["[red]made"] == found.outliers[-1].last - 8


def test_rounding_does_not_break_ties():
    frame = pd.DataFrame({"nll": [0.3, 0.1 + 0.2], "steps": [1, 1]})
    assert frame["nll"][0] != frame["nll"][1]
    values = Measure(sequence=False, has_oddity=False).values(frame)
    assert values[0] == values[1] == 0.3


def test_what_has_no_value_has_no_rank():
    frame = pd.DataFrame({"nll": [2.0, np.nan, 3.0], "steps": [2, 0, 1], "oddity": [1.5, np.nan, np.nan]})
    values = [Measure(sequence=True, has_oddity=own).values(frame).tolist() for own in (True, False)]
    assert values == [pytest.approx(v, nan_ok=True) for v in ([1.5, np.nan, np.nan], [1.0, np.nan, 3.0])]


@pytest.mark.parametrize("critic", CRITICS)
def test_documents_are_listed_under_each_critic(folder, critic):
    """Also where a run keeps no z of the documents, as of type-token."""
    done = run("outliers", folder, "-c", critic)
    assert done.exit_code == 0, done.output
    content = json.loads(run("outliers", folder, "-c", critic, "--json").stdout)
    assert len(content["outliers"]) == 10
    assert content["outliers"][0]["id"] == "g59"
    assert all(o["why"] for o in content["outliers"])


def test_from_python_a_comparison_and_its_folder_give_the_same(folder):
    comparison = momus.read_comparison(folder)
    for function in (flagged, listed):
        assert function(comparison) == function(folder) == function(str(folder))
    (corpus,) = flagged(folder, fdr=0.1)
    (alone,) = flagged(folder, fdr=0.1, critic="unigram")
    assert {d.id for d in corpus.documents} & {d.id for d in alone.documents}
    assert alone.documents[0].by_critic.keys() == {"unigram"}
    frame = comparison.outliers("length", top=3)
    assert frame["id"].tolist() == [o.id for o in listed(folder, "length", 3).outliers]
    assert frame["why"].tolist() == [o.why for o in listed(folder, "length", 3).outliers]


def test_text_reason_and_human_reference_are_shown(folder):
    done = run("outliers", folder, "-c", "length", "--top", 6)
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "§ % # xylem" in done.stdout
    entries = re.split(r"\n *\d+(?:–\d+)?  (?=g\d+  )", done.stdout)[1:]
    assert len(entries) == 6
    assert "less likely than all human documents" in entries[0]
    assert "(typical)" in entries[0]  # it has no prompt
    for entry in entries[1:4]:
        number = re.match(r"g(\d+)", entry).group(1)
        assert f"h{number} (same prompt)" in entry
    assert all("not kept" in entry for entry in entries[4:])
    assert "of the 4 least likely" in done.stdout
    assert "--top N" in done.stdout


def test_share_of_likelier_human_documents(folder):
    found = listed(folder, "unigram", 3)
    frame = pq.read_table(folder / "documents.parquet").to_pandas()
    human = frame[(frame["critic"] == "unigram") & (frame["corpus"] == "real")]
    value = human["nll"] / human["states"] if found.unit == "nats per step" else human["nll"]
    assert found.typical == pytest.approx(value.median())
    for o in found.outliers:
        assert o.above == pytest.approx((value < o.value).mean())


def test_json_has_documents_and_ranks(folder):
    content = json.loads(run("outliers", folder, "-c", "length", "--top", 2, "--json").stdout)
    assert content["outliers"][0]["id"] == "g59"
    assert content["outliers"][0]["document"]["steps"]
    assert content["outliers"][1]["same_prompt"] is True


def test_without_a_critic_the_largest_gap_is_listed(folder):
    largest = momus.read_comparison(folder).answer.axes[0]
    assert json.loads(run("outliers", folder, "--json").stdout)["critic"] == largest.critic


def test_other_corpora_can_be_named(folder):
    content = json.loads(run("outliers", folder, "-c", "length", "--corpus", "real", "--json").stdout)
    assert {o["corpus"] for o in content["outliers"]} == {"real"}
    assert isinstance(run("outliers", folder, "-c", "length", "--corpus", "x").exception, UsageError)


def test_documents_odder_than_real_ones_are_listed_at_a_rate(folder):
    (found,) = json.loads(run("outliers", folder, "--fdr", "0.1", "--json").stdout)
    assert (found["corpus"], found["n"], found["calibrating"]) == ("[red]made", 60, 40)
    planted = found["documents"][0]
    assert planted["id"] == "g59"
    # of 60 real documents, 40 calibrate
    assert planted["p"] == pytest.approx(1 / 41)
    assert set(planted["by_critic"]) == set(CRITICS)
    assert max(planted["by_critic"].values()) == pytest.approx(1 / 41)
    # every word that occurs in generated text alone is odd, so most of its documents are
    assert len(found["documents"]) > 30
    assert all(d["q"] <= 0.1 for d in found["documents"])
    shown = run("outliers", folder, "--fdr", "0.1", "--top", "1").stdout
    assert f"[red]made: {len(found['documents'])} of 60 documents are odder than real text" in shown
    assert f"and {len(found['documents']) - 1} more" in shown


def test_one_odd_document_among_many_is_not_told_from_chance(folder):
    words = ["outliers", folder, "--fdr", "0.1", "--critic", "symbol-share"]
    (found,) = json.loads(run(*words, "--json").stdout)
    assert found["documents"] == []
    assert found["fewest"] == 15 == int(np.ceil(60 / (0.1 * 41)))
    assert "single out no fewer than 15" in " ".join(run(*words).stdout.split())


def test_a_rate_without_sense_is_refused(folder):
    for words in (["--fdr", "0"], ["--fdr", "0.01"], ["--fdr", "0.1", "-c", "none"]):
        error = run("outliers", folder, *words).exception
        assert isinstance(error, UsageError)
        assert error.hint
