"""A causal language model of two layers with random weights: scores, windows, sliding context, draws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
import transformers
from scipy import stats

from momus.errors import MomusError
from momus.sequences import Sequences, TextScorer
from momus_adapters.language_models.transformers import TransformersLM, key_value_size, pieces
from momus_generating import Decoding, sample, write

from ..core.sequences.stepping import score_by_steps

TEXTS = ["the cat sat on the mat", "a dog", "", "rain fell on the town all day and all night and then it stopped", "x"]


@pytest.fixture(scope="module")
def lm(causal_lm):
    return TransformersLM(causal_lm)


def whole(lm, ids):
    """log p by one pass of the network over one sequence, by transformers' own loss."""
    row = torch.tensor([[lm.begin, *ids, lm.end]])
    with torch.inference_mode():
        return -float(lm.network(input_ids=row, labels=row).loss) * (row.shape[1] - 1)


def test_it_is_a_scorer(lm):
    assert isinstance(lm, TextScorer)


def test_scores_equal_the_loss_of_transformers(lm):
    ids = lm.encode(TEXTS)
    expected = [whole(lm, ids[i].tolist()) for i in range(len(ids))]
    np.testing.assert_allclose(lm.score(ids).totals, expected, atol=1e-4)


def test_padding_batches_and_order_change_nothing(lm, monkeypatch):
    ids = lm.encode(TEXTS)
    values = lm.score(ids)
    order = np.array([3, 0, 4, 2, 1])
    monkeypatch.setattr("momus_adapters.language_models.transformers.TOKENS", 7)
    again = lm.score(ids.take(order))
    for at, i in enumerate(order):
        np.testing.assert_allclose(again[at], values[i], atol=1e-5)


def test_stepping_equals_one_pass(lm):
    ids = lm.encode(TEXTS)
    for temperature in (1.0, 0.7):
        np.testing.assert_allclose(
            score_by_steps(lm, ids, temperature),
            lm.score(ids, temperature=temperature).log_probabilities,
            atol=1e-4,
        )


