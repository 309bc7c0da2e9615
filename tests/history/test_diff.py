"""A run against an earlier one: what is farther, what is not, what cannot be compared, and which inputs differ."""

import json
import shutil

import numpy as np
import pytest
from tests.history.conftest import OPTIONS, corpus, text
from typer.testing import CliRunner

import momus
from momus import Corpus
from momus.cli.app import app
from momus.errors import StoreError, UsageError
from momus.files import plain
from momus.history.diff import diff_runs
from momus.history.kept import KeptRun
from momus.history.view import diff_blocks, diff_json, diff_sentences, in_markdown, on_terminal
from momus.runs.manifest import write_manifest


def axis(diff, critic):
    (pair,) = diff.pairs
    return next(a for a in pair.axes if a.critic == critic)


def test_longer_documents_are_farther_on_length_and_named_first(runs):
    found = diff_runs(runs.folder / "near", runs.folder / "long")
    length = axis(found, "length")
    assert length.finding == "farther"
    assert 0 < length.low < length.change < length.high
    assert length.change == pytest.approx(length.after - length.before)
    assert (length.n_real, length.n_before, length.n_after) == (60, 60, 60)
    assert found.pairs[0].axes[0].critic == "length", "the largest change in bands comes first"
    assert found.pairs[0].matched
    assert found.pairs[0].units == 60
    assert axis(found, "stopword-share").finding == "not told apart"
    back = axis(diff_runs(runs.folder / "long", runs.folder / "near"), "length")
    assert back.finding == "nearer"
    assert back.change == pytest.approx(-length.change)


def test_another_sample_of_the_same_model_is_not_told_apart(runs):
    found = diff_runs(runs.folder / "near", runs.folder / "same")
    assert {a.finding for a in found.pairs[0].axes} == {"not told apart"}
    assert found.pairs[0].overall.finding == "not told apart"
    assert [i.kind for i in found.inputs] == ["generated text"]


def test_a_run_against_itself_has_no_change_at_all(runs):
    found = diff_runs(runs.folder / "near", runs.folder / "near")
    assert found.inputs == ()
    for a in found.pairs[0].axes:
        assert a.change == 0
        assert a.low <= 0 <= a.high
        assert a.finding == "not told apart"
    assert "The same in both runs: generated text model." in text(on_terminal(diff_blocks(found)))


def test_distances_are_those_of_the_ranks_of_both_models(runs):
    """`momus compare` of both texts at once ranks them by the same distances."""
    both = momus.compare(
        runs.real, {"near": corpus("g", 60, 3), "long": corpus("h", 60, 5, mean=32)}, fit=runs.fit, **OPTIONS
    )
    rows = {(r.axis, r.model): r.distance for r in both.joint.ranking.rows}
    found = diff_runs(runs.folder / "near", runs.folder / "long")
    for critic in ("unigram", "stopword-share"):  # by their headlines, which ranks compare
        a = axis(found, critic)
        assert (a.before, a.after) == pytest.approx((rows[critic, "near"], rows[critic, "long"]), abs=1e-9)


def test_two_texts_of_one_run_are_called_by_their_own_names(runs, tmp_path):
    both = {"near": corpus("g", 60, 3), "long": corpus("h", 60, 5, mean=32)}
    momus.compare(runs.real, both, fit=runs.fit, **OPTIONS, out=tmp_path / "both")
    found = diff_runs(tmp_path / "both", tmp_path / "both", [("near", "long")])
    assert diff_sentences(found, found.pairs[0])[0].startswith(
        "Over all axes, long is farther from real text than near ("
    )


def test_distances_are_those_of_the_verdicts(runs):
    """One estimator of the size: `momus diff` shows what `momus compare` showed of each run."""
    found = diff_runs(runs.folder / "near", runs.folder / "long")
    kept = [KeptRun.read(runs.folder / name) for name in ("near", "long")]
    for a in found.pairs[0].axes:
        verdicts = [abs(run.rows("model")[a.critic][a.statistic].effect) for run in kept]
        assert (a.before, a.after) == pytest.approx(verdicts, abs=1e-9), a.critic


def test_a_statistic_that_tells_the_later_text_apart_is_compared(runs):
    """The later text differs in its length: that, and not the headline, is what changed."""
    kept = KeptRun.read(runs.folder / "long")
    assert kept.speaking("model")["length"].statistic != kept.headlines("model")["length"].statistic
    forth, back = (
        axis(diff_runs(runs.folder / a, runs.folder / b), "length") for a, b in (("near", "long"), ("long", "near"))
    )
    for a in (forth, back):
        assert (a.statistic, a.from_errors) == ("mean_length", True)
    row = kept.rows("model")["length"]["mean_length"]
    assert forth.after == pytest.approx(abs(row.effect))
    assert forth.after / forth.band == pytest.approx(row.gap)
    words = axis(diff_runs(runs.folder / "near", runs.folder / "long"), "unigram")
    assert (words.statistic, words.from_errors) == ("tvd", False)


