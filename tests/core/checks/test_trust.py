"""Checks of trust: known answers, enumeration, and rates of warnings in simulated and in real text."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway, norm, rankdata

import momus
from momus.checks.covariates import covariates, groups_of_texts, order_of_texts, word_use
from momus.checks.dependence import (
    HiddenGroups,
    guess_groups,
    hidden_groups,
    moments_of_orders,
    order_correlation,
    variance_components,
)
from momus.checks.texts import check_texts, sentence
from momus.checks.texts import dependence_checks as checks_of_sketch
from momus.runs.texts import read_texts
from momus.text.corpus import Corpus
from momus.text.sketches import TextSketch

VOCABULARY = np.array([f"w{i}" for i in range(300)])
ZIPF = 1 / np.arange(1, 301)


def texts(n, seed, length=50, p=ZIPF):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(VOCABULARY, length, p=p / p.sum())) for _ in range(n)]


def clustered(groups, each, icc, seed):
    """Normal values with this intraclass correlation, and ids that tell the groups."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(groups), each)
    values = np.sqrt(icc) * rng.normal(size=groups)[owners] + np.sqrt(1 - icc) * rng.normal(size=len(owners))
    return values, [f"author:{g} {i}" for i, g in enumerate(owners)]


def sketched(made, name="corpus"):
    return TextSketch.of(Corpus.from_texts(made, name=name))


def dependence_checks(corpus):
    return checks_of_sketch(TextSketch.of(corpus))


def warned(checks):
    return [(c.kind, c.corpus) for c in checks if c.warns]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["austen-emma/ch1", "austen-emma/ch2", "b/x", "b/y"], ["austen-emma", "austen-emma", "b", "b"]),
        (["dickens_1", "dickens_2", "eliot_1", "eliot_2"], ["dickens", "dickens", "eliot", "eliot"]),
        (["author:7", "author:8", "writer:7", "writer:8"], ["author", "author", "writer", "writer"]),
        (["1023_bleak_house_brat 17", "1023_bleak_house_brat 18", "5_emma 1", "5_emma 2"], None),
        (["ann1", "ann2", "bob1", "bob22"], ["ann", "ann", "bob", "bob"]),
        (["a_1.txt", "a_2.txt", "b_1.txt", "b_2.txt"], ["a", "a", "b", "b"]),
        (["x:1", "x:2", "x:3", "x:4"], None),
        (["3fa85f64-5717", "c56a4180-65aa", "9b2d1c77-11aa", "00112233-aa11"], None),
        (["a/1", "a/2", "b/1", "c/1"], None),
        ([], None),
    ],
)
def test_groups_are_guessed_from_the_beginnings_of_ids(ids, expected):
    if expected is None and ids and ids[0].startswith("1023"):
        expected = ["1023_bleak_house_brat"] * 2 + ["5_emma"] * 2
    assert guess_groups(ids) == expected


def test_variance_components_are_those_of_a_textbook_table():
    # groups (1, 3), (5, 7), (9, 11): mean squares 2 within and 32 between, so ratio 16 and icc (32 − 2) / (32 + 2)
    rows = np.array([1.0, 3, 5, 7, 9, 11])[:, None]
    found = variance_components(rows, list("aabbcc"))
    assert (found.ratio, found.size0, found.size) == (pytest.approx(16), 2, 2)
    assert found.icc == pytest.approx(30 / 34)
    assert variance_components(rows, list("aaaaaa")) is None
    assert variance_components(rows, list("abcdef")) is None
    assert variance_components(np.ones((4, 1)), list("aabb")) is None