def test_long_documents_are_scored_in_windows(causal_lm):
    """Each token is scored once, given what lies in its window: computed here window by window."""
    lm = TransformersLM(causal_lm, window=8)
    ids = np.random.default_rng(0).integers(0, lm.size - 1, 37)
    got = lm.score(Sequences.of([ids]))[0]
    framed = np.concatenate([[lm.begin], ids, [lm.end]])
    for i, value in enumerate(got):
        start = 0 if i < 8 else (4 * ((i - 8) // 4) + 4)
        start = min(start, len(framed) - 1 - 8) if i >= 8 else 0
        row = torch.tensor(framed[start : i + 1])[None]
        with torch.inference_mode():
            p = torch.log_softmax(lm.network(input_ids=row).logits[0, -1].double(), -1)[framed[i + 1]]
        assert value == pytest.approx(float(p), abs=1e-4)
    assert len(got) == 38


@pytest.mark.parametrize("window", [4, 5, 8, 100])
def test_pieces_cover_everything_once(window):
    lengths = np.array([1, 3, 4, 5, 17, 40])
    todo = pieces(lengths, window)
    covered = Counter((p.sequence, i) for p in todo for i in range(p.scored, p.stop))
    assert set(covered.values()) == {1}
    assert len(covered) == lengths.sum()
    assert all(p.stop - p.start <= window for p in todo)
    assert all(p.scored - p.start >= window // 2 for p in todo if p.scored)


def test_drawn_log_probabilities_are_those_of_the_score(lm):
    drawn = sample(lm, None, Decoding("nucleus", top_p=0.95, longest=30), range(40))
    scored = lm.score(drawn.sequences).totals
    np.testing.assert_allclose(drawn.log_probabilities[drawn.finished], scored[drawn.finished], atol=1e-3)


def test_first_tokens_follow_the_model(lm):
    """χ² over the first token of 20,000 draws; false alarm 1e-4."""
    n = 20_000
    first = sample(lm, None, Decoding(longest=1), range(n)).sequences
    counts = np.bincount(np.where(first.lengths > 0, first.padded(lm.end).ravel(), lm.end), minlength=lm.size)
    _, logits = lm.start(Sequences.of([[]]))
    theory = torch.softmax(logits[0].double(), -1).numpy() * n
    common = theory >= 10
    observed = [*counts[common], counts[~common].sum()]
    assert stats.chisquare(observed, [*theory[common], theory[~common].sum()]).pvalue > 1e-4


@pytest.mark.parametrize(
    "decoding", [Decoding(longest=24), Decoding("beam-sampling", beams=2, longest=20)], ids=lambda d: d.method
)
def test_drawn_texts_do_not_depend_on_the_batch(causal_lm, decoding):
    """Documents of prompts of several lengths, some of which slide through the window."""
    lm = TransformersLM(causal_lm, window=16)
    prompts = [TEXTS[i % 5] for i in range(10)]
    found = []
    for size in (1, 4, 10):
        lm.batch = size
        found.append(write(lm, prompts, decoding, range(77, 87)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("gpt2", {"n_embd": 24, "n_head": 2, "n_layer": 3}),
        ("llama", {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2}),
        ("qwen3", {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 16}),
    ],
)
def test_the_size_of_keys_and_values_is_that_of_the_cache(kind, options):
    config = transformers.AutoConfig.for_model(kind, vocab_size=50, **options)
    network = transformers.AutoModelForCausalLM.from_config(config).eval()
    cache = network(input_ids=torch.tensor([[1, 2, 3]]), use_cache=True).past_key_values
    assert key_value_size(config) == sum(x.numel() for layer in cache.layers for x in (layer.keys, layer.values)) / 3


def test_batches_are_cut_by_tokens_and_free_memory(causal_lm, monkeypatch):
    """A batch by memory alone: with its keys, values and logits, it takes no more than half of what is free."""
    lm = TransformersLM(causal_lm)
    assert lm.batch == 0
    assert [lm.at_once(n) for n in (64, 128, 1 << 20)] == [256, 128, 128], "16,384 tokens, of at most a window each"
    assert lm.at_once(64, beams=4) == 64
    assert TransformersLM(causal_lm, batch=7).at_once(64, beams=4) == 7, "a size that is given is kept"
    most = lm.budget
    monkeypatch.setattr("momus_adapters.language_models.transformers.free_memory", lambda device: 1 << 20)
    assert lm.at_once(64) * (64 * key_value_size(lm.network.config) * 4 + lm.size * 48) <= 1 << 19
    assert 1 < lm.at_once(64) < 256
    assert 1 <= lm.budget < most
    monkeypatch.setattr("momus_adapters.language_models.transformers.free_memory", lambda device: 1)
    assert (lm.at_once(64), lm.budget) == (1, 1)


def test_the_sampler_counts_the_tokens_of_prompts(lm, monkeypatch):
    asked, prompt = [], "the cat sat on the mat"
    monkeypatch.setattr(lm, "at_once", lambda *sizes: asked.append(sizes) or 2)
    assert len(write(lm, ["", prompt, "a dog"], Decoding("beam-sampling", beams=3, longest=5), range(3))) == 3
    assert asked == [(5 + int(lm.encode([prompt]).lengths[0]), 3)]


def test_sliding_contexts_keep_the_last_half_window(causal_lm):
    lm = TransformersLM(causal_lm, window=8)
    ids = np.random.default_rng(1).integers(0, lm.size - 1, 20)
    state, logits = lm.start(Sequences.of([ids[:2]]))
    context = [lm.begin, *ids[:2]]
    for token in ids[2:]:
        state, logits = lm.step(state, torch.tensor([token]))
        context = [*context, token]
        context = context[-4:] if len(context) >= 8 else context
        with torch.inference_mode():
            expected = lm.network(input_ids=torch.tensor([context])).logits[0, -1]
        torch.testing.assert_close(logits[0], expected, atol=1e-4, rtol=1e-4)


def test_special_tokens_in_texts_are_plain_characters(lm):
    ids = lm.encode(["a </s> b"])
    assert lm.end not in ids.ids
    assert lm.decode(ids) == ["a </s> b"]


def test_errors_say_how_to_go_on(causal_lm, tmp_path):
    with pytest.raises(MomusError, match="cannot be loaded"):
        TransformersLM(str(tmp_path))
    with pytest.raises(MomusError, match="no token '<none>'"):
        TransformersLM(causal_lm, end="<none>")
    with pytest.raises(MomusError, match="window of 9999"):
        TransformersLM(causal_lm, window=9999)
    with pytest.raises(MomusError, match="precision"):
        TransformersLM(causal_lm, precision="int4")
    (tmp_path / "broken.gguf").write_bytes(b"no gguf")
    with pytest.raises(MomusError, match=r"broken\.gguf"):
        TransformersLM(str(tmp_path / "broken.gguf"))
