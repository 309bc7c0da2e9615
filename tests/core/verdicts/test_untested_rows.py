"""Rows with nothing to test, intervals of texts that are wholly apart, and verdicts that relabellings decide."""

import numpy as np
import pytest
from tests.verdicts import verdict_of

import momus
from momus import Corpus, LogPrior, Statistic, Values
from momus.critic import StatisticsMixin
from momus.critic.statistic import mean, total_variation
from momus.errors import FittingError, UsageError
from momus.estimator import clone
from momus.inference import Design, Method, compare_rows
from momus.inference.relabelling import Budget
from momus.inference.without_variance import separation_interval
from momus.joint.ranks import Joint, Ranking, RankRow
from momus.report.words.joint import without_rank
from momus.verdicts.table import adjust, floor_warnings

SHARE = Statistic.value("odd_share", "x", mean, "share of odd words", format="share")
NUMBER = Statistic("mean_size", "x", "value", mean, effect="hedges_g")
WIDE = Statistic("tvd", "x", "distance", total_variation)


def halves(z):
    """A value of rows of two columns that is no mean, so that it is not studentised."""
    return mean(z) / 2


OTHER = Statistic("half", "x", "value", halves)


def ones(values):
    return np.column_stack([values, np.ones(len(values))])


def judged(statistic, real, generated, **options):
    return compare_rows([statistic], {"x": real}, {"x": generated}, **options)[0]


# Nothing to test


@pytest.mark.parametrize("statistic", [SHARE, NUMBER, OTHER], ids=lambda s: s.name)
@pytest.mark.parametrize("value", [0.0, 0.1, 7.0])
def test_rows_without_variation_are_not_tested(statistic, value):
    result = judged(statistic, ones(np.full(20, value)), ones(np.full(30, value)))
    assert result.p is None
    assert result.low is None
    assert result.method.test == "none"
    name = statistic.wording.label or statistic.name.replace("_", " ")
    shown = value / 2 if statistic is OTHER else value
    assert result.method.reason == f"{name} is {shown:g} in every document of both texts; nothing to compare"


def test_a_distance_without_variation_is_not_tested():
    rows = np.tile([3.0, 1.0, 0.0], (12, 1))
    result = judged(WIDE, rows, rows[:9] * 2)
    assert result.p is None
    assert "all documents of both texts are alike" in result.method.reason


def test_equal_texts_that_vary_are_tested():
    """Pairs of the same value have no difference under any relabelling, and are p = 1 all the same."""
    x = ones(np.arange(10.0))
    pairs = Design.pairs(np.column_stack([np.arange(10)] * 2))
    for statistic, rows in ((NUMBER, x), (OTHER, x), (WIDE, np.column_stack([np.arange(10.0), np.ones(10)]))):
        result = judged(statistic, rows, rows, design=pairs)
        assert (result.p, result.method.test) == (1.0, "permutation")


def test_one_document_that_differs_is_enough_to_test():
    values = np.zeros(40)
    values[0] = 1.0
    assert judged(SHARE, ones(values), ones(np.zeros(40))).p > 0.05


class Swears(momus.Critic[Values], StatisticsMixin):
    """Length of a document, with the share of documents that hold a certain word."""

    name = "swears"
    axis = "swear words"

    def fit(self, real):
        self.mean_ = float(self.project(real).values[:, 0].mean())
        return self

    def project(self, batch):
        return Values(np.array([[len(d.text.split()), "damn" in d.text] for d in batch], dtype=float))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-np.abs(latents.values[:, 0] - self.mean_))

    def sufficient_statistics(self, latents):
        return {"swears": np.column_stack([latents.values[:, 1], np.ones(len(latents))])}

    def statistics(self):
        return (Statistic.value("swear_share", "swears", mean, "share that swears", format="share"),)


def lines(rng, n, extra=""):
    return ["word " * int(rng.integers(5, 30)) + extra for _ in range(n)]


def test_a_vacuous_row_is_called_not_tested_and_does_not_count_in_the_family():
    rng = np.random.default_rng(0)
    found = momus.compare(lines(rng, 60), {"g": lines(rng, 60)}, fit=lines(rng, 60), critics=[Swears()])
    row = next(v for v in found.verdicts if v.statistic == "swear_share")
    assert (row.finding, row.p, row.p_adjusted, row.q) == ("not tested", None, None, None)
    other = next(v for v in found.verdicts if v.statistic == "latent_nll")
    assert other.p_adjusted == other.p, "one row only is tested"


