"""consistency: closed forms against SciPy, enumeration, simulation with known parameters, and texts with strangers."""

import numpy as np
import pytest
from more_defects import MORE
from scipy.special import expit, logit
from scipy.stats import multivariate_normal

from momus import Corpus
from momus.errors import FittingError
from momus.text.tokens import get_tokenizer
from momus_critics.consistency import Consistency, model, odd_words
from momus_critics.consistency.model import SectionVectors


def simulate(rng, dimensions, loading, belongs):
    """Vectors of one document, (M, D)."""
    subject = rng.normal(size=dimensions) / dimensions**0.5
    noise = rng.normal(size=(len(loading), dimensions)) / dimensions**0.5
    member = loading[:, None] * subject + np.sqrt(1 - loading**2)[:, None] * noise
    return np.where(np.asarray(belongs)[:, None], member, noise)


def test_log_ratio_is_that_of_multivariate_normals():
    """The members of every choice have covariance R / D in each dimension, the strangers I / D."""
    rng = np.random.default_rng(0)
    dimensions, loading = 7, np.array([0.3, 0.8, 0.6, 0.0])
    v = simulate(rng, dimensions, loading, [True] * 4)
    members = (np.arange(16)[:, None] >> np.arange(4)) & 1 == 1
    expected = []
    for choice in members:
        a = np.where(choice, loading, 0.0)
        r = np.outer(a, a) + np.diag(1 - a**2)
        joint = multivariate_normal(np.zeros(4), r / dimensions).logpdf(v.T).sum()
        alone = multivariate_normal(np.zeros(4), np.eye(4) / dimensions).logpdf(v.T).sum()
        expected.append(joint - alone)
    assert model.log_ratio(v @ v.T, loading, dimensions, members) == pytest.approx(expected)


def test_ratio_to_others_is_a_difference_of_joint_ratios():
    rng = np.random.default_rng(1)
    loading = np.array([0.5, 0.7, 0.2, 0.6])
    v = simulate(rng, 9, loading, [True] * 4)
    gram = v @ v.T
    found = model.ratio_to_others(gram, np.diag(gram), gram, loading, loading, np.ones(4))
    every = np.ones((1, 4), dtype=bool)
    for m in range(4):
        without = every.copy()
        without[0, m] = False
        ratio = model.log_ratio(gram, loading, 1.0, every) - model.log_ratio(gram, loading, 1.0, without)
        assert found[m] == pytest.approx(ratio[0])


def test_enumeration_sums_over_all_memberships():
    """Log odds by a loop over all choices of strangers, with probabilities instead of logarithms."""
    rng = np.random.default_rng(2)
    dimensions, rate, loading = 6, 0.1, np.array([0.5, 0.7, 0.4])
    v = simulate(rng, dimensions, loading, [True, True, False])
    gram = v @ v.T
    totals = np.zeros((3, 2))
    for code in range(8):
        choice = np.array([bool(code >> m & 1) for m in range(3)])
        likelihood = np.exp(model.log_ratio(gram, loading, dimensions, choice[None])[0])
        weight = likelihood * np.prod(np.where(choice, 1 - rate, rate))
        totals[np.arange(3), choice.astype(int)] += weight
    stranger = totals[:, 0] / totals.sum(axis=1)
    factor = model.enumerated(gram, loading, dimensions, rate)
    assert model.stranger_probability(factor, rate) == pytest.approx(stranger)
    assert factor == pytest.approx(logit(1 - stranger) - logit(1 - rate))


def test_mean_field_is_close_to_enumeration():
    rng = np.random.default_rng(3)
    gaps = []
    for _ in range(60):
        loading, belongs = rng.uniform(0.2, 0.6, 8), rng.random(8) > 0.1
        v = simulate(rng, 80, loading, belongs)
        exact, near = (f(v @ v.T, loading, 80, 0.1) for f in (model.enumerated, model.collapsed))
        gaps.append(np.abs(expit(logit(0.1) - exact) - expit(logit(0.1) - near)))
    assert np.mean(gaps) < 0.02


