"""Results do not depend on the order of the documents, except those on running text, which say so."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus import Corpus, compare
from momus.conformance.corpora import documents
from momus.critic.registry import critic_class
from momus.reading import read_corpus
from momus.runs.text_checks import order_notes
from momus.runs.texts import read_texts
from momus.text.documents import Answers, Document, LeftOut, Origin, Section
from momus.text.tokens import get_tokenizer

CRITICS = ["length", "unigram", "sections"]
DOCUMENTS = st.builds(
    lambda text, title, prompt: (text, title, prompt),
    st.sampled_from(["", "a", "b c"]),
    st.sampled_from([None, "T"]),
    st.sampled_from([None, "p"]),
)


def made(rows):
    return Corpus.from_documents(
        Document(str(i), (Section(text, title),), prompt=prompt) for i, (text, title, prompt) in rows
    )


@given(st.lists(DOCUMENTS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_canonical_order_belongs_to_the_documents(rows, random):
    rows = list(enumerate(rows))
    corpus = made(rows)
    random.shuffle(rows)
    assert made(rows).sorted().ids == corpus.sorted().ids == corpus.canonical.ids
    assert corpus.sorted().unsorted.ids == corpus.ids


def test_a_corpus_in_another_order_was_read_in_the_same_way(tmp_path):
    (tmp_path / "README.txt").write_text("About.")
    rows = [{"replies": [f"word {i}", f"{i} more"]} for i in range(4)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = read_corpus(tmp_path, field="replies")
    corpus.origin = Origin("a")
    told = (corpus.answers, corpus.left_out, corpus.origin)
    assert told == ((Answers("replies", 4, 8),), LeftOut(("README.txt",)), Origin("a"))
    assert corpus.sorted().ids != corpus.ids
    texts = read_texts(corpus, {"b": corpus}, corpus, 0)
    for same in (corpus.sorted(), corpus.sorted().unsorted, corpus.canonical, texts.real, texts.fit, *texts.generated):
        assert (same.answers, same.left_out, same.origin) == told
    assert corpus.take([0]).origin is None


def test_a_reordered_corpus_shares_its_tokens():
    words = get_tokenizer("words")
    corpus = Corpus.from_texts(["b a", "c", "a a d"])
    moved = corpus.reordered(np.array([2, 0, 1]))
    table = moved.tokens(words)
    assert [[table.vocabulary[i] for i in table.slice(k, k + 1).ids] for k in range(3)] == [
        ["a", "a", "d"],
        ["b", "a"],
        ["c"],
    ]
    assert corpus.tokens(words).vocabulary is table.vocabulary


def leaves(value, path=""):
    """All numbers and words of a result, with where they stand."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}")
    elif isinstance(value, list | tuple | np.ndarray):
        for i, part in enumerate(value):
            yield from leaves(part, f"{path}[{i}]")
    else:
        yield path, value


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return one == other


def reversed_(corpus):
    return corpus.take(np.arange(len(corpus))[::-1])


@pytest.fixture(scope="module")
def texts():
    return [documents(24, seed) for seed in (0, 1, 2)]


def run(texts, critics, **options):
    fit, real, generated = texts
    return compare(real, {"m": generated, "n": fit}, fit=fit, critics=critics, permutations=99, **options)


@pytest.fixture(scope="module")
def both_orders(texts):
    return run(texts, CRITICS), run([reversed_(c) for c in texts], CRITICS)


@pytest.mark.parametrize("part", ["verdicts", "results", "joint", "warnings"])
def test_nothing_moves_when_documents_are_reversed(both_orders, part):
    forwards, backwards = (dict(leaves(getattr(c, part))) for c in both_orders)
    signatures = {k for k in forwards if ".signature" in k or "identity" in k}  # which record what was given
    differing = {k for k in forwards | backwards if not same(forwards.get(k), backwards.get(k))} - signatures
    assert not differing
    assert forwards


def test_documents_stay_in_the_order_given(texts, both_orders):
    table = both_orders[1].documents
    rows = table[(table.critic == "length") & (table.corpus == "m")]
    assert list(rows.id) == texts[2].ids[::-1]
    forwards = both_orders[0].documents.set_index(["critic", "corpus", "id"]).nll
    assert np.array_equal(forwards[table.set_index(["critic", "corpus", "id"]).index], table.nll, equal_nan=True)


def test_laws_say_that_order_matters(texts):
    fit, real, generated = texts
    read = read_texts(real, {"m": generated}, fit, 0)
    notes = {name: [n.text for n in order_notes(read, critic_class(name)())] for name in ("heaps", "length")}
    assert any("depends on the order of the documents" in text for text in notes["heaps"])
    assert not notes["length"]
    assert read.for_critic(critic_class("heaps")()).real.ids == real.ids
