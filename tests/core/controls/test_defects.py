"""Planted defects: nothing at strength 0, more with strength, the same in any order, and what they say they are."""

import re
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from more_defects import MORE, language_mixing

from momus import Corpus, MomusError
from momus.controls import DEFECTS as SHIPPED
from momus.controls.changing import FEWEST_WORDS, LOOP
from momus.controls.planting import WORD, passages, words
from momus.text.corpus import Document

DEFECTS = SHIPPED | MORE
LETTERS = list("abcdefghijklmnop")
SENTENCES = [
    "Anna said that she saw him in the garden.",
    "Then Tom asked Anna about his old letters!",
    "It rained, and Tom went home; nobody followed her.",
    "The lamp burned low while he read the paper.",
    "A quarrel of sparrows filled the yard with noise.",
    "Her sister called Tom, but Anna laughed.",
]
FOREIGN = Corpus.from_texts(
    ["Der Regen fiel. Die Stadt schlief.", "Es war einmal. Das ist alles."], ids=["d0", "z"], name="german"
)
DEFECTS["language-mixing"] = language_mixing(FOREIGN)


def made(n=8, sectioned=True, seed=0):
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n):
        parts = [
            " ".join(rng.permutation(SENTENCES)[:4]) + f" Note {i} {j} ends {''.join(rng.choice(LETTERS, 5))} here."
            for j in range(15)
        ]
        documents.append([(f"Part {j}", p) for j, p in enumerate(parts)])
    if sectioned:
        return Corpus.from_sections(
            documents, ids=[f"d{i}" for i in range(n)], prompts=[f"p{i // 2}" for i in range(n)]
        )
    return Corpus.from_texts(
        ["\n\n".join(p for _, p in d) for d in documents],
        ids=[f"d{i}" for i in range(n)],
        prompts=[f"p{i // 2}" for i in range(n)],
    )


def plant(name, corpus, strength, seed=0):
    return DEFECTS[name].plant(corpus, strength, seed)


def contents(corpus):
    return {d.id: [(s.title, s.text) for s in d.sections] for d in corpus}


def words_of(corpus):
    return {d.id: " ".join(s.text for s in d.sections).split() for d in corpus}


@pytest.mark.parametrize("sectioned", [True, False])
@pytest.mark.parametrize("name", DEFECTS)
def test_every_defect_changes_nothing_at_0_and_more_and_more_documents_with_strength(name, sectioned):
    corpus = made(sectioned=sectioned)
    old, before = contents(corpus), set()
    assert contents(plant(name, corpus, 0.0)) == old
    for strength in (0.1, 0.3, 0.6, 1.0):
        planted = plant(name, corpus, strength)
        assert planted.ids == corpus.ids
        assert planted.prompts == corpus.prompts
        new = contents(planted)
        changed = {i for i in old if old[i] != new[i]}
        assert before <= changed, "what is changed stays changed"
        before = changed
    assert before


@pytest.mark.parametrize("name", ["pronoun-swap", "vocabulary-truncation", "word-mixing"])
def test_words_that_are_replaced_at_a_lower_strength_are_at_a_higher_one(name):
    corpus = made()
    old, replaced = words_of(corpus), set()
    for strength in (0.1, 0.3, 0.6, 1.0):
        new = words_of(plant(name, corpus, strength))
        assert {i: len(w) for i, w in new.items()} == {i: len(w) for i, w in old.items()}
        now = {(i, k) for i in old for k, (a, b) in enumerate(zip(old[i], new[i], strict=True)) if a != b}
        assert replaced <= now
        replaced = now
    assert replaced


@pytest.mark.parametrize("name", DEFECTS)
def test_seeds(name):
    corpus = made()
    same, again, other = (contents(plant(name, corpus, 0.5, s)) for s in (1, 1, 2))
    assert same == again
    if name not in ("length-truncation",):  # which has nothing random
        assert same != other


@settings(max_examples=15)
@given(st.permutations(range(8)), st.sampled_from(sorted(DEFECTS)), st.floats(0.05, 1.0))
def test_the_order_of_documents_does_not_matter(order, name, strength):
    corpus = made()
    one, other = plant(name, corpus, strength), plant(name, corpus.take(order), strength)
    assert contents(one) == contents(other)


ALONE = sorted(
    set(DEFECTS)
    - {
        "topic-mixing",
        "word-mixing",
        "section-exchange",
        "vocabulary-truncation",
        "stopword-inflation",
        "answer-copies",
    }
)


