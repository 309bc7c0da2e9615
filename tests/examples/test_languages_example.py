"""The example of four languages finds its known defects with the critics that they concern."""

import importlib
import sys
from pathlib import Path

import pytest

from momus import read_corpus
from momus.checks.languages import scripts_of
from momus.text.sketches import TextSketch

FOLDER = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(FOLDER))
pytest.importorskip("icu4py")
pytest.importorskip("stopwordsiso")
EXPECTED = {("shuffled", "perplexity"), ("thinned", "stopword-share")}
MAIN = {"de": "Latn", "zh": "Hani", "ar": "Arab", "th": "Thai"}


def rows_of(out, languages, critics, permutations):
    return importlib.import_module("languages").main(
        ["--out", str(out), "--languages", languages, "--critics", critics, "--permutations", str(permutations)]
    )


def assert_expected(rows):
    """Check that the defects are found in each language, and that nothing is told where nothing was changed.

    The text as it is and the words that a shuffle keeps do not differ. Adjusted p-values bound the share of false
    findings among all, which the true ones here raise: the unchanged rows are therefore adjusted on their own.
    """
    sure = rows[rows["p_adjusted"] < 0.05]
    for language, of_one in sure.groupby("language"):
        assert set(zip(of_one["generated"], of_one["critic"], strict=True)) >= EXPECTED, language
    unchanged = (rows["generated"] == "as it is") | (
        (rows["generated"] == "shuffled") & (rows["critic"] != "perplexity")
    )
    assert rows[unchanged]["p"].min() * unchanged.sum() > 0.05


def test_defects_of_thai_are_found(tmp_path, capsys):
    rows = rows_of(tmp_path, "th", "stopword-share,perplexity", 199)
    assert_expected(rows)
    assert (tmp_path / "verdicts.csv").exists()
    assert "101" in capsys.readouterr().out


@pytest.mark.slow
def test_defects_of_four_languages_are_found(tmp_path):
    rows = rows_of(tmp_path, "de,zh,ar,th", ",".join(importlib.import_module("languages").CRITICS), 1999)
    assert set(rows[rows["p_adjusted"] < 0.05]["language"]) == set(MAIN)
    assert_expected(rows)


@pytest.mark.parametrize("language", MAIN)
def test_texts_are_in_their_language_and_have_a_licence(language):
    corpus = read_corpus(FOLDER / "languages_data" / f"{language}.jsonl.gz", keep=["language", "source"])
    assert set(corpus.languages) == {language}
    assert next(iter(scripts_of(TextSketch.of(corpus)))) == MAIN[language]
    assert {source.partition("/")[0] for source in corpus.field("source")} <= {"django", "wagtail"}
    licences = [(FOLDER / "languages_data" / f"LICENSE-{name}.txt").read_text() for name in ("Django", "Wagtail")]
    assert all("Redistribution and use in source and binary forms" in text for text in licences)


def test_changed_texts_keep_their_words():
    example = importlib.import_module("languages")
    whole = read_corpus(example.DATA / "zh.jsonl.gz", name="zh", keep=["language"])
    tokenizer = importlib.import_module("momus.text.tokens").get_tokenizer("words")
    lengths = whole.tokens(tokenizer).lengths.tolist()
    for name in ("as it is", "shuffled"):
        assert example.changed(whole, "zh", example.VERSIONS[name], 1).tokens(tokenizer).lengths.tolist() == lengths
