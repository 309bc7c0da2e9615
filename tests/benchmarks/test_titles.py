"""Helpers of the experiment with and without section titles, against answers worked out by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

import titles_model as lm
import titles_results as results
import titles_texts as texts


def encode(text):
    return [ord(c) for c in text]


def decode(ids):
    return "".join(chr(i) for i in ids if i != texts.END)


DOCUMENT = [("Summary", "Add two numbers."), ("Parameters", "x : int\n    First."), ("Returns", "int")]


@pytest.mark.parametrize("titles", [True, False])
def test_what_is_rendered_is_read_back(titles):
    read = texts.read_back(decode(texts.render(DOCUMENT, titles, encode).ids), titles)
    assert read.bodies == [body for _, body in DOCUMENT]
    assert read.titles == ([title for title, _ in DOCUMENT] if titles else ["", "", ""])
    assert read.empty == 0


def test_both_forms_have_the_same_tokens_outside_titles():
    with_, without = (texts.render(DOCUMENT, titles, encode) for titles in (True, False))
    assert with_.ids[~with_.title].tolist() == without.ids.tolist()
    assert not without.title.any()
    assert decode(with_.ids[with_.title]) == " Summary Parameters Returns"


def test_generated_text_with_faults():
    read = texts.read_back("no break yet\n### Returns\n\n### Notes\n  kept indent\n###", titles=True)
    assert read.titles == ["", "Notes"]
    assert read.bodies == ["no break yet", "  kept indent"]
    assert read.empty == 2  # a title without a body, and a break at the end
    assert texts.read_back("", titles=True) == texts.Read([], [], 0)


def test_untitled_sections_keep_their_first_line():
    assert texts.read_back("###\nint\n    The sum.", titles=False).bodies == ["int\n    The sum."]


def test_thinning_makes_the_median_four():
    documents = [[("a", "b")] * n for n in (3, 4, 3, 3, 5, 3)]
    kept = texts.thinned(documents, seed=0)
    assert {1, 4} < set(kept)
    assert np.median([len(documents[i]) for i in kept]) == 4
    assert kept == texts.thinned(documents, seed=0)


def test_buckets_hold_each_document_once_and_hardly_any_padding():
    lengths = np.random.default_rng(0).integers(20, 144, 200)
    batches = texts.buckets(lengths, 8, 12, np.random.default_rng(1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    computed = sum(len(b) * lengths[b].max() for b in batches)
    assert computed < 1.15 * lengths.sum()
    unsorted = np.random.default_rng(2).permutation(200).reshape(-1, 8)
    assert computed < 0.85 * sum(8 * lengths[b].max() for b in unsorted)


def test_mean_and_interval_are_those_of_the_jackknife():
    rng = np.random.default_rng(0)
    counts = rng.integers(3, 7, 400).astype(float)
    sums = counts + rng.normal(0, 1, 400)
    mean = results.Mean.of(sums, counts)
    left_out = (sums.sum() - sums) / (counts.sum() - counts)
    jackknife = np.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
    assert mean.value == pytest.approx(sums.sum() / counts.sum())
    assert mean.error == pytest.approx(jackknife, rel=0.01)
    assert mean.minus(mean).value == 0
    assert mean.minus(mean).error == pytest.approx(2**0.5 * mean.error)


def test_failures_are_transitions_below_the_threshold():
    reading = {
        "states": ["a", "b"],
        "prior": [[0.005, 0.495, 0.5], [0.2, 0.008, 0.792], [0.9, 0.1, 0.0]],
        "texts": {
            results.REAL: {"transitions": [[0, 5, 5], [0, 0, 5], [5, 0, 0]]},
            "without-ancestral": {"transitions": [[3, 5, 5], [0, 1, 5], [6, 0, 0]]},
        },
    }
    found = results.failures(reading, "without-ancestral")
    assert [(f.source, f.target) for f in found] == [("a", "a"), ("b", "b")]
    assert found[0].generated == pytest.approx(3 / 25)
    assert found[0].real == 0


def model_of(folder, scale=1):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2,
        num_key_value_heads=1, tie_word_embeddings=True, max_position_embeddings=64,
    )  # fmt: skip
    whole = LlamaForCausalLM(config)
    whole.model.embed_tokens.weight.data *= scale
    whole.save_pretrained(folder)
    return lm.Model(folder, layers=1)


def documents(n=12):
    rng = np.random.default_rng(0)
    rows = []
    for length in rng.integers(4, 9, n):
        ids = np.concatenate([[0], np.arange(length) % 5 + 3, [0]])
        rows.append(texts.Ids(ids, np.zeros(len(ids), dtype=bool)))
    return rows


def test_halves_are_the_whole_and_stored_states_do_not_depend_on_the_batch(tmp_path):
    model = model_of(tmp_path / "base")
    rows = documents()
    states = lm.stored_states(model, rows, tmp_path / "states.npy")
    for row, loss in zip(rows, lm.document_losses(model, rows, states, torch.arange(40)), strict=True):
        with torch.no_grad():
            ids = torch.from_numpy(row.ids)
            expected = torch.nn.functional.cross_entropy(
                model.whole(ids[None, :-1]).logits[0], ids[1:], reduction="sum"
            )
        assert loss.nats == pytest.approx(float(expected), rel=1e-4)


def test_an_interrupted_training_ends_where_a_whole_one_does(tmp_path, monkeypatch):
    model = model_of(tmp_path / "base", scale=40)  # as large as trained embeddings, which stay as they are
    monkeypatch.setattr(lm, "COMMON", 40)
    rows, recipe = documents(), lm.Recipe(layers=1, epochs=3, batch=4, rate=1e-2, warm=2)
    states = lm.stored_states(model, rows, tmp_path / "states.npy")
    below = model.layers[0].self_attn.q_proj.weight.clone()
    done = lm.train(model, rows, states, recipe, tmp_path / "whole.pt", minutes=9)
    assert done["steps"] == done["of"] == 9
    whole = {k: v.clone() for k, v in model.trained.state_dict().items()}
    assert torch.equal(below, model.layers[0].self_attn.q_proj.weight)  # lower layers stay
    for _ in range(9):  # each call does one step and stops
        resumed = lm.Model(tmp_path / "base", layers=1)
        done = lm.train(resumed, rows, states, recipe, tmp_path / "parts.pt", minutes=0)
    assert done["steps"] == 9
    assert all(torch.allclose(whole[k], v, atol=1e-6) for k, v in resumed.trained.state_dict().items())
    losses = torch.load(tmp_path / "whole.pt", weights_only=True)["done"]["losses"]
    assert losses[-1] < losses[0] - 0.5


def test_a_document_is_sampled_alike_alone_and_in_a_batch(tmp_path):
    model = model_of(tmp_path / "base")
    together = lm.sample(model, torch.arange(40), [3, 4, 5, 6], p=1.0, longest=30)
    alone = [lm.sample(model, torch.arange(40), [seed], p=1.0, longest=30)[0] for seed in (3, 4, 5, 6)]
    assert together == alone
    assert any(row[-1] == texts.END for row in together)  # some leave the batch
    assert len({tuple(row) for row in together}) == 4


def test_tokens_that_cannot_be_written_are_counted_and_never_drawn(tmp_path):
    model = model_of(tmp_path / "base")
    row = texts.Ids(np.array([0, 3, 39, 4, 0]), np.array([False, True, False, False, False]))
    states = lm.stored_states(model, [row], tmp_path / "states.npy")
    (loss,) = lm.document_losses(model, [row], states, torch.arange(30))
    assert (loss.tokens, loss.body_tokens, loss.outside) == (3, 2, 1)
    few = torch.tensor([0, 7, 9])
    written = {token for ids in lm.sample(model, few, range(8), p=1.0, longest=20) for token in ids}
    assert written == {0, 7, 9}
