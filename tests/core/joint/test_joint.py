"""The analyses of all axes at once: computed by `compare`, written to the run folder, and read back."""

import json

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.comparison import read_comparison
from momus.errors import StoreError, UsageError
from momus.report.page import render
from momus.report.terminal import comparison_text
from momus.report.words.joint import without_rank
from momus.runs.folder import JOINT, read_joint, write_joint

WORDS = [f"w{i}" for i in range(200)] + ["the", "of", "and", "in", ","] * 20


def corpus(name, seed, n=80, mean=40.0, commas=1.0, groups=None, apart=0.0):
    """Texts whose share of commas and length are known; ``mode`` is a metadata field that alternates.

    Each group is longer by ``apart`` words than the one before.
    """
    rng = np.random.default_rng(seed)
    weights = np.array([commas if w == "," else 1.0 for w in WORDS])
    means = [mean + apart * (i % (groups or 1)) for i in range(n)]
    rows = [" ".join(rng.choice(WORDS, 5 + rng.poisson(m), p=weights / weights.sum())) for m in means]
    return Corpus.from_documents(
        [
            momus.Document(
                f"{name}:{i}",
                (momus.Section(text),),
                sectioned=False,
                group=None if groups is None else f"g{i % groups}",
                fields={"mode": "even" if i % 2 == 0 else "odd"},
            )
            for i, text in enumerate(rows)
        ],
        name,
    )


OPTIONS = {"critics": ["length", "symbol-share"], "permutations": 499, "seed": 3}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("joint") / "run"
    generated = {
        "same": corpus("same", 1),
        "commas": corpus("commas", 2, commas=3.0),
        "short": corpus("short", 4, mean=25),
    }
    found = momus.compare(
        corpus("real", 0),
        generated,
        fit=corpus("fit", 9, 200),
        out=out,
        control_for=("length",),
        by=("mode",),
        **OPTIONS,
    )
    return found, out, generated


def test_ranks_agree_with_the_truth(run):
    joint = run[0].joint
    rows = joint.ranking.of("all axes")
    assert rows[0].model == "same"
    assert rows[0].p_nearest > 0.95
    assert {r.model for r in rows} == {"same", "commas", "short"}
    on_symbols = {r.model: r.distance for r in joint.ranking.of("symbol-share")}
    assert on_symbols["commas"] > on_symbols["same"]


def test_adjustment_and_slices_are_those_asked_for(run):
    joint = run[0].joint
    assert {(r.critic, r.covariates) for r in joint.adjusted} == {("symbol-share", ("length",))}
    commas = next(r for r in joint.adjusted if r.generated == "commas")
    assert commas.p <= 0.05, "more commas among documents of equal length"
    (slices,) = (s for s in joint.slices if s.generated == "commas")
    cells = [c for c in slices.cells if c.critic == "symbol-share"]
    assert [c.name for c in cells] == ["even", "odd"]
    assert sum(c.n_generated for c in cells) == 80
    assert not any(c.stands_out(0.05) for c in cells), "the field has nothing to do with the difference"


def test_the_analyses_are_read_back_as_they_were(run, tmp_path):
    found, out, _ = run
    again = read_comparison(out).joint
    write_joint(found.joint, tmp_path / "a.json")
    write_joint(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()
    axes = {r.name: r.axis for r in found.results}
    assert without_rank(again, axes) == without_rank(found.joint, axes)


def test_a_resumed_run_has_the_same_analyses(run):
    found, out, generated = run
    again = momus.compare(
        corpus("real", 0), generated, fit=corpus("fit", 9, 200), out=out, resume=True, control_for=("length",),
        by=("mode",), **OPTIONS,
    )  # fmt: skip
    assert not again.scores, "nothing was scored again"
    assert again.joint.to_json() == found.joint.to_json()


@pytest.mark.parametrize(
    "content", ['{"adjusted": 3}', "[]", '{"adjusted": [{"p": "x"}]}', "{", '{"ranking": {"rows": 1}}']
)
def test_damaged_analyses_are_refused(content, tmp_path):
    (tmp_path / JOINT).write_text(content)
    with pytest.raises(StoreError, match=r"not readable|expected|missing"):
        read_joint(tmp_path / JOINT)


def test_all_numbers_have_the_ranks(run):
    found, _, _ = run
    assert found.joint.ranking.of("all axes")[0].model == "same"
    printed = comparison_text(found, every=True)
    assert "Distance from real text over all axes" in printed
    assert "Among documents alike in length" in printed
    assert "By mode" in printed
    page = render(found)
    assert "Among documents alike in length" in page
    assert "Distance from real text over all axes" in page


def test_unknown_covariates_are_refused_with_what_there_is():
    with pytest.raises(UsageError, match="topic"):
        momus.compare(corpus("r", 0, 40), {"g": corpus("g", 1, 40)}, control_for=("topic",), **OPTIONS)


@pytest.mark.parametrize(("apart", "source"), [(4.0, ("groups", 20)), (0.0, ("default", 272))])
def test_groups_decide_units_and_bands(apart, source):
    """Groups that are not seen to differ leave the band to the atlas."""
    real, g = corpus("real", 0, groups=20, apart=apart), corpus("g", 1, groups=18, apart=apart)
    found = momus.compare(real, {"g": g}, fit=corpus("fit", 9, 200), **OPTIONS)
    row = next(v for v in found.verdicts if v.critic == "length" and v.headline)
    assert (row.method.design, row.method.units_real, row.method.units_generated) == ("prompts", 18, 18)
    assert (row.band_source, row.band_groups) == source
    assert row.left_out_real == 8, "documents of groups that the other text lacks"
    assert "differs" not in row.finding


def test_unscored_documents_are_tested_and_warned_of():
    holes = Corpus.from_texts([t.text if i % 3 else "" for i, t in enumerate(corpus("g", 1, 60))], name="holes")
    found = momus.compare(corpus("real", 0, 60), {"holes": holes}, fit=corpus("fit", 9, 100), **OPTIONS)
    row = next(v for v in found.verdicts if v.critic == "length" and v.statistic == "unscored_share")
    assert row.generated_value == pytest.approx(1 / 3)
    assert row.differs
    assert any("20 documents of 'holes' are unscored" in w for w in found.warnings)


def test_the_file_holds_no_nan(run):
    text = (run[1] / JOINT).read_text()
    assert "NaN" not in text
    assert json.loads(text)["ranking"]
