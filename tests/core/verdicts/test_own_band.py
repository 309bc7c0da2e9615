"""The band of a model: random halves of its own text, against the same computed one half at a time."""

import numpy as np
import pytest

from momus.against.units import HALVES, LEAST_UNITS, OwnBands
from momus.critic import Counted, Statistic
from momus.critic.statistic import mean, total_variation

MEAN = Statistic("mean", "x", "value", mean)
RATIO = Statistic("ratio", "x", "value", mean, effect="log_ratio")
TVD = Statistic("tvd", "x", "distance", total_variation)


def prompts_of(*sizes):
    return [f"p{i}" for i, size in enumerate(sizes) for _ in range(size)]


def test_halves_are_of_half_of_the_prompts_and_keep_the_documents_of_each_together():
    prompts = [*prompts_of(*[3] * 5, *[1] * 6), None, None]  # a document without a prompt is a unit
    bands = OwnBands([], 4, prompts=prompts)
    sides = bands.sides(400)
    assert sides.shape == (400, 23)
    assert set(np.unique(sides)) == {0, 1}
    first = [np.flatnonzero([p == q for p in prompts])[0] if q else k for k, q in enumerate(prompts)]
    assert (sides == sides[:, first]).all()
    units = sorted(set(first))
    assert len(units) == 13
    assert (sides[:, units].sum(axis=1) == 6).all()
    share = sides[:, units].mean(axis=0)
    assert np.abs(share - 6 / 13).max() < 4.5 * np.sqrt(6 / 13 * 7 / 13 / 400), "every unit as often as any other"
    assert len(np.unique(sides, axis=0)) > 300
    assert (sides == OwnBands([], 4, prompts=prompts).sides(400)).all()
    assert not (sides == OwnBands([], 5, prompts=prompts).sides(400)).all()


def test_groups_stay_together_whatever_their_prompts():
    groups = [f"g{i // 4}" for i in range(40)]
    sides = OwnBands(groups, 0, prompts=prompts_of(*[2] * 20)).sides(50)
    assert (sides.reshape(50, 10, 4).std(axis=2) == 0).all()
    assert (sides[:, ::4].sum(axis=1) == 5).all()


@pytest.mark.parametrize(("single", "within"), [(1, True), (2, False)])
def test_repeated_generations_are_halved_within_each_prompt(single, within):
    """From nine of ten prompts with several documents on."""
    sizes = [*[4] * (9 - single + 1), *[1] * single]
    prompts = prompts_of(*sizes)
    order = np.random.default_rng(0).permutation(len(prompts))
    sides = OwnBands([], 0, prompts=[prompts[k] for k in order]).sides(300)
    back = sides[:, np.argsort(order)]
    counts = np.add.reduceat(back, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=1)
    if within:
        assert (counts[:, : 9 - single + 1] == 2).all()
        share = back[:, : 4 * (9 - single + 1)].mean(axis=0)
        assert np.abs(share - 0.5).max() < 4.5 * 0.5 / np.sqrt(300)
    else:
        assert set(np.unique(counts[:, : 9 - single + 1])) == {0, 4}


def test_odd_numbers_of_generations_are_halved_as_nearly_as_can_be():
    counts = np.add.reduceat(OwnBands([], 0, prompts=prompts_of(*[5] * 12)).sides(50), np.arange(0, 60, 5), axis=1)
    assert (counts == 3).all()


def halves(bands):
    """Documents of both sides of each half."""
    return [(np.flatnonzero(s == 1), np.flatnonzero(s == 0)) for s in bands.sides()]


def test_the_band_of_a_value_is_that_of_differences_between_halves():
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.gamma(3, size=60), rng.integers(1, 4, 60).astype(float)])
    bands = OwnBands([], 2, prompts=[None] * 60)

    def value(documents):
        return rows[documents, 0].sum() / rows[documents, 1].sum()

    apart = np.array([value(a) - value(b) for a, b in halves(bands)])
    found = bands.of(MEAN, rows)
    # 95 % of normal differences lie within 1.96 of their root mean square
    assert found.value == pytest.approx(1.959964 * np.sqrt(np.mean(apart**2)))
    relative = 1.959964 / np.sqrt(2 * 59)  # of a standard deviation from 60 normal numbers
    assert (found.low, found.high) == pytest.approx(
        (found.value * (1 - relative), found.value * (1 + relative)), rel=1e-4
    )
    assert found.groups == 60
    logs = np.array([np.log(value(a) / value(b)) for a, b in halves(bands)])
    assert bands.of(RATIO, rows).value == pytest.approx(1.959964 * np.sqrt(np.mean(logs**2)))
    assert bands.of(MEAN, rows + 5) is found, "estimated once"
    assert bands.of(Statistic("other", "x", "value", mean, band=False), rows) is None


@pytest.mark.parametrize("counted", [True, False])
def test_the_band_of_a_distance_is_its_excess_over_chance_in_squares(counted):
    rng = np.random.default_rng(3)
    matrix = rng.multinomial(6, [0.5, 0.3, 0.2], 40).astype(float)
    bands = OwnBands([], 0, prompts=prompts_of(*[2] * 8, *[1] * 24))
    shares = [[matrix[d].sum(axis=0) / matrix[d].sum() for d in pair] for pair in halves(bands)]
    distances = np.array([0.5 * np.abs(a - b).sum() for a, b in shares])
    if counted:
        import scipy.sparse as sp

        rows = Counted(sp.csr_array(matrix), np.arange(3))
    else:
        rows = matrix
    found = bands.of(TVD, rows)
    assert found.value == pytest.approx(np.sqrt(np.quantile(distances, 0.95) ** 2 - (distances**2).mean()))
    assert found.groups == 32


def test_eight_units_are_needed_and_no_spread_is_no_band():
    rows = np.column_stack([np.arange(16.0), np.ones(16)])
    for units, known in ((LEAST_UNITS - 1, False), (LEAST_UNITS, True)):
        prompts = [f"p{min(i, units - 1)}" for i in range(16)]
        found = OwnBands([], 0, prompts=prompts).of(MEAN, rows)
        assert (found is not None) == known
    assert LEAST_UNITS == 8
    assert found.low == pytest.approx(found.value * (1 - 1.96 / 14**0.5))
    assert OwnBands([], 0, prompts=[None] * 16).of(MEAN, np.ones((16, 2))) is None
    assert OwnBands([], 0).of(MEAN, np.zeros((0, 2))) is None


@pytest.mark.parametrize(("scored", "known"), [(1, False), (3, True)])
def test_a_value_that_most_halves_lack_has_no_band(scored, known):
    """Documents with a value of 0/0: a half without any other has none."""
    rows = np.zeros((10, 2))
    rows[:scored] = [[k + 1.0, 1.0] for k in range(scored)]
    bands = OwnBands([], 0, prompts=[None] * 10)
    finite = [bool(set(a) & set(range(scored)) and set(b) & set(range(scored))) for a, b in halves(bands)]
    assert (sum(finite) >= HALVES / 2) == known
    assert (bands.of(MEAN, rows) is not None) == known
