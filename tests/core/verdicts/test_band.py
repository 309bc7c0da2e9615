"""Human bands: the variation between groups of real text, known in simulations; defaults without groups."""

import numpy as np
import pytest
from scipy import stats

from momus.critic import Statistic
from momus.critic.statistic import (
    entropy,
    jensen_shannon,
    kolmogorov_smirnov,
    mean,
    mean_gap,
    perplexity,
    supremum,
    total_variation,
)
from momus.verdicts.band import DEFAULTS, LEAST_GROUPS, SPLITS, Band, HumanBands, default_band

G = Statistic("mean", "x", "value", mean, effect="hedges_g")
PLAIN = Statistic("plain", "x", "value", mean)
PPL = Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio")
TVD = Statistic("tvd", "x", "distance", total_variation)


def grouped(rng, groups, documents, between, within=1.0, middle=0.0):
    """Values of documents, and the names of their groups."""
    of_group = np.repeat(np.arange(groups), documents)
    values = middle + rng.normal(0, between, groups)[of_group] + rng.normal(0, within, groups * documents)
    return values, [f"g{k}" for k in of_group.tolist()]


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


@pytest.mark.parametrize("others", [None, 12], ids=["halves", "as many as generated"])
@pytest.mark.parametrize("between", [0.0, 0.5])
def test_the_band_is_the_quantile_of_differences_between_groups(between, others):
    """Means of a and b groups of m documents differ by N(0, (τ² + σ²/m)(1/a + 1/b)); mean band over 12 texts."""
    rng, k, m = np.random.default_rng(0), 80, 10
    generated = [] if others is None else [f"x{i}" for i in range(others)] * 3
    spread = np.sqrt((between**2 + 1 / m) * (1 / 40 + 1 / (others or 40)))
    truth = {"plain": 1.96 * spread, "mean": 1.96 * spread / np.sqrt(1 + between**2), "ppl": 1.96 * spread}
    found = {name: [] for name in truth}
    for seed in range(12):
        values, names = grouped(rng, k, m, between, middle=2.0)
        bands = HumanBands(names, seed)
        for s in (PLAIN, G, PPL):
            band = bands.of(s, ones(values), generated)
            assert (band.source, band.groups, band.splits) == ("groups", k, SPLITS)
            found[s.name].append(band.value)
    for name, values in found.items():
        assert np.mean(values) == pytest.approx(truth[name], rel=0.08), name


def test_human_text_of_other_groups_passes_in_95_of_100_cases():
    """400 real texts of 40 groups, 20 of which are compared with 20 new groups of the same kind."""
    rng, passed = np.random.default_rng(1), 0
    for seed in range(400):
        values, names = grouped(rng, 40, 6, 0.5)
        band = HumanBands(names, seed).of(G, ones(values), [f"n{i}" for i in range(20)])
        new, _ = grouped(rng, 20, 6, 0.5)
        half = values[:120]
        deviation = np.sqrt((half.var(ddof=1) + new.var(ddof=1)) / 2)
        passed += abs(new.mean() - half.mean()) / deviation <= band.value
    assert 0.91 <= passed / 400 <= 0.975


def test_the_band_does_not_shrink_with_documents_per_group():
    rng = np.random.default_rng(2)
    found = {}
    for m in (5, 500):
        values, names = grouped(rng, 24, m, 1.0)
        found[m] = HumanBands(names).of(PLAIN, ones(values), []).value
    assert found[500] > 0.5 * found[5]
    # halves of 6,000 independent documents with the same variance would differ by much less
    assert found[500] > 5 * 1.96 * np.sqrt(2 * 2 / 6000)


def test_bands_of_distances_are_larger_where_groups_differ():
    """Words of documents: groups with shares around 1/12, or all with these shares."""
    rng = np.random.default_rng(3)
    middle = np.full(12, 1 / 12)
    for s in (TVD, Statistic("gap", "x", "distance", mean_gap)):  # with a witness, and without one
        values = []
        for concentration in (10.0, 1e6):
            shares = np.repeat(rng.dirichlet(concentration * middle, 20), 5, axis=0)
            rows = rng.multinomial(100, shares).astype(float)
            names = [f"g{i // 5}" for i in range(100)]
            values.append(HumanBands(names).of(s, rows, []).value)
        assert values[0] > 2 * values[1]
        if s is TVD:  # nearly the distance of halves with whole shares
            halves = [rng.dirichlet(10 * middle, (10, 2)).mean(axis=0) for _ in range(400)]
            distances = [np.abs(h[0] - h[1]).sum() / 2 for h in halves]
            assert values[0] == pytest.approx(np.quantile(distances, 0.95), rel=0.3)


def test_bands_are_computed_once_per_statistic_and_sizes():
    values, names = grouped(np.random.default_rng(4), 20, 5, 1.0)
    bands = HumanBands(names)
    first = bands.of(G, ones(values), [])
    assert bands.of(G, ones(values), ["a", None, "a"]) is first, (
        "one group of generated text is no size to compare with"
    )
    assert bands.of(G, ones(values), ["a", "b"]).value > first.value
    assert bands.of(G, ones(values), [f"{i}" for i in range(500)]) is first, "halves at most"
    assert HumanBands(names).of(G, ones(values), []) == first, "the seed repeats it"
    assert HumanBands(names, 1).of(G, ones(values), []) != first


def test_halves_of_an_odd_number_of_groups_leave_one_out():
    values, names = grouped(np.random.default_rng(6), 21, 5, 1.0)
    bands = HumanBands(names)
    halves = bands.of(G, ones(values), [])
    assert bands.of(G, ones(values), [f"n{i}" for i in range(10)]) is halves
    assert bands.of(G, ones(values), [f"n{i}" for i in range(9)]).value != halves.value


def test_without_groups_bands_are_defaults():
    values, names = grouped(np.random.default_rng(5), LEAST_GROUPS - 1, 5, 1.0)
    for groups in ((), names, [*names[:-1], None]):
        assert HumanBands(groups).of(G, ones(values), []) == Band(0.2, "default")
    enough, names = grouped(np.random.default_rng(5), LEAST_GROUPS, 5, 1.0)
    assert HumanBands(names).of(G, ones(enough), []).source == "groups"


def test_a_band_of_equal_groups_is_the_default():
    """Real text without any variation says nothing about human variation."""
    names = [f"g{i // 4}" for i in range(80)]
    assert HumanBands(names).of(G, ones(np.full(80, 2.0)), []) == Band(0.2, "default")


def test_defaults_belong_together():
    """g = 0.2 of normal values is a distance of 2Φ(0.1) − 1 and a divergence of 0.005 nats."""
    assert (default_band(G).value, default_band(PPL).value) == (0.2, pytest.approx(np.log(1.1)))
    assert DEFAULTS["hedges_g"] == 0.2
    x = np.linspace(-8, 8, 4001)
    p, q = (stats.norm.pdf(x, m)[None] for m in (0.0, 0.2))
    for function in (total_variation, kolmogorov_smirnov):
        assert default_band(Statistic("d", "x", "distance", function)).value == pytest.approx(
            float(function(p, q)[0]), abs=0.001
        )
    divergence = default_band(Statistic("d", "x", "distance", jensen_shannon)).value
    assert divergence == pytest.approx(float(jensen_shannon(p, q)[0]), abs=0.0002)
    assert default_band(Statistic("d", "x", "distance", supremum)).value == 0.01
    assert default_band(Statistic("d", "x", "distance", mean_gap)) is None
    assert default_band(Statistic("e", "x", "value", entropy)) is None
    assert default_band(Statistic("e", "x", "value", entropy, band=0.3)) == Band(0.3)
