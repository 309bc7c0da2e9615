"""Latent Dirichlet allocation for mixed languages, against enumeration and simulation."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, gammaln

from momus import Corpus
from momus.engine.chosen import Chosen
from momus.engine.jobs import leave_out_blind
from momus.errors import FittingError, UsageError
from momus.runs.texts import Texts
from momus_adapters.gensim_lda import critic_of
from momus_critics.code_mixing import CodeMixing
from momus_critics.code_mixing.lda import Sampling, Tokens, decode, effective_sizes, minka, sample
from momus_critics.length import Length

PHI = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4]])
ALPHA = np.array([0.4, 0.7])


def exact(words):
    """E n_1, and E log Dir(z; α), by summing over all assignments."""
    weights, first, density = [], [], []
    for t in product(range(2), repeat=len(words)):
        n = np.bincount(t, minlength=2)
        log_p = gammaln(n + ALPHA).sum() + sum(np.log(PHI[k, w]) for k, w in zip(t, words, strict=True))
        weights.append(np.exp(log_p))
        first.append(n[0])
        log_z = digamma(n + ALPHA) - digamma(ALPHA.sum() + len(words))
        density.append(gammaln(ALPHA.sum()) - gammaln(ALPHA).sum() + ((ALPHA - 1) * log_z).sum())
    w = np.array(weights) / sum(weights)
    return w @ first, w @ density


def adopted(**params):
    return CodeMixing(**params).adopt(ALPHA, PHI, ["aa", "bb", "cc", "dd"], "a test")


def test_gibbs_posterior_equals_enumeration():
    """60 documents; squared standardised errors against χ²₆₀ at 10⁻³ a side, Monte-Carlo errors by effective draws."""
    rng = np.random.default_rng(0)
    documents = [rng.integers(4, size=int(rng.integers(1, 7))) for _ in range(60)]
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    draws = sample(Tokens(np.concatenate(documents), offsets), PHI, ALPHA, Sampling(8, 20, 250, 3))
    assert (draws.sum(axis=-1) == np.diff(offsets)[:, None, None]).all()
    truth = np.array([exact(d)[0] for d in documents])
    first = draws[..., 0]
    error = first.reshape(60, -1).std(axis=1) / np.sqrt(effective_sizes(first))
    z = (first.mean(axis=(1, 2)) - truth) / error
    assert stats.chi2(60).cdf((z**2).sum()) < 0.999
    assert stats.chi2(60).cdf((z**2).sum()) > 0.001


def test_draws_of_a_chain_depend_on_neither_other_chains_nor_other_documents():
    words, offsets = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0]), np.array([0, 4, 6, 9])
    three = sample(Tokens(words, offsets), PHI, ALPHA, Sampling(3, 2, 5, 1))
    assert np.array_equal(three[:, :1], sample(Tokens(words, offsets), PHI, ALPHA, Sampling(1, 2, 5, 1)))
    last = sample(Tokens(words[6:], np.array([0, 3])), PHI, ALPHA, Sampling(3, 2, 5, 1))
    assert np.array_equal(three[2:], last)
    assert (three.sum(axis=-1) == np.diff(offsets)[:, None, None]).all()


@pytest.mark.slow
def test_latent_nll_equals_enumeration_within_its_own_error():
    words = ["aa", "bb", "cc", "dd"]
    rng = np.random.default_rng(1)
    documents = [rng.integers(4, size=5) for _ in range(40)]
    texts = [" ".join(words[w] for w in d) for d in documents]
    critic = adopted(chains=8, draws=250)
    order = [{"aa": 0, "bb": 1, "cc": 2, "dd": 3}[w] for w in critic.vocabulary_]
    assert order == [0, 1, 2, 3]
    scores = critic.score(Corpus.from_texts(texts))
    truth = np.array([exact(d)[1] for d in documents])
    z = (-scores.nll - truth) / scores.errors
    assert stats.chi2(40).cdf((z**2).sum()) < 0.999
    assert np.abs(z).max() < 4.5


def test_draws_on_the_simplex_follow_the_counts():
    critic = adopted(chains=8, draws=200)
    latents = critic.project(Corpus.from_texts(["aa aa bb dd cc aa"]))
    gap = latents.draws.mean(axis=1) - critic.shares(latents)
    assert np.abs(gap).max() < 0.02
    assert latents.draws.sum(axis=-1) == pytest.approx(1.0)


def test_effective_sizes_count_what_repeats():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(2, 4, 400))
    sticky = noise.copy()
    for i in range(1, 400):
        sticky[1, :, i] = 0.9 * sticky[1, :, i - 1] + np.sqrt(1 - 0.81) * noise[1, :, i]
    independent, slow = effective_sizes(sticky)
    assert independent > 1000
    assert slow == pytest.approx(1600 * 0.1 / 1.9, rel=0.5)
    assert effective_sizes(np.ones((1, 4, 10))).tolist() == [40]
    assert effective_sizes(noise[:, :, :1]).tolist() == [4, 4], "chains of one draw are independent"


@pytest.mark.parametrize(("chains", "sweeps"), [(4, 400), (2, 51), (1, 60), (3, 2), (2, 3)])
def test_effective_sizes_are_those_of_pyro(chains, sweeps):
    import torch

    stats = pytest.importorskip("pyro.ops.stats")
    rng = np.random.default_rng(4)
    walks = rng.normal(size=(30, chains, sweeps)).cumsum(axis=2) * rng.random((30, 1, 1))
    x = walks + 3 * rng.normal(size=walks.shape)
    theirs = stats.effective_sample_size(torch.from_numpy(x), chain_dim=1, sample_dim=2).numpy()
    assert effective_sizes(x) == pytest.approx(np.clip(theirs, 1, chains * sweeps), rel=1e-9)


def test_minka_finds_alpha():
    rng = np.random.default_rng(3)
    truth = np.array([0.2, 1.0, 3.0])
    topics = np.stack([rng.multinomial(60, z) for z in rng.dirichlet(truth, 4000)])
    found = minka(np.full(3, 1 / 3), topics.astype(float), topics.sum(axis=1), 200)
    assert found == pytest.approx(truth, rel=0.08)


def best_path(log_phi, codes, span):
    stay, switch = np.log1p(-1 / span), -np.log(span * (len(log_phi) - 1))

    def value(path):
        moves = sum(stay if a == b else switch for a, b in pairwise(path))
        return moves + sum(log_phi[k, c] for k, c in zip(path, codes, strict=True) if c >= 0)

    return max(value(p) for p in product(range(len(log_phi)), repeat=len(codes))), value


def test_spans_are_the_best_of_all_paths():
    rng = np.random.default_rng(4)
    for _ in range(30):
        log_phi = np.log(rng.dirichlet(np.ones(4), 3))
        codes = rng.integers(-1, 4, size=6)
        best, value = best_path(log_phi, codes, 4)
        found = decode(log_phi, codes, 4)
        path = [s.topic for s in found for _ in range(s.stop - s.start)]
        assert value(path) == pytest.approx(best)
    assert decode(log_phi, np.zeros(0, dtype=int), 4) == []


STEMS = ("der", "les", "los")


def languages(n, seed, mixed=0.0, switch=False, length=60):
    """Documents of three languages of 120 words, skewed like words are; a share of them mixes word by word."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, 121)
    texts, truth = [], []
    for _ in range(n):
        own = rng.integers(3)
        tongue = np.full(length, own)
        if rng.random() < mixed:
            tongue = rng.integers(3, size=length)
        elif switch:
            tongue[length // 2 :] = (own + 1) % 3
        words = rng.choice(120, length, p=p / p.sum())
        name = [chr(97 + w // 26) + chr(97 + w % 26) for w in words]
        texts.append(" ".join(f"{STEMS[t]}{w}" for t, w in zip(tongue, name, strict=True)))
        truth.append(own)
    return Corpus.from_texts(texts, name=f"l{seed}"), np.array(truth)


@pytest.fixture(scope="module")
def critic():
    return CodeMixing(n_topics=3, sweeps=60).fit(languages(200, 0)[0])


def test_topics_are_languages_and_mixtures_are_found(critic):
    corpus, truth = languages(100, 1)
    real = critic.score(corpus)
    top = real.rows["aggregated_posterior"].argmax(axis=1)
    assert sum(np.bincount(top[truth == k]).max() for k in range(3)) == 100
    assert {w[:3] for w in critic.topic_words(1)} == set(STEMS)
    mixed = critic.score(languages(100, 2, mixed=1.0)[0])
    assert mixed.rows["mixing"][:, 0].min() > real.rows["mixing"][:, 0].max()
    assert mixed.latent_nll > real.latent_nll + 5
    shown = critic.evidence(real.summary, mixed.summary)
    assert [e.name for e in shown] == [
        "mixing-index",
        "mixing-topics",
        "mixing-simplex-real",
        "mixing-simplex-generated",
    ]
    assert real.summary.arrays["simplex"].sum() == 100


def test_a_language_that_real_text_lacks_is_unusual(critic):
    """A tenth of the words of each foreign document is of one real language: by these alone, it would mix nothing."""
    corpus, _ = languages(60, 6)
    texts = [" ".join(w if i % 10 == 0 else f"il{w[3:]}" for i, w in enumerate(d.text.split())) for d in corpus]
    real, foreign = critic.score(corpus), critic.score(Corpus.from_texts(texts))
    assert (foreign.nll > real.nll + 3).all()
    known = foreign.rows["known"].sum(axis=0)
    assert known[0] / known[1] == pytest.approx(0.1)


def test_a_switch_is_shown_where_it_is(critic):
    corpus, _ = languages(50, 3, switch=True)
    gaps = [abs(critic.spans(corpus.take(np.array([i])))[0].stop - 30) for i in range(50)]
    assert np.mean(gaps) < 1
    shown = critic.explain(corpus.take(np.array([0])))
    assert [s.marked for s in shown.steps].count(True) == 1


def test_a_second_fit_is_the_same(critic):
    again = CodeMixing(n_topics=3, sweeps=60).fit(languages(200, 0)[0])
    assert np.array_equal(again.phi_, critic.phi_)
    assert np.array_equal(again.alpha_, critic.alpha_)


def test_wrong_parameters_are_errors():
    with pytest.raises(UsageError, match="topics is 1"):
        CodeMixing(n_topics=1).fit(languages(20, 0)[0])
    with pytest.raises(FittingError, match="0 words"):
        CodeMixing().fit(Corpus.from_texts([f"word{i}" for i in range(20)]))
    with pytest.raises(FittingError, match="α of shape"):
        CodeMixing().adopt(ALPHA, PHI, ["one"], "a test")
    with pytest.raises(FittingError, match="α of shape"):
        CodeMixing().adopt(-ALPHA, PHI, ["a", "b", "c", "d"], "a test")


@pytest.mark.slow
def test_gensim_models_become_critics(tmp_path):
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    corpus, _ = languages(120, 5)
    texts = [d.text.split() for d in corpus]
    dictionary = Dictionary(texts)
    bags = [dictionary.doc2bow(t) for t in texts]
    model = LdaModel(bags, 3, dictionary, alpha="auto", passes=30, random_state=1)
    critic = critic_of(model, draws=20)
    scores = critic.score(corpus)
    ours = scores.rows["aggregated_posterior"]
    order = np.argsort(-np.asarray(model.alpha), kind="stable")
    theirs = np.array([[dict(model.get_document_topics(b, 0.0)).get(k, 0.0) for k in order] for b in bags])
    assert np.abs(ours - theirs).max() < 0.05
    critic.save(tmp_path / "c")
    assert CodeMixing.load(tmp_path / "c").score(corpus).nll == pytest.approx(scores.nll)
    with pytest.raises(UsageError, match="no gensim LDA model"):
        critic_of(object())


ENGLISH = "The rain had stopped by the time they reached the house on the hill, and nobody spoke of it again. " * 5
GERMAN = "Der Regen hatte aufgehört, als sie das Haus auf dem Hügel erreichten, und niemand sprach mehr davon. " * 5


def test_texts_in_one_language_leave_nothing_to_see() -> None:
    one, mixed = Corpus.from_texts([ENGLISH] * 20), Corpus.from_texts([ENGLISH] * 15 + [ENGLISH + GERMAN] * 5)
    assert "one language" in CodeMixing().nothing_to_see([one, one])
    assert CodeMixing().nothing_to_see([one, mixed]) == ""
    assert CodeMixing().nothing_to_see([one, Corpus.from_texts([GERMAN] * 20)]) == ""


class FailsToLook(CodeMixing):
    """Whose look at the texts fails."""

    name = "fails-to-look"

    def nothing_to_see(self, texts):
        return str(1 / 0)


def test_it_is_left_out_of_versions_in_one_language_and_if_its_look_fails() -> None:
    one = Corpus.from_texts([ENGLISH] * 20, name="one")
    texts = Texts(Corpus.from_texts([], name="fit"), one, [one], False, [])  # as where folds are fitted
    selection = Chosen([CodeMixing(), Length(), FailsToLook()])
    leave_out_blind(selection, texts)
    assert [critic.name for critic in selection.critics] == ["length"]
    assert list(selection.failed) == ["code-mixing", "fails-to-look"]
    assert "one language" in selection.failed["code-mixing"]
    assert "ZeroDivisionError" in selection.failed["fails-to-look"]
