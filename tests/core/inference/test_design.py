"""Designs: which documents belong together, and how many ways there are to relabel them."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.inference import Design
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
    assert design.flips
    assert columns(labels) == sorted((a, b, 1 - a, 1 - b) for a, b in product((0, 1), repeat=2))
    assert (design.relabellings, design.units, design.together) == (4, (2, 2), True)
    assert [r.tolist() for r in design.rows] == [[0, 1], [1, 0]]


def test_labels_of_clusters_move_whole_clusters():
    design = Design.clusters([7, 7, 9], [0, 1])
    assert (design.units, design.relabellings, design.together) == ((2, 2), 6, False)
    assert [n.tolist() for n in design.numbers] == [[0, 0, 1], [0, 1]]
    # rows of labels are clusters
    assert columns(all_labels(design)) == columns(all_labels(Design.documents(2, 2)))


def test_groups_of_prompts_change_sides_whole():
    groups = np.array([4, 4, 7, 7, 7])
    design = Design.prompts([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]).grouped(groups, groups)
    assert (design.units, design.relabellings, design.flips) == ((2, 2), 4, True)
    assert columns(all_labels(design)) == columns(all_labels(Design.pairs(np.array([[0, 0], [1, 1]]))))
    some = Design.prompts([0, 1, 2], [1, 1, 0]).grouped(np.array([0, 0, 5]), np.array([0, 0, 0]))
    assert some.units == (1, 1), "the group of a prompt that is left out does not count"


def test_groups_in_bins_are_labelled_whole_and_each_text_has_its_own():
    design = Design.bins([0, 1, 0, 1], [0, 1, 1]).grouped(np.array([3, 3, 8, 8]), np.array([3, 3, 9]))
    assert (design.units, design.relabellings) == ((2, 2), 6)
    labels = random_labels(design, 0, 0, 600)
    assert labels.shape == (7, 600)
    for a, b in ((0, 1), (2, 3), (4, 5)):
        assert (labels[a] == labels[b]).all()
    assert (labels[[0, 2, 4, 6]].sum(axis=0) == 2).all()
    assert len(set(columns(labels))) == 6
    assert not design.enumerable


def test_documents_without_a_partner_do_not_take_part():
    design = Design.prompts([0, 1, 1, 2], [1, 1, 3, 0])
    assert design.left_out == (1, 1)
    assert [r.tolist() for r in design.rows] == [[0, 1, 2], [0, 1, 3]]
    assert (design.n_real, design.n_generated, design.units) == (3, 3, (2, 2))
    assert Design.prompts([0, 1], [1, 0]).rows is None


def test_weights_are_those_of_mantel_and_haenszel():
    """Prompts with 1 + 3 and 2 + 1 documents: 2rg/(r + g) is 3/2 and 4/3, shared evenly on each side."""
    design = Design.prompts([0, 1, 1], [0, 0, 0, 1])
    real, generated = design.weights
    assert real.tolist() == pytest.approx([3 / 2, 2 / 3, 2 / 3])
    assert generated.tolist() == pytest.approx([1 / 2, 1 / 2, 1 / 2, 4 / 3])
    for plain in (Design.documents(2, 3), Design.clusters([0, 0], [0, 1, 1]), Design.pairs(np.array([[0, 0], [1, 1]]))):
        assert all((w == 1).all() for w in plain.weights)


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
        Design.bins([0, 1, 1], [0, 0, 1]),
        Design.prompts([0, 1, 2], [0, 1, 2]).grouped(np.array([0, 0, 1]), np.array([0, 0, 1])),
    ],
    ids=["documents", "more real", "pairs", "clusters", "prompts", "bins", "groups"],
)
def test_random_labels_are_some_of_all_labels(design):
    labels = random_labels(design, seed=3, chunk=1, size=40)
    assert labels.shape == (sum(design.units) if design.enumerable else design.n_real + design.n_generated, 40)
    assert set(np.unique(labels)) <= {0.0, 1.0}
    if design.enumerable:
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
    groups = np.array([0, 0, 1, 1])
    real, generated = multiplicities(Design.prompts(range(4), range(4)).grouped(groups, groups), 0, 0, 200)
    assert (real[0] == real[1]).all()
    assert (real == generated).all()


@given(st.integers(0, 3), st.integers(0, 300))
def test_chunks_cover_all_resamples_once(done, total):
    parts = list(chunks(done * CHUNK, done * CHUNK + total))
    assert sum(size for _, size in parts) == total
    assert [number for number, _ in parts] == list(range(done, done + len(parts)))
    assert all(size == CHUNK for _, size in parts[:-1])


def test_a_design_of_other_sizes_is_refused():
    from momus.critic import Statistic
    from momus.critic.statistic import mean
    from momus.inference import compare_rows

    rows = {"x": np.ones((5, 2))}
    for design in (Design.documents(5, 4), Design.clusters([0, 0, 1, 1, 2], []), Design.prompts([0, 1], [0, 1])):
        with pytest.raises(ValueError, match="rows of 5 and 5"):
            compare_rows([Statistic("m", "x", "value", mean)], rows, rows, design=design)
