"""Layout: line breaks on one side only, and the punctuation of tokenised text."""

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.checks.languages import TextLayout, layout_of, layout_sentence
from momus.reading import ReadingOptions
from momus.report.words.leads import first_sentences
from momus.runs.answer import answer_of
from momus.text.sketches import TextSketch

STORY = 'The rain had stopped by the time they reached the house. "It is late", she said. He did not answer. '


@pytest.mark.parametrize(
    ("text", "breaks", "spacing"),
    [
        (STORY * 3, 0.0, 0.0),
        ((STORY + "\n") * 3, 1.0, 0.0),
        (STORY.replace(".", " .").replace(",", " ,") * 3, 0.0, 1.0),
        (STORY.replace("did not", "did n't") * 3, 0.0, 1.0),
        (STORY.replace('"', "``") * 3, 0.0, 0.0),
    ],
)
def test_the_layout_of_a_text(text, breaks, spacing):
    found = layout_of(TextSketch.of(Corpus.from_texts([f"{text} {i}" for i in range(4)], name="x")))
    assert found == TextLayout("x", 4, breaks, spacing)


def test_only_large_differences_are_said():
    real, near, far = TextLayout("real", 50, 0.0, 0.1), TextLayout("a", 50, 0.4, 0.0), TextLayout("b", 50, 0.9, 0.0)
    assert layout_sentence([real, near], {}) == ""
    assert layout_sentence([real, TextLayout("b", 5, 0.9, 0.0)], {}) == "", "too few documents"
    said = layout_sentence([real, near, far], {"breaks": ["rhythm", "repetition"]})
    shares = "90 % of b against 0 % of human documents have line breaks"
    assert said.startswith(f"Layout differs: {shares}, which touches rhythm and repetition. normalise=['whitespace']")


def test_the_first_line_of_the_answer_names_the_axes_that_line_breaks_touch():
    rng = np.random.default_rng(0)

    def texts(n, end):
        words = ["stone", "river", "house", "rain", "light", "voice", "table", "road"]
        return [
            end.join(" ".join(rng.choice(words, rng.integers(5, 12))).capitalize() + "." for _ in range(16))
            for _ in range(n)
        ]

    real, other = texts(50, " "), {"broken": texts(50, "\n\n")}
    options = {"critics": ["discourse", "length"], "resamples": 99, "permutations": 499}
    found = momus.compare(real, other, fit=texts(60, " "), **options)
    first = first_sentences(answer_of(found))[0]
    shares = "100 % of broken against 0 % of human documents have line breaks"
    assert first.startswith(f"Layout differs: {shares}, which touches")
    assert str(found).startswith("Layout differs")
    reading = ReadingOptions(normalise=("whitespace",))
    again = momus.compare(list(real), {"broken": list(other["broken"])}, fit=texts(60, " "), reading=reading, **options)
    assert not answer_of(again).layout
