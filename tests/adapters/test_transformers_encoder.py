"""Fine-tuning, calibration, embedding and saving with a real encoder of two layers."""

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.critic.tools import Embedder, SectionPosterior, adapter_names, make_adapter, token_batches
from momus.errors import UsageError
from momus.numeric.temperature import calibration_error, softmax
from momus_adapters.transformers.encoder import TransformersEmbedder, padded, tokenize
from momus_adapters.transformers.posterior import TransformersPosterior
from momus_critics.sections import Sections

WORDS = {
    "animals": ["ape", "bear", "cat", "dog"],
    "colours": ["red", "blue", "pink", "green"],
    "numbers": ["one", "two", "six", "ten"],
}
TUNING = {"rate": 3e-3, "epochs": 6, "batch": 16, "max_tokens": 32}


def documents(n, seed, flip=0.0):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        titles = list(WORDS)
        if rng.random() < flip:
            titles[0], titles[1] = titles[1], titles[0]
        found.append([(t, " ".join(rng.choice(WORDS[t], int(rng.integers(3, 12))))) for t in titles])
    return found


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_sections(documents(60, 0), name="real")


@pytest.fixture(scope="module")
def tuned(encoder, corpus):
    labels = np.tile([0, 1, 2], 60)
    return TransformersPosterior(model=encoder, **TUNING).fit(corpus, labels, 4)


def test_it_learns_and_reports_on_held_out_documents(tuned, corpus):
    assert isinstance(tuned, SectionPosterior)
    p = tuned.predict(corpus)
    assert p.shape == (180, 4)
    assert np.allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == np.tile([0, 1, 2], 60)).mean() > 0.95
    assert tuned.held_out["accuracy"] > 0.9
    assert tuned.held_out["sections"] == 18
    assert 0 <= tuned.held_out["calibration_error"] < 0.2
    assert min(tuned.losses_) < tuned.losses_[0]


def test_batch_size_and_order_change_nothing(tuned, corpus):
    whole = tuned.predict(corpus)
    alone = np.concatenate([tuned.predict(corpus.slice(i, i + 1)) for i in range(5)])
    assert np.abs(whole[:15] - alone).max() < 1e-5


def test_the_critic_takes_it_by_name_and_saves_it_whole(encoder, corpus, tmp_path):
    critic = Sections(posterior="transformers", model=encoder, options=TUNING).fit(corpus)
    other = Corpus.from_sections(documents(30, 5), name="other")
    scores = critic.score(other)
    assert "held-out" in critic.notes()[1].text
    critic.save(tmp_path / "critic")
    (tmp_path / "critic" / "critic.json").read_text().index("WordPiece")
    again = momus.load_critic(tmp_path / "critic", trust=True)
    assert again.score(other).nll == pytest.approx(scores.nll, abs=1e-4)
    flipped = Corpus.from_sections(documents(30, 6, flip=1.0), name="flipped")
    assert critic.score(flipped).latent_ppl > 2 * scores.latent_ppl


def test_embeddings_do_not_depend_on_the_batch(encoder):
    embedder = TransformersEmbedder(model=encoder, max_tokens=32, batch=4)
    assert isinstance(embedder, Embedder)
    texts = ["ape bear", "red " * 50, "", "one two six", "cat"]
    x = embedder.fit(texts).embed(texts)
    assert x.shape == (5, 32)
    assert np.linalg.norm(x, axis=1) == pytest.approx(np.ones(5))
    assert np.abs(embedder.embed(texts[::-1])[::-1] - x).max() < 1e-5


def test_batches_are_sorted_and_complete():
    lengths = np.random.default_rng(0).integers(1, 50, 101)
    batches = token_batches(lengths, 200)
    assert sorted(np.concatenate(batches).tolist()) == list(range(101))
    assert max(len(b) * lengths[b].max() for b in batches) <= 200
    spread = [lengths[b].max() - lengths[b].min() for b in batches]
    assert np.mean(spread) < 8
    inputs = padded([np.array([5, 6]), np.array([7])], 0, "cpu")
    assert inputs["input_ids"].tolist() == [[5, 6], [7, 0]]
    assert inputs["attention_mask"].tolist() == [[1, 1], [1, 0]]


def test_a_text_is_cut_not_read_whole(encoder):
    from transformers import AutoTokenizer

    (row,) = tokenize(AutoTokenizer.from_pretrained(encoder), ["ape " * 2_000_000], 16)
    assert len(row) == 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": ""}, "no model"),
        ({"model": "/nowhere/at/all"}, "cannot be loaded"),
        ({"model": "x", "wings": 2}, "no parameter 'wings'"),
        ({"model": "x", "precision": "half"}, "precision is 'half'"),
        ({"model": "x", "max_tokens": "256"}, "max_tokens is '256'"),
    ],
)
def test_errors_say_what_to_do(options, said, corpus):
    with pytest.raises(UsageError, match=said):
        make_adapter("posterior", "transformers", options).fit(corpus, np.tile([0, 1, 2], 60), 3)


def test_unknown_adapters_are_named():
    assert "transformers" in adapter_names("posterior")
    with pytest.raises(UsageError, match="posterior is 'crystal ball'"):
        make_adapter("posterior", "crystal ball", {}, builtin=("linear",))
    with pytest.raises(UsageError, match="precision is 'half'"):
        TransformersEmbedder(model="x", precision="half").fit([])


def test_calibration_error_of_known_cases():
    p = softmax(np.zeros((10, 2)))
    assert calibration_error(p, np.array([0] * 10)) == pytest.approx(0.5)
    assert np.isnan(calibration_error(np.zeros((0, 2)), np.zeros(0, int)))
