"""Ragged arrays against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from momus.numeric.ragged import group_sums, kept_offsets, number_keys, offsets_of, owners_of, places_of, ranges_of

LENGTHS = st.lists(st.integers(0, 5), max_size=8)


@given(LENGTHS, st.integers(0, 3))
def test_owners_and_places_equal_a_loop(lengths, shift):
    offsets = offsets_of(lengths) + shift
    assert owners_of(offsets).tolist() == [i for i, n in enumerate(lengths) for _ in range(n)]
    assert places_of(offsets).tolist() == [m for n in lengths for m in range(n)]
    assert offsets.tolist() == [shift + sum(lengths[:i]) for i in range(len(lengths) + 1)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_ranges_equal_a_loop(pairs):
    starts, lengths = (np.array(x, dtype=np.int64) for x in (zip(*pairs, strict=True) if pairs else ([], [])))
    assert ranges_of(starts, lengths).tolist() == [a + m for a, n in pairs for m in range(n)]


@given(LENGTHS, st.randoms(use_true_random=False))
def test_dropping_items_keeps_their_owners(lengths, random):
    offsets = offsets_of(lengths)
    keep = np.array([random.random() < 0.5 for _ in range(sum(lengths))], dtype=bool)
    after = kept_offsets(keep, offsets)
    assert owners_of(after).tolist() == owners_of(offsets)[keep].tolist()
    assert group_sums(keep.astype(np.int64), offsets).tolist() == np.diff(after).tolist()


@given(st.lists(st.integers(0, 2**62), max_size=30))
def test_numbers_of_keys_equal_a_loop(keys):
    numbers, first, again = number_keys(np.array(keys, dtype=np.int64))
    order = sorted(set(keys))
    assert numbers.tolist() == [order.index(k) for k in keys]
    assert sorted(first.tolist()) == sorted(keys.index(k) for k in order)
    seconds = [[i for i, k in enumerate(keys) if k == key][1:2] for key in order]
    assert sorted(again.tolist()) == sorted(i for row in seconds for i in row)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=12), max_size=8), st.integers(0, 3))
def test_sums_of_an_owner_do_not_depend_on_its_neighbours(owners, shift):
    values = np.array([x for owner in owners for x in owner])
    offsets = offsets_of([len(owner) for owner in owners])
    alone = [group_sums(np.array(owner, dtype=float), np.array([0, len(owner)]))[0] for owner in owners]
    assert group_sums(values, offsets).tolist() == alone
    padded = np.concatenate([np.full(shift, 1e300), values, np.full(shift, 1e300)])
    assert group_sums(padded, offsets + shift).tolist() == alone
