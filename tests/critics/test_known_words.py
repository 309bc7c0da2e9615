"""Text of words that the fitted text lacks: it counts against a text, or is left out with its reason."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from momus import Corpus
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary
from momus_critics.fits.known import KnownWords, posterior, unseen_types
from momus_critics.mauve import Mauve
from momus_critics.path import Path

WORDS = get_tokenizer("words")


def corpus(n, seed, unknown=0.05):
    """Documents of six sentences of eight words; a share of the words is of no other document."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        words = [f"w{chr(97 + a)}{chr(97 + b)}" for a, b in rng.integers(0, 9, size=(48, 2))]
        odd = rng.random(48) < unknown
        own = [f"x{seed}{chr(97 + i % 26)}{chr(97 + i // 26)}{chr(97 + j % 26)}q" for j in range(48)]
        chosen = [o.replace(str(seed), "z" * (seed + 1)) if a else w for w, o, a in zip(words, own, odd, strict=True)]
        texts.append(" ".join(f"{' '.join(chosen[s : s + 8]).capitalize()}." for s in range(0, 48, 8)))
    return Corpus.from_texts(texts, name=f"c{seed}")


def test_the_prior_of_known_words_is_that_of_held_out_text():
    """Words that one document alone has are known to it, but would not be if it were held out."""
    rules = VocabularyRules(least_count=2, most_documents=1.0, without=())
    table = corpus(200, 1, unknown=0.2).tokens(WORDS)
    words = KnownWords().fit(table, build_vocabulary(table, rules), rules)
    assert expit(words.mean_) == pytest.approx(0.8, abs=0.02)
    assert words.variance_ < 0.1  # the share is the same in all documents
    counts = words.project(corpus(50, 2, unknown=0.2).tokens(WORDS), build_vocabulary(table, rules), rules).counts
    assert counts[:, 0].sum() / counts[:, 1].sum() == pytest.approx(0.8, abs=0.03)


def test_frequent_words_that_a_vocabulary_leaves_out_are_known():
    table = Corpus.from_texts(["all one two", "all one two", "all one two two"]).tokens(WORDS)
    rules = VocabularyRules(least_count=2, most_documents=0.5, without=())
    words = KnownWords().fit(table, build_vocabulary(table, rules), rules)
    assert words.others_ == ["two", "all", "one"]
    assert words.project(table, [], rules).counts.tolist() == [[3, 3], [3, 3], [4, 4]]


@pytest.mark.parametrize(("k", "n"), [(0, 5), (9, 10), (0, 1000), (500, 1000), (1000, 1000)])
def test_the_posterior_maximises_its_bound_and_is_near_the_exact_one(k, n):
    words = KnownWords()
    words.mean_, words.variance_ = 1.5, 0.3
    counts = np.array([[float(k), float(n)]])
    u, v = (float(x[0]) for x in posterior(counts, 1.5, 0.3))

    def bound(mean, variance):
        latents = type("L", (), {"counts": counts, "mean": np.array([mean]), "variance": np.array([variance])})
        return float(words.decompose(latents).log_evidence[0])

    best = bound(u, v)
    assert all(bound(u + du, v * dv) <= best + 1e-9 for du in (-0.01, 0, 0.01) for dv in (0.97, 1, 1.03))
    density = stats.norm(1.5, np.sqrt(0.3))

    def joint(x):
        return density.pdf(x) * np.exp(k * np.log(expit(x)) + (n - k) * np.log(expit(-x)) - best)

    whole = integrate.quad(joint, u - 12 * np.sqrt(v), u + 12 * np.sqrt(v), limit=500)[0]
    assert 1 <= whole < 1.02  # P(k, n) over its bound


def test_unseen_types_are_found_from_those_seen_once_and_twice():
    rng = np.random.default_rng(0)
    drawn = np.bincount(rng.integers(0, 1000, size=1500))
    assert unseen_types(drawn[drawn > 0]) == pytest.approx((drawn == 0).sum() + 1000 - len(drawn), rel=0.15)
    assert unseen_types(np.array([3, 4])) == 1


def test_a_path_of_unknown_words_is_told_by_their_share():
    """Sentences of unknown words lie close together, and their text is “standing still more”."""
    critic = Path().fit(corpus(120, 1))
    known, foreign = (critic.score(corpus(60, seed, unknown)).rows["known"] for seed, unknown in ((2, 0.05), (3, 0.6)))
    shares = [rows[:, 0].sum() / rows[:, 1].sum() for rows in (known, foreign)]
    assert shares == pytest.approx([0.95, 0.4], abs=0.03)
    assert next(s for s in critic.statistics() if s.name == "known_words").decides


def test_foreign_text_stays_in_mauve():
    """Left out, it would hide its own gap."""
    assert not any(Mauve().fit(corpus(40, 1)).score(corpus(40, 3, 0.6)).reasons)
