import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus import Corpus, MomusError
from momus.text import tokens as token_module
from momus.text.tokens import get_tokenizer

texts = st.lists(st.text(alphabet="ab cé.’'\n", max_size=30), min_size=1, max_size=8)


@given(texts, st.data())
def test_slices_and_takes_hold_the_tokens_of_their_documents(strings, data):
    tokenizer = get_tokenizer("words")
    corpus = Corpus.from_texts(strings)
    table = corpus.tokens(tokenizer)
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1), unique=True))
    taken = corpus.take(rows).tokens(tokenizer)
    for position, row in enumerate(rows):
        ids = taken.ids[taken.offsets[position] : taken.offsets[position + 1]]
        assert [taken.vocabulary[i] for i in ids] == tokenizer.split(strings[row].lower())
    start = data.draw(st.integers(0, len(strings)))
    stop = data.draw(st.integers(start, len(strings)))
    assert corpus.slice(start, stop).tokens(tokenizer).lengths.tolist() == table.lengths[start:stop].tolist()


def test_text_is_split_once(monkeypatch):
    calls = []
    tokenizer = token_module.Tokenizer("counted", lambda text: calls.append(text) or text.split())
    corpus = Corpus.from_texts(["a b", "c"])
    corpus.tokens(tokenizer)
    corpus.tokens(tokenizer)
    corpus.slice(0, 1).tokens(tokenizer)
    assert calls == ["a b", "c"]


def test_chunks_change_nothing(monkeypatch):
    corpus = [["one two", "three"], ["two"], ["", "four one"]]
    make = lambda: Corpus.from_sections([[(None, s) for s in d] for d in corpus])  # noqa: E731
    whole = make().tokens(get_tokenizer("words"))
    monkeypatch.setattr(token_module, "CHUNK_CHARACTERS", 1)
    parts = make().tokens(get_tokenizer("words"))
    assert whole.vocabulary == parts.vocabulary
    assert np.array_equal(whole.ids, parts.ids)
    assert np.array_equal(whole.section_offsets, parts.section_offsets)


def test_unknown_tokenizer_names_those_there_are():
    with pytest.raises(MomusError, match="words"):
        get_tokenizer("bpe")


def count_tokens(table):
    return [len(table.ids)]


def test_what_is_made_of_few_tokens_is_made_once_for_all_critics(monkeypatch):
    corpus = Corpus.from_texts(["To be.", "Not to be."])
    tokenizer = get_tokenizer("words")
    whole = corpus.slice(0, 2)
    assert whole is corpus
    assert whole.tokens(tokenizer).read_once(count_tokens) is corpus.tokens(tokenizer).read_once(count_tokens)
    part = corpus.slice(1, 2)
    assert part.tokens(tokenizer).read_once(count_tokens) == [4]
    monkeypatch.setattr("momus.text.tokens.MOST_KEPT", 3)
    table = corpus.take([1]).tokens(tokenizer)
    assert table.read_once(count_tokens) is not table.read_once(count_tokens)
