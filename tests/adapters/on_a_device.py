"""Every path that takes a device, on one that treats memory as a GPU does (`tests/elsewhere.py`), against the CPU.

`PATHS` names the modules that put tensors on a device; a test compares the list with the code.
"""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from momus import Corpus
from momus.critic.hooks import moved
from momus.numeric.devices import resolve_device
from momus.numeric.draws import hashed, log_gammas, uniforms
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_adapters.language_models.transformers import TransformersLM
from momus_adapters.pyro import PyroCritic
from momus_adapters.transformers.encoder import TransformersEmbedder
from momus_adapters.transformers.posterior import TransformersPosterior
from momus_critics.code_mixing import CodeMixing, lda
from momus_critics.hsmm import Parameters, posterior, viterbi
from momus_critics.passages import Passages
from momus_critics.path import Path as PathBetweenSentences
from momus_critics.pcfg.grammar import Grammar
from momus_critics.perplexity import Perplexity
from momus_critics.sections import Sections
from momus_critics.topics import Topics
from momus_critics.topics.fitting import Options, fit, infer
from momus_generating import Decoding, document_seeds, sample

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("elsewhere", ROOT / "tests" / "elsewhere.py")
elsewhere = importlib.util.module_from_spec(spec)
spec.loader.exec_module(elsewhere)

sys.path.insert(0, str(Path(__file__).parent))  # programs are found by name
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PLACES = ["cpu", "meta"]
WORDS = ["ape", "bear", "cat", "dog", "red", "blue", "pink", "green", "one", "two", "six", "ten"]
PATHS = {
    "core/momus/critic/hooks.py": "test_passages",
    "core/momus/numeric/devices.py": "test_names_of_devices",
    "core/momus/numeric/draws.py": "test_keyed_draws",
    "core/momus/sequences/types.py": "test_n_gram_models_score_and_write",
    "examples/generating/momus_generating/decoding.py": "test_n_gram_models_score_and_write",
    "core/momus/sequences/ngram.py": "test_n_gram_models_score_and_write",
    "critics/momus_critics/hsmm/model.py": "test_passages",
    "critics/momus_critics/hsmm/passes.py": "test_semi_markov_passes",
    "critics/momus_critics/passages/segmenter.py": "test_passages",
    "critics/momus_critics/topics/bound.py": "test_topic_models",
    "critics/momus_critics/topics/fitting.py": "test_topic_models",
    "critics/momus_critics/topics/laplace.py": "test_topics",
    "critics/momus_critics/code_mixing/lda.py": "test_gibbs_sampling",
    "critics/momus_critics/pcfg/grammar.py": "test_grammars",
    "adapters/momus_adapters/language_models/transformers.py": "test_language_models",
    "adapters/momus_adapters/pyro/critic.py": "test_pyro_programs",
    "adapters/momus_adapters/pyro/sampling.py": "test_pyro_programs",
    "adapters/momus_adapters/pyro/programs.py": "test_pyro_programs",
    "adapters/momus_adapters/transformers/encoder.py": "test_embedders",
    "adapters/momus_adapters/transformers/posterior.py": "test_fine_tuning",
}
PUTS = re.compile(
    r"\.to\((?:self\.|options\.)?device\b|\b\w+\([^()]*\bdevice=[\w.]*device\)|torch\.device\(device\)|Generator\(device\)"
)


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """The device; what torch lacks for it is that of the CPU: generators, and regions of mixed precision."""

    class Generator(torch.Generator):
        def __new__(cls, device="cpu"):
            return super().__new__(cls)

    def made(plain):
        def make(data, *, device=None, dtype=None):
            moved = isinstance(data, torch.Tensor)
            here = data if moved else plain(data, device="cpu", dtype=dtype)
            device = device or (data.device if moved else torch.empty(0).device)
            return here.to(device=device, dtype=dtype or here.dtype)

        return make

    autocast = torch.autocast
    monkeypatch.setattr(torch, "Generator", Generator)
    monkeypatch.setattr(torch, "tensor", made(torch.tensor))
    monkeypatch.setattr(torch, "asarray", made(torch.asarray))
    monkeypatch.setattr(torch, "autocast", lambda kind, **options: autocast("cpu", **options))
    monkeypatch.setattr(torch, "inference_mode", torch.no_grad)  # its tensors cannot be wrapped
    with elsewhere.Elsewhere():
        yield "meta"


def test_every_module_that_puts_tensors_on_a_device_is_tested():
    found = set()
    for room in ("core", "critics", "adapters", "examples/generating", "examples/preparing"):
        for path in sorted((ROOT / room).rglob("*.py")):
            code = path.read_text(encoding="utf-8")
            if "torch" in code and PUTS.search(code):
                found.add(str(path.relative_to(ROOT)))
    assert found - set(PATHS) == set()
    assert set(PATHS.values()) <= set(globals())


