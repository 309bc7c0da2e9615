"""Sentences and paragraphs of text in lower case, of lists, and of headings."""

import pytest

from momus import Corpus
from momus_critics.prose.reading import paragraph_tokenizer, read_prose


def sentences(*texts):
    prose = read_prose(Corpus.from_texts(texts).tokens(paragraph_tokenizer("words")))
    return [" ".join(prose.words[i] for i in prose.ids[prose.sentences == s]) for s in range(prose.sentences[-1] + 1)]


CASED = "It rained. We left e.g. at noon. Who knows? Nobody."


def test_a_text_in_lower_case_has_the_sentences_of_the_text():
    assert sentences(CASED.lower()) == sentences(CASED) == [
        "it rained .", "we left e . g . at noon .", "who knows ?", "nobody .",
    ]  # fmt: skip


def test_each_document_is_judged_by_its_own_capitals():
    assert len(sentences("It rained. we left.", "it rained. we left.")) == 3


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("We need:\n- bread\n- wine\n\nSo we went", 4),
        ("We need:\n1. bread\n2) wine", 3),
        ("# The Roof\nIt rained and\nit poured", 2),
        ("It was -5\n-degree weather and\n5 more", 1),
    ],
)
def test_items_are_paragraphs_and_headings_no_prose(text, count):
    assert len(sentences(text)) == count
