"""Sums of counts by unit, from parts: dense and sparse ones, tables that are kept, and pairs of generated texts."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from tests.verdicts import changed

import momus.engine.pairs as pairs_of_texts
import momus.runs.sums as sums_of_counts
from momus.critic import Counted, Statistic, aligned, entropy, jensen_shannon, total_variation
from momus.critic.registry import make_critics
from momus.engine.comparing import compare_shards
from momus.engine.scoring import score_parts
from momus.inference import Design, compare_rows
from momus.inference.detectable import LARGEST, PRECISE, halved
from momus.inference.influence import Errors, standard_error
from momus.inference.pooling import EXACT_IN_FLOAT32, Tables, pooled
from momus.inference.samples import Samples
from momus.inference.weights import random_labels
from momus.report.joint_words import PAIRS, pair_rows, pair_sentences
from momus.runs.sums import KeptSums, Sums
from momus.text.corpus import Corpus
from momus.verdicts.decided_rows import floor_warnings
from momus.verdicts.verdict import adjust

QUICK = {"permutations": 199, "resamples": 19, "wide": (199, 19)}


def parts_of(rng, numbers):
    """Three tables of 40 documents over other items, and what stands in them by label."""
    parts, names = [], [f"w{i}" for i in range(60)]
    for start in (0, 20, 10):
        matrix = sparse.csr_array(rng.poisson(0.4, (40, 30)).astype(float))
        labels = np.arange(start, start + 30) if numbers else names[start : start + 30][::-1]
        parts.append(Counted(matrix, labels))
    return parts


@pytest.mark.parametrize("full", [0, 700, sums_of_counts.FULL])
@pytest.mark.parametrize("numbers", [True, False])
def test_sums_are_those_of_a_plain_loop(monkeypatch, full, numbers):
    """Whether a table is sparse, becomes sparse when it grows, or is dense."""
    monkeypatch.setattr(sums_of_counts, "FULL", full)
    monkeypatch.setattr(sums_of_counts, "MERGED", 500)
    rng = np.random.default_rng(3)
    sums, expected = Sums(15), {}
    for part in parts_of(rng, numbers):
        units, weights = rng.integers(-1, 15, 40), rng.random(40)
        sums.add(part, units, weights)
        for i, j, x in zip(*sparse.find(part.matrix), strict=True):
            if units[i] >= 0:
                at = int(units[i]), part.labels[j]
                expected[at] = expected.get(at, 0.0) + weights[i] * x
    found = sums.result()
    assert found.matrix.shape == (15, 50)
    assert not numbers or (np.diff(found.labels) > 0).all()
    values = {(int(i), found.labels[j]): x for i, j, x in zip(*sparse.find(found.matrix), strict=True)}
    assert values.keys() == expected.keys()
    assert all(np.isclose(values[at], x, rtol=1e-12) for at, x in expected.items())


def test_without_documents_there_are_no_columns():
    assert Sums(4).result().matrix.shape == (4, 0)


def test_kept_tables_are_bounded_and_made_again():
    made = []

    def table(name, n):
        made.append(name)
        return Counted(sparse.csr_array(np.ones((n, 10))), [f"w{i}" for i in range(10)])

    kept = KeptSums(limit=3000)  # a table of 10 rows takes 1,244 bytes
    for name in ("a", "b", "a", "c", "a", "b"):
        kept.get((name,), "key", lambda _, name=name: table(name, 10))
    assert made == ["a", "b", "c", "b"]
    big = kept.get(("big",), "key", lambda _: table("big", 1000))
    assert kept.get(("big",), "key", lambda _: table("never", 1)) is big


def test_shared_columns_need_no_aligning():
    rng = np.random.default_rng(4)
    kept, plain, parts = KeptSums(shared=True), [], parts_of(rng, numbers=False)

    def made(part, columns):
        sums = Sums(40, columns)
        sums.add(part, np.arange(40), np.ones(40))
        return sums.result()

    for i, part in enumerate(parts):
        kept.get((i,), "words", lambda columns, part=part: made(part, columns))
        plain.append(made(part, None))
    tables = [kept.get((i,), "words", lambda _: pytest.fail("it is kept")) for i in range(3)]
    assert all(t.labels is tables[0].labels for t in tables)
    for one, other in combinations(range(3), 2):
        a, b = (t.matrix.toarray() for t in aligned([tables[one], tables[other]]))
        c, d = aligned([plain[one], plain[other]])
        place = [tables[0].labels.index(label) for label in c.labels]
        assert (a[:, place] == c.matrix.toarray()).all()
        assert (b[:, place] == d.matrix.toarray()).all()
        assert a.sum() == c.matrix.sum()


def full(rng, n, top):
    p = 1 / np.arange(2, 8_002)
    counts = rng.multinomial(20_000, p / p.sum(), n).astype(float)
    counts[:, 0] = top
    return sparse.csr_array(counts)


@pytest.mark.parametrize("top", [100, EXACT_IN_FLOAT32])
def test_full_tables_keep_exact_sums(top):
    """In single precision where the sum of every column is exact in it, otherwise in double precision."""
    real, generated = (full(np.random.default_rng(i), 70, top) for i in range(2))
    tables = Tables.of(real, generated)
    assert tables.both().dtype == (np.float32 if top == 100 else np.float64)
    assert np.shares_memory(tables.both(), tables.real)
    labels = random_labels(Design.documents(70, 70), 0, 0, 64)
    used = np.flatnonzero((real.sum(axis=0) + generated.sum(axis=0)) > 0)
    expected = labels.T.astype(np.float64) @ sparse.vstack([real, generated]).toarray()[:, used]
    assert (pooled(tables.both(), labels) == expected).all()


def test_statistics_of_one_table_do_not_change_each_other():
    """Errors from shared resamples, entropies that a divergence shares: as if each statistic were tested alone."""
    rng = np.random.default_rng(5)
    sides = {"x": full(rng, 70, 50)}, {"x": full(rng, 70, 90)}
    statistics = [
        Statistic("entropy", "x", "value", entropy),
        Statistic("divergence", "x", "distance", jensen_shannon),
        Statistic("tvd", "x", "distance", total_variation),
        Statistic("sorted", "x", "value", entropy, prepare=lambda x: np.sort(x, axis=1)),
    ]
    together = compare_rows(statistics, *sides, **QUICK)
    alone = [compare_rows([s], *sides, **QUICK)[0] for s in statistics]
    assert together == alone
    samples = Samples(Tables.of(sides[0]["x"], sides[1]["x"]), Design.documents(70, 70))
    errors = Errors(samples, statistics, 19, 0)
    assert errors.of(statistics[3]) == standard_error(statistics[3], samples, 19, 0)
    assert together[0].p == together[3].p


def test_halving_ends_near_the_smallest_value():
    for least in (1e-4, 0.013, 0.5, 1.99):
        found = halved(lambda x, least=least: x >= least, LARGEST)
        assert least <= found <= least * (1 + 2 * PRECISE)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Parts of a real and of three generated texts."""
    folder, rng = tmp_path_factory.mktemp("pairs"), np.random.default_rng(6)
    words = np.array([f"w{i}" for i in range(200)])

    def texts(n, power):
        p = 1 / np.arange(2, 202) ** power
        return [" ".join(rng.choice(words, rng.integers(20, 40), p=p / p.sum())) for _ in range(n)]

    critic = make_critics(["unigram"])[0]
    critic.fit(Corpus.from_texts(texts(60, 1.0), name="fit")).save(folder / "unigram")
    for name, power in {"real": 1.0, "a": 1.0, "b": 1.05, "c": 1.6}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts(130, power)))
        score_parts([folder / "unigram"], [folder / f"{name}.jsonl"], folder / name, workers=1)
    return folder


