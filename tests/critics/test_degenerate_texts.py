"""Every shipped critic on texts that hardly are any: scored, or unscored or left out with a reason in words."""

from functools import cache

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.conformance.subject import default_corpus
from momus.critic import EvidenceMixin
from momus.engine.chosen import chosen_critics
from momus.engine.jobs import outcome_of
from momus.engine.run_critic import Work
from momus.errors import FittingError
from momus.progress import Silent, Timed
from momus.runs.result import Outcome
from momus.runs.texts import read_texts
from momus.verdicts.settings import Settings

WORDS = (
    *("the", "a", "cat", "dog", "runs", "sees", "blue", "red", "house", "tree", "walks"),
    *("slowly", "under", "over", "big", "she", "he", "and", "but", "from", "stone"),
)
FEW = {
    "code-mixing": {"sweeps": 4, "starts": 1},
    "topics": {"n_topics": 3, "steps": 10},
    "passages": {"n_states": 6},
}
"""Parameters of critics that are fitted for long."""
LONG, SHORTER = 1_600, {"coreference": 300}
"""Sentences of the long document, 10,000 words; fewer for a critic whose time grows with their square."""
CHOSEN = chosen_critics(None, FEW).critics
LENGTHS = {"sentence": (1, 1), "paragraph": (4, 1), "paragraphs": (3, 2)}


def sentence(rng):
    return " ".join(rng.choice(WORDS, rng.integers(3, 10))).capitalize() + "."


def prose(rng, sentences, paragraphs=1):
    return "\n\n".join(" ".join(sentence(rng) for _ in range(sentences)) for _ in range(paragraphs))


def texts_of(kind, n, seed=0, longest=LONG):
    """Degenerate texts of a kind; of some kinds, there are fewer than n."""
    rng = np.random.default_rng(seed)
    if kind in LENGTHS:
        return [prose(rng, *LENGTHS[kind]) for _ in range(n)]
    return {
        "word": [str(word) for word in rng.choice(WORDS, n)],
        "equal": ["The cat sees a red house. It walks slowly.\n\nShe runs."] * n,
        "no letters": [f"{a} - {b} !? ... 3/4" for a, b in rng.integers(0, 99, (n, 2))],
        "two": [prose(rng, 3, 2) for _ in range(2)],
        "long": [prose(rng, longest), *(prose(rng, 3) for _ in range(3))],
        "empty halves": [prose(rng, 3, 2) if i % 2 else " \n" for i in range(n)],
    }[kind]


KINDS = [*LENGTHS, "word", "equal", "no letters", "two", "empty halves"]


@cache
def fitted(name):
    """A critic, fitted on ordinary text, and its scores of that."""
    (critic,) = (c for c in chosen_critics(None, FEW).critics if c.name == name)
    corpus = default_corpus(critic)
    return critic, critic.fit(corpus).score(corpus)


@pytest.mark.parametrize("name", [c.name for c in CHOSEN])
def test_ordinary_critics_score_degenerate_texts_or_say_why_not(name):
    try:
        critic, ordinary = fitted(name)
    except FittingError as error:
        pytest.skip(f"the sample does not suffice: {error.message}")
    for kind in [*KINDS, "long"]:
        texts = texts_of(kind, 12, longest=SHORTER.get(name, LONG))
        corpus = Corpus.from_texts(texts, name=kind, prompts=[f"p{i // 2}" for i in range(len(texts))])
        scores = critic.score(corpus)
        assert all(
            (reason is None) == bool(np.isfinite(x)) for reason, x in zip(scores.reasons, scores.nll, strict=True)
        )
        if isinstance(critic, EvidenceMixin) and scores.n_scored:
            critic.evidence(ordinary.summary, scores.summary)


SLOW_KINDS = {"paragraph", "paragraphs", "empty halves", "equal", "sentence"}


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW_KINDS)) for k in KINDS])
def test_critics_compare_degenerate_texts_or_are_left_out_with_a_reason(kind):
    texts = read_texts(texts_of(kind, 12), {"made": texts_of(kind, 12, 1)}, texts_of(kind, 12, 2), 0, None, Silent())
    work = Work(texts, None, Settings(permutations=99, resamples=99, device="cpu"), None, False, 1, None)
    for critic in chosen_critics(None, FEW).critics:
        outcome = outcome_of(critic, work, Timed(Silent()))
        assert isinstance(outcome, Outcome | FittingError), f"{critic.name} fails: {outcome}"
        if isinstance(outcome, FittingError):
            assert outcome.message
            assert outcome.hint


def test_a_default_comparison_of_titles_leaves_out_what_needs_sentences(monkeypatch):
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["edges", "length", "rhythm", "unigram"])
    real, made, fit = (texts_of("sentence", 150, seed) for seed in range(3))
    run = momus.compare(real, {"made": made}, fit=fit, permutations=99, resamples=99, reporter=Silent())
    assert [r.name for r in run.results] == ["length", "unigram"]
    (left_out,) = (w for w in run.warnings if w.startswith("Left out: "))
    assert "'edges' ('edges': no document" not in left_out
    assert "'edges' (no document of 'fit' has two sentences)" in left_out