# Texts that are wholly apart


def test_wholly_apart_shares_have_an_interval_and_other_values_have_none():
    apart = judged(SHARE, ones(np.zeros(30)), ones(np.ones(30)))
    assert apart.p < 0.002  # .8 to the power of 30
    assert apart.method.zero_variance == "share"
    assert (apart.low, apart.high) == (pytest.approx(2 * 0.025 ** (1 / 60) - 1), 1.0)
    assert apart.low < apart.equivalence_low < 1
    in_units = judged(Statistic.share("odd_share", "x", "share of odd words"), ones(np.zeros(30)), ones(np.ones(30)))
    assert in_units.effect_low == pytest.approx(in_units.effect * apart.low)
    assert in_units.effect_high == pytest.approx(in_units.effect)
    back = judged(SHARE, ones(np.ones(30)), ones(np.zeros(30)))
    assert (back.low, back.high) == (-1.0, pytest.approx(-apart.low))
    for statistic in (NUMBER, OTHER):
        number = judged(statistic, ones(np.full(30, 2.0)), ones(np.full(30, 3.0)))
        assert number.p < 0.002
        assert {number.low, number.high, number.standard_error, number.mde} == {None}
        assert number.method.zero_variance == "none"
    weighted = judged(SHARE, np.column_stack([np.zeros(9), np.arange(1.0, 10)]), ones(np.ones(9)))
    assert weighted.method.zero_variance == "none", "a rare document with a large weight could hold much of the share"


def test_the_interval_and_the_test_agree_at_every_number_of_documents():
    for n in range(2, 9):
        for m in range(2, 9):
            r = judged(SHARE, ones(np.zeros(n)), ones(np.ones(m)))
            assert (r.p <= 0.05) == (r.low > 0), (n, m)
            assert (r.p <= 0.10) == (r.equivalence_low > 0), (n, m)


@pytest.mark.parametrize("units", [(3, 3), (5, 40), (2, 9), (60, 7), (1, 50)])
def test_no_pair_of_shares_beyond_the_interval_is_likely(units):
    """Of all shares (a, b) with b − a below the interval, none gives texts that are wholly apart with P > 2.5 %."""
    n, m = units
    low, _ = separation_interval(0.0, 1.0, units, False, 0.95)
    a, b = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801))
    likely = (1 - a) ** n * b**m > 0.025
    assert (b - a)[likely].min() >= low - 1e-12
    assert (b - a)[likely].min() <= low + 0.02, "and the interval is no longer than that"


@pytest.mark.parametrize(("p", "q"), [(0.0, 1.0), (0.05, 0.97), (0.2, 0.9), (0.1, 1.0), (0.3, 0.7)])
@pytest.mark.parametrize("paired", [False, True])
def test_coverage_of_wholly_separate_shares(p, q, paired):
    """Samples that are wholly apart and have an interval without the difference: at most 2.5 %, at 8 documents each."""
    rng = np.random.default_rng(0)
    low, high = separation_interval(0.0, 1.0, (8, 8), paired, 0.95)
    real, generated = rng.random((20_000, 8)) < p, rng.random((20_000, 8)) < q
    wrong = ~real.any(axis=1) & generated.all(axis=1) & (not low <= q - p <= high)
    assert wrong.mean() <= 0.025


def test_coverage_of_the_whole_procedure():
    """Shares near 0 and 1, twenty documents: the intervals of all samples, apart or not, hold the difference."""
    rng = np.random.default_rng(1)
    held = apart = 0
    for seed in range(150):
        x, y = rng.random(20) < 0.03, rng.random(20) < 0.97
        r = judged(SHARE, ones(x), ones(y), permutations=199, seed=seed)
        apart += r.method.zero_variance == "share"
        held += r.low <= 0.94 <= r.high
    assert apart >= 15, "some are wholly apart"
    assert held / 150 >= 0.92


def test_pairs_whose_differences_are_all_one():
    pairs = Design.pairs(np.column_stack([np.arange(10)] * 2))
    r = judged(SHARE, ones(np.zeros(10)), ones(np.ones(10)), design=pairs)
    assert r.low == pytest.approx(2 * 0.025 ** (1 / 10) - 1)
    constant = judged(NUMBER, ones(np.arange(10.0)), ones(np.arange(10.0) + 1), design=pairs)
    assert (constant.method.zero_variance, constant.difference) == ("none", 1.0)
    assert constant.effect > 0, "the documents vary, so Hedges' g exists"


