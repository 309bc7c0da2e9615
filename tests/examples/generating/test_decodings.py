"""Decodings and their records, and what generated documents count."""

import pytest

from momus.errors import UsageError
from momus.sequences.ngram_text import NGramText
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer
from momus_generating import Decoding, DocumentRequest, ModelSampler, Prompt


@pytest.mark.parametrize(
    ("decoding", "record"),
    [
        (Decoding(longest=5), {"method": "ancestral", "longest": 5}),
        (Decoding("temperature", 0.5), {"method": "temperature", "temperature": 0.5, "longest": 1024}),
        (Decoding("nucleus", top_p=0.5), {"method": "nucleus", "temperature": 1.0, "top_p": 0.5, "longest": 1024}),
        (
            Decoding("beam-sampling", beams=4),
            {"method": "beam-sampling", "temperature": 1.0, "beams": 4, "longest": 1024},
        ),
    ],
    ids=lambda x: x.method if isinstance(x, Decoding) else "",
)
def test_a_decoding_records_what_it_uses(decoding, record):
    assert decoding.record() == record


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


def test_generated_documents_count_their_tokens_and_the_end():
    pytest.importorskip("torch")
    model = NGramText(2, get_tokenizer("words")).fit_corpus(Corpus.from_texts(["a b", "a b c", "b"]))
    requests = [DocumentRequest(i, Prompt("p"), seed) for i, seed in enumerate(range(40))]
    documents = list(ModelSampler(model).generate(requests, Decoding(longest=3)))
    assert len(documents) == 40
    assert {d.finished for d in documents} == {True, False}
    for document in documents:
        words = len(document.text.split())
        assert document.tokens == words + document.finished
        assert words <= 3
        assert document.finished or words == 3, "only the length limit cuts a document"
        encoded = model.encode([document.text])
        if document.finished:
            assert document.log_probability == pytest.approx(model.score(encoded).totals[0])
