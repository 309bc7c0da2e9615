"""The identity of a corpus: any edit that a critic can see alters it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.text.corpus import Corpus
from momus.text.documents import Document, Section

BASE = [
    Document("a", (Section("one\n\ntwo", "First"), Section("three", "Second")), True, "p", None, "g", {"topic": "x"}),
    Document("b", (Section("four", None),), False, None, None, None, {}),
]


def identity(documents):
    return Corpus.from_documents(documents).identity


def edited(**changes):
    from dataclasses import replace

    return [replace(BASE[0], **changes), BASE[1]]


EDITS = {
    "text": edited(sections=(Section("one\n\ntwo!", "First"), Section("three", "Second"))),
    "title": edited(sections=(Section("one\n\ntwo", "FIRST"), Section("three", "Second"))),
    "no title": edited(sections=(Section("one\n\ntwo", None), Section("three", "Second"))),
    "boundary": edited(sections=(Section("one", "First"), Section("two\n\nthree", "Second"))),
    "number of sections": edited(sections=(Section("one\n\ntwo\n\nthree", "First"),)),
    "sectioned": edited(sectioned=False),
    "id": edited(id="c"),
    "prompt": edited(prompt="q"),
    "no prompt": edited(prompt=None),
    "group": edited(group="h"),
    "field": edited(fields={"topic": "y"}),
    "problem": edited(problem="broken"),
    "order": BASE[::-1],
    "one less": BASE[:1],
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_alters_the_identity(edit):
    assert identity(EDITS[edit]) != identity(BASE)


def test_equal_corpora_have_one_identity():
    whole = Corpus.from_documents([*BASE, Document("c", (Section("five", None),))])
    assert whole.take([0, 1]).identity == whole.slice(0, 2).identity == identity(BASE)
    assert Corpus.from_documents(BASE, "another name").identity == identity(BASE)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6), st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_different_texts_have_different_identities(one, other):
    assert (Corpus.from_texts(one).identity == Corpus.from_texts(other).identity) == (one == other)