def test_readers_are_told_why_there_is_no_interval():
    from momus.report.words.findings import method

    rng = np.random.default_rng(0)
    found = momus.compare(lines(rng, 40), {"g": lines(rng, 40, "damn")}, fit=lines(rng, 40), critics=[Swears()])
    row = next(v for v in found.verdicts if v.statistic == "swear_share")
    assert row.low == pytest.approx(2 * 0.025 ** (1 / 80) - 1)
    assert "every document of a text has the same share" in method(row)


# How many relabellings decide


def row(p, *, permutations=9999, exact=False, units=(50, 50), headline=True, critic="c"):
    method = Method(
        "permutation", units_real=units[0], units_generated=units[1], exact=exact, permutations=permutations
    )
    numbers = dict.fromkeys(("real_value", "generated_value", "difference", "low", "high", "effect", "mde"), 0.0)
    whose = {"critic": critic, "axis": critic, "statistic": "s", "unit": "document", "generated": "g"}
    counts = {"n_real": 9, "n_generated": 9, "unscored_real": 0, "unscored_generated": 0}
    unadjusted = {"p": p, "p_adjusted": None, "q": None, "effect_kind": "difference", "headline": headline}
    return verdict_of(**whose, **numbers, **counts, **unadjusted, method=method)


def test_the_smallest_p_of_all_relabellings_counts_opposites():
    """Of all 20 ways to label 3 + 3 documents, one and its opposite are the most extreme."""
    rng = np.random.default_rng(0)
    for n, m, least in ((3, 3, 2 / 20), (3, 4, 1 / 35)):
        far = judged(NUMBER, ones(rng.normal(size=n)), ones(rng.normal(size=m) + 1e6))
        assert far.method.floor == pytest.approx(least)
        assert far.p >= far.method.floor * (1 - 1e-12)
    pairs = Design.pairs(np.column_stack([np.arange(5)] * 2))
    far = judged(NUMBER, ones(rng.normal(size=5)), ones(rng.normal(size=5) + 1e6), design=pairs)
    assert far.p == far.method.floor == 2 / 32


def test_the_number_of_relabellings_grows_with_the_table():
    """99 relabellings cannot decide six rows (6 · 1/100 > 0.05): more are drawn until they can."""
    rng = np.random.default_rng(0)
    x, y = ones(rng.normal(size=30)), ones(rng.normal(size=30) + 5)
    result = judged(NUMBER, x, y, permutations=99, family=6)
    assert 6 * result.p <= 0.05
    assert result.method.permutations > 99
    for family in (1, 6, 60, 600):
        budget = Budget(99, family, 0.05)
        assert family / (budget.needed + 1) <= 0.05 / 2 + 1e-9


def test_a_run_with_few_relabellings_and_six_rows_finds_differences():
    rng = np.random.default_rng(0)
    generated = {"g": ["word " * 60 + "damn"] * 5 + lines(rng, 30, "other " * 40), "h": lines(rng, 30, "more " * 40)}
    found = momus.compare(
        lines(rng, 40), generated, fit=lines(rng, 40), critics=["length", "type-token", "unigram"], permutations=99
    )
    assert [v.differs for v in found.verdicts if v.headline] == [True] * 6
    assert not [w for w in found.warnings if "axis can" in w or "axes cannot" in w]


def test_a_run_that_cannot_find_anything_says_so():
    rng = np.random.default_rng(0)
    generated = {"g": lines(rng, 3, "other " * 90), "h": lines(rng, 3, "more " * 300)}
    critics = ["length", "type-token", "unigram"]
    found = momus.compare(lines(rng, 3), generated, fit=lines(rng, 40), critics=critics)
    (warning,) = [w for w in found.warnings if "axis can" in w or "axes cannot" in w]
    assert warning.startswith("No axis can differ")
    assert "allow is 0.1, which is above 0.05 once adjusted for 3 axes" in warning
    assert "give more documents" in warning
    assert warning in str(found.signature["warnings"])


