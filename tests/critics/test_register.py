"""Register: features of known sentences, the posterior against scikit-learn and Bayes' rule, planted changes."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import FactorAnalysis

import momus
from momus import Corpus
from momus.errors import FittingError
from momus_critics.prose.reading import read_prose
from momus_critics.register import TOLD, Register, RegisterLatents
from momus_critics.register.features import FEATURES, RATES, count_features


def features_of(*texts):
    values, words = count_features(read_prose(Corpus.from_texts(texts).tokens(Register().tokenizer)))
    return [dict(zip(FEATURES, row.tolist(), strict=True)) for row in values], words


KNOWN = {
    "It was broken by Ann.": ["passives", "by after a participle", "past tense", "pronoun it", "forms of be"],
    "They don't think that he could.": ["contractions", "that after a verb", "private verbs", "possibility modals"],
    "There is hope, shining over the nation.": [
        "existential there",
        "-ing after comma",
        "nominalisations",
        "articles",
    ],
    "She had walked, and we want to run.": ["perfects", "words in -ed", "infinitives", "and before a clause", "and"],
    "What is it good for?": ["stranded prepositions", "questions", "wh-words", "present tense", "pronoun it"],
}


@pytest.mark.parametrize("text", KNOWN)
def test_features_of_known_sentences(text):
    (found,), words = features_of(text)
    assert {name: round(found[name] * words[0] / 1000) for name in KNOWN[text]} == dict.fromkeys(KNOWN[text], 1)


def test_an_s_is_a_contraction_behind_a_pronoun_and_not_behind_a_noun():
    (found, none), words = features_of(
        "It's late, and that’s all we've said.", "Ann's dog and the dogs' bones are here."
    )
    assert found["contractions"] * words[0] / 1000 == pytest.approx(3)
    assert none["contractions"] == 0


def test_contractions_count_as_their_words_and_negate_where_they_do():
    (short, long), words = features_of("It's so, and I’m sure we can't.", "It is so, and I am sure we can not.")
    told = ("negation by not", "forms of be", "possibility modals", "present tense", "first person", "pronoun it")
    # "it's" may be "it has": it is no form of be
    assert [round(d[n] * w / 1000) for d, w in zip((short, long), words, strict=True) for n in told] == [
        *(1, 1, 1, 2, 2, 1),
        *(1, 2, 1, 2, 2, 1),
    ]


def test_word_length_and_different_words():
    (one, two, three), words = features_of("ab abcd ab.", " ".join(["so"] * 250), " ".join(f"w{i}" for i in range(150)))
    assert one["letters per word"] == pytest.approx(8 / 3)
    assert one["different words"] == pytest.approx(2 / 3)
    assert two["different words"] == pytest.approx(2 / 200)
    assert three["different words"] == 1
    assert words.tolist() == [3, 250, 150]


@settings(max_examples=40)
@example(["by", "?"])  # the mark of the next document stranded the preposition
@given(st.lists(st.text(alphabet="abit ingedly.,'’?!\n", max_size=80), min_size=1, max_size=4))
def test_features_do_not_depend_on_the_batch(texts):
    def prose(corpus):
        return read_prose(corpus.tokens(Register().tokenizer))

    whole, _ = count_features(prose(Corpus.from_texts(texts)))
    for row, text in enumerate(texts):
        assert whole[row] == pytest.approx(count_features(prose(Corpus.from_texts([text])))[0][0])


STYLES = {
    "involved": ["I think you know it isn't so.", "Do you really want it?", "Well, I just can't say."],
    "abstract": [
        "The formation of the nation was completed by the government.",
        "Such an arrangement is of importance.",
    ],
}


def corpus(n, seed, involved=0.5, spread=2.0):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        p = rng.beta(spread * involved, spread * (1 - involved))
        kinds = np.where(rng.random(14) < p, "involved", "abstract")
        out.append(" ".join(str(rng.choice(STYLES[k])) for k in kinds) + f" Number {i} of {seed}.")
    return Corpus.from_texts(out, name=f"t{seed}")


def test_the_posterior_is_that_of_the_factor_analysis():
    critic = Register(n_dimensions=2).fit(corpus(150, 0))
    model = FactorAnalysis(2)
    model.components_, model.noise_variance_, model.mean_ = critic.loadings_, critic.noise_, np.zeros(len(FEATURES))
    values, _ = count_features(read_prose(corpus(5, 1).tokens(critic.tokenizer)))
    scaled = np.column_stack([np.sqrt(values[:, :RATES]), values[:, RATES:]])
    z = critic.project(corpus(5, 1))
    assert z.mean == pytest.approx(model.transform((scaled - critic.mean_) / critic.sd_))


def test_the_score_is_the_expected_log_density():
    critic = Register(n_dimensions=2).fit(corpus(150, 0))
    rng = np.random.default_rng(0)
    z = RegisterLatents(np.array([[0.5, -1.0]]), np.array([[0.2, 0.4]]), np.zeros((1, len(FEATURES))))
    draws = rng.normal(z.mean[0], np.sqrt(z.variance[0]), (200_000, 2))
    expected = (-0.5 * draws**2 - 0.5 * np.log(2 * np.pi)).sum(axis=1).mean()
    assert critic.log_prior(z).values[0] == pytest.approx(expected, abs=0.01)


def test_the_first_dimension_sets_involved_text_against_abstract_text():
    critic = Register(n_dimensions=1).fit(corpus(200, 0))
    involved, abstract = (critic.project(corpus(20, 1, involved=p, spread=200)).mean.mean() for p in (0.9, 0.1))
    assert abs(involved - abstract) > 1.5
    low, high = critic.poles[0]
    poles = {True: high, False: low}
    assert any(name in poles[bool(involved > abstract)] for name in ("first person", "second person", "contractions"))


def test_dimensions_explain_the_covariance_of_simulated_factors():
    text = corpus(300, 0)
    critic = Register(n_dimensions=2).fit(text)
    values, _ = count_features(read_prose(text.tokens(critic.tokenizer)))
    x = (np.column_stack([np.sqrt(values[:, :RATES]), values[:, RATES:]]) - critic.mean_) / critic.sd_
    implied = critic.loadings_.T @ critic.loadings_ + np.diag(critic.noise_)
    varied = x.std(axis=0) > 0.5
    gap = (np.cov(x.T) - implied)[np.ix_(varied, varied)]
    assert np.sqrt((gap**2).mean()) < 0.2


@pytest.mark.parametrize(("involved", "sign"), [(0.75, 1), (0.25, -1)])
def test_a_planted_register_is_found_and_its_features_named(involved, sign):
    texts = {"same": corpus(100, 2), "changed": corpus(100, 3, involved=involved)}
    found = momus.compare(
        corpus(100, 1), texts, fit=corpus(150, 0), critics=["register"], permutations=499, resamples=99
    )
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", "first_person"].p <= 0.01
    assert np.sign(rows["changed", "first_person"].difference) == sign
    assert rows["same", "first_person"].p > 0.01
    assert {f.replace(" ", "_").replace(",", "").replace("-", "") for f in TOLD} <= {s for _, s in rows}


def test_a_marked_document_shows_its_oddest_features():
    critic = Register().fit(corpus(60, 0))
    marked = critic.explain(Corpus.from_texts(["Would you? " * 30]))
    assert {"second person", "prediction modals", "questions"} <= {s.label for s in marked.steps}
    assert marked.steps[0].marked


def test_features_have_their_units_and_their_effect_in_deviations():
    critic = Register(n_dimensions=1).fit(corpus(60, 0))
    real, other = (critic.score(corpus(20, s, involved=p)).summary for s, p in ((1, 0.5), (2, 0.8)))
    rows = {row[0]: row[1:] for row in critic.evidence(real, other)[0].rows}
    units = [rows[f][0] for f in ("first person", *FEATURES[RATES:])]
    assert units == ["per 1,000 words", "letters", "of a stretch's words"]
    f = FEATURES.index("first person")
    a, b = (t.arrays["features"][f] / 20 for t in (real, other))
    spread = np.sqrt(real.arrays["squares"][f] / 20 - a**2)
    assert rows["first person"][1:] == (round(a, 2), round(b, 2), pytest.approx((b - a) / spread, rel=1e-3))


@pytest.mark.parametrize("text", ["The cat sees a red house. It walks slowly.", "```\nx = 1\n```"])
def test_documents_that_are_all_alike_are_an_error_in_words(text):
    """Their features do not vary: a factor analysis would divide by zero."""
    with pytest.raises(FittingError, match="all alike"):
        Register().fit(Corpus.from_texts([text] * 30))
