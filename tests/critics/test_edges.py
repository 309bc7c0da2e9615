"""Edges: the mixture against enumeration and simulation, features of known sentences, planted openings and endings."""

from itertools import product

import numpy as np
import pytest

import momus
from momus import Corpus
from momus_critics.edges import FEATURES, Edges, read_edges
from momus_critics.fits.mixtures import BernoulliMixture, names_of
from momus_critics.prose.reading import read_prose

from .measured import measured


def edges_of(*texts):
    return read_edges(read_prose(Corpus.from_texts(texts).tokens(Edges().tokenizer)))


def has(edge, row=0):
    return {name for name, present in zip(FEATURES, edge.features[row].tolist(), strict=True) if present}


def test_the_posterior_is_bayes_rule():
    model = BernoulliMixture(n_states=2)
    model.shares_, model.probabilities_ = np.array([0.7, 0.3]), np.array([[0.9, 0.2, 0.5], [0.1, 0.6, 0.5]])
    every = np.array(list(product([0, 1], repeat=3)))
    likelihood = np.prod(np.where(every[:, None] == 1, model.probabilities_, 1 - model.probabilities_), axis=2)
    joint = likelihood * model.shares_
    assert joint.sum() == pytest.approx(1)
    assert model.posterior(every) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))


def test_bic_finds_the_number_of_classes_and_their_probabilities():
    rng = np.random.default_rng(0)
    p = np.array([[0.9, 0.9, 0.9, 0.1, 0.1, 0.5], [0.1, 0.1, 0.1, 0.9, 0.1, 0.5], [0.1, 0.1, 0.5, 0.9, 0.9, 0.1]])
    p = np.hstack([p, p[:, ::-1]])
    z = rng.choice(3, 6000, p=[0.5, 0.3, 0.2])
    model = BernoulliMixture(n_states=5).learn(rng.random((6000, 12)) < p[z])
    assert model.shares_ == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    assert model.probabilities_ == pytest.approx(p, abs=0.05)


def test_independent_features_are_one_class():
    rng = np.random.default_rng(0)
    assert len(BernoulliMixture(n_states=4).learn(rng.random((500, 6)) < 0.3).shares_) == 1


def test_classes_are_named_by_what_they_have_more_often():
    model = BernoulliMixture(n_states=2)
    model.shares_, model.probabilities_ = np.array([0.5, 0.5]), np.array([[0.9, 0.2], [0.1, 0.2]])
    assert names_of(model, ["question", "speech"]) == ["question", "plain"]


def test_features_of_the_first_and_the_last_sentence():
    first, last = edges_of("“Who are you?” It rained in Paris.\n\nLife will always be hard!")
    assert has(first) >= {"question", "speech", "address", "present"}
    assert not has(first) & {"name", "own paragraph", "general truth"}
    assert has(last) == {"general truth", "modal", "exclamation", "short", "own paragraph"}
    assert last.paragraph.tolist() == [5]


def test_a_last_paragraph_counts_where_there_are_several():
    critic = Edges().fit(corpus(40, 0))
    _, last = edges_of("All of it in one paragraph. It rained.", "It rained.\n\nSo we left.", "", "It rained.\n\n***")
    assert last.paragraph.tolist() == pytest.approx([np.nan, 3, np.nan, np.nan], nan_ok=True)
    texts = Corpus.from_texts(["All of it in one paragraph. It rained.", "It rained.\n\nSo we left."])
    assert measured(critic, texts)["last_paragraph_words"] == 3.0
    longer = Corpus.from_texts([f"{t} It rained again and again on all." for t in ("It was.", "They came.")])
    assert np.isnan(measured(critic, longer)["last_paragraph_words"]), "none has several"


def test_a_name_is_a_capital_within_the_sentence():
    first, last = edges_of("The rain in Paris fell. It was what I saw.")
    assert "name" in has(first)
    assert "name" not in has(last)


def test_first_and_last_words_do_not_cross_documents():
    first, last = edges_of("# The End\n\nIt rained.", "", "So.")
    assert first.words == ("it rained", "", "so .")
    assert last.words == ("it rained .", "", "so .")


OPENINGS = [
    "The rain fell on the roofs.",
    "She had left early in May.",
    "“Is it you?” he asked.",
    "I never liked the town.",
]
ENDINGS = ["He went home.", "Nobody in the world saw her.", "“No,” said Ann.", "It rained."]


def corpus(n, seed, opening=None, ending=None):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        middle = " ".join(rng.permutation(["It was late.", "They had two dogs.", "The road was long."]).tolist())
        first = opening or str(rng.choice(OPENINGS))
        out.append(f"{first} Number {i} of {seed}.\n\n{middle}\n\n{ending or rng.choice(ENDINGS)}")
    return Corpus.from_texts(out, name=f"t{seed}")


def test_shares_and_recurrence_are_plain_counts():
    critic = Edges().fit(corpus(40, 0))
    real, other = corpus(8, 1, opening="Sure! The roof"), corpus(8, 2, ending="You must always hope, will you?")
    assert measured(critic, real, other)["recurring_openings"] == pytest.approx(1)
    values = measured(critic, other)
    assert values["ends_question_share"] == values["ends_general_truth_share"] == 1
    assert values["ends_speech_share"] == 0
    assert values["last_paragraph_words"] == 6


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"opening": "Sure! The roof."}, "recurring_openings"),
        ({"ending": "In the end, you must always hope for a better world."}, "ends_general_truth_share"),
    ],
)
def test_planted_edges_are_found(change, row):
    texts = {"same": corpus(80, 2), "changed": corpus(80, 3, **change)}
    found = momus.compare(corpus(80, 1), texts, fit=corpus(80, 0), critics=["edges"], permutations=499, resamples=99)
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", row].p <= 0.01
    assert rows["changed", row].difference > 0
    assert rows["same", row].p > 0.01


def test_a_word_before_every_document_is_named_with_an_example():
    critic = Edges().fit(corpus(40, 0))
    sides = [
        critic.summarize(critic.project(text)) for text in (corpus(40, 1), corpus(40, 3, opening="Sure! The roof"))
    ]
    table = critic.evidence(*sides)[0]
    assert table.rows[0][:3] == ("sure !", 0.0, 100.0)
    assert table.overuse.items[0].text == "sure !"
    assert table.overuse.items[0].example.startswith("Sure")


def test_a_marked_document_shows_both_edges():
    critic = Edges().fit(corpus(60, 0))
    marked = critic.explain(corpus(1, 5))
    assert [s.label.split(":")[0] for s in marked.steps] == ["opens", "ends", "(end)"]