def test_the_device_refuses_what_a_gpu_refuses():
    x = torch.ones(3).to("meta")
    with pytest.raises(RuntimeError, match="a tensor of the CPU"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match="numpy"):
        x.numpy()
    assert (x.cpu().numpy() == 1).all()


def test_names_of_devices():
    assert resolve_device("meta") == "meta"


def test_keyed_draws():
    keys, shape = torch.arange(50), torch.linspace(0.1, 9, 50, dtype=torch.float64)
    for draw in (lambda k, s: hashed(k, 3), lambda k, s: uniforms(k, 3), lambda k, s: log_gammas(s, k, 3)):
        here, there = (draw(keys.to(p), shape.to(p)) for p in PLACES)
        assert there.device.type == "meta"
        assert torch.equal(here, there.cpu())


@pytest.mark.parametrize(
    "decoding", [Decoding("nucleus", top_p=0.8, longest=9), Decoding("beam-sampling", beams=3, longest=9)]
)
def test_n_gram_models_write(decoding):
    texts = Sequences.of([[0, 1, 0, 2], [1, 0], [2, 0, 1, 0, 1], [0], [2, 2, 1]])
    drawn = []
    for place in PLACES:
        model = NGramModel(2).fit(texts, 3)
        model.device = place
        found = sample(model, None, decoding, document_seeds(0, 20))
        drawn.append((found.sequences.ids.tolist(), found.log_probabilities.tolist()))
    assert drawn[0][0] == drawn[1][0]
    assert drawn[0][1] == pytest.approx(drawn[1][1])


def test_semi_markov_passes():
    g = torch.Generator().manual_seed(0)
    k, t = 4, 12
    leaving = torch.randn(k, k + 1, generator=g).log_softmax(dim=1)
    prior = Parameters(
        torch.randn(k, generator=g).log_softmax(dim=0),
        leaving[:, :-1].contiguous(),
        torch.randn(k, 3, generator=g).log_softmax(dim=1),
        leaving[:, -1].contiguous(),
    )
    each, lengths = torch.randn(5, t, k, generator=g), torch.tensor([12, 3, 7, 1, 9])
    found = []
    for place in PLACES:
        x = each.to(place)
        total = torch.cat([torch.zeros_like(x[:, :1]), x.cumsum(dim=1)], dim=1)

        def spans(at, n, total=total):
            return total[:, at, None] - total[:, at - n : at].flip(1)

        passes = posterior(prior.to(place), spans, lengths.to(place))
        paths = viterbi(prior.to(place), spans, lengths.to(place))
        found.append((passes.log_likelihood.cpu(), passes.transitions.cpu(), [(s.states, s.durations) for s in paths]))
    assert torch.allclose(found[0][0], found[1][0])
    assert torch.allclose(found[0][1], found[1][1], atol=1e-6)
    assert found[0][2] == found[1][2]


def simulated(n, seed):
    """running texts of five parts, each with words of its own."""
    rng = np.random.default_rng(seed)
    own = [
        [f"{part}{a}{b}" for a in LETTERS for b in LETTERS[:12]] for part in ("alpha", "beta", "gamma", "delta", "zeta")
    ]
    texts = []
    for _ in range(n):
        sentences = [[*rng.choice(words, 30), *rng.choice(list(LETTERS), 5)] for words in own for _ in range(3)]
        texts.append(" ".join(" ".join(words) + "." for words in sentences))
    return Corpus.from_texts(texts, name=f"simulated {seed}")


def agree(critic, real, other, rtol=1e-5):
    """Fit on the device, and score there and on the CPU."""
    fitted = critic.to("meta").fit(real)
    there = fitted.score(other)
    here = moved(fitted, "cpu").score(other)
    assert np.isfinite(here.nll).any()
    np.testing.assert_allclose(there.nll, here.nll, rtol=rtol)


def test_passages():
    agree(Passages(n_states=5), simulated(20, 0), simulated(5, 1))


def test_topic_models():
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(40, 0.1), size=3)
    counts = sparse.csr_array(
        np.stack([rng.multinomial(60, t @ phi) for t in rng.dirichlet(np.ones(3), 50)]).astype(float)
    )
    models = [fit(counts, Options(3, steps=3, tolerance=0.0, device=place, dtype=torch.float64)) for place in PLACES]
    assert models[0].curve == pytest.approx(models[1].curve)
    found = [
        infer(counts, m.weights, m.mean, m.covariance, Options(3, device=p, dtype=torch.float64))
        for m, p in zip(models, PLACES, strict=True)
    ]
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-6, atol=1e-8)


def test_topics():
    agree(Topics(n_topics=3, min_count=2, steps=3), simulated(20, 0), simulated(5, 1), rtol=1e-3)


