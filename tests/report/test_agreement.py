"""What a comparison says agrees with the rows of its documents, in random runs."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "validity"))

from agreement import Recomputed, disagreements, faults_of_sentence, first_gap, run

from momus.reading import read_corpus
from momus.runs.answer import answer_of
from momus.verdicts.statistics import all_statistics


@pytest.mark.parametrize("runs", [5, pytest.param(12, marks=pytest.mark.slow)])
def test_what_random_runs_say_is_what_the_rows_of_their_documents_hold(runs):
    found = [disagreements(seed) for seed in range(runs)]
    assert [fault for _, _, faults in found for fault in faults] == []
    assert sum(axes for axes, _, _ in found) > 2.5 * runs
    assert sum(differing for _, differing, _ in found) > 0.5 * runs


@pytest.fixture(scope="module")
def largest():
    """The cell that a first sentence tells, its statistic, what it says, and how to compute it again."""
    for seed in range(20):
        comparison, critics, texts, register = run(seed)
        cell = answer_of(comparison).largest
        if cell is not None and cell.row.effect_kind == "hedges_g" and cell.direction and not cell.row.wording.clause:
            critic = next(c for c in critics if c.name == cell.row.critic)
            sides = [critic.score(read_corpus(texts[name], name)) for name in ("real", cell.generated)]
            s = next(s for s in all_statistics(critic, list(sides[0].rows)) if s.name == cell.row.statistic)
            axis = answer_of(comparison).axis(critic.name).axis
            return cell, s, axis, first_gap(comparison), partial(Recomputed, s=s, sides=sides, register=register)
    raise AssertionError("no run has a largest gap with a direction")


def test_a_sentence_that_says_something_else_is_found(largest):
    cell, s, axis, said, _ = largest
    assert faults_of_sentence(said, cell, axis) == []
    other = s.wording.direction[cell.row.difference < 0]
    for wrong in (
        said.replace(f"{cell.direction}:", f"{other}:"),
        said.replace("human: ", "human: 9"),
        said.replace(" human bands", "9 human bands"),
        said.replace(axis, "another axis"),
        said.replace(f"{axis}: ", f"{axis}: a small change: "),
    ):
        assert wrong != said
        assert faults_of_sentence(wrong, cell, axis) != [], wrong


@pytest.mark.parametrize("name", ["generated_value", "difference", "standard_error", "effect", "effect_high"])
def test_a_row_with_another_number_is_found(largest, name):
    cell, _, _, _, again = largest
    right = again(cell.row)
    right.compare()
    assert right.faults == []
    wrong = again(replace(cell.row, **{name: 1.05 * getattr(cell.row, name)}))
    wrong.compare()
    assert wrong.faults


@pytest.mark.parametrize("name", ["band", "band_low", "band_high"])
def test_a_row_with_another_band_is_found(largest, name):
    cell, _, _, _, again = largest
    wrong = again(replace(cell.row, **{name: 1.05 * getattr(cell.row, name)}))
    wrong.compare()
    assert wrong.faults
