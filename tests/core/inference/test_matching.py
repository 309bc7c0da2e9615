"""The design that is chosen from prompts and groups, and who takes part in it."""

import numpy as np
import pytest

from momus.errors import UsageError
from momus.inference import design_of
from momus.inference.matching import FEWEST_GROUPS


def test_the_design_is_read_from_the_prompts():
    assert design_of(["a", "b", "c"], ["c", "a", "b"]).kind == "pairs"
    assert design_of(["a", "b", "c"], ["c", "a", "b"], paired=False).kind == "documents"
    assert design_of([None] * 4, ["a", "b", "c"]).kind == "documents"
    assert design_of(["a", "b"], ["a", "a", "b", "b"]).kind == "prompts"
    assert design_of(["a", "b"], ["a", "a", "b", "b"], paired=False).kind == "clusters"
    assert design_of(["a", "a", "b"], ["x", "y"]).kind == "clusters"
    assert design_of(["a", "a", "a"], ["a", "a"]).kind == "clusters", "one common prompt is none to compare within"


def test_pairs_are_matched_by_prompt():
    design = design_of(["a", "c", "d"], ["d", "c", "a"])
    assert [r.tolist() for r in design.rows] == [[0, 1, 2], [2, 1, 0]]
    assert design.units == (3, 3)


def test_documents_without_a_prompt_stand_for_themselves():
    design = design_of(["a", "a", None, None], ["x", None])
    assert design.kind == "clusters"
    assert design.units == (3, 2)
    numbers = design.numbers[0]
    assert numbers[0] == numbers[1]
    assert len(set(numbers.tolist())) == 3


def test_documents_whose_prompt_the_other_side_lacks_do_not_take_part():
    design = design_of(["a"] * 9 + ["b"] * 9 + [None, "x"], ["a", "b"] * 10 + ["y"])
    assert design.kind == "prompts"
    assert (design.units, design.n_real, design.n_generated, design.left_out) == ((2, 2), 18, 20, (2, 1))
    assert [r.tolist() for r in design.rows] == [list(range(18)), list(range(20))]


def test_nine_in_ten_must_match():
    nine = [f"p{i}" for i in range(9)]
    assert design_of([*nine, "x"], [*nine, "y"]).units == (9, 9)
    assert design_of([*nine, "x", "z"], [*nine, "y", "w"]).kind == "documents"
    asked = design_of([*nine, "x", "z"], [*nine, "y", "w"], paired=True)
    assert (asked.kind, asked.n_real) == ("pairs", 9)
    assert design_of(nine, [*nine, *"uvwxyz"]).kind == "pairs", "the smaller side counts"
    twice = [p for p in nine for _ in (0, 1)]
    assert design_of([*twice, "x", "x"], [*nine, "y"]).kind == "prompts"
    assert design_of([*twice, "x", "x", "z"], [*nine, "y", "w"]).kind == "clusters"


def test_pairs_that_are_asked_for_must_exist():
    with pytest.raises(UsageError, match="1 document of 'mine' shares a prompt_id with one of 'theirs'"):
        design_of(["a", "b"], ["a", "c"], paired=True, names=("theirs", "mine"))
    assert design_of(["a", "b", "c"], ["b", "a", "x"], paired=True).units == (2, 2)


# Groups


def books(n, of_book=3, name="b"):
    return [f"{name}{i}" for i in range(n) for _ in range(of_book)]


def test_groups_are_clusters():
    real, generated = books(4), books(5, 2, "g")
    design = design_of([None] * 12, [None] * 10, groups=(real, generated))
    assert (design.kind, design.units) == ("clusters", (4, 5))
    assert design_of([None] * 12, [None] * 10, groups=(real, ())).units == (4, 10), "documents without a group"


def test_enough_shared_groups_are_compared_group_by_group():
    shared = books(FEWEST_GROUPS)
    design = design_of([None] * len(shared), [None] * len(shared), groups=(shared, shared[::-1]))
    assert (design.kind, design.flips) == ("prompts", True)
    assert design.units == (FEWEST_GROUPS,) * 2
    assert design.relabellings == 2**FEWEST_GROUPS
    few = books(FEWEST_GROUPS - 1)
    too_few = design_of([None] * len(few), [None] * len(few), groups=(few, few))
    assert (too_few.kind, too_few.units) == ("clusters", (FEWEST_GROUPS - 1,) * 2)
    apart = design_of([None] * len(shared), [None] * len(shared), paired=False, groups=(shared, shared))
    assert apart.kind == "clusters"


def test_groups_of_both_sides_have_the_same_numbers():
    real, generated = books(10, 2), books(10, 1)[::-1]
    design = design_of([None] * 20, [None] * 10, groups=(real, generated))
    names = {}
    for group, number in zip(real + generated, np.concatenate(design.groups).tolist(), strict=True):
        assert names.setdefault(group, number) == number
    assert len(set(names.values())) == 10


def test_pairs_of_one_group_change_sides_together():
    prompts, groups = list("abcdef"), ["x", "x", "y", "y", None, None]
    design = design_of(prompts, prompts[::-1], groups=(groups, ()))
    assert design.kind == "pairs"
    assert design.units == (4, 4), "two groups, and two prompts without one"
    real, generated = design.groups
    assert real.tolist() == generated.tolist()
    assert real[0] == real[1] != real[2]
    several = design_of(prompts, prompts * 2, groups=(groups, ()))
    assert (several.kind, several.units, several.flips) == ("prompts", (4, 4), True)