def test_gibbs_sampling():
    rng = np.random.default_rng(0)
    tokens = lda.Tokens(rng.integers(0, 9, 200), np.arange(0, 201, 20))
    start = rng.dirichlet(np.ones(9), size=2)
    here, there = (lda.fit(tokens, start, 0.05, 6, 0, place) for place in PLACES)
    assert here.curve == pytest.approx(there.curve)


def test_code_mixing():
    agree(CodeMixing(n_topics=2, sweeps=4, starts=2, chains=2, min_count=1), simulated(12, 0), simulated(4, 1))


def test_grammars():
    rng = np.random.default_rng(0)
    binary, lexical = rng.random((4, 4, 4)), rng.random((4, 6)) * 4
    total = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
    parts = np.full(4, 0.25), binary / total[:, None, None], lexical / total[:, None]
    grammar = Grammar([f"L{i}" for i in range(4)], [f"w{i}" for i in range(6)], *parts)
    some = [rng.integers(0, 6, n).tolist() for n in (3, 5, 5, 1)]
    assert grammar.log_likelihood(some, "meta") == pytest.approx(grammar.log_likelihood(some, "cpu"))


@pytest.mark.parametrize("precision", ["auto", "bfloat16"])
def test_language_models(causal_lm, precision):
    texts = ["the cat sat on the mat", "a dog", "", "rain fell on the town all day and all night"]
    found = []
    for place in PLACES:
        model = TransformersLM(causal_lm, device=place, precision=precision)
        scores = model.score(model.encode(texts)).log_probabilities
        drawn = sample(model, model.encode(["the", "a", "rain"]), Decoding("nucleus", top_p=0.8, longest=12), [1, 2, 3])
        found.append((scores, drawn.sequences.ids.tolist()))
    exact = precision == "auto"  # which is single precision but on a GPU
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-4 if exact else 0.2)
    assert found[0][1] == found[1][1] or not exact


def test_perplexity_of_a_language_model(causal_lm):
    critic = Perplexity(scorer="transformers", options={"model": causal_lm})
    agree(
        critic, Corpus.from_texts(["the cat sat", "a dog", "rain fell"] * 4), Corpus.from_texts(["a cat", "the town"])
    )


def titled(n, seed):
    rng = np.random.default_rng(seed)
    return Corpus.from_sections(
        [[(t, " ".join(rng.choice(WORDS[4 * i : 4 * i + 4], 6))) for i, t in enumerate("abc")] for _ in range(n)]
    )


@pytest.mark.parametrize("precision", ["auto", "bfloat16"])
def test_fine_tuning(encoder, precision):
    """The same batches and weights: after one epoch, probabilities on both are alike."""
    corpus, labels, found = titled(30, 0), np.tile([0, 1, 2], 30), []
    for place in PLACES:
        tool = TransformersPosterior(model=encoder, epochs=1, rate=3e-3, max_tokens=16, precision=precision)
        tool.device = place
        found.append(tool.fit(corpus, labels, 3).predict(corpus))
    np.testing.assert_allclose(found[0], found[1], atol=0.05 if precision == "bfloat16" else 1e-3)


def test_sections_with_an_encoder(encoder):
    critic = Sections(posterior="transformers", model=encoder, options={"epochs": 1, "max_tokens": 16})
    agree(critic, titled(30, 0), titled(8, 1), rtol=1e-3)


@pytest.mark.parametrize("precision", ["auto", "bfloat16"])
def test_embedders(encoder, precision):
    found = []
    for place in PLACES:
        tool = TransformersEmbedder(model=encoder, precision=precision)
        tool.device = place
        found.append(tool.fit([]).embed(["ape cat", "one two six ten", "red"]))
    np.testing.assert_allclose(found[0], found[1], atol=0.01 if precision == "bfloat16" else 1e-6)


def test_path_between_vectors_of_an_encoder(encoder):
    critic = PathBetweenSentences(embedder="transformers", options={"model": encoder})
    texts = [
        " ".join(f"{' '.join(np.random.default_rng(i + j).choice(WORDS, 5))}." for j in range(9)) for i in range(20)
    ]
    agree(critic, Corpus.from_texts(texts), Corpus.from_texts(texts[:5], name="others"), rtol=1e-3)


@pytest.mark.parametrize("prefix", ["normal", "mixture", "nested"])
def test_pyro_programs(prefix):
    rng = np.random.default_rng(0)
    rows = Corpus.from_texts(
        [" ".join(f"{v:.6g}" for v in row) for row in rng.normal(size=(40, 4 if prefix == "nested" else 1))]
    )
    names = {role: f"pyro_programs:{prefix}_{role}" for role in ("model", "guide")}
    agree(PyroCritic(**names, features="pyro_programs:numbers", steps=5, draws=8), rows, rows.slice(0, 10))
