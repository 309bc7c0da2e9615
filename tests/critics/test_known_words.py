"""Text of words that the fitted text lacks: it counts against a text, or is left out with its reason."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from momus import Corpus
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary
from momus_critics.consistency import Consistency
from momus_critics.diversity import Diversity
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


COMMON = ("the", "of", "and", "to", "in", "is", "that", "it", "for", "as")


def sectioned(n, seed, swapped=0.0, change=str):
    """Documents of five sections: common words, and words of the document's subject; some sections are of another."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n):
        sections = []
        for _ in range(5):
            subject = f"s{seed}n{i}" if rng.random() >= swapped else f"s{seed}n{(i + rng.integers(1, n)) % n}"
            said = [*rng.choice(COMMON, 14), *(f"{subject}w{k}" for k in rng.integers(0, 6, 6))]
            sections.append(("", " ".join(change(w) for w in said)))
        documents.append(sections)
    return Corpus.from_sections(documents, name="mine")


def test_strangers_of_another_subject_are_told_and_text_in_another_language_is_not_scored():
    """All words of foreign text are rare in real text, its commonest too, which tie any two sections together."""
    critic = Consistency().fit(sectioned(60, 1))
    whole, mixed = (critic.score(sectioned(60, 2, swapped)) for swapped in (0.0, 0.3))
    assert not any(whole.reasons)
    shares = [(s.rows["strangers"].sum(axis=0) @ [1, 0]) / s.rows["strangers"][:, 1].sum() for s in (whole, mixed)]
    fits = [s.rows["fit"][:, 0].sum() / s.rows["fit"][:, 1].sum() for s in (whole, mixed)]
    assert shares[1] > shares[0] + 0.1
    assert fits[1] < fits[0] - 1
    other_language = critic.score(sectioned(60, 2, 0.3, change=lambda word: f"{word}us"))
    assert set(other_language.reasons) == {"hardly a known word"}


def answers(n, seed, alike):
    """Three answers to each prompt; a share of their words is common to all answers to the prompt."""
    rng = np.random.default_rng(seed)
    texts, prompts = [], []
    for p in range(n):
        subject = [f"s{seed}p{p}w{k}" for k in range(8)]
        for _ in range(3):
            told = [w for w in subject if rng.random() < alike]
            own = [f"s{seed}q{k}" for k in rng.integers(0, 200, 8)]
            texts.append(" ".join([*rng.choice(COMMON, 16), *told, *own]))
            prompts.append(f"p{p}")
    return Corpus.from_texts(texts, prompts=prompts)


def test_answers_of_unknown_words_are_as_alike_as_of_known_ones():
    """If unknown words were left out, all answers about another subject would be their common words, and alike."""
    critic, native = (Diversity().fit(answers(40, seed, 0.5)) for seed in (1, 2))
    for alike in (0.2, 0.5, 0.9):
        foreign = answers(40, 2, alike)
        seen, true = (c.score(foreign).rows["similarity"][:, 0].mean() for c in (critic, native))
        assert seen == pytest.approx(true, abs=0.12)  # of .74 without them
    usual, odd = (critic.score(answers(40, 2, alike)).nll.mean() for alike in (0.5, 0.9))
    assert odd > usual + 1