def test_parameters_are_recovered():
    rng = np.random.default_rng(4)
    dimensions, rate, largest, half = 80, 0.05, 0.6, 60.0
    grams, lengths, truth = [], [], []
    for _ in range(250):
        n = rng.integers(5, 600, 6).astype(float)
        belongs = rng.random(6) > rate
        v = simulate(rng, dimensions, model.loadings(n, largest, half), belongs)
        grams.append(v @ v.T)
        lengths.append(n)
        truth.append(belongs)
    found, found_half = model.fit_loadings(grams, lengths)
    # strangers lower the mean cosine of a pair to (1 − ε)² a_m a_n
    assert found == pytest.approx(largest * (1 - rate), abs=0.02)
    assert found_half == pytest.approx(half, rel=0.4)
    loading = [model.loadings(n, largest, half) for n in lengths]
    assert model.fit_rate(grams, loading, dimensions) == pytest.approx(rate, abs=0.015)
    factors = np.concatenate([model.fit_of(g, a, dimensions, rate) for g, a in zip(grams, loading, strict=True)])
    stranger = model.stranger_probability(factors, rate)
    # probabilities are calibrated: those said to be strangers are as often strangers as is said
    sure, belongs = stranger > 0.5, np.concatenate(truth)
    assert 1 - belongs[sure].mean() == pytest.approx(stranger[sure].mean(), abs=0.07)
    assert stranger.mean() == pytest.approx(rate, abs=0.01)


def test_dimensions_are_recovered():
    """Foreign sections in the place of a section: the D of the simulation predicts best which is which."""
    rng = np.random.default_rng(5)
    own, foreign, loading, ones = [], [], np.full(6, 0.4), np.ones(6)
    for _ in range(400):
        v, other = (simulate(rng, 60, loading, ones > 0) for _ in range(2))
        gram = v @ v.T
        own.append(model.ratio_to_others(gram, np.diag(gram), gram, loading, loading, ones))
        foreign.append(model.ratio_to_others(other @ v.T, (other**2).sum(axis=1), gram, loading, loading, ones))
    assert model.fit_dimensions(np.concatenate(own), np.concatenate(foreign)) == pytest.approx(60, rel=0.1)


def documents(n, seed, name="made"):
    """Documents of 4 sections with 30 words, of which a third are the document's own."""
    rng = np.random.default_rng(seed)
    common = [f"common{i}" for i in range(60)]
    rows = []
    for i in range(n):
        own = [f"{name}{seed}thing{i}x{j}" for j in range(8)]
        words = [[str(rng.choice(own if rng.random() < 0.33 else common)) for _ in range(30)] for _ in range(4)]
        rows.append([(t, " ".join(w)) for t, w in zip(("Summary", "Design", "Tests", "Notes"), words, strict=True)])
    return Corpus.from_sections(rows, ids=[f"{name}-{i}" for i in range(n)], name=name)


@pytest.fixture(scope="module")
def critic():
    return Consistency().fit(documents(60, 0))


def test_exchanged_sections_are_found(critic):
    text = documents(40, 1)
    planted = MORE["section-exchange"].plant(text, 0.1, seed=2)
    states = critic.project(planted).states.reshape(40, 4)
    truth = np.array(
        [
            [a != b for a, b in zip(old.sections, new.sections, strict=True)]
            for old, new in zip(text, planted, strict=True)
        ]
    )
    # two strangers in one document leave it open which two belong together; one is certain
    one = truth.sum(axis=1) <= 1
    assert truth[one].any()
    assert (states[one] == truth[one]).mean() > 0.98
    assert critic.project(text).states.mean() < 0.03