def test_pairing_by_prompts_makes_the_interval_narrower(runs):
    """Both texts have the lengths of the real one but for noise, which pairing by prompts takes out."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 60, 60)

    def like(name, prompts, more=0):
        texts = [" ".join(["word"] * int(s + more + rng.integers(0, 3))) for s in sizes]
        return Corpus.from_texts(texts, prompts=[f"p{i}" for i in range(60)] if prompts else None, name=name)

    widths = {}
    for prompts in (True, False):
        real = like("real", prompts)
        options = {"real": real, "critics": ["length"]}
        first = runs.make(f"a{prompts}", like("g", prompts), **options)
        second = runs.make(f"b{prompts}", like("g", prompts, 4), reuse=first, **options)
        a = axis(diff_runs(first, second), "length")
        widths[prompts] = a.high - a.low
    assert widths[True] < 0.8 * widths[False]


def test_another_real_text_is_named_and_each_run_has_its_own(runs):
    run = runs.make("other-real", corpus("g", 60, 3), real=corpus("real", 60, 22))
    found = diff_runs(runs.folder / "near", run)
    assert found.real_changed
    assert [i.kind for i in found.inputs] == ["real text"]
    assert "The real texts of the runs differ" in text(on_terminal(diff_blocks(found)), 200)


def test_what_measures_something_else_is_named_and_left_out(runs):
    from momus_critics.length import Length

    run = runs.make("bins", corpus("g", 60, 3), critics=[Length(bins=9), "unigram"], seed=3)
    found = diff_runs(runs.folder / "near", run)
    assert dict(found.pairs[0].not_compared) == {
        "length": "its parameters differ (bins)",
        "stopword-share": "only one of the runs has it",
    }
    assert {(i.kind, i.name) for i in found.inputs} >= {
        ("parameter", "length.bins"),
        ("seed", "seed"),
        ("critic", "stopword-share"),
    }
    run = runs.make("other-fit", corpus("g", 60, 3), fit=corpus("fit", 80, 99))
    with pytest.raises(UsageError, match="it was fitted on different texts") as error:
        diff_runs(runs.folder / "near", run)
    assert "reusing" in error.value.hint


def test_corpora_are_matched_by_name_or_as_told(runs):
    two = runs.make("two", {"x": corpus("g", 60, 3), "y": corpus("h", 60, 5, mean=32)}, critics=["length"])
    found = diff_runs(runs.folder / "near", two, [("model", "y")])
    assert axis(found, "length").finding == "farther"
    with pytest.raises(UsageError, match="no generated corpus has the same name") as error:
        diff_runs(runs.folder / "near", two)
    assert "BEFORE=AFTER" in error.value.hint
    with pytest.raises(UsageError, match="has no generated corpus 'z'"):
        diff_runs(runs.folder / "near", two, [("model", "z")])
    again = diff_runs(two, two)
    assert [(p.before, p.after) for p in again.pairs] == [("x", "x"), ("y", "y")]


def test_laws_change_by_their_standard_errors(make_sectioned, tmp_path):
    fit, real, g, h = (make_sectioned(90, s, name=n) for s, n in ((1, "fit"), (2, "real"), (3, "g"), (4, "g")))
    for name, generated in (("one", g), ("two", h)):
        momus.compare(real, {"m": generated}, fit=fit, critics=["heaps"], out=tmp_path / name, permutations=99)
    law = axis(diff_runs(tmp_path / "one", tmp_path / "two"), "heaps")
    assert law.from_errors
    assert law.finding == "not told apart"
    rows = [
        next(v for v in map(json.loads, (tmp_path / n / "verdicts.jsonl").read_text().splitlines()) if v["headline"])
        for n in ("one", "two")
    ]
    assert (law.before, law.after) == pytest.approx([abs(r["difference"]) for r in rows])


def test_a_run_of_an_older_version_is_an_error(runs, tmp_path):
    shutil.copytree(runs.folder / "near", tmp_path / "old")
    (tmp_path / "old" / "texts.parquet").unlink()
    write_manifest(tmp_path / "old")
    with pytest.raises(StoreError, match=r"texts\.parquet: not readable"):
        diff_runs(tmp_path / "old", runs.folder / "long")


def test_terminal_fits_80_columns_and_markdown_and_json_agree(runs):
    found = diff_runs(runs.folder / "near", runs.folder / "long")
    shown = text(on_terminal(diff_blocks(found)))
    assert max(map(len, shown.splitlines())) <= 80
    assert "▲ farther" in shown
    assert "long is farther from real text than near" in " ".join(shown.split())
    assert "▲ farther" in in_markdown(diff_blocks(found))
    content = json.loads(json.dumps(plain(diff_json(found)), allow_nan=False))
    assert content["pairs"][0]["axes"][0]["finding"] == "farther"


def test_command_line(runs, tmp_path):
    near, long = str(runs.folder / "near"), str(runs.folder / "long")
    done = CliRunner().invoke(app, ["diff", near, long])
    assert done.exit_code == 0
    assert "▲ farther" in done.output
    data = json.loads(CliRunner().invoke(app, ["diff", near, long, "--json", "--corpus", "model"]).output)
    assert data["pairs"][0]["before"] == "model"