def compared(parts, **options):
    generated = {n: parts / n for n in "abc"}
    return compare_shards(parts / "real", generated, pairwise=True, permutations=199, resamples=19, **options)


@pytest.fixture(scope="module")
def pairs(parts):
    """The pairs of the generated texts."""
    return compared(parts).pairs


def test_pairs_of_few_texts_are_tested_as_each_with_the_other(parts, pairs):
    assert [(v.reference, v.generated) for v in pairs] == list(combinations("abc", 2))
    assert {v.generated for v in pairs if v.differs} == {"c"}
    single = compare_shards(parts / "a", {"c": parts / "c"}, permutations=199, resamples=19)
    (same,) = (w for w in single.verdicts if w.statistic == pairs[1].statistic)
    assert pairs[1].generated_value == pytest.approx(same.generated_value, rel=1e-12)
    assert pairs[1].effect == pytest.approx(same.effect, rel=1e-9)
    assert pairs[1].p == same.p


def test_many_pairs_are_tested_at_less_cost_and_say_the_same(parts, pairs, monkeypatch):
    monkeypatch.setattr(pairs_of_texts, "MANY", 2)
    monkeypatch.setattr(pairs_of_texts, "CHEAP", replace(pairs_of_texts.CHEAP, above=60, most=70))
    cheap = compared(parts).pairs
    for one, other in zip(pairs, cheap, strict=True):
        assert (one.reference, one.generated, one.statistic) == (other.reference, other.generated, other.statistic)
        assert one.method.block == 1 < other.method.block
        assert one.generated_value == pytest.approx(other.generated_value, rel=1e-12)
        assert one.differs == other.differs
        assert other.p == pytest.approx(one.p, abs=0.2)


def test_pairs_that_no_relabelling_could_tell_apart_are_warned_of(pairs):
    many = adjust([changed(v, p=v.method.floor) for _ in range(100) for v in pairs], "holm")
    (warning,) = floor_warnings(many, "holm", pairs=True)
    assert warning.startswith("No row of a pair of generated texts can differ")
    assert "--adjustment bh" in warning
    assert not floor_warnings(adjust(many, "bh"), "bh", pairs=True)


def test_of_many_pairs_the_largest_differences_are_shown(pairs):
    few = pair_rows(pairs)
    assert few.rows == list(pairs)
    assert not pair_sentences(few)
    many = adjust([changed(v, effect=(v.effect or 0) * (1 + i)) for i in range(PAIRS) for v in pairs], "none")
    shown = pair_rows(many)
    assert len(shown.rows) == PAIRS < shown.total == len(many)
    differing = [v.gap or 0.0 for v in many if v.differs]
    assert [v.gap for v in shown.rows] == sorted(differing, reverse=True)[:PAIRS]
    assert f"{PAIRS} of {len(many):,} rows are shown" in pair_sentences(shown)[0]
    (count,) = shown.counts.values()
    assert f"{count[0]:,} of {count[1]:,} pairs differ" in pair_sentences(shown)[1]