def test_rows_that_only_some_relabellings_decide_are_named():
    few = {"permutations": 70, "exact": True, "units": (4, 4)}
    verdicts = adjust([row(2 / 70, **few), row(0.0001, critic="d"), row(0.6, permutations=448, critic="e")])
    (warning,) = floor_warnings(verdicts)
    assert warning.startswith("1 of 3 axes cannot differ (c on g)")
    for n, rest in ((3, ""), (4, " and 1 more"), (6, " and 3 more")):
        many = adjust([row(1 / 70, **few, critic=f"c{i}") for i in range(n)] + [row(0.9, permutations=448)])
        (warning,) = floor_warnings(many)
        assert f"{n} of {n + 1} axes cannot differ (c0 on g, c1 on g, c2 on g{rest})" in warning
    sampled = adjust([row(1 / 20, permutations=19, critic="a"), row(1 / 20, permutations=19, critic="b")])
    assert "raise permutations=" in floor_warnings(sampled)[0]
    early = adjust([row(0.3, permutations=448)] * 60)
    assert floor_warnings(early) == [], "tests that stop early are no limit"
    assert floor_warnings(adjust([row(0.04, **few)] * 3, "none"), "none") == []


# Laws: one rule of how long a text must be


def test_one_message_says_how_long_a_text_must_be_for_taylor():
    from momus.critic.registry import make_critics

    rng = np.random.default_rng(0)

    def running(tokens, name):
        words = (rng.zipf(1.3, tokens) % 5000).astype(str)
        return Corpus.from_texts([" ".join(part) for part in np.array_split(words, 12)], name=name)

    (taylor,) = make_critics(["taylor"])
    for short in (3_000, 60_000):
        with pytest.raises(FittingError, match=f"'fit' has {short:,} tokens of running text; the law needs 74,934 "):
            clone(taylor).fit(running(short, "fit"))
    fit, real = running(80_000, "fit"), running(80_000, "real")
    reasons = {}
    for short in (3_000, 60_000):
        found = momus.compare(real, {"g": running(short, "g")}, fit=fit, critics=["taylor"])
        reasons[short] = next(v for v in found.verdicts if v.headline).method.reason
    assert reasons[60_000].startswith("'generated' has 60,000 tokens of running text; the law needs 74,934 ")
    assert "3,000 tokens; a block needs 56,200, a whole text 74,934" in reasons[3_000]


# Names of covariates


def test_a_misspelt_covariate_is_refused_before_any_critic_is_fitted():
    class Unfit(Swears):
        """Must not be fitted."""

        name = "unfit"

        def fit(self, real):
            raise AssertionError("fitted before the names were checked")

    texts = lines(np.random.default_rng(0), 30)
    with pytest.raises(UsageError, match=r"control_for=\['unfitt'\]: no critic of documents that runs") as error:
        momus.compare(texts, {"g": texts}, critics=[Unfit()], control_for=("unfitt",))
    assert "did you mean 'unfit'" in error.value.hint
    with pytest.raises(UsageError, match="blocks of running text") as error:
        momus.compare(texts, {"g": texts}, critics=[Unfit(), "heaps"], control_for=("heaps",))
    assert "unfit" in error.value.hint


def test_a_field_with_too_many_values_is_refused_before_any_critic_is_fitted():
    texts = lines(np.random.default_rng(0), 60)
    rows = [momus.Document.plain(f"d{i}", t) for i, t in enumerate(texts)]
    many = [momus.Document(d.id, d.sections, d.sectioned, fields={"topic": f"t{i}"}) for i, d in enumerate(rows)]
    corpus = Corpus.from_documents(many, name="real")
    with pytest.raises(UsageError, match="too many for slices"):
        momus.compare(corpus, {"g": corpus}, fit=texts, critics=["length"], by=("topic",))


# Nothing is left out in silence


def ranked(model, distance, axis="all axes"):
    return RankRow(axis, axis, model, distance, 0.0, 1.0, 1, 2, 0.5, (), 30, 30, 30)


def test_readers_are_told_what_the_joint_analyses_leave_out():
    rows = [ranked(m, d, axis) for axis in ("length", "shares", "topics", "all axes") for m, d in (("a", 1), ("b", 2))]
    why = {"topics": "it has no band, so it does not count over all axes", "mauve": "too few documents"}
    ranking = Ranking(rows, why, 0.95, 999, True)
    joint = Joint(ranking)
    line = without_rank(joint, {"topics": "topics together", "mauve": "MAUVE", "shares": "share of symbols"})
    assert line == (
        "Without a rank: topics together (it has no band, so it does not count over all axes); MAUVE (too few "
        "documents)."
    )