@pytest.mark.parametrize("name", ALONE)
def test_other_documents_do_not_matter(name):
    """Except where the defect is made of them (mixing) or of what is frequent in the corpus."""
    corpus = made()
    few, all_ = plant(name, corpus.take([2, 5]), 0.5), plant(name, corpus, 0.5)
    assert contents(few).items() <= contents(all_).items()


@settings(max_examples=40)
@given(st.text(max_size=60), st.sampled_from(sorted(DEFECTS)), st.floats(0, 1), st.booleans())
def test_any_text_is_survived(text, name, strength, sectioned):
    documents = [
        Document("d0", tuple(Document.plain("x", t).sections[0] for t in (text, "b c")), sectioned=sectioned)
        if sectioned
        else Document.plain("d0", text),
        Document.plain("e", "He said so. She did not."),
    ]
    corpus = Corpus.from_documents(documents)
    planted = plant(name, corpus, strength)
    assert len(planted) == 2


@given(st.text(max_size=80))
def test_cutting_loses_nothing(text):
    for cut in (words(text), passages(text)):
        assert cut.join(cut.texts) == text


def changed_rows(name, strength, sectioned=True):
    corpus = made(sectioned=sectioned)
    pairs = zip(corpus, plant(name, corpus, strength), strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    assert changed
    return changed


def test_moved_sections_are_the_same_ones():
    for old, new in changed_rows("section-order", 0.5):
        assert sorted(s.text for s in old.sections) == sorted(s.text for s in new.sections)


@pytest.mark.parametrize("sectioned", [True, False])
def test_sections_and_paragraphs_are_repeated_behind_themselves(sectioned):
    for old, new in changed_rows("section-repetition", 0.5, sectioned):
        a, b = ([s.text for s in d.sections] if sectioned else d.text.split("\n\n") for d in (old, new))
        runs = [[piece, len(list(run))] for piece, run in groupby(b)]
        assert [piece for piece, _ in runs] == a
        assert {count for _, count in runs} <= {1, 2}


@pytest.mark.parametrize("name", ["pronoun-swap", "vocabulary-truncation"])
def test_words_of_one_kind_are_replaced_and_nothing_else(name):
    kinds = {
        "pronoun-swap": re.compile(r"\b(he|him|his|she|her)\b", re.I),
        "vocabulary-truncation": WORD,
    }
    for old, new in changed_rows(name, 0.5):
        a, b = (" ".join(s.text for s in d.sections) for d in (old, new))
        assert len(kinds[name].findall(a)) == len(kinds[name].findall(b))
        assert kinds[name].sub("", a) == kinds[name].sub("", b)


def test_pronouns_become_the_other_gender():
    corpus = Corpus.from_texts(["SHE saw Him; hers was his."])
    assert DEFECTS["pronoun-swap"].plant(corpus, 1.0)[0].text.endswith("HE saw Her; his was her.")


@pytest.mark.parametrize("sectioned", [True, False])
def test_mixed_passages_come_from_other_documents(sectioned):
    corpus = made(sectioned=sectioned)
    every = {d.id: "".join(s.text for s in d.sections) for d in corpus}
    for old, new in changed_rows("topic-mixing", 0.5, sectioned):
        kept = {p for s in old.sections for p in passages(s.text).texts}
        strange = {p for s in new.sections for p in passages(s.text).texts} - kept
        assert strange
        assert all(any(p in text for i, text in every.items() if i != old.id) for p in strange)
    german = {p for d in FOREIGN for p in passages(d.text).texts}
    for _, new in changed_rows("language-mixing", 0.5, sectioned):
        assert any(p in german for s in new.sections for p in passages(s.text).texts)


def test_mixed_words_come_from_other_documents_and_keep_the_length():
    corpus = made()
    old, new = words_of(corpus), words_of(plant("word-mixing", corpus, 0.5))
    assert old != new
    for name, a in old.items():
        strange = [y for x, y in zip(a, new[name], strict=True) if x != y]
        assert {*strange} <= {w for other, words_ in old.items() if other != name for w in words_}


def test_a_translation_gives_what_stands_in_the_same_place():
    corpus = Corpus.from_texts(["Rain fell. The town slept."], ids=["d0"])
    assert plant("language-mixing", corpus, 1.0)[0].text == "Der Regen fiel. Die Stadt schlief."


@pytest.mark.parametrize(("name", "n"), [("word-shuffle", 1), ("trigram-shuffle", 3)])
def test_moved_ngrams_are_the_same_ones(name, n):
    for old, new in changed_rows(name, 0.4):
        a, b = ([p.split() for p in (s.text for s in d.sections)] for d in (old, new))
        grams = [[tuple(w[i : i + n]) for w in x for i in range(0, len(w) // n * n, n)] for x in (a, b)]
        assert sorted(grams[0]) == sorted(grams[1])


def test_lengths_loops_and_insertions():
    for old, new in changed_rows("length-truncation", 0.3):
        a, b = (" ".join(s.text for s in d.sections).split() for d in (old, new))
        assert len(b) == max(len(a) - int(0.3 * len(a)), min(FEWEST_WORDS, len(a)))
        assert a[: len(b)] == b
    for old, new in changed_rows("repetition-loop", 0.3):
        a, b = (" ".join(s.text for s in d.sections).split() for d in (old, new))
        assert len(a) == len(b)
        first = len(a) - int(0.3 * len(a))
        assert a[:first] == b[:first]
        places = range(first, len(a))
        assert any(all(b[i] == b[i - period] for i in places) for period in range(LOOP[0], LOOP[1] + 1))
    for old, new in changed_rows("stopword-inflation", 0.3):
        a, b = (" ".join(s.text for s in d.sections).split() for d in (old, new))
        rest = iter(b)
        assert all(word in rest for word in a), "the words of the text stay, in their order"
        assert len(b) > len(a)
    for old, new in changed_rows("symbol-inflation", 0.3):
        a, b = ("".join(s.text for s in d.sections) for d in (old, new))
        assert len(b) > len(a)
        assert re.sub(r"([^\w\s])\1", r"\1", b) == re.sub(r"([^\w\s])\1", r"\1", a)


def test_wrong_use():
    with pytest.raises(MomusError, match="between 0 and 1"):
        plant("pronoun-swap", made(), 1.5)


def test_exchanged_sections_keep_their_title_and_come_from_another_document():
    kinds = ("Summary", "Motivation", "Design", "Drawbacks")
    documents = [[(k, f"{k} of {i}") for k in kinds] for i in range(5)]
    corpus = Corpus.from_sections(documents, ids=[f"d{i}" for i in range(5)])
    planted = DEFECTS["section-exchange"].plant(corpus, 0.5, seed=3)
    source = {s.text: (d.id, s.title) for d in corpus for s in d.sections}
    owners = []
    for before, after in zip(corpus, planted, strict=True):
        for old, new in zip(before.sections, after.sections, strict=True):
            owner, title = source[new.text]
            assert title == new.title == old.title
            assert (owner == before.id) == (old == new)
            owners.append(owner == before.id)
    assert 0 < sum(owners) < len(owners)


def test_a_section_whose_title_no_other_document_has_is_not_exchanged():
    corpus = Corpus.from_sections([[("A", "one"), ("Mine", "two")], [("A", "three")]], ids=["x", "y"])
    planted = DEFECTS["section-exchange"].plant(corpus, 1.0)
    assert [s.text for d in planted for s in d.sections] == ["three", "two", "one"]


def test_copies_of_one_answer():
    corpus = Corpus.from_texts(
        ["c", "a", "b", "x", "y"], ids=["2", "1", "3", "9", "8"], prompts=["p", "p", "p", "q", None]
    )
    planted = plant("answer-copies", corpus, 1.0)
    assert [d.text for d in planted] == ["a", "a", "a", "x", "y"]


def test_sentences_of_one_template_keep_their_number_and_about_their_length():
    text = "He came home late and said nothing at all. Then it rained on the roof, and the old lamp went out by itself."
    planted = plant("sentence-template", Corpus.from_texts([text], ids=["a"]), 1.0)[0].text
    lengths = [len(s.split()) for s in planted.split(". ")]
    assert lengths == [7, 15]
    assert re.fullmatch(r"((, and )?\w+( \w+){6})+\. ((, and )?\w+( \w+){6})+\.", planted)


def test_connectives_stand_before_sentences():
    planted = plant("connective-inflation", Corpus.from_texts(["He came. She left."], ids=["a"]), 1.0)[0].text
    assert all(s.split()[0].endswith(",") or s.startswith("In fact,") for s in planted.split(". "))
    assert planted.endswith("she left.")
