"""Languages of documents: given, read from a field, detected; and the stopwords that follow from them."""

import json
import sys

import numpy as np
import pytest

from momus import Corpus, compare
from momus.checks.languages import mixture_note
from momus.critic.base import notes_of
from momus.errors import MissingExtraError, UsageError
from momus.reading import ReadingOptions, as_corpus
from momus.text import languages
from momus.text.languages import with_languages
from momus.text.sketches import TextSketch
from momus_critics import stopword_lists
from momus_critics.shares import StopwordShare
from momus_critics.stopword_lists import source_of, stopwords

GERMAN = [f"Der Hund und die Katze sind im Haus, {'und der Vogel singt ' * i}" for i in range(1, 9)]
ENGLISH = [f"The dog and the cat are in the house, {'and the bird sings ' * i}" for i in range(1, 9)]


@pytest.fixture
def records(tmp_path):
    rows = [{"text": t, "meta": {"lang": "de-DE"}} for t in GERMAN] + [{"text": t} for t in ENGLISH]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_languages_come_from_the_option_or_a_field(records):
    assert set(as_corpus(records, "", ReadingOptions(language="pt_BR")).languages) == {"pt"}
    corpus = as_corpus(records, "", ReadingOptions(language="field:meta.lang"))
    assert corpus.languages == ["de"] * 8 + [None] * 8
    assert as_corpus(records, "", ReadingOptions()).languages == [None] * 16
    assert corpus.sorted().unsorted.languages == corpus.languages


@pytest.mark.parametrize("language", ["german!", "field:", ""])
def test_a_language_that_is_none_is_refused(records, language):
    with pytest.raises(UsageError, match="language is"):
        as_corpus(records, reading=ReadingOptions(language=language))


def test_a_field_that_no_document_has_is_refused(records):
    options = ReadingOptions(language="field:lnag")
    corpus = as_corpus(records, reading=options)
    assert corpus.languages == [None] * 16
    with pytest.raises(UsageError, match="'lnag'"):
        options.check_kept([corpus])


def test_mixed_texts_are_told(records):
    corpus = as_corpus(records, "x", ReadingOptions(language="field:meta.lang"))
    assert "'de' 50 %" in mixture_note(TextSketch.of(corpus))
    assert "8 documents without" in mixture_note(TextSketch.of(corpus))
    assert not mixture_note(TextSketch.of(as_corpus(records, "", ReadingOptions(language="de"))))
    comparison = compare(records, {"g": GERMAN}, critics=["length"], reading=ReadingOptions(language="field:meta.lang"))
    assert sum("several languages" in w for w in comparison.warnings) >= 1


@pytest.mark.slow
def test_languages_are_detected(records):
    pytest.importorskip("lingua")
    assert as_corpus(records, "", ReadingOptions(language="detect")).languages == ["de"] * 8 + ["en"] * 8


def test_detecting_needs_lingua(records, monkeypatch):
    monkeypatch.setitem(sys.modules, "lingua", None)
    languages._detector.cache_clear()
    with pytest.raises(MissingExtraError, match="lingua") as error:
        as_corpus(records, "", ReadingOptions(language="detect"))
    assert "[detect]" in error.value.hint


def test_documents_are_read_with_the_stopwords_of_their_language(records):
    corpus = as_corpus(records, "", ReadingOptions(language="field:meta.lang"))
    critic = StopwordShare().fit(corpus)
    assert critic.lists_ == {}
    shares = critic.project(corpus).shares
    german = StopwordShare(language="de").fit(corpus).project(corpus).shares
    english = StopwordShare(language="en").fit(corpus).project(corpus).shares
    assert np.array_equal(shares, np.concatenate([german[:8], english[8:]]))
    marked = critic.explain(corpus.take([0]))
    assert "der" in {step.text.strip().lower() for step in marked.steps if step.marked}


def test_without_a_language_documents_are_read_as_english(records):
    corpus = as_corpus(records, "", ReadingOptions())
    default, english = StopwordShare().fit(corpus), StopwordShare(language="en").fit(corpus)
    assert (default.alpha_, default.beta_) == (english.alpha_, english.beta_)


def test_other_lists_are_those_of_stopwordsiso(tmp_path, monkeypatch):
    iso = pytest.importorskip("stopwordsiso")
    chinese = with_languages(Corpus.from_texts([f"我们在北京，他说的是{'对的' * i}。" for i in range(1, 6)]), "zh")
    critic = StopwordShare().fit(chinese)
    assert critic.lists_["zh"]["source"] == source_of("zh") == f"stopwordsiso {iso.__version__}"
    assert stopwords("zh") == {w.lower() for w in iso.stopwords("zh")}
    assert (critic.project(chinese).hits > 0).all()
    assert any("stopwordsiso" in note.text for note in notes_of(critic))
    critic.save(tmp_path / "critic")
    before = critic.score(chinese).nll
    # a saved critic keeps the list that it was fitted with
    monkeypatch.setattr("momus_critics.shares.stopwords", lambda *_: frozenset())
    assert np.array_equal(StopwordShare.load(tmp_path / "critic").score(chinese).nll, before)


def test_a_language_without_the_package_of_its_list_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(MissingExtraError, match="stopwords of 'xx'"):
        source_of("xx")


def test_a_language_without_a_list_is_unscored_or_an_error():
    texts = Corpus.from_texts([*ENGLISH, *GERMAN])
    mixed = Corpus.from_documents(
        [*with_languages(texts.take(range(8)), "en"), *with_languages(texts.take(range(8, 16)), "xx")]
    )
    critic = StopwordShare().fit(mixed)
    assert critic.score(mixed).unscored == {"no stopwords of language 'xx'": 8}
    pytest.importorskip("stopwordsiso")
    with pytest.raises(UsageError, match="'xx'"):
        StopwordShare().fit(with_languages(texts, "xx"))
    with pytest.raises(UsageError, match="'xx'"):
        StopwordShare(language="xx").fit(texts)


def test_without_the_package_only_shipped_lists_are_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    monkeypatch.setattr(stopword_lists, "find_spec", lambda name: None)
    stopwords.cache_clear()
    assert "und" in stopwords("de")
    assert not stopword_lists.has_stopwords("th")
    with pytest.raises(MissingExtraError, match="stopwordsiso"):
        stopwords("th")
