"""Samplers of sequences, against enumeration.

Each χ² test has a false-alarm rate of 1e-4, and seeds are fixed.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus.errors import MomusError
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_generating import Decoding, DocumentRequest, ModelSampler, Prompt, sample

pytest.importorskip("torch", reason="pip install -e .[torch]")
DATA = Sequences.of([[0, 1, 0, 2], [1, 0], [2, 0, 1, 0, 1], [0], [], [2, 2, 1]])
N = 20_000
LONGEST = 3


@pytest.fixture(scope="module", params=[("kneser-ney", 2), ("none", 2), ("kneser-ney", 3)], ids=str)
def model(request):
    smoothing, order = request.param
    return NGramModel(order, smoothing).fit(DATA, symbols=3)


def conditional(model, prefix, temperature=1.0, top_p=1.0):
    """P(next | prefix), from the model's distribution, by the plain definitions."""
    context = ([model.size] * model.order + list(prefix))[-(model.order - 1) :]
    p = model.distributions(np.array([context]))[0] ** (1 / temperature)
    p = p / p.sum()
    kept, mass = [], 0.0
    for token in sorted(range(len(p)), key=lambda v: -p[v]):
        if mass >= top_p - 1e-12:
            break
        kept.append(token)
        mass += p[token]
    q = np.zeros(len(p))
    q[kept] = p[kept]
    return q / q.sum()


def exact(model, **how):
    """Probability of each sequence of up to LONGEST tokens; those that were cut have no end."""
    out = {}

    def walk(prefix, mass):
        if len(prefix) == LONGEST:
            out[(*prefix, "cut")] = mass
            return
        for token, p in enumerate(conditional(model, prefix, **how)):
            if p > 0 and token == model.end:
                out[prefix] = out.get(prefix, 0.0) + mass * p
            elif p > 0:
                walk((*prefix, token), mass * p)

    walk((), 1.0)
    return out


def exact_beams(model, k, temperature=1.0):
    """Distribution of the best hypothesis of beam sampling, by enumeration of everything that can be drawn.

    A hypothesis is (tokens, log p); ended ones hold the end symbol. Items stand in the order of their hypotheses.
    """
    beams = {(((), 0.0),): 1.0}
    for _ in range(LONGEST):
        following = Counter()
        for beam, mass in beams.items():
            parts = []
            for tokens, log_p in beam:
                if tokens and tokens[-1] == model.end:
                    parts.append([(((tokens, log_p),), 1.0)])
                    continue
                scaled, plain = conditional(model, tokens, temperature), conditional(model, tokens)
                draws = []
                for some in product(np.flatnonzero(scaled).tolist(), repeat=k):
                    items = tuple(((*tokens, t), log_p + float(np.log(plain[t]))) for t in some)
                    draws.append((items, float(np.prod(scaled[list(some)]))))
                parts.append(draws)
            for combination in product(*parts):
                items = [i for draws, _ in combination for i in draws]
                p = float(np.prod([q for _, q in combination]))
                kept = tuple(sorted(items, key=lambda i: -round(i[1], 12))[:k])
                following[kept] += mass * p
        beams = following
    out = Counter()
    for beam, mass in beams.items():
        tokens = beam[0][0]
        out[tokens[:-1] if tokens[-1] == model.end else (*tokens, "cut")] += mass
    return dict(out)


def outcome(drawn, i):
    tokens = tuple(drawn.sequences[i].tolist())
    return tokens if drawn.finished[i] else (*tokens, "cut")


def p_value(seen, expected):
    """χ² of the outcomes, rare ones taken together; anything that cannot be drawn is a failure."""
    assert abs(sum(expected.values()) - 1) < 1e-9
    assert set(seen) <= {k for k, p in expected.items() if p > 0}
    n = sum(seen.values())
    common = [k for k, p in expected.items() if n * p >= 10]
    observed = [seen.get(k, 0) for k in common]
    theory = [n * expected[k] for k in common]
    rest = n - sum(theory)
    if rest > 1e-6 * n:
        observed, theory = [*observed, n - sum(observed)], [*theory, rest]
    return stats.chisquare(observed, theory, sum_check=False).pvalue


