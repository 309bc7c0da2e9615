"""Checkpoints saved in half precision: transformers loads the weights in the type of the file."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import momus
from momus import Corpus
from momus.errors import FittingError, UsageError
from momus_adapters.language_models.transformers import TransformersLM
from momus_adapters.transformers.encoder import TransformersEmbedder
from momus_adapters.transformers.posterior import TransformersPosterior
from momus_critics.sections import Sections

WORDS = ["ape", "bear", "cat", "dog", "red", "blue", "pink", "green", "one", "two", "six", "ten"]
LABELS = np.tile([0, 1, 2], 40)
KINDS = {"posterior": "AutoModel", "language": "AutoModelForCausalLM"}


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    sections = [[("abc"[i], " ".join(rng.choice(WORDS[4 * i : 4 * i + 4], 8))) for i in range(3)] for _ in range(40)]
    return Corpus.from_sections(sections, name="real")


@pytest.fixture(scope="module", params=["float16", "bfloat16"])
def saved(request, encoder, causal_lm, tmp_path_factory):
    """Folders of checkpoints by kind: in half precision, and the same (rounded) weights in single precision."""
    folders = {}
    for name, kind in KINDS.items():
        source = causal_lm if name == "language" else encoder
        torch.manual_seed(1)
        network = getattr(transformers, kind).from_pretrained(source).to(getattr(torch, request.param))
        pair = [str(tmp_path_factory.mktemp(name)) for _ in range(2)]
        for folder, dtype in zip(pair, (network.dtype, torch.float32), strict=True):
            network.to(dtype).save_pretrained(folder)
            transformers.AutoTokenizer.from_pretrained(source).save_pretrained(folder)
        folders[name] = pair
    assert request.param in Path(folders["posterior"][0], "config.json").read_text()
    return folders


def types_of(network):
    return {p.dtype for p in network.parameters()}


def test_fine_tuning_learns_as_from_single_precision(saved, corpus):
    """At the paper's rate, steps are below the rounding of bfloat16: weights kept in it would not move."""
    found = []
    for folder in saved["posterior"]:
        tool = TransformersPosterior(model=folder, epochs=2, rate=2e-5, max_tokens=16).fit(corpus, LABELS, 3)
        assert types_of(tool.encoder().network) == {torch.float32}
        found.append(tool)
    half, single = (tool.losses_[0] - tool.losses_[-1] for tool in found)
    assert half == pytest.approx(single, rel=0.2)
    assert half > 1e-4
    before = transformers.AutoModel.from_pretrained(saved["posterior"][0], dtype=torch.float32).state_dict()
    after = found[0].encoder().network.base_model.state_dict()
    name = "encoder.layer.1.output.dense.weight"
    assert (before[name] != after[name]).float().mean() > 0.9


def test_a_fitted_critic_is_saved_and_loaded(saved, corpus, tmp_path):
    options = {"epochs": 1, "max_tokens": 16}
    critic = Sections(posterior="transformers", model=saved["posterior"][0], options=options).fit(corpus)
    critic.save(tmp_path / "saved")
    again = momus.load_critic(tmp_path / "saved", trust=True)
    np.testing.assert_array_equal(again.score(corpus).nll, critic.score(corpus).nll)


def test_networks_compute_in_the_precision_that_is_asked_for(saved, corpus):
    """The same weights give the same numbers, whatever the type of the file."""
    texts = ["ape cat", "one two six ten", "red"]
    tools = {
        "posterior": lambda **model: TransformersEmbedder(**model).embed(texts),
        "language": lambda **model: TransformersLM(**model).score_texts(texts).log_probabilities,
    }
    for name, run in tools.items():
        for precision in ("auto", "float32", "float64") if name != "language" else ("auto", "float32"):
            half, single = (run(model=folder, precision=precision) for folder in saved[name])
            np.testing.assert_allclose(half, single, atol=1e-12, err_msg=f"{name}, {precision}")


def test_double_precision_is_not_single(saved, corpus):
    """`float64` is no other name of `float32`: the results differ, by rounding."""
    texts = ["ape cat", "one two six ten", "red"]
    single, double = (
        TransformersEmbedder(model=saved["posterior"][0], precision=p).embed(texts) for p in ("float32", "float64")
    )
    assert 0 < np.abs(single - double).max() < 1e-5


def test_a_loss_that_is_no_number_is_an_error_in_words(encoder, corpus, tmp_path):
    network = transformers.AutoModel.from_pretrained(encoder)
    network.embeddings.LayerNorm.weight.data[0] = float("inf")
    network.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path)
    tool = TransformersPosterior(model=str(tmp_path), epochs=2, max_tokens=16)
    with pytest.raises(FittingError, match=r"fine-tuning .* the held-out loss is nan after pass 1(.|\n)*rate"):
        tool.fit(corpus, LABELS, 3)


@pytest.mark.parametrize("options", [{"rate": float("nan")}, {"rate": -1.0}, {"epochs": 0}, {"batch": 0}])
def test_settings_that_train_nothing_are_errors_in_words(encoder, corpus, options):
    with pytest.raises(UsageError, match=next(iter(options))):
        TransformersPosterior(model=encoder, **options).fit(corpus, LABELS, 3)
