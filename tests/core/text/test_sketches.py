"""Sketches of texts in parts: the checks of joined sketches are those of the whole, for any split and kept on disk."""

from dataclasses import fields, is_dataclass
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momus.checks.languages import languages_of, mixture_note, scripts_of, splitting_warnings
from momus.checks.texts import check_texts, sentence
from momus.errors import UsageError
from momus.runs.texts import read_texts
from momus.text.corpus import Corpus
from momus.text.documents import Document
from momus.text.languages import with_languages
from momus.text.sketches import FREQUENT, SAMPLE, TextSketch, sample_size
from momus.text.words import has_icu

WORDS = np.array([f"w{i}" for i in range(60)])
FOREIGN = ["Кошка сидела на окне и смотрела на улицу. " * 8, "猫は窓辺に座って通りを見ていた。" * 20]
SENTENCE = "The rain had stopped by the time they reached the house on the hill, and nobody was there to meet them. "


@pytest.fixture(scope="module", autouse=True)
def _few_permutations():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("momus.checks.covariates.PERMUTATIONS", 19)
        yield


def story(rng, length):
    return " ".join(rng.choice(WORDS, length))


def made_text(seed, n, others=(), tag=""):
    """Documents of all kinds: copies, near copies, shared openings, other languages, short and empty ones."""
    rng = np.random.default_rng(seed)
    known = [d.text for d in others]
    documents = []
    for i in range(n):
        kind = rng.integers(8)
        text = story(rng, int(rng.integers(0, 40)))
        if kind == 0 and known:
            text = known[rng.integers(len(known))]
        elif kind == 1 and known:
            text = known[rng.integers(len(known))] + " more"
        elif kind == 2 and known:
            text = known[rng.integers(len(known))][:120] + story(rng, 20)
        elif kind == 3:
            text = SENTENCE * 3
        elif kind == 4:
            text = FOREIGN[rng.integers(2)]
        elif kind == 5:
            text = " " * int(rng.integers(3))
        known.append(text)
        documents.append(Document.plain(f"{'abc'[int(rng.integers(3))]}/{tag}{i}", text))
    return Corpus.from_documents(documents)


def plain(found):
    """What a check found, in values that can be compared."""
    if is_dataclass(found):
        return {f.name: plain(getattr(found, f.name)) for f in fields(found)}
    if isinstance(found, tuple | list):
        return [plain(f) for f in found]
    return found.tolist() if isinstance(found, np.ndarray) else found


def everything(sketches, split):
    real, fit, generated = sketches
    whole = TextSketch.joined([fit, real], "whole") if split else None
    checks = check_texts(fit, real, [generated], whole)
    notes = [*(mixture_note(s) for s in sketches), *splitting_warnings(sketches)]
    return (
        [(plain(c), sentence(c) if c.warns else "") for c in checks],
        *([f(s) for s in sketches] for f in (languages_of, scripts_of)),
        notes,
    )


def in_parts(corpus, cuts, folder=None):
    """The joined sketches of the parts of a text, each kept in a file if a folder is given."""
    edges = [0, *sorted({c for c in cuts if 0 < c < len(corpus)}), len(corpus)]
    parts = []
    for k, (a, b) in enumerate(pairwise(edges)):
        part = corpus.take(np.arange(a, b))  # tokens of its own, as if the part was read alone
        sketch = TextSketch.of(part, sample=sample_size(len(edges) - 1))
        if folder is not None:
            pq.write_table(sketch.to_table(), folder / f"{k}.parquet")
            sketch = TextSketch.from_table(pq.read_table(folder / f"{k}.parquet"), part.take)
        parts.append(sketch)
    return TextSketch.joined(parts)


def three_texts(seed, n, language=None):
    real = made_text(seed, n)
    fit = made_text([seed, 1], n, list(real), "f")
    generated = made_text([seed, 2], n, [*real, *fit], "g")
    named = {"real": real, "fit": fit, "g": generated}
    return [with_languages(c.take(range(len(c)), name), language) for name, c in named.items()]


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 1000), st.lists(st.integers(1, 49), max_size=6), st.booleans())
def test_joined_sketches_of_any_split_give_the_checks_of_the_whole(seed, cuts, split):
    corpora = three_texts(seed, 50)
    whole = [TextSketch.of(c.take(range(len(c)))) for c in corpora]
    assert everything([in_parts(c, cuts) for c in corpora], split) == everything(whole, split)


