"""Human bands: the spread between groups of real text in units of the effect, and the atlas without groups."""

import json
from importlib.resources import files

import numpy as np
import pytest

from momus.critic import Counted, Statistic
from momus.critic.scores import Scores
from momus.critic.statistic import entropy, kolmogorov_smirnov, mean, perplexity, total_variation
from momus.errors import UsageError
from momus.inference.spread import PAIR, is_seen
from momus.verdicts.band import LEAST_GROUPS, HumanBands, atlas, check_register, default_band, kind_of
from momus.verdicts.judge import judge
from momus_critics.length import Length

G = Statistic("mean", "x", "value", mean, effect="hedges_g")
PPL = Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio")
RATE = Statistic.relative("rate", "x", "rate")
TVD = Statistic("tvd", "x", "distance", total_variation)
VARIETY = Statistic("variety", "x", "value", entropy)


def grouped(rng, groups, documents, between, within=1.0, middle=0.0):
    """Rows of documents, and the names of their groups."""
    of_group = np.repeat(np.arange(groups), documents)
    values = middle + rng.normal(0, between, groups)[of_group] + rng.normal(0, within, groups * documents)
    return np.column_stack([values, np.ones(len(values))]), [f"g{k}" for k in of_group.tolist()]


@pytest.mark.parametrize(("statistic", "truth"), [(G, 0.5), (PPL, 0.5), (RATE, np.sqrt(np.log1p(0.05**2)))])
def test_bands_of_ratios_are_on_the_scale_that_is_compared(statistic, truth):
    rng, found = np.random.default_rng(0), []
    for seed in range(20):
        rows, names = grouped(rng, 80, 10, 0.5, middle=10.0)
        found.append(HumanBands(names, seed).of(statistic, rows).value)
    assert np.median(found) == pytest.approx(PAIR * truth, rel=0.08)


def test_bands_of_other_values_come_from_halves_of_groups():
    """Entropy of words, whose shares differ between groups."""
    rng, found = np.random.default_rng(1), {}
    for concentration in (20.0, 1e6):
        shares = rng.dirichlet(np.full(10, concentration / 10), 24).repeat(10, axis=0)
        rows = rng.multinomial(300, shares).astype(float)
        found[concentration] = HumanBands([f"g{i // 10}" for i in range(240)]).of(VARIETY, rows)
        if concentration == 20.0:
            p = rng.dirichlet(np.full(10, 2.0), (20_000, 2))
            differences = np.abs(np.diff(-(p * np.log(p)).sum(axis=2), axis=1))
            assert found[concentration].value == pytest.approx(np.quantile(differences, 0.95), rel=0.35)
    assert found[1e6] is None or found[1e6].value < 0.05 * found[20.0].value


def test_distances_and_statistics_without_a_band():
    rng = np.random.default_rng(2)
    rows = rng.multinomial(100, np.repeat(rng.dirichlet(np.full(12, 1.0), 20), 6, axis=0)).astype(float)
    bands = HumanBands([f"g{i // 6}" for i in range(120)])
    assert bands.of(TVD, rows).groups == 20
    assert bands.of(TVD, rows) is bands.of(TVD, rows)
    assert HumanBands(bands.groups).of(TVD, rows) == bands.of(TVD, rows), "the seed repeats it"
    assert bands.of(Statistic("test", "x", "distance", total_variation, band=False), rows) is None


def test_without_enough_groups_there_is_no_estimate():
    rows, names = grouped(np.random.default_rng(5), LEAST_GROUPS - 1, 5, 1.0)
    for groups in ((), names, [*names[:-1], None]):
        assert HumanBands(groups).of(G, rows) is None
    enough, names = grouped(np.random.default_rng(5), LEAST_GROUPS, 5, 1.0)
    assert HumanBands(names).of(G, enough).groups == LEAST_GROUPS
    assert HumanBands(names).of(G, np.ones((40, 2))) is None, "text without any variation says nothing"


def scores(rows, groups=(), name="real"):
    n = len(rows)
    moments = np.column_stack([rows[:, 0], rows[:, 0] ** 2, np.ones(n)])
    lengths = Counted.of_values(np.arange(n) % 4)
    table = {"latent_nll": rows, "tokens": rows, "length": lengths, "logarithms": moments, "typical": rows}
    ids = [f"{name} {i}" for i in range(n)]
    return Scores("length", name, ids, [None] * n, rows[:, 0], np.ones(n, dtype=int), [None] * n, table, groups=groups)


def verdict(real, generated, **options):
    table = judge(Length(), real, generated, permutations=199, bands=HumanBands(real.groups), **options)
    return next(v for v in table if v.statistic == "latent_nll")


