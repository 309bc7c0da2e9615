"""Classifiers as critics, against scikit-learn's own numbers and simulation."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import momus
from momus import Corpus
from momus.conformance import check_critic
from momus.critic import StateSequences
from momus.critic.saved import _content_digest
from momus.errors import FittingError, StoreError, UsageError
from momus.files import file_digest
from momus_adapters.chains.classes import DocumentClasses, SectionClasses, transitions_of
from momus_adapters.saved import SavedEstimator

sys.path.insert(0, str(Path(__file__).parent))
WORDS = {"a": "ape bear cat dog", "b": "red blue pink green", "c": "one two six ten"}


def of_numbers(rows):
    return Corpus.from_texts([" ".join(f"{v:.12g}" for v in np.atleast_1d(row)) for row in rows])


def text(rng, kind, length=8):
    return " ".join(rng.choice(WORDS[kind].split(), length))


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(WORDS), 120)
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit([text(rng, k) for k in kinds], kinds)


def test_document_classes_are_expected_under_the_classifier(classifier, tmp_path):
    rng = np.random.default_rng(1)
    texts = [text(rng, k) for k in rng.choice(list(WORDS), 200, p=[0.7, 0.2, 0.1])]
    critic = DocumentClasses(classifier=classifier).fit(Corpus.from_texts(texts))
    p = classifier.predict_proba(texts)
    shares = (p.sum(axis=0) + 1) / (200 + 3)
    assert critic.start_ == pytest.approx(shares)
    scores = critic.score(Corpus.from_texts(texts[:30]))
    assert -scores.nll == pytest.approx(p[:30] @ np.log(shares))
    critic.save(tmp_path)
    assert DocumentClasses.load(tmp_path, trust=True).score(Corpus.from_texts(texts[:30])).nll == pytest.approx(
        scores.nll
    )
    assert b"sklearn" not in (tmp_path / "arrays.safetensors").read_bytes()


def sectioned(rng, n, orders):
    return Corpus.from_sections([[(None, text(rng, k)) for k in orders[i % len(orders)]] for i in range(n)])


def test_section_classes_find_another_order(classifier, tmp_path):
    rng = np.random.default_rng(2)
    real = sectioned(rng, 80, ["abc", "abcc"])
    critic = SectionClasses(classifier=classifier).fit(real)
    p = classifier.predict_proba([t.as_py() for t in real.section_texts])
    assert critic.start_ == pytest.approx((p[_firsts(real)].sum(axis=0) + 1) / 83)
    held = sectioned(rng, 40, ["abc", "abcc"])
    p = classifier.predict_proba([s.text for s in held[0].sections])
    truth = p[0] @ np.log(critic.start_) + sum(p[m - 1] @ np.log(critic.move_) @ p[m] for m in (1, 2))
    scores = critic.score(held)
    assert -scores.nll[0] == pytest.approx(truth)
    assert scores.steps[:2].tolist() == [3, 4]
    found = momus.compare(held, {"mixed": sectioned(rng, 40, ["cab", "bcac"])}, fit=real, critics=[critic], seed=1)
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert verdict.statistic == "latent_ppl"
    assert verdict.p < 0.01
    critic.save(tmp_path)
    assert SectionClasses.load(tmp_path, trust=True).score(held).nll == pytest.approx(scores.nll)


def test_a_run_with_a_live_classifier_is_written(classifier, tmp_path):
    rng = np.random.default_rng(3)
    real, fit = sectioned(rng, 40, ["abc", "abcc"]), sectioned(rng, 60, ["abc", "abcc"])
    generated = {"mixed": sectioned(rng, 40, ["cab"])}
    options = {"fit": fit, "critics": [SectionClasses(classifier=classifier)], "permutations": 99, "resamples": 99}
    found = momus.compare(real, generated, out=tmp_path / "run", **options)
    assert "Pipeline at 0x" in found.signature["critics"][0]["params"]["classifier"]
    again = SectionClasses.load(tmp_path / "run" / "critics" / "section-classes", trust=True).score(real)
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert again.latent_ppl == pytest.approx(verdict.real_value)
    assert "Pipeline at 0x" in (tmp_path / "run" / "report.html").read_text()


def _firsts(corpus):
    return np.cumsum(corpus.section_counts) - corpus.section_counts


@pytest.mark.parametrize(
    "model",
    [
        ComplementNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        MLPClassifier((4,), max_iter=20, random_state=0),
    ],
    ids=["bayes", "pipeline", "network"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_estimators_survive_without_pickle(model):
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 5)), rng.choice(["u", "v", "w"], 60)
    model.fit(x, y)
    again = SavedEstimator.of(model).build()
    assert again.predict_proba(x) == pytest.approx(model.predict_proba(x))
    assert again.predict(x).tolist() == model.predict(x).tolist()


def test_trees_are_scored_and_refused_by_saving(tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(WORDS), 60)
    texts = [text(rng, k) for k in kinds]
    model = make_pipeline(CountVectorizer(), RandomForestClassifier(5, random_state=0)).fit(texts, kinds)
    critic = DocumentClasses(classifier=model).fit(Corpus.from_texts(texts))
    assert critic.score(Corpus.from_texts(texts)).n_scored == 60
    with pytest.raises(StoreError, match="cannot be saved without pickle"):
        critic.save(tmp_path)


def forge(folder, content):
    """Write a changed ``critic.json`` with the digests that belong to it."""
    content["sha256"] = {
        "arrays": file_digest(folder / "arrays.safetensors"),
        "content": _content_digest(content),
    }
    (folder / "critic.json").write_text(json.dumps(content))


def test_a_folder_cannot_have_a_function_called_with_options(classifier, tmp_path):
    critic = DocumentClasses(classifier=classifier).fit(Corpus.from_texts(["ape bear", "red"] * 5))
    critic.save(tmp_path)
    content = json.loads((tmp_path / "critic.json").read_text())
    del content["state"]["estimator_"]
    content["params"] |= {"classifier": "numpy:load", "classifier_options": {"file": "x.npy", "allow_pickle": True}}
    arrays = load_file(tmp_path / "arrays.safetensors")
    kept = {name: value for name, value in arrays.items() if not name.startswith("estimator_.")}
    save_file(kept, tmp_path / "arrays.safetensors")
    forge(tmp_path, content)
    with pytest.raises(StoreError, match="not called with options"):
        DocumentClasses.load(tmp_path, trust=True).score(Corpus.from_texts(["ape"]))


def test_a_folder_cannot_name_another_class(classifier, tmp_path):
    critic = DocumentClasses(classifier=classifier).fit(Corpus.from_texts(["ape bear", "red"] * 5))
    critic.save(tmp_path)
    whole = (tmp_path / "critic.json").read_text()
    forge(tmp_path, json.loads(whole.replace("sklearn.linear_model._logistic:LogisticRegression", "subprocess:Popen")))
    with pytest.raises(StoreError, match="no scikit-learn estimator"):
        DocumentClasses.load(tmp_path, trust=True).score(Corpus.from_texts(["ape"]))
    forge(tmp_path, json.loads(whole.replace('"classifier": ""', '"classifier": "os:system"')))
    again = DocumentClasses.load(tmp_path, trust=True)  # what was saved is used, and the name never called
    assert again.score(Corpus.from_texts(["ape"])).nll == pytest.approx(critic.score(Corpus.from_texts(["ape"])).nll)
    with pytest.raises(UsageError, match="Python's own library"):
        again.fit(Corpus.from_texts(["ape bear", "red"] * 5))


@pytest.mark.slow
@pytest.mark.parametrize(
    "critic",
    [
        DocumentClasses(classifier="classified:of_documents"),
        SectionClasses(classifier="classified:of_documents"),
    ],
    ids=["documents", "sections"],
)
def test_conformance(critic):
    report = check_critic(critic)
    assert report.ok, str(report)


def test_the_critic_of_sections_takes_any_classifier_by_name(make_sectioned, tmp_path):
    from momus_critics.sections import Sections

    critic = Sections(posterior="sklearn", model="sklearn.naive_bayes:MultinomialNB").fit(make_sectioned(80))
    assert critic.posterior_.held_out["accuracy"] > 0.9
    held, mixed = make_sectioned(30, 1), make_sectioned(30, 2, shuffle=True)
    scores = critic.score(held)
    assert critic.score(mixed).latent_ppl > 1.5 * scores.latent_ppl
    critic.save(tmp_path)
    assert momus.load_critic(tmp_path, trust=True).score(held).nll == pytest.approx(scores.nll)


@pytest.mark.parametrize(
    ("critic", "said"),
    [
        (DocumentClasses(classifier=""), "has no classifier"),
        (DocumentClasses(classifier=object()), "has no predict_proba"),
        (DocumentClasses(classifier="classified:of_documents", smoothing=0.0), "smoothing is 0.0"),
    ],
)
def test_errors_say_what_to_do(critic, said):
    with pytest.raises((UsageError, FittingError), match=said) as caught:
        critic.fit(of_numbers(np.random.default_rng(0).normal(size=(20, 1))))
    assert caught.value.hint


def test_independent_steps():
    p = np.array([[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]])
    z = StateSequences(p.argmax(axis=1), np.array([0, 2, 3]), p)
    first, pairs = transitions_of(z)
    assert pairs[0] == pytest.approx(np.outer(p[0], p[1]))
    assert pairs[1].sum() == 0
    assert first.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    critic = SectionClasses(classifier="")
    critic.start_, critic.move_ = np.array([0.3, 0.7]), np.array([[0.5, 0.5], [0.2, 0.8]])
    assert critic.log_prior(z).values[1] == pytest.approx(np.log(0.3))
    critic.start_ = np.array([0.0, 1.0])
    assert critic.log_prior(z).values.tolist() == [-np.inf, -np.inf]


def test_naive_bayes_is_exact(tmp_path):
    model = MultinomialNB().fit([[3, 0], [0, 4]], [0, 1])
    assert SavedEstimator.of(model).build().predict_log_proba([[1, 1]]) == pytest.approx(
        model.predict_log_proba([[1, 1]])
    )
