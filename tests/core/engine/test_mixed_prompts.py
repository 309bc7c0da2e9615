"""Prompts that repeat on one side: one estimator for value, difference, interval and p, and which documents count."""

import numpy as np
import pytest

import momus
from momus.text.corpus import Corpus


def texts(prefix, mean, prompts, seed):
    lengths = np.random.default_rng(seed).poisson(mean, len(prompts))
    return Corpus.from_texts(
        [" ".join(["w"] * n) for n in lengths], [f"{prefix}{i}" for i in range(len(prompts))], prompts
    )


FIT = texts("f", 50, [None] * 60, 0)
REAL = texts("r", 50, [f"p{i % 25}" for i in range(75)], 1)


def compared(shared, mean):
    prompts = [f"p{i % 25}" if i < shared else f"q{i}" for i in range(50)]
    generated = texts("g", mean, prompts, 2)
    result = momus.compare(REAL, {"g": generated}, fit=FIT, critics=["length"], permutations=299, resamples=299)
    return result, next(v for v in result.verdicts if v.statistic == "mean_length"), generated


def mean(corpus, rows=slice(None)):
    return float(np.mean([len(d.text.split()) for d in corpus][rows]))


@pytest.mark.parametrize(
    ("shared", "design", "of_generated"), [(50, "prompts", 25), (46, "prompts", 25), (40, "clusters", 35)]
)
def test_value_difference_interval_and_p_are_of_the_same_documents(shared, design, of_generated):
    result, verdict, generated = compared(shared, 56)
    counted = slice(shared if design == "prompts" else None)
    assert (verdict.method.design, verdict.n_real, verdict.n_generated) == (design, 75, len(generated.ids[counted]))
    assert (verdict.method.units_real, verdict.method.units_generated) == (25, of_generated)
    if shared != 46:  # prompts with different numbers of documents are weighted
        assert verdict.real_value == pytest.approx(mean(REAL))
        assert verdict.generated_value == pytest.approx(mean(generated, counted))
    assert verdict.difference == pytest.approx(verdict.generated_value - verdict.real_value)
    assert verdict.low < verdict.difference < verdict.high
    assert (verdict.p < 0.05) == (verdict.low > 0)
    told = [w for w in result.warnings if "made within prompts" in w or "no matching partner" in w]
    assert len(told) == (shared < 50)
    if design == "clusters":
        assert "40 of the 50 documents of 'g' answer a prompt that 'real' has too, fewer than 90%" in told[0]
        assert "all 75 and 50 documents that are scored, those of one prompt as one unit" in told[0]
    elif told:
        assert "4 generated documents have no matching partner" in told[0]


def test_interval_and_p_agree_where_there_is_no_difference():
    for shared in (50, 40):
        _, verdict, _ = compared(shared, 50)
        assert verdict.low < 0 < verdict.high
        assert verdict.p > 0.05
