"""Per-document rows and their summaries, against plain counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momus.critic import Counted, Pooled
from momus.critic.rows import aligned, place, pool, stack, take_rows

WORDS = st.lists(st.lists(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=5)


def counted(documents):
    labels = sorted({w for d in documents for w in d})
    codes = np.array([labels.index(w) for d in documents for w in d], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    return Counted.of_tokens(codes, offsets, labels)


def as_counters(rows):
    matrix = rows.matrix.toarray()
    return [Counter({str(w): int(n) for w, n in zip(rows.labels, row, strict=True) if n}) for row in matrix]


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(WORDS)
def test_counts_equal_a_counter(documents):
    rows = counted(documents)
    assert as_counters(rows) == [Counter(d) for d in documents]
    assert len(rows) == len(documents)
    assert pool(rows).tolist() == [sum(d.count(w) for d in documents) for w in rows.labels]


def test_codes_below_zero_are_left_out_and_slices_keep_their_offsets():
    rows = Counted.of_tokens(np.array([0, -1, 1, 1, -1]), np.array([0, 2, 2, 5]), ["a", "b"])
    assert rows.matrix.toarray().tolist() == [[1, 0], [0, 0], [0, 2]]
    part = Counted.of_tokens(np.array([1, 0]), np.array([3, 4, 5]), ["a", "b"])
    assert part.matrix.toarray().tolist() == [[0, 1], [1, 0]]


@given(WORDS, WORDS)
def test_stacking_aligns_the_words(first, second):
    both = stack([counted(first), counted(second)])
    assert as_counters(both) == [Counter(d) for d in [*first, *second]]
    a, b = aligned([counted(first), counted(second)])
    assert list(a.labels) == list(b.labels)
    assert as_counters(b) == [Counter(d) for d in second]
    assert [t.matrix.shape[1] for t in aligned([counted(first), counted(second)])] == [len(a.labels)] * 2


def test_numbers_are_aligned_in_ascending_order():
    a, b = aligned([Counted.of_values(np.array([5, 1, 5])), Counted.of_values(np.array([3]))])
    assert np.asarray(a.labels).tolist() == [1, 3, 5]
    assert a.matrix.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1]]
    assert b.matrix.toarray().tolist() == [[0, 1, 0]]


def test_the_same_labels_are_not_aligned_again():
    a = counted([["a"], ["b"]])
    assert aligned([a, a])[0] is a


@pytest.mark.parametrize("dense", [True, False])
def test_placing_gives_zeros_to_the_others(dense):
    rows = np.array([[1.0, 2.0], [3.0, 4.0]]) if dense else counted([["a", "b", "b"], ["a"]])
    placed = place(rows, np.array([1, 3]), 4)
    matrix = placed if dense else placed.matrix.toarray()
    expected = rows if dense else rows.matrix.toarray()
    assert matrix[[1, 3]].tolist() == expected.tolist()
    assert not matrix[[0, 2]].any()
    taken = take_rows(placed, np.array([3, 1]))
    assert (taken if dense else taken.matrix.toarray()).tolist() == expected[::-1].tolist()


@given(WORDS, WORDS)
def test_summaries_add(first, second):
    def summary(documents):
        lengths = np.array([[len(d), 1.0] for d in documents])
        return Pooled.of_rows({"words": counted(documents), "length": lengths}, len(documents))

    total, both = summary(first) + summary(second), summary([*first, *second])
    assert total.documents == both.documents == len(first) + len(second)
    assert total.counts == both.counts
    assert total.arrays["length"].tolist() == both.arrays["length"].tolist()
    assert total.arrays["length"].tolist() == [sum(map(len, [*first, *second])), len(first) + len(second)]


def test_summaries_with_different_tables_keep_both():
    a, b = Pooled(1, {"x": np.ones(2)}, {"u": {"w": 1.0}}), Pooled(2, {"y": np.ones(1)}, {"v": {"w": 2.0}})
    both = a + b
    assert (both.documents, set(both.arrays), both.counts) == (3, {"x", "y"}, {"u": {"w": 1.0}, "v": {"w": 2.0}})
    assert a.counts == {"u": {"w": 1.0}}, "the summands do not change"


def test_aligning_leaves_the_tables_as_they_were():
    one = Counted.of_tokens(np.array([0, 1, 1]), np.array([0, 3]), ["a", "b"])
    other = Counted.of_tokens(np.array([0, 0, 0, 1]), np.array([0, 4]), ["b", "a"])  # columns change places
    first = [t.matrix.toarray() for t in (one, other)]
    for _ in range(2):
        assert [t.matrix.toarray().tolist() for t in aligned([one, other])] == [[[1, 2]], [[1, 3]]]
    assert all(np.array_equal(t.matrix.toarray(), before) for t, before in zip((one, other), first, strict=True))
