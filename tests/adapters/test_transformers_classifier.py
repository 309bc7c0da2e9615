"""Classifiers of texts with a real encoder of two layers, against the network's own outputs."""

import numpy as np
import pytest
import torch

from momus import Corpus
from momus.conformance import check_critic
from momus.conformance.corpora import documents
from momus.errors import UsageError
from momus_adapters.chains.classes import DocumentClasses, SectionClasses
from momus_adapters.transformers.classifier import TransformersClassifier

TEXTS = ["ape bear cat", "red blue", "one two six ten ape", "dog"]


def saved(encoder, folder, kind):
    """The encoder with a head of three classes, random and wide enough to tell texts apart."""
    import transformers

    torch.manual_seed(1)
    network = getattr(transformers, kind).from_pretrained(encoder, num_labels=3, id2label={0: "x", 1: "y", 2: "z"})
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith(("word_embeddings.weight", "pooler.dense.weight", "classifier.weight")):
                weight.mul_(3)
    network.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def of_texts(encoder, tmp_path_factory):
    return saved(encoder, tmp_path_factory.mktemp("texts"), "AutoModelForSequenceClassification")


def test_probabilities_are_those_of_the_network(of_texts):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(of_texts).eval().double()
    tokenizer = AutoTokenizer.from_pretrained(of_texts)
    found = TransformersClassifier(model=of_texts, precision="float64", batch=3).predict_proba(TEXTS)
    for i, text in enumerate(TEXTS):
        with torch.no_grad():
            p = network(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0].numpy()
        assert found[i] == pytest.approx(p)
    assert found.std(axis=0).max() > 1e-3


def test_a_network_is_the_posterior_of_documents_and_sections(of_texts, tmp_path):
    network = TransformersClassifier(model=of_texts, precision="float64")
    critic = DocumentClasses(classifier=network).fit(Corpus.from_texts(TEXTS))
    p = network.predict_proba(TEXTS)
    assert critic.classes_ == ["x", "y", "z"]
    scores = critic.score(Corpus.from_texts(TEXTS))
    assert -scores.nll == pytest.approx(p @ np.log((p.sum(axis=0) + 1) / 7))
    critic.save(tmp_path)
    assert DocumentClasses.load(tmp_path, trust=True).score(Corpus.from_texts(TEXTS)).nll == pytest.approx(scores.nll)
    sections = SectionClasses(classifier=network).fit(Corpus.from_sections([[(None, t) for t in TEXTS]] * 3))
    assert sections.score(Corpus.from_sections([[(None, t) for t in TEXTS]])).steps.tolist() == [4]


SOME = ("batch_size_changes_nothing", "posterior_is_proper", "saved_critics_score_alike", "refitting_forgets")


@pytest.mark.parametrize("checks", [SOME, pytest.param(None, marks=pytest.mark.slow)], ids=["some", "all"])
def test_conformance(of_texts, checks):
    options = {"model": of_texts, "precision": "float64", "max_tokens": 16}
    named = "momus_adapters.transformers.classifier:TransformersClassifier"
    critic = DocumentClasses(classifier=named, classifier_options=options)
    report = check_critic(critic, documents(40), checks=checks)
    assert not report.counts.get("failed"), str(report)


def test_errors_say_what_to_do():
    with pytest.raises(UsageError, match="cannot be loaded"):
        TransformersClassifier(model="/nowhere/at/all").predict_proba(TEXTS)
