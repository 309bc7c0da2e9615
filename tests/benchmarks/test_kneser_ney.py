"""The Kneser–Ney estimator: distributions that sum to 1, the library's own sampler, and KenLM."""

import numpy as np
import pytest
from arpa import BEGIN, END, UNKNOWN, KneserNey
from hypothesis import given, settings
from hypothesis import strategies as st

from momus.errors import FittingError, ReadingError, UsageError
from momus_adapters.language_models.kenlm import KenlmScorer

WORDS = ["a", "b", "c", "d"]
sequences = st.lists(st.lists(st.integers(0, 2), max_size=7), min_size=1, max_size=6)


def fitted(found, order):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in found])]).astype(np.int64)
    return KneserNey(order=order).fit(np.array([w for s in found for w in s], dtype=np.int64), offsets, WORDS)


@settings(max_examples=50)
@given(sequences, st.integers(1, 4), st.lists(st.sampled_from([*WORDS, UNKNOWN]), max_size=3), st.booleans())
def test_distributions_sum_to_one(found, order, context, begin):
    model = fitted(found, order)
    before = [BEGIN, *context] if begin else context
    p = [10 ** model.log10(*before, w) for w in (*WORDS, END, UNKNOWN)]
    assert sum(p) == pytest.approx(1.0)
    assert min(p) > 0


@settings(max_examples=25)
@given(sequences, st.integers(2, 4), sequences)
def test_kenlm_reads_what_is_written(tmp_path_factory, found, order, scored):
    """Equal within 10⁻⁴ in log₁₀, unknown words included."""
    pytest.importorskip("kenlm")
    model = fitted(found, order)
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    model.write_arpa(path)
    scorer = KenlmScorer(path)
    for s in scored:
        words = [*(WORDS[w] for w in s), "zzz"]
        whole = [BEGIN, *words, END]
        ours = [model.log10(*whole[: i + 1]) for i in range(1, len(whole))]
        assert scorer.log_probabilities(words) / np.log(10) == pytest.approx(ours, abs=1e-4)


def test_counts_by_hand():
    """Bigrams of ``a b`` and ``a a``: N₁₊(· a) = 2 (<s>, a), N₁₊(· b) = 1, N₁₊(· </s>) = 2."""
    model = fitted([[0, 1], [0, 0]], 2)
    d1 = 1 / (1 + 2 * 2)
    uniform = 1 / 6
    lower = {w: (c - d1) / 5 + d1 * 3 / 5 * uniform for w, c in (("a", 2), ("b", 1), (END, 2))}
    assert 10 ** model.log10("a") == pytest.approx(lower["a"])
    assert 10 ** model.log10("d") == pytest.approx(d1 * 3 / 5 * uniform)
    counts = {("a", "b"): 1, ("a", "a"): 1, ("a", END): 1}
    d2 = 4 / (4 + 2 * 1)
    for (h, w), c in counts.items():
        assert 10 ** model.log10(h, w) == pytest.approx((c - d2) / 3 + d2 * 3 / 3 * lower[w])


def test_wrong_input_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="order is 0"):
        KneserNey(order=0)
    with pytest.raises(FittingError, match="no sequence"):
        KneserNey().fit(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), ["a"])
    with pytest.raises(UsageError, match="contains a blank"):
        KneserNey().fit(np.zeros(1, dtype=np.int64), np.array([0, 1]), ["a b"])
    (tmp_path / "no.arpa").write_text("nothing")
    pytest.importorskip("kenlm")
    with pytest.raises(ReadingError, match="no ARPA file"):
        KenlmScorer(tmp_path / "no.arpa")
    model = fitted([[0, 1, 2]], 2)
    model.write_arpa(tmp_path / "m.arpa")
    with pytest.raises(UsageError, match="contains a blank"):
        KenlmScorer(tmp_path / "m.arpa").log_probabilities(["a b"])
