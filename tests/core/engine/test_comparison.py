"""`compare` as a whole: recovery of known differences, pairs, resuming, and what the run folder holds."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import momus
from momus import Corpus, MomusError
from momus.critic.scores import Scores
from momus.inference import design_of
from momus.runs.folder import RunFolder
from momus.runs.manifest import write_manifest
from momus.schema import build
from momus.verdicts.judge import judge
from momus.verdicts.verdict import Verdict

QUICK = {"permutations": 199, "resamples": 99}


def texts(n, seed, mean=30):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice([f"w{i}" for i in range(50)], rng.poisson(mean) + 1)) for _ in range(n)]


def test_it_finds_the_axis_that_differs_and_no_other(make_sectioned):
    fit, real = make_sectioned(120), make_sectioned(80, seed=1, name="real")
    same, mixed = make_sectioned(80, seed=2), make_sectioned(80, seed=3, shuffle=True)
    found = momus.compare(
        real,
        {"same": same, "mixed": mixed},
        fit=fit,
        seed=1,
        critics=["sections", "length", "unigram", "rank-frequency"],
    )
    headline = {(v.critic, v.generated): v for v in found.verdicts if v.headline}
    assert len(headline) == 8
    assert headline["sections", "mixed"].p_adjusted <= 0.01
    others = [v for k, v in headline.items() if k != ("sections", "mixed")]
    assert sum(v.p_adjusted <= 0.05 for v in others) == 0
    assert headline["sections", "mixed"].generated_value > 5 * headline["sections", "mixed"].real_value
    frame = found.frame()
    assert isinstance(frame, pd.DataFrame)
    assert {"critic", "statistic", "low", "high", "p_adjusted", "unscored_generated"} <= set(frame.columns)
    assert headline["sections", "mixed"].gap_interval[0] > 1
    assert headline["sections", "mixed"].finding == "beyond human variation"
    assert {v.finding for v in others} <= {"not told apart", "within human variation"}
    assert "section order" in str(found)
    table = next(e for name, items in found.results[0].evidence if name == "mixed" for e in items)
    assert table.rows[0][5] == "unlikely"


def test_without_a_text_to_fit_on_the_real_one_is_split_and_said():
    found = momus.compare(texts(40, 0), {"g": texts(20, 1)}, critics=["length"], seed=5, **QUICK)
    assert "split by seed 5 into 20 documents to fit on and 20" in found.warnings[0]
    assert found.verdicts[0].n_real == 20


def test_overlap_with_the_fitted_text_is_said():
    some = texts(30, 0)
    found = momus.compare(some, {"g": [*texts(20, 1), some[0]]}, fit=some, critics=["length"], **QUICK)
    assert "30 of 30 documents of 'real'" in found.warnings[0]
    assert "1 of 21 documents of 'g'" in found.warnings[1]


def test_same_seed_same_verdicts_whatever_the_order_of_documents():
    real, generated = Corpus.from_texts(texts(30, 0), name="real"), Corpus.from_texts(texts(25, 1, 34), name="g")
    options = {"fit": texts(30, 2), "critics": ["length", "unigram"], **QUICK}
    first = momus.compare(real, {"g": generated}, **options)
    again = momus.compare(real, {"g": generated}, **options)
    assert first.rows() == again.rows()
    mixed = momus.compare(real, {"g": generated.take(np.random.default_rng(0).permutation(25))}, **options)
    for a, b in zip(first.verdicts, mixed.verdicts, strict=True):
        assert a.generated_value == pytest.approx(b.generated_value)


def scores(prompts, nll):
    n = len(nll)
    values = np.asarray(nll, dtype=float)
    reasons = [None if np.isfinite(v) else "empty" for v in values]
    return Scores("c", "x", [str(i) for i in range(n)], prompts, values, np.ones(n, np.int64), reasons)


def test_pairs_are_made_by_prompt_among_scored_documents():
    real = scores(["a", "b", "c", "d"], [1.0, np.nan, 2.0, 3.0])
    generated = scores(["d", "c", "a"], [1.0, 2.0, 3.0])
    scored = real.scored_prompts
    assert scored == ["a", "c", "d"]
    assert np.column_stack(design_of(scored, generated.scored_prompts).rows).tolist() == [[0, 2], [1, 1], [2, 0]]
    assert design_of(scored, generated.scored_prompts, paired=False).kind == "documents"
    assert design_of(scored, [None, "c", "x"]).kind == "documents"
    assert design_of(scored, ["a", "a", "c", "d"]).kind == "prompts"


def test_pairs_find_a_small_shift_that_unpaired_documents_hide():
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 400, 60)
    prompts = [f"p{i}" for i in range(60)]
    real = Corpus.from_texts(["w " * n for n in lengths], prompts=prompts, name="real")
    longer = Corpus.from_texts(["w " * int(n * 1.05 + 2) for n in lengths], prompts=prompts, name="g")
    options = {"fit": texts(30, 2), "critics": ["length"], "permutations": 999, "resamples": 499}
    paired = {v.statistic: v for v in momus.compare(real, {"g": longer}, **options).verdicts}
    unpaired = {v.statistic: v for v in momus.compare(real, {"g": longer}, paired=False, **options).verdicts}
    assert paired["mean_length"].p <= 0.01
    assert unpaired["mean_length"].p > 0.1
    assert (
        paired["mean_length"].high - paired["mean_length"].low
        < unpaired["mean_length"].high - unpaired["mean_length"].low
    )
    assert paired["mean_length"].method.design == "pairs"
    assert unpaired["mean_length"].method.design == "documents"


def test_the_run_folder(tmp_path):
    out = tmp_path / "run"
    found = momus.compare(texts(40, 0), {"g": [*texts(20, 1), ""]}, critics=["length"], out=out, **QUICK)
    run = json.loads((out / "run.json").read_text())
    assert {"momus", "command", "seed", "critics", "corpora", "device", "seconds", "started"} <= set(run)
    assert [c["documents"] for c in run["corpora"]] == [20, 20, 21]
    rows = [json.loads(line) for line in (out / "verdicts.jsonl").read_text().splitlines()]
    assert json.loads(json.dumps([v.row() for v in found.verdicts])) == rows
    assert [build(Verdict, r, "x") for r in rows] == found.verdicts
    documents = pq.read_table(out / "documents.parquet")
    assert documents.column_names[:6] == ["corpus", "id", "critic", "nll", "states", "reason"]
    assert documents.num_rows == 41
    assert documents["reason"].to_pylist()[-1] == "empty"
    critic = momus.load_critic(out / "critics" / "length")
    assert critic.score(Corpus.from_texts(["a b c"])).n_scored == 1


def test_an_interrupted_run_goes_on_without_doing_its_work_again(tmp_path, monkeypatch):
    from momus_critics.unigram import Unigram

    out = tmp_path / "run"
    options = {"fit": texts(30, 2), "critics": ["length", "unigram"], "out": out, **QUICK}
    whole = momus.compare(texts(40, 0), {"g": texts(20, 1)}, **(options | {"out": None}))

    def interrupt(self, real):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Unigram, "fit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            momus.compare(texts(40, 0), {"g": texts(20, 1)}, **options)
    assert not (out / ".lock").exists()
    with pytest.raises(MomusError, match="resume=True"):
        RunFolder(out).read_run()
    with monkeypatch.context() as patch:
        patch.setattr("momus_critics.length.Length.fit", interrupt)
        resumed = momus.compare(texts(40, 0), {"g": texts(20, 1)}, resume=True, **options)
    assert resumed.rows() == whole.rows()
    assert (out / "report.html").exists()
    again = momus.compare(texts(40, 0), {"g": texts(20, 1)}, resume=True, **(options | {"seed": 5}))
    assert [w for w in again.warnings if "computed again: the earlier run differs in seed." in w] == [
        "Critics 'length' and 'unigram' were each computed again: the earlier run differs in seed."
    ], "one line for all critics with the same reason"


def test_untested_corpora_are_named_not_dropped():
    found = momus.compare(texts(40, 0), {"g": ["", " "]}, critics=["length"], **QUICK)
    tested = [v.statistic for v in found.verdicts if v.p is not None]
    assert set(tested) <= {"unscored_share"}, "a row of its own says that more documents are unscored"
    assert found.verdicts[0].p is None
    assert found.verdicts[0].finding == "not tested"
    assert found.verdicts[0].unscored_generated == 2
    assert found.verdicts[0].method.test == "none"
    assert "empty (2)" in found.verdicts[0].method.reason


def test_state_sequences_get_the_guard_against_mode_seeking(make_sectioned):
    from momus_critics.sections import Sections

    critic = Sections().fit(make_sectioned(80))
    real = critic.score(make_sectioned(40, seed=1))
    one_kind = Corpus.from_sections([[(None, "design1 design2 design3 " * 5)] for _ in range(30)])
    verdicts = {v.statistic: v for v in judge(critic, real, critic.score(one_kind), **QUICK)}
    assert verdicts["posterior_entropy"].difference < -0.5
    assert verdicts["posterior_divergence"].p <= 0.01


def test_results_of_an_older_version_are_computed_again_or_refused(tmp_path):
    out = tmp_path / "run"
    momus.compare(texts(40, 0), {"g": texts(20, 1)}, critics=["length"], out=out, **QUICK)
    path = out / "critics" / "length" / "result.json"
    kept = json.loads(path.read_text())
    for row in kept["verdicts"]:
        row["method"] = "permutation test, unpaired"
    path.write_text(json.dumps(kept))
    with pytest.raises(MomusError, match="changed since"):
        momus.compare(texts(40, 0), {"g": texts(20, 1)}, critics=["length"], out=out, resume=True, **QUICK)
    path.write_text(json.dumps(kept))
    for folder in (path.parent, out):
        write_manifest(folder)
    again = momus.compare(texts(40, 0), {"g": texts(20, 1)}, critics=["length"], out=out, resume=True, **QUICK)
    assert any("computed again" in w and "expected a table" in w for w in again.warnings)
    assert all(v.method.test == "permutation" for v in again.verdicts)
    rows = [json.loads(line) | {"method": "permutation"} for line in (out / "verdicts.jsonl").read_text().splitlines()]
    (out / "verdicts.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    with pytest.raises(MomusError, match=r"line 1: .*expected a table"):
        RunFolder(out).read_verdicts()
