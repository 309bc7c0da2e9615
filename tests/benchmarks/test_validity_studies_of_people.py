"""Real annotators go through `momus study read`: 150 pairs with four annotators, 1,400 summaries with three."""

import importlib.util
import sys
from pathlib import Path

import pytest

from momus.study.agreement import agreement
from momus.study.answers import read_answers
from momus.study.judged import counted_answers, values_of_units

PATH = Path(__file__).parents[2] / "benchmarks" / "validity" / "studies_of_people.py"


@pytest.fixture(scope="module")
def studies():
    spec = importlib.util.spec_from_file_location("studies_of_people", PATH)
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    if not (made.data() / "judgements").is_dir():
        pytest.skip(f"no real data: set MOMUS_DATA, or put it at {made.data()}")
    return made


def test_choices_between_continuations(studies, tmp_path):
    study, files = studies.continuations()
    result = studies.through_files(study, files, tmp_path / "study")
    assert result.answers == 600
    (row,) = result.contrasts
    assert (row.first, row.second) == ("contrastive_decoding", "contrastive_search")
    assert 1 - row.preference == pytest.approx(0.67, abs=0.01)
    answers = counted_answers(read_answers(study, sorted((tmp_path / "study").glob("answers-*"))), range(4))
    values = values_of_units(study, answers)
    voted = values.value != 1
    assert voted.sum() == 590  # docs/validity-judges.md
    assert agreement(values.unit[voted], values.value[voted], "nominal").alpha == pytest.approx(0.16, abs=0.005)


@pytest.mark.slow
def test_scores_of_summaries(studies, tmp_path):
    study, files = studies.summaries("coherence")
    result = studies.through_files(study, files, tmp_path / "study")
    assert (result.answers, result.agreement.units) == (4200, 1400)
    assert result.agreement.alpha == pytest.approx(0.475, abs=0.005)
    effects = {c.corpus: c.effect for c in result.corpora}
    assert max(effects, key=effects.get) == "C"
    assert min(effects, key=effects.get) == "B"