@given(st.integers(0, 99))
def test_the_ratio_is_that_of_scipy_for_groups_of_any_size(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(list("abcd"), 30).tolist()
    values = rng.normal(size=30)
    parts = [values[np.array(names) == n] for n in set(names)]
    assert variance_components(values[:, None], names).ratio == pytest.approx(f_oneway(*parts).statistic)
    found = hidden_groups(values, names)
    scored = norm.ppf((rankdata(values) - 0.5) / 30)
    assert found.p == pytest.approx(f_oneway(*(scored[np.array(names) == n] for n in set(names))).pvalue)


def of_ids(values, ids):
    return hidden_groups(values, guess_groups(ids))


def test_the_intraclass_correlation_is_recovered_with_the_nominal_coverage():
    found = [of_ids(*clustered(30, 6, 0.3, seed)) for seed in range(300)]
    assert np.mean([h.icc for h in found]) == pytest.approx(0.3, abs=0.02)
    # 95 % ± 3 binomial standard errors
    assert abs(np.mean([h.low <= 0.3 <= h.high for h in found]) - 0.95) < 0.04
    assert found[0].design_effect == pytest.approx(1 + 5 * found[0].icc)


def rate(groups, each, icc, runs=300):
    return np.mean([of_ids(*clustered(groups, each, icc, s)).warns() for s in range(runs)])


@pytest.mark.slow
def test_rates_of_warnings_are_the_power_of_the_f_test():
    """Power of the F test at 0.01 for normal values: 0.83, 0.92, 0.98 and 0.09; see `scipy.stats.f`."""
    assert rate(40, 5, 0.2) == pytest.approx(0.83, abs=0.07)
    assert rate(20, 10, 0.2) == pytest.approx(0.92, abs=0.05)
    assert rate(20, 10, 0.3) > 0.95
    assert rate(40, 5, 0.05) == pytest.approx(0.09, abs=0.06)
    assert rate(40, 5, 0.0) <= 0.03


def test_heavy_tails_and_unequal_groups_give_no_false_alarms():
    rng = np.random.default_rng(0)
    alarms = []
    for _ in range(300):
        owners = np.repeat(np.arange(30), rng.geometric(0.2, 30))
        values = rng.lognormal(0, 2, len(owners))
        alarms.append(hidden_groups(values, [f"a{g}b" for g in owners]).p < 0.05)
    assert 0.01 < np.mean(alarms) < 0.09


@pytest.mark.parametrize("values", [[3.0, 1, 4, 1, 5, 9, 2], [0.0, 0, 1, 7], [1.0, 2, 3, 4, 5]])
def test_moments_of_the_serial_correlation_are_those_of_all_orders(values):
    x = np.array(values) - np.mean(values)
    sums = [y[1:] @ y[:-1] for y in map(np.array, permutations(x))]
    assert moments_of_orders(x) == pytest.approx((np.mean(sums), np.var(sums)))


def test_order_is_noticed_and_independence_is_not():
    rng = np.random.default_rng(0)
    walks = [np.repeat(rng.normal(size=20), 10) + rng.normal(size=200) for _ in range(50)]
    assert np.mean([order_correlation(w).warns() for w in walks]) > 0.95
    assert np.mean([order_correlation(rng.permutation(w)).warns() for w in walks]) <= 0.06
    assert order_correlation(np.ones(50)) is None
    assert order_correlation(np.arange(19.0)) is None
    assert order_correlation(np.append(np.arange(30.0), np.nan)).documents == 30


def test_covariates_by_hand():
    sketch, rows = sketched(["b a a b a", "", "c a"]), np.array([0, 2])
    words, (length, variety) = word_use(sketch, rows), covariates(sketch, rows)
    assert words**2 == pytest.approx(np.array([[0.4, 0.6, 0], [0, 0.5, 0.5]])[:, [1, 0, 2]])
    assert length.tolist() == [5, 2]
    assert variety.tolist() == [0.4, 1.0]


def authors(n, each, seed, strength=0.5):
    """Texts of authors who use the most frequent words differently."""
    rng = np.random.default_rng(seed)
    tastes = ZIPF * np.exp(strength * rng.normal(size=(n, 300)))
    rows = [(f"{a}_author_{a} {i}", t) for a in range(n) for i, t in enumerate(texts(each, [seed, a], 100, tastes[a]))]
    return [t for _, t in rows], [i for i, _ in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "each"), [(40, 5), (20, 10), (10, 10)])
def test_texts_of_authors_are_noticed_by_ids_and_by_order(n, each):
    for seed in range(5):
        made, ids = authors(n, each, seed)
        named = Corpus.from_texts(made, ids=ids, name="real")
        assert ("groups", "real") in warned(dependence_checks(named))
        found = groups_of_texts(TextSketch.of(named))
        assert found.low <= found.icc <= found.high
        assert warned(dependence_checks(Corpus.from_texts(made, name="real"))) == [("order", "real")]
        order = np.random.default_rng(seed).permutation(len(made))
        assert warned(dependence_checks(named.take(order))) == [("groups", "real")]
        known = Corpus.from_texts(made, ids=ids, groups=[i.split()[0] for i in ids])
        assert dependence_checks(known) == []


