"""Classifiers of scikit-learn that a posterior fits, saves and loads."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import momus
from momus.critic.saved import _content_digest
from momus.errors import StoreError
from momus.files import file_digest
from momus_adapters.saved import SavedEstimator
from momus_critics.sections import Sections

BAYES = "sklearn.naive_bayes:MultinomialNB"


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


def test_trees_are_refused(make_sectioned):
    critic = Sections(posterior="sklearn", model="sklearn.ensemble:RandomForestClassifier")
    with pytest.raises(StoreError, match="cannot be saved without pickle"):
        critic.fit(make_sectioned(40))


def forge(folder, content):
    """Write a changed ``critic.json`` with the digests that belong to it."""
    content["sha256"] = {
        "arrays": file_digest(folder / "arrays.safetensors"),
        "content": _content_digest(content),
    }
    (folder / "critic.json").write_text(json.dumps(content))


def test_a_folder_cannot_name_another_class(make_sectioned, tmp_path):
    critic = Sections(posterior="sklearn", model=BAYES).fit(make_sectioned(40))
    critic.save(tmp_path)
    whole = (tmp_path / "critic.json").read_text()
    named = f'"class": "{BAYES}"'
    assert named in whole
    forge(tmp_path, json.loads(whole.replace(named, '"class": "subprocess:Popen"')))
    with pytest.raises(StoreError, match="no scikit-learn estimator"):
        Sections.load(tmp_path, trust=True).score(make_sectioned(4, 1))


def test_the_critic_of_sections_takes_any_classifier_by_name(make_sectioned, tmp_path):
    critic = Sections(posterior="sklearn", model=BAYES).fit(make_sectioned(80))
    assert critic.posterior_.held_out["accuracy"] > 0.9
    held, mixed = make_sectioned(30, 1), make_sectioned(30, 2, shuffle=True)
    scores = critic.score(held)
    assert critic.score(mixed).latent_ppl > 1.5 * scores.latent_ppl
    critic.save(tmp_path)
    assert momus.load_critic(tmp_path, trust=True).score(held).nll == pytest.approx(scores.nll)


def test_naive_bayes_is_exact(tmp_path):
    model = MultinomialNB().fit([[3, 0], [0, 4]], [0, 1])
    assert SavedEstimator.of(model).build().predict_log_proba([[1, 1]]) == pytest.approx(
        model.predict_log_proba([[1, 1]])
    )
