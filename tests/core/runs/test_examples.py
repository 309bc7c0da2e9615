"""Examples and distributions: documents of the test, the right direction, human text of the same prompt."""

import numpy as np
import pytest

import momus
from momus.checks.languages import Languages, languages_of
from momus.critic.scores import Scores
from momus.joint.axes import bin_edges, shares_of
from momus.runs.examples import compared_rows, find_examples
from momus.text.corpus import Corpus
from momus.text.sketches import TextSketch
from momus_critics.length import Length


def corpus(name, lengths, prompts=None):
    prompts = prompts or [None] * len(lengths)
    texts = ["word " * n for n in lengths]
    return Corpus.from_texts(texts, [f"{name}:{i}" for i in range(len(texts))], prompts, name)


@pytest.fixture(scope="module")
def fitted():
    return Length().fit(corpus("fit", range(5, 60)))


def examples_of(fitted, real, generated, higher, paired=None):
    scores = fitted.score(real), fitted.score(generated)
    values = tuple(np.array([len(d.text.split()) for d in c], dtype=float) for c in (real, generated))
    return find_examples(fitted, (real, generated), scores, compared_rows(*scores, paired), values, higher)


@pytest.mark.parametrize(("higher", "expected"), [(True, ["g:2", "g:3", "g:0"]), (False, ["g:1", "g:0", "g:3"])])
def test_examples_show_the_direction(fitted, higher, expected):
    examples = examples_of(fitted, corpus("r", [10, 20, 30]), corpus("g", [20, 5, 40, 30]), higher)
    assert [e.document.id for e in examples] == expected
    assert {e.human.id for e in examples} == {"r:1"}, "without prompts, the median document stands for human text"
    assert not any(e.same_prompt for e in examples)


def test_examples_stand_beside_human_text_of_their_prompt(fitted):
    real, generated = corpus("r", [10, 20, 30], ["a", "b", "c"]), corpus("g", [20, 5, 40], ["c", "a", "b"])
    pairs = [(e.document.id, e.human.id) for e in examples_of(fitted, real, generated, True)]
    assert pairs == [("g:2", "r:1"), ("g:0", "r:2"), ("g:1", "r:0")]


def test_only_documents_of_the_test_are_examples(fitted):
    real = corpus("r", [10, 20, 30], ["a", "b", "c"])
    generated = corpus("g", [20, 5, 40, 99], ["c", "a", "b", "elsewhere"])
    assert "g:3" not in [e.document.id for e in examples_of(fitted, real, generated, True)]
    assert "g:3" in [e.document.id for e in examples_of(fitted, real, generated, True, paired=False)]


def test_equal_values_are_ordered_by_id(fitted):
    texts = [examples_of(fitted, corpus("r", [10, 20]), c, True) for c in (corpus("g", [7, 7, 7, 7]),)]
    assert [[e.document.id for e in t] for t in texts] == [["g:0", "g:1", "g:2"]]


@pytest.mark.parametrize("critic", ["length", "unigram", "type-token", "stopword-share"])
def test_evidence_is_of_the_documents_of_the_test(critic):
    """Whether the summary is pooled from rows, or comes from another scoring."""
    prompts = [f"p{i}" for i in range(40)]
    real, fit = corpus("r", range(5, 45), prompts), corpus("f", range(5, 60))
    same = corpus("g", range(5, 45), prompts)
    more = corpus("g", [*range(5, 45), *[500] * 4], [*prompts, *["elsewhere"] * 4])
    shown = [
        momus.compare(real, {"g": g}, fit=fit, critics=[critic], permutations=99, resamples=99).results[0].evidence
        for g in (same, more)
    ]
    assert shown[0] == shown[1]


def test_bins_hold_all_documents():
    values = np.random.default_rng(0).lognormal(3, 2, 500)
    edges = bin_edges(values)
    assert np.isclose(shares_of(values, edges).sum(), 1)
    assert np.isclose(shares_of(values * 100, edges).sum(), 1), "values beyond the edges count to the outermost bins"


def test_bins_of_whole_numbers_are_as_wide_as_whole_numbers():
    widths = np.diff(bin_edges(np.arange(200.0)))
    assert np.allclose(widths, widths[0])
    assert widths[0] == int(widths[0])


STORIES = {
    "en": "The rain had stopped by the time they reached the house on the hill above the town. ",
    "de": "Der Regen hatte aufgehört, als sie das Haus auf dem Hügel über der Stadt erreichten. ",
    "fr": "La pluie avait cessé lorsqu'ils arrivèrent à la maison sur la colline au-dessus de la ville. ",
}


@pytest.mark.parametrize("code", STORIES)
def test_languages_are_identified(code):
    texts = Corpus.from_texts([STORIES[code] * 4 + str(i) for i in range(9)])
    assert languages_of(TextSketch.of(texts)).shares == ((code, 1.0),)
    assert languages_of(TextSketch.of(texts.take(np.arange(9)[::-1]))) == languages_of(TextSketch.of(texts))


def test_short_texts_have_no_language():
    short = languages_of(TextSketch.of(Corpus.from_texts(["Rain."] * 5)))
    assert (short.main, short.documents) == ("", 0)
    assert not short.differs(Languages("x", (("en", 1.0),), 50))


def test_a_difference_in_languages_exceeds_chance():
    real = Languages("real", (("en", 0.95), ("de", 0.05)), 200)
    assert not Languages("a", (("en", 0.80), ("de", 0.20)), 10).differs(real)
    assert Languages("a", (("en", 0.60), ("de", 0.40)), 200).differs(real)


def test_rows_of_a_comparison_are_row_numbers_of_the_corpus(fitted):
    real, generated = corpus("r", [0, 10, 20], ["x", "a", "b"]), corpus("g", [20, 0, 10], ["b", "y", "a"])
    scores: list[Scores] = [fitted.score(real), fitted.score(generated)]
    assert [r.tolist() for r in compared_rows(*scores, None)] == [[1, 2], [0, 2]]