def test_a_gap_is_the_difference_in_units_of_the_band():
    """Whatever the deviation of the generated text, in which Hedges' g is told."""
    rng = np.random.default_rng(6)
    rows, names = grouped(rng, 40, 8, 1.0)
    spread = HumanBands(names).of(Statistic("latent_nll", "latent_nll", "value", mean, effect="hedges_g"), rows)
    for deviation in (0.2, 5.0):
        other = np.column_stack([rng.normal(4, deviation, 200), np.ones(200)])
        v = verdict(scores(rows, names), scores(other, name="g"))
        assert (v.band_source, v.band_groups) == ("groups", 40)
        assert v.gap == pytest.approx(abs(v.difference) / spread.value)
        assert v.gap_interval[0] < v.gap < v.gap_interval[1]
        assert v.band_low < v.band < v.band_high


def test_another_author_is_within_and_not_beyond():
    """400 documents of 40 authors against another 40: shown to be alike, as no test of equality could show."""
    findings = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        real, other = (scores(*grouped(rng, 40, 5, 0.7), name) for name in ("real", "g"))
        findings.append(verdict(real, other, seed=seed))
    from momus.verdicts.table import adjust

    found = [adjust([v], "none")[0].finding for v in findings]
    assert found.count("within human variation") >= 20
    assert "beyond human variation" not in found


def test_the_atlas_serves_without_groups():
    rng = np.random.default_rng(7)
    rows, _ = grouped(rng, 40, 5, 0.7)
    real, other = scores(rows), scores(rows + np.array([0.5, 0]), name="g")
    v = verdict(real, other)
    default = default_band("length", "latent_nll")
    assert (v.band, v.band_low, v.band_high) == (default.value, default.low, default.high)
    assert (v.band_source, v.band_register) == ("default", default.register)
    register = next(r for r in atlas()["bands"]["length"]["latent_nll"] if r)
    chosen = verdict(real, other, register=register)
    assert chosen.band == atlas()["bands"]["length"]["latent_nll"][register][0]
    assert chosen.band_register == register


def test_rows_of_the_atlas_are_intervals_of_known_registers():
    content = json.loads(files("momus.verdicts").joinpath("atlas.json").read_text(encoding="utf-8"))
    rows = [by for of_critic in content["bands"].values() for by in of_critic.values()]
    assert rows
    for by in [*rows, *content["kinds"].values()]:
        assert set(by) <= {"", *content["registers"]}
        assert "" in by, "what holds for text of any other kind"
        for value, low, high, groups in by.values():
            assert 0 < low <= value <= high
            assert groups >= LEAST_GROUPS
    for register in content["registers"].values():
        assert {"source", "group", "document", "groups", "documents"} <= set(register)


def test_default_bands_are_predictions_from_all_registers():
    by = atlas()["bands"]["unigram"]["tvd"]
    band = default_band("unigram", "tvd")
    measured = [row for name, row in by.items() if name]
    assert min(r[0] for r in measured) < band.value < max(r[0] for r in measured)
    assert band.low < min(r[0] for r in measured) < max(r[0] for r in measured) < band.high
    assert band.register == "predicted from " + ", ".join(name for name in by if name)
    of_novels = default_band("unigram", "tvd", register="novels")
    assert (of_novels.register, of_novels.groups) == ("novels", by["novels"][3])
    assert of_novels.high - of_novels.low < band.high - band.low, "another register is less sure than one that was seen"
    words = default_band("length", "mean_length")
    assert default_band("length", "mean_length", register="novels") == words, "passages of novels are cut to a length"


def test_a_register_in_which_authors_are_not_seen_to_differ_does_not_make_the_band_small():
    """General truths end 0.06 of [0.006, 0.485] of novels: other shares of documents have bands around 1."""
    band = default_band("edges", "ends_general_truth_share")
    usual = default_band("mine", "mean", "hedges_g")
    assert 0.5 < band.value / usual.value < 1
    assert is_seen(band.value, band.low)
    assert 0.3 < default_band("edges", "ends_general_truth_share", register="novels").value < 0.65


def test_a_statistic_that_was_not_measured_has_the_band_of_its_kind():
    assert kind_of(G) == "hedges_g"
    assert kind_of(PPL) == "log_ratio"
    assert kind_of(TVD) == "total variation"
    assert kind_of(Statistic("ks", "x", "distance", kolmogorov_smirnov)) == "Kolmogorov-Smirnov"
    assert kind_of(VARIETY) == kind_of(Statistic("d", "x", "distance", lambda p, q: p[:, 0])) == ""
    assert default_band("mine", "mean", "hedges_g").value > 0
    assert default_band("mine", "mean") is None


def test_registers_are_checked():
    for name in ("", *atlas()["registers"]):
        check_register(name)
    with pytest.raises(UsageError, match="no register 'poems'"):
        check_register("poems")
