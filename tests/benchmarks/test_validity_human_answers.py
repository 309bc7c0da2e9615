"""Answers of real people go through `momus study read` and give the published figures: 150 pairs, 1,400 summaries."""

import sys
from pathlib import Path

import pytest

from momus_people.agreement import same_answers
from momus_people.result import analysed

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "validity"))

import human_answers as people

pytestmark = pytest.mark.skipif(
    not (people.data() / "judgements").is_dir(), reason=f"no real data: set MOMUS_DATA, or put it at {people.data()}"
)


def test_choices_between_continuations(tmp_path):
    study, answers = people.through_files(*people.continuations(), tmp_path / "study")
    result = analysed(study, answers)
    assert result.answers == 600
    (row,) = result.contrasts
    assert (row.first, row.second) == ("contrastive_decoding", "contrastive_search")
    assert 1 - row.preference == pytest.approx(0.68, abs=0.01)
    voted = people.answers_without_ties(answers)
    assert len(voted) == 590  # benchmarks/validity/JUDGES.md
    alpha = people.agreement(voted.unit, voted.category, "nominal").alpha
    assert alpha == pytest.approx(0.16, abs=0.005)


SLOW = [pytest.param(q, marks=pytest.mark.slow) for q in ("fluency", "relevance")]


@pytest.mark.parametrize("quality", ["consistency", *SLOW])
def test_agreement_about_summaries_is_the_published_one(tmp_path, quality):
    count, published = people.PUBLISHED_ALPHA[quality]
    found = people.alpha(*people.through_files(*people.summaries(quality, clean=True), tmp_path / "study"), "interval")
    assert found.values == count
    assert round(found.alpha, 4) == published


def test_one_annotator_of_coherence_is_a_copy():
    rows = people.rows_of_summaries()
    scores = {k: {i: r["annotations"][k]["coherence"] for i, r in enumerate(rows)} for k in range(3)}
    assert same_answers(scores) == {1, 2}
    others = {k: {i: r["annotations"][k]["relevance"] for i, r in enumerate(rows)} for k in range(3)}
    assert same_answers(others) == set()


@pytest.mark.slow
def test_scores_of_summaries(tmp_path):
    study, answers = people.through_files(*people.summaries("coherence"), tmp_path / "study")
    result = analysed(study, answers)
    assert (result.answers, result.agreement.units) == (4200, 1400)
    assert result.agreement.alpha == pytest.approx(0.475, abs=0.005)
    assert [r.name for r in result.raters if r.flags] == ["rater-2", "rater-3"]
    effects = {c.corpus: c.value for c in result.corpora}
    assert max(effects, key=effects.get) == "C"
    assert min(effects, key=effects.get) == "B"