def test_sketches_kept_in_files_give_the_same_checks(tmp_path):
    corpora = [c.take(range(len(c))) for c in three_texts(3, 120, "de")]
    expected = everything([TextSketch.of(c) for c in corpora], False)
    kept = []
    for corpus in corpora:
        (tmp_path / corpus.name).mkdir()
        kept.append(in_parts(corpus, [40, 41, 90], tmp_path / corpus.name))
    found = everything(kept, False)
    assert found == expected
    kinds = {c["kind"] for c, _ in found[0] if c["documents"]}
    assert kinds >= {"repeated", "fitted", "memorised", "copied", "opening", "groups", "order"}


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 1000), st.randoms())
def test_only_what_depends_on_order_changes_with_it(seed, random):
    corpora = three_texts(seed, 40)
    rows = list(range(40))
    random.shuffle(rows)
    given_order = everything([TextSketch.of(c) for c in corpora], False)
    shuffled = everything([TextSketch.of(c).take(rows) for c in corpora], False)
    for (one, words), (other, again) in zip(given_order[0], shuffled[0], strict=True):
        if one["kind"] != "order":
            assert words == again
            assert (one["documents"], one["warns"]) == (other["documents"], other["warns"])
    assert given_order[1:] == shuffled[1:]


def test_a_text_read_in_memory_is_checked_as_its_joined_parts():
    corpus = made_text(5, 300)
    generated = made_text(6, 100, list(corpus))
    found = read_texts(corpus, {"g": generated}, None, 0)
    halves = [in_parts(c.unsorted, [20, 70]) for c in (found.fit, found.real)]
    whole = in_parts(corpus.take(range(300), "real"), [100, 150, 280])
    rows = {id: row for row, id in enumerate(whole.ids(np.arange(300)))}
    fit, real = (whole.take([rows[id] for id in h.ids(np.arange(len(h)))], h.name) for h in halves)
    checks = check_texts(fit, real, [in_parts(generated.take(range(100), "g"), [50])], whole)
    assert [plain(c) for c in checks] == [plain(c) for c in found.checks]
    assert languages_of(real) == found.languages["real"]
    assert scripts_of(fit) == found.scripts["fit"]


def test_halves_of_a_text_in_parts_have_the_samples_of_their_own():
    corpus = Corpus.from_texts([f"{SENTENCE * 2}{i}" for i in range(1200)])
    half = np.random.default_rng(0).permutation(1200)[:600]
    for parts in (1, 4):
        whole = in_parts(corpus, [1200 * k // parts for k in range(1, parts)])
        assert whole.table["head"].null_count > 400
        assert languages_of(whole.take(half)) == languages_of(TextSketch.of(corpus.take(half)))


def test_frequent_words_are_bounded_and_those_of_the_whole():
    rng = np.random.default_rng(0)
    p = 1 / np.arange(1, 20_001)
    numbers = rng.choice(20_000, (600, 300), p=p / p.sum())
    corpus = Corpus.from_texts([" ".join(f"w{i}" for i in row) for row in numbers])
    whole, parts = TextSketch.of(corpus), in_parts(corpus, [10, 200])
    assert len(whole.words) == len(parts.words) == FREQUENT
    assert list(parts.words)[:100] == list(whole.words)[:100]
    assert list(whole.words.values()) == sorted(whole.words.values(), reverse=True)


def test_a_document_takes_some_two_hundred_bytes():
    sketch = TextSketch.of(Corpus.from_texts([f"word {i} " * 50 for i in range(2000)]))
    assert sketch.table.drop_columns("head").nbytes / len(sketch) < 220
    assert sketch.table["head"].null_count == 2000 - SAMPLE


def test_documents_whose_words_are_not_found_are_counted_over_parts(monkeypatch):
    corpus = Corpus.from_texts([*FOREIGN, SENTENCE, FOREIGN[1]], name="x")
    parts = in_parts(corpus, [1, 3])
    assert splitting_warnings([parts]) == ([] if has_icu() else splitting_warnings([TextSketch.of(corpus)]))
    monkeypatch.setattr("momus.checks.languages.has_icu", lambda: False)
    (warning,) = splitting_warnings([parts, TextSketch.of(corpus.take([2], "y"))])
    assert warning.startswith("2 documents of 'x' hold text in Chinese")


def test_a_sketch_without_its_text_says_so():
    text = SENTENCE * 3
    sketch = TextSketch.of(Corpus.from_texts([text, text + "more"], name="x"))
    kept = TextSketch.from_table(sketch.to_table())
    with pytest.raises(UsageError, match="2 documents must be read again"):
        check_texts(kept, kept, [])
    with pytest.raises(UsageError, match="no sketch"):
        TextSketch.joined([])
