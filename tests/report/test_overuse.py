"""What generated texts say too often or too rarely, on the first screen: planted loops, phrases and openings."""

import re

import numpy as np
import pytest
from more_defects import MORE

import momus
from momus import Corpus
from momus.controls import DEFECTS
from momus.evidence import Overuse, Overused, Table, from_json, to_json
from momus.report.exports import comparison_markdown
from momus.report.page import render
from momus.report.terminal import WIDTH, comparison_text
from momus.report.words.sentences import overuse_lines
from momus.runs.answer import answer_of
from momus.runs.overuse import CorpusOveruse, overuse_of

WORDS = [f"{a}{b}" for a in "bcdfgklmnprst" for b in ("ala", "elo", "iru", "ome", "unat", "ette", "org")]


def prose(n, seed, name):
    """Documents of random sentences, of which no two are alike."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, len(WORDS) + 1)
    texts = [
        " ".join(" ".join(rng.choice(WORDS, rng.integers(4, 15), p=p / p.sum())).capitalize() + "." for _ in range(12))
        for _ in range(n)
    ]
    return Corpus.from_texts(texts, ids=[f"{name} {i}" for i in range(n)], name=name)


def compared(critics):
    looping = DEFECTS["repetition-loop"].plant(prose(40, 3, "looping"), 0.5)
    chatty = MORE["stock-phrases"].plant(prose(40, 4, "chatty"), 0.3)
    return momus.compare(
        prose(60, 2, "real"),
        {"looping": looping, "chatty": chatty},
        fit=prose(80, 1, "fit"),
        critics=critics,
        permutations=199,
        resamples=199,
    )


@pytest.fixture(scope="module")
def comparison():
    return compared(["length", "repetition", "rhythm", "keyness", "discourse"])


def lines(text):
    """The text without its line breaks, which depend on the width."""
    return " ".join(text.split())


def test_the_terminal_names_loops_and_phrases_with_an_example(comparison):
    named_on_the_terminal(comparison)


@pytest.mark.slow
def test_all_critics_together_leave_room_for_loops_and_phrases():
    named_on_the_terminal(compared(None))


def named_on_the_terminal(comparison):
    shown = comparison_text(comparison)
    assert max(map(len, shown.splitlines())) <= WIDTH
    text = lines(shown)
    assert re.search(
        r"over-used words and phrases: chatty: “[^”]+” \(\d[\d.]* % of documents, human: 0 %\), as in “.*«.*»", text
    )
    assert any(phrase in text for phrase in ("at the end of the day", "it is worth noting", "world of endless"))
    openings = re.search(r"openings of sentences: chatty: ([^;]+)", text)
    assert openings
    assert any(f"“{two}”" in openings[1] for two in ("at the", "it is", "little did", "in a"))


def test_report_and_markdown_say_the_same(comparison):
    page, markdown = render(comparison), comparison_markdown(comparison)
    cards = page[page.index('<section id="axes"') : page.index('<section id="numbers"')]
    found = overuse_lines(overuse_of(comparison.results, answer_of(comparison)))
    assert {what for what, _ in found} >= {"over-used words and phrases", "openings of sentences"}
    for what, sentence in found:
        assert what in cards
        assert sentence.split("“")[1][:20] in cards
        assert f"**{what}:**" in markdown


def test_nothing_is_named_where_nothing_differs():
    found = momus.compare(
        prose(40, 2, "real"),
        {"same": prose(40, 5, "same")},
        fit=prose(60, 1, "fit"),
        critics=["repetition", "keyness", "discourse"],
        permutations=199,
        resamples=199,
    )
    assert not any(v.differs for v in found.verdicts if v.headline)
    assert overuse_of(found.results, answer_of(found)) == []


@pytest.mark.slow
def test_missing_words_are_named_where_they_differ_and_nowhere_else():
    """One phrase is planted in human texts, which generated ones lack, and another one the other way round."""

    def with_phrase(corpus, phrase, share):
        texts = [d.text + 5 * f" {phrase}" * (i < share * len(corpus)) for i, d in enumerate(corpus)]
        return Corpus.from_texts(texts, name=corpus.name)

    human = [
        with_phrase(prose(n, seed, name), "He said so.", 0.8) for n, seed, name in ((80, 1, "fit"), (60, 2, "real"))
    ]
    lacking = with_phrase(prose(60, 3, "lacking"), "He said so.", 0.05)
    adding = with_phrase(with_phrase(prose(60, 4, "adding"), "He said so.", 0.8), "In the end.", 0.8)
    found = momus.compare(
        human[1], {"lacking": lacking, "adding": adding}, fit=human[0], critics=["keyness", "unigram"], resamples=99
    )
    named = overuse_lines(overuse_of(found.results, answer_of(found)))
    [missing] = [s for what, s in named if what == "missing words and phrases"]
    assert missing.startswith("lacking: “he said so” (5 % of documents, human: 80 %)")
    [added] = [s for what, s in named if what == "over-used words and phrases"]
    assert added.startswith("adding: “in the end” (80 % of documents, human: 0 %), as in “")
    assert lines(comparison_text(found)).count(f"missing words and phrases: {missing}") == 1
    words = [s for what, s in named if what == "over- and under-used words"]
    assert any(re.search(r"^lacking: .*“said” \(\d[\d.]* per 1,000 tokens, human: \d", s) for s in words)


def test_overuse_survives_a_run_folder_and_older_tables_have_none():
    overuse = Overuse("loops", "% of documents loop", (Overused("a b", 0.0, 50.0),))
    table = Table("t", "T", ("a",), (("x",),), overuse=overuse)
    assert from_json(to_json(table)) == table
    old = {k: v for k, v in to_json(table).items() if k != "overuse"}
    assert from_json(old) == Table("t", "T", ("a",), (("x",),))


def test_hostile_text_is_cleaned_on_the_first_screen():

    bad = Overused("\x1b[31m<script>", 0.0, 1.0, "a\u202e b")
    [(_, sentence)] = overuse_lines([CorpusOveruse("m", "repetition", Overuse("loops", "%", (bad,)))])
    assert "\x1b" not in sentence
    assert "\u202e" not in sentence