@pytest.mark.slow
def test_independent_texts_are_rarely_warned_of():
    alarms = 0
    for seed in range(40):
        made = texts(60, [9, seed])
        ids = [f"a{i % 12}b:{i}" for i in range(60)]
        alarms += bool(warned(dependence_checks(Corpus.from_texts(made, ids=ids))))
    assert alarms <= 2


def test_too_little_text_is_not_tested():
    assert order_of_texts(sketched(texts(19, 0))) is None
    assert groups_of_texts(sketched([])) is None
    assert dependence_checks(Corpus.from_texts(["", " "])) == []


def test_copies_are_found_within_and_between_texts():
    fit, real, made = texts(40, 1), texts(40, 2), texts(40, 3)
    copied = [*made[:20], *made[:20]]
    corpora = [sketched(t, n) for t, n in ((copied, "half"), ([*made[:38], *fit[:2]], "memory"))]
    corpora.append(sketched([*made[:38], *(t + " more" for t in real[:2])], "copy"))
    corpora.append(sketched([*made[:39], real[0]], "one"))
    checks = check_texts(sketched(fit, "fit"), sketched(real, "real"), corpora)
    copies = [w for w in warned(checks) if w[0] not in ("groups", "order")]
    assert copies == [("memorised", "memory"), ("repeated", "half"), ("copied", "copy")]
    by = {(c.kind, c.corpus): c for c in checks}
    assert (by["repeated", "half"].documents, by["repeated", "half"].share) == (20, 0.5)
    assert by["copied", "one"].documents == 1
    assert not by["copied", "one"].warns
    assert "20 of 40 documents of 'half' repeat another one (20 word for word, 0 nearly" in sentence(
        by["repeated", "half"]
    )
    assert "2 of 40 documents of 'memory' are also in the text that critics are fitted on" in sentence(
        by["memorised", "memory"]
    )
    # the first copy in an order that depends on the texts alone
    first = int(np.argmin(corpora[2].hashes[38:]))
    example = f"(0 word for word; for example 'copy:{39 + first}' and 'real:{1 + first}')"
    assert f"2 of 40 documents of 'copy' are also in 'real' {example}" in sentence(by["copied", "copy"])


def test_warnings_name_the_groups_their_correlation_and_the_way_out():
    made, ids = authors(20, 10, 0)
    found = read_texts(Corpus.from_texts(made, ids=ids, name="real"), {"g": texts(30, 4)}, texts(30, 5), 0)
    warning = next(w for w in found.warnings if "suggest" in w)
    groups = next(c.measured for c in found.checks if c.warns and isinstance(c.measured, HiddenGroups))
    assert "'real' suggest 20 groups, such as '0_author_0' and '1_author_1'" in warning
    assert f"intraclass correlation {groups.icc:.2f}, 95 % interval {groups.low:.2f} to {groups.high:.2f}" in warning
    assert "n = 200" in warning
    assert "group_id" in warning


def test_the_whole_text_is_tested_before_it_is_split():
    made, ids = authors(20, 10, 0)
    found = read_texts(Corpus.from_texts(made, ids=ids), {"g": texts(30, 4)}, None, 0)
    assert [c.measured.documents for c in found.checks if c.kind == "groups"] == [200]


def test_tasks_in_the_ids_of_prompts_that_versions_answer_are_no_groups():
    rng = np.random.default_rng(0)
    names = [f"{task}/{i}" for task in ("qa", "code", "law") for i in range(40)]
    lengths = np.repeat([5, 60, 20], 40)

    def version(name, ids):
        texts = [" ".join(rng.choice(VOCABULARY, n)) for n in rng.poisson(lengths) + 1]
        return Corpus.from_texts(texts, ids=ids, prompts=names, name=name)

    def warnings(ids):
        texts = {"against": {"old": version("old", ids)}, "generated": {"new": version("new", ids)}}
        result = momus.compare(**texts, critics=["length"], permutations=199)
        notes = [n.text for n in result.results[0].notes if n.warning]
        return [w for w in (*result.warnings, *notes) if "group_id" in w]

    assert not warnings(names)
    assert warnings([f"{n} of 2026" for n in names]), "ids of documents may betray groups"
