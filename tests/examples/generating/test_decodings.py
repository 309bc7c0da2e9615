"""Decodings that are refused, and what generated documents count."""

import pytest

from momus.errors import UsageError
from momus.sequences.ngram_text import NGramText
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer
from momus_generating import Decoding, sample


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "greedy"}, "greedy"),
        ({"temperature": 0.5}, "ancestral decoding does not use temperature"),
        ({"method": "temperature", "top_p": 0.5}, "does not use top_p"),
        ({"method": "nucleus", "top_p": 0.5, "beams": 2}, "does not use beams"),
        ({"method": "temperature", "temperature": 0.0}, "temperature is 0"),
        ({"method": "temperature", "temperature": float("inf")}, "temperature is inf"),
        ({"method": "nucleus", "top_p": 0.0}, "top_p is 0"),
        ({"method": "nucleus", "top_p": 1.5}, "top_p is 1.5"),
        ({"longest": 0}, "longest is 0"),
        ({"method": "beam-sampling", "beams": 0}, "beams is 0"),
    ],
)
def test_decodings_out_of_range_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Decoding(**options)


def test_drawn_documents_are_cut_by_the_length_limit_alone():
    pytest.importorskip("torch")
    model = NGramText(2, get_tokenizer("words")).fit_corpus(Corpus.from_texts(["a b", "a b c", "b"]))
    drawn = sample(model, None, Decoding(longest=3), range(40))
    assert set(drawn.finished.tolist()) == {True, False}
    assert (drawn.finished | (drawn.sequences.lengths == 3)).all()