def test_order_and_titles_change_nothing(critic):
    text = documents(10, 2)
    turned = Corpus.from_sections([[(None, s.text) for s in reversed(d.sections)] for d in text])
    one, other = (critic.project(c).marginals[:, 1].reshape(10, 4) for c in (text, turned))
    assert one == pytest.approx(other[:, ::-1])


def test_words_of_fitted_documents_weigh_as_much_as_those_of_others():
    """A word of one fitted document alone counts as unseen, and a document does not count itself."""
    fit = documents(30, 3)
    tokenizer = get_tokenizer("words")
    vectors = SectionVectors().fit(fit.tokens(tokenizer))
    assert not any("thing" in w for w in vectors.words_)
    inside = vectors.vectors(fit.tokens(tokenizer), fitted=True)
    outside = vectors.vectors(documents(30, 4).tokens(tokenizer))
    norms = [np.sqrt(x.multiply(x).sum(axis=1)) for x in (inside, outside)]
    assert np.allclose(norms, 1.0)
    largest = [np.median(x.max(axis=1).toarray()) for x in (inside, outside)]
    assert largest[0] == pytest.approx(largest[1], rel=0.05)


def test_explanation_shows_the_stranger_its_neighbours_and_its_odd_words(critic):
    a, b = documents(2, 5)
    mixed = Corpus.from_sections([[(s.title, s.text) for s in (*a.sections[:3], b.sections[3])]])
    shown = critic.explain(mixed)
    assert [s.marked for s in shown.steps] == [False, False, False, True]
    last = shown.steps[-1]
    assert last.label == "Notes: stranger"
    odd = last.note.split("words that no other section has: ")[1].split(", ")
    others = {w for s in a.sections[:3] for w in s.text.split()}
    assert odd
    assert all(w in b.sections[3].text.split() and w not in others for w in odd)
    assert shown.steps[0].note.split("nearest: ")[1].count("(") == 2  # two nearest sections with their cosines


def test_tokens_are_left_as_they_are(critic):
    """SciPy adds up duplicates in place: the table of tokens, which all critics share, must not be that place."""
    text = documents(3, 7)
    table = text.tokens(critic.tokenizer)
    before = table.ids.copy(), table.section_offsets.copy()
    critic.project(text)
    assert np.array_equal(table.ids, before[0])
    assert np.array_equal(table.section_offsets, before[1])


def test_documents_without_two_sections_have_a_reason(critic):
    text = Corpus.from_sections([[("A", "x y")], [("A", "x y"), ("B", "")]])
    assert critic.score(text).unscored == {"fewer than two sections with words": 2}
    assert critic.score(Corpus.from_texts(["x y"])).unscored == {"no sections": 1}


def test_text_without_sections_cannot_be_fitted():
    with pytest.raises(FittingError, match="two sections with text"):
        Consistency().fit(Corpus.from_texts([f"one two {i}" for i in range(10)]))


def test_many_sections_and_sections_without_a_word_are_scored(critic):
    rows = [(None, f"thing word{i} thing other{i}") for i in range(40)]
    latents = critic.project(Corpus.from_sections([[*rows, (None, "")]]))
    assert np.isfinite(latents.fit).all()
    assert latents.marginals[-1, 1] == pytest.approx(critic.rate_)  # nothing is known of a section without words


def test_a_text_whose_sections_have_nothing_in_common_is_a_warning():
    rng = np.random.default_rng(6)
    rows = [[("", " ".join(f"w{k}" for k in rng.integers(0, 300, 6))) for _ in range(4)] for _ in range(40)]
    notes = Consistency().fit(Corpus.from_sections(rows)).notes()
    assert any(n.warning and "fit their document better" in n.text for n in notes)


def test_odd_words_are_words_of_one_section():
    import scipy.sparse as sparse

    x = sparse.csr_array(np.array([[0.1, 0.9, 0.3], [0.0, 0.9, 0.0]]))
    assert odd_words(x, 0, ["a", "b", "c"]) == ["c", "a"]
    assert odd_words(x, 1, ["a", "b", "c"]) == []
