"""Designs: which documents belong together, and how many ways there are to relabel them."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.errors import UsageError
from momus.inference import Design, design_of, pair_up
from momus.inference.weights import CHUNK, all_labels, chunks, multiplicities, random_labels


def columns(labels):
    return sorted(map(tuple, labels.T.astype(int).tolist()))


def test_labels_of_documents_are_all_choices():
    labels = all_labels(Design.documents(2, 3))
    assert columns(labels) == sorted(tuple(int(i in c) for i in range(5)) for c in combinations(range(5), 2))
    assert Design.documents(2, 3).relabellings == 10


def test_labels_of_pairs_swap_within_pairs():
    design = Design.pairs(np.array([[0, 1], [1, 0]]))
    labels = all_labels(design)
    assert columns(labels) == sorted((a, b, 1 - a, 1 - b) for a, b in product((0, 1), repeat=2))
    assert (design.relabellings, design.units, design.together) == (4, (2, 2), True)
    assert [r.tolist() for r in design.rows] == [[0, 1], [1, 0]]


def test_labels_of_clusters_move_whole_clusters():
    design = Design.clusters([7, 7, 9], None, n_generated=2)
    assert (design.units, design.relabellings, design.together) == ((2, 2), 6, False)
    labels = all_labels(design)
    assert (labels[0] == labels[1]).all()
    assert columns(labels[[0, 2, 3, 4]]) == columns(all_labels(Design.documents(2, 2)))


def test_prompts_count_the_labellings_within_each():
    design = Design.prompts([5, 6, 6], [6, 5, 5, 5])
    assert design.relabellings == 4 * 3
    assert design.units == (2, 2)
    assert (design.enumerable, Design.documents(1, 1).enumerable) == (False, True)


@pytest.mark.parametrize(
    "design",
    [
        Design.documents(3, 5),
        Design.documents(5, 3),
        Design.pairs(np.array([[0, 0], [1, 1], [2, 2]])),
        Design.clusters([0, 0, 1], [0, 1, 1, 2]),
        Design.prompts([0, 1, 1], [0, 0, 1]),
    ],
    ids=["documents", "more real", "pairs", "clusters", "prompts"],
)
def test_random_labels_are_some_of_all_labels(design):
    labels = random_labels(design, seed=3, chunk=1, size=40)
    assert labels.shape == (design.n_real + design.n_generated, 40)
    assert set(np.unique(labels)) <= {0.0, 1.0}
    if design.kind != "prompts":
        assert set(columns(labels)) <= set(columns(all_labels(design)))
    else:
        numbers = np.concatenate(design.numbers)
        for column in labels.T:
            assert np.bincount(numbers, column).tolist() == [1, 2]
    assert np.array_equal(labels, random_labels(design, 3, 1, 40))
    assert not np.array_equal(labels, random_labels(design, 3, 2, 40))


def test_documents_are_labelled_real_equally_often():
    labels = random_labels(Design.documents(2, 6), seed=0, chunk=0, size=8000)
    assert (labels.sum(axis=0) == 2).all()
    assert labels.mean(axis=1) == pytest.approx(np.full(8, 0.25), abs=0.025)


def test_units_are_resampled_together():
    real, generated = multiplicities(Design.clusters([0, 0, 1], [0, 1, 1]), 0, 0, 200)
    assert (real[0] == real[1]).all()
    assert (generated[1] == generated[2]).all()
    assert (real[0] + real[2] == 2).all()
    assert not (real == generated).all()
    real, generated = multiplicities(Design.pairs(np.array([[0, 1], [1, 0], [2, 2]])), 0, 0, 200)
    assert (real == generated).all()
    assert (real.sum(axis=0) == 3).all()
    real, generated = multiplicities(Design.documents(3, 4), 0, 0, 4000)
    assert real.sum(axis=0).tolist() == [3] * 4000
    assert generated.sum(axis=0).tolist() == [4] * 4000
    assert real.mean(axis=1) == pytest.approx(np.ones(3), abs=0.08)


@given(st.integers(0, 300))
def test_chunks_cover_all_resamples_once(total):
    parts = list(chunks(total))
    assert sum(size for _, size in parts) == total
    assert [number for number, _ in parts] == list(range(len(parts)))
    assert all(size == CHUNK for _, size in parts[:-1])


def test_the_design_is_read_from_the_prompts():
    assert design_of(["a", "b", "c"], ["c", "a", "b"]).kind == "pairs"
    assert design_of(["a", "b", "c"], ["c", "a", "b"], paired=False).kind == "documents"
    assert design_of([None] * 4, ["a", "b", "c"]).kind == "documents"
    assert design_of(["a", "b"], ["a", "a", "b", "b"]).kind == "prompts"
    assert design_of(["a", "b"], ["a", "a", "b", "b"], paired=False).kind == "clusters"
    assert design_of(["a", "a", "b"], ["x", "y"]).kind == "clusters"
    assert design_of(["a", "a", "a"], ["a", "a"]).kind == "clusters", "one common prompt is none to resample"


def test_documents_without_a_prompt_stand_for_themselves():
    design = design_of(["a", "a", None, None], ["x", None])
    assert [n.tolist() for n in design.numbers] == [[0, 0, 1, 2], [0, 1]]
    assert design.units == (3, 2)
    mixed = design_of(["a"] * 9 + ["b"] * 9 + [None, None], ["a", "b"] * 10)
    assert mixed.kind == "prompts"
    assert mixed.units == (4, 4), "two prompts, and two documents without one"


def test_nine_in_ten_must_match():
    nine = [f"p{i}" for i in range(9)]
    assert len(pair_up([*nine, "x"], [*nine, "y"])) == 9
    assert pair_up([*nine, "x", "z"], [*nine, "y", "w"]) is None
    assert len(pair_up([*nine, "x", "z"], [*nine, "y", "w"], paired=True)) == 9
    assert len(pair_up(nine, [*nine, *"uvwxyz"])) == 9, "the smaller side counts"
    twice = [p for p in nine for _ in (0, 1)]
    assert design_of([*twice, "x", "x"], [*nine, "y"]).kind == "prompts"
    assert design_of([*twice, "x", "x", "z"], [*nine, "y"]).kind == "clusters"


def test_pairs_that_are_asked_for_must_exist():
    with pytest.raises(UsageError, match="1 documents of 'mine' share a prompt_id with one of 'theirs'"):
        design_of(["a", "b"], ["a", "c"], paired=True, names=("theirs", "mine"))
    assert len(pair_up(["a", "b"], ["b", "a"], paired=True)) == 2


def test_a_design_of_other_sizes_is_refused():
    from momus.critic import Statistic, mean
    from momus.inference import compare_rows

    rows = {"x": np.ones((5, 2))}
    for design in (Design.documents(5, 4), Design.clusters([0, 0, 1, 1, 2], None), Design.prompts([0, 1], [0, 1])):
        with pytest.raises(ValueError, match="rows 'x' of 5 and 5"):
            compare_rows([Statistic("m", "x", "value", mean)], rows, rows, design=design)
