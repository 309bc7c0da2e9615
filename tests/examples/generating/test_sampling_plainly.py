"""Samples equal those of the plain definition, token by token with the noise of all tokens."""

from __future__ import annotations

import numpy as np
import pytest

from momus.numeric.draws import hashed, uniforms
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus.sequences.types import log_softmax
from momus_generating import Decoding, sample
from momus_generating.decoding import nucleus

torch = pytest.importorskip("torch", reason="pip install -e .[torch]")

SYMBOLS = 90
SEEDS = [int(s) & (2**63 - 1) for s in hashed(np.arange(14), 7)]


@pytest.fixture(scope="module", params=["none", "kneser-ney"])
def model(request):
    rng = np.random.default_rng(0)
    rows = [np.minimum(rng.zipf(1.4, n) - 1, SYMBOLS - 1) for n in rng.integers(0, 30, 200)]
    return NGramModel(2, request.param).fit(Sequences.of(rows), SYMBOLS)


def noisy(log_p, key):
    """log p + Gumbel noise of one draw, of all tokens."""
    return log_p - np.log(-np.log(uniforms(np.arange(len(log_p)), after=key)))


def log_p_after(model, tokens):
    _, logits = model.start(Sequences.of([tokens]))
    return log_softmax(logits)[0].numpy()  # as in the sampler, so that equally probable hypotheses tie here and there


def plain(model, seed, top_p, longest):
    tokens = []
    for t in range(longest):
        log_p = log_p_after(model, tokens)
        order = np.argsort(-log_p, kind="stable")
        before = np.cumsum(np.exp(log_p[order])) - np.exp(log_p[order])
        kept = np.full(len(log_p), -np.inf)
        kept[order[before < top_p - 1e-12]] = log_p[order[before < top_p - 1e-12]]
        token = int(noisy(kept, hashed(seed, t)).argmax())
        if token == model.end:
            break
        tokens.append(token)
    return tokens


def plain_beams(model, seed, k, longest):
    """The best hypothesis after all steps, without an earlier stop."""
    beams = [([], 0.0, False)]
    for t in range(longest):
        candidates = []
        for j, (tokens, total, ended) in enumerate(beams):
            if ended:
                candidates.append((tokens, total, True))
                continue
            log_p = log_p_after(model, tokens)
            for i in range(k):
                token = int(noisy(log_p, hashed(seed, t, j * k + i)).argmax())
                extended = tokens if token == model.end else [*tokens, token]
                candidates.append((extended, total + log_p[token], token == model.end))
        beams = sorted(candidates, key=lambda c: -c[1])[:k]
    return beams[0]


@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.3])
def test_tokens_are_the_argmax_over_all_tokens(model, top_p):
    decoding = Decoding("nucleus", top_p=top_p, longest=25) if top_p < 1 else Decoding(longest=25)
    drawn = sample(model, None, decoding, SEEDS)
    for i, seed in enumerate(SEEDS):
        assert drawn.sequences[i].tolist() == plain(model, seed, top_p, 25)


@pytest.mark.parametrize("longest", [4, 25])
def test_an_early_stop_returns_the_best_beam(model, longest):
    drawn = sample(model, None, Decoding("beam-sampling", beams=3, longest=longest), SEEDS)
    for i, seed in enumerate(SEEDS):
        tokens, total, ended = plain_beams(model, seed, 3, longest)
        assert drawn.sequences[i].tolist() == tokens
        assert (drawn.finished[i], drawn.log_probabilities[i]) == (ended, pytest.approx(total))


@pytest.mark.parametrize("top_p", [0.2, 0.5, 0.9, 0.999])
def test_nucleus_of_sorted_tokens_with_ties(top_p):
    p = np.random.default_rng(1).integers(1, 5, (200, 40)).astype(float)  # many ties
    log_p = torch.log(torch.from_numpy(p / p.sum(axis=1, keepdims=True)))
    ordered, index = torch.sort(log_p, dim=1, descending=True, stable=True)
    mass = ordered.exp().cumsum(dim=1)
    before = torch.cat([torch.zeros(200, 1), mass[:, :-1]], dim=1) < top_p - 1e-12
    assert torch.equal(nucleus(log_p, top_p), torch.zeros_like(before).scatter(1, index, before))
