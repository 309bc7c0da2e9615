"""Classifiers as critics, against scikit-learn's own numbers."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import momus
from momus import Corpus
from momus.conformance import check_critic
from momus.critic.saved import _content_digest
from momus.errors import FittingError, StoreError, UsageError
from momus.files import file_digest
from momus_adapters.classes import DocumentClasses

sys.path.insert(0, str(Path(__file__).parent))  # classifiers are saved by name, and found again by it
WORDS = {"a": "ape bear cat dog", "b": "red blue pink green", "c": "one two six ten"}
NAMED = "classified:of_documents"


def text(rng, kind, length=8):
    return " ".join(rng.choice(WORDS[kind].split(), length))


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(WORDS), 120)
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit([text(rng, k) for k in kinds], kinds)


def corpus(n, seed, p=(0.7, 0.2, 0.1)):
    rng = np.random.default_rng(seed)
    return Corpus.from_texts([text(rng, k) for k in rng.choice(list(WORDS), n, p=p)])


def test_classes_are_expected_under_the_classifier(classifier):
    real = corpus(200, 1)
    critic = DocumentClasses(classifier=classifier).fit(real)
    p = classifier.predict_proba([d.text for d in real])
    shares = (p.sum(axis=0) + 1) / (200 + 3)
    assert critic.shares_ == pytest.approx(shares)
    scores = critic.score(real.slice(0, 30))
    assert -scores.nll == pytest.approx(p[:30] @ np.log(shares))
    assert critic.summarize(critic.project(real)).arrays["visits"] == pytest.approx(p.sum(axis=0))


def test_a_saved_critic_finds_its_classifier_by_name(tmp_path):
    critic = DocumentClasses(classifier=NAMED).fit(corpus(40, 2))
    critic.save(tmp_path)
    again = DocumentClasses.load(tmp_path, trust=True).score(corpus(9, 3))
    assert again.nll == pytest.approx(critic.score(corpus(9, 3)).nll)


def test_a_run_with_a_live_classifier_is_written_without_it(classifier, tmp_path):
    options = {"critics": [DocumentClasses(classifier=classifier)], "permutations": 99, "resamples": 99}
    found = momus.compare(corpus(60, 4), {"m": corpus(60, 5, (0.1, 0.2, 0.7))}, fit=corpus(60, 6), **options,
                          out=tmp_path / "run")  # fmt: skip
    assert "Pipeline at 0x" in found.signature["critics"][0]["params"]["classifier"]
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert verdict.p < 0.05
    saved = DocumentClasses.load(tmp_path / "run" / "critics" / "document-classes", trust=True)
    with pytest.raises(UsageError, match="has no classifier"):
        saved.score(corpus(5, 7))


def forge(folder, **changes):
    """Change parameters or the state in ``critic.json``, with the digests that belong to it."""
    content = json.loads((folder / "critic.json").read_text())
    for name, change in changes.items():
        content[name] |= change
    content["sha256"] = {
        "arrays": file_digest(folder / "arrays.safetensors"),
        "content": _content_digest(content),
    }
    (folder / "critic.json").write_text(json.dumps(content))


def test_a_folder_cannot_have_a_function_called_with_options(tmp_path):
    DocumentClasses(classifier=NAMED).fit(corpus(20, 8)).save(tmp_path)
    options = {"file": "x.npy", "allow_pickle": True}
    forge(tmp_path, params={"classifier": "numpy:load", "classifier_options": options})
    with pytest.raises(StoreError, match="not called with options"):
        DocumentClasses.load(tmp_path, trust=True).score(corpus(2, 9))
    forge(tmp_path, params={"classifier": "os:system", "classifier_options": None})
    with pytest.raises(StoreError, match="would import 'os:system'"):
        DocumentClasses.load(tmp_path)
    with pytest.raises(UsageError, match="Python's own library"):
        DocumentClasses.load(tmp_path, trust=True).score(corpus(2, 9))


def test_states_that_no_fit_leaves_are_refused(tmp_path):
    DocumentClasses(classifier=NAMED).fit(corpus(20, 8)).save(tmp_path)
    forge(tmp_path, state={"classes_": ["x"]})
    with pytest.raises(StoreError, match="shares_"):
        DocumentClasses.load(tmp_path, trust=True)


@pytest.mark.slow
def test_conformance():
    report = check_critic(DocumentClasses(classifier=NAMED))
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("critic", "said"),
    [
        (DocumentClasses(classifier=""), "has no classifier"),
        (DocumentClasses(classifier=object()), "has no predict_proba"),
        (DocumentClasses(classifier="nowhere:at_all"), "cannot be imported"),
        (DocumentClasses(classifier="classified"), "write it as"),
        (DocumentClasses(classifier=NAMED, smoothing=0.0), "smoothing is 0.0"),
    ],
)
def test_errors_say_what_to_do(critic, said):
    with pytest.raises((UsageError, FittingError), match=said) as caught:
        critic.fit(corpus(20, 8))
    assert caught.value.hint