@pytest.mark.parametrize(
    "decoding",
    [
        Decoding(longest=LONGEST),
        Decoding("temperature", temperature=0.6, longest=LONGEST),
        Decoding("temperature", temperature=1.5, longest=LONGEST),
        Decoding("nucleus", top_p=0.7, longest=LONGEST),
        Decoding("nucleus", top_p=0.4, temperature=1.3, longest=LONGEST),
    ],
    ids=lambda d: f"{d.method}-{d.temperature}-{d.top_p}",
)
def test_samples_follow_the_exact_distribution(model, decoding):
    drawn = sample(model, None, decoding, range(N))
    seen = Counter(outcome(drawn, i) for i in range(N))
    assert p_value(seen, exact(model, temperature=decoding.temperature, top_p=decoding.top_p)) > 1e-4


@pytest.mark.parametrize(("beams", "temperature"), [(1, 1.0), (2, 1.0), (2, 0.7)])
def test_beam_sampling_follows_the_exact_distribution(beams, temperature):
    """Two symbols and the end, so that all that two hypotheses can draw can be enumerated."""
    model = NGramModel(2).fit(Sequences.of([[0, 1, 0], [1, 0], [0], [1, 1, 0, 1], []]), symbols=2)
    drawn = sample(model, None, Decoding("beam-sampling", temperature, beams=beams, longest=LONGEST), range(N))
    seen = Counter(outcome(drawn, i) for i in range(N))
    assert p_value(seen, exact_beams(model, beams, temperature)) > 1e-4


def test_log_probability_of_what_was_drawn(model):
    for decoding in (Decoding(longest=40), Decoding("beam-sampling", beams=3, longest=40)):
        drawn = sample(model, None, decoding, range(300))
        scored = model.score(drawn.sequences).totals
        np.testing.assert_allclose(scored[drawn.finished], drawn.log_probabilities[drawn.finished], atol=1e-9)


def test_the_mean_log_probability_of_samples_is_minus_the_entropy(model):
    """Exact entropy of sequences up to LONGEST (with the cut as an outcome) within 4 standard errors: 6e-5."""
    p = np.array([v for v in exact(model).values() if v > 0])
    drawn = sample(model, None, Decoding(longest=LONGEST), range(N))
    x = drawn.log_probabilities
    assert abs(x.mean() + float(-(p * np.log(p)).sum())) < 4 * x.std(ddof=1) / np.sqrt(N)


@given(st.integers(1, 7), st.permutations(range(12)))
@settings(max_examples=20)
def test_documents_do_not_depend_on_the_batch(batch, order):
    model = NGramModel(2).fit(DATA, symbols=3)
    for decoding in (Decoding("nucleus", top_p=0.9, longest=9), Decoding("beam-sampling", beams=2, longest=9)):
        model.batch = 12
        requests = [DocumentRequest(i, Prompt("p"), 1000 + i) for i in range(12)]
        whole = {g.request.number: g.text for g in ModelSampler(model).generate(requests, decoding)}
        model.batch = batch
        again = {g.request.number: g.text for g in ModelSampler(model).generate([requests[i] for i in order], decoding)}
        assert whole == again


def test_prompts_are_continued():
    model = NGramModel(3).fit(DATA, symbols=3)
    prompts = Sequences.of([[2, 2], [], [0, 1, 0]])
    drawn = sample(model, prompts.take(np.zeros(N, dtype=int)), Decoding(longest=1), range(N))
    counts = np.bincount([0 if not len(drawn.sequences[i]) else 1 + drawn.sequences[i][0] for i in range(N)])
    theory = conditional(model, (2, 2))[[3, 0, 1, 2]] * N
    assert stats.chisquare(counts, theory).pvalue > 1e-4


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "greedy"},
        {"temperature": 0.5},
        {"method": "nucleus", "top_p": 0.0},
        {"method": "temperature", "temperature": float("nan")},
        {"beams": 3},
        {"method": "beam-sampling", "beams": 0},
        {"longest": 0},
    ],
)
def test_wrong_decodings_are_refused(wrong):
    with pytest.raises(MomusError):
        Decoding(**wrong)
