"""Words of any script against ICU itself, the old expression, and a machine without ICU."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus import Corpus, compare
from momus.critic import TokenCritic
from momus.critic.base import notes_of
from momus.critic.splitting import UNSPLIT
from momus.errors import FittingError, MissingExtraError
from momus.reading import read_corpus
from momus.text import words as words_module
from momus.text.tokens import get_tokenizer
from momus.text.words import WORD, icu_version, split_words
from momus_critics.length import Length

breakers = pytest.importorskip("icu4py.breakers")

UNSPACED = {
    "Han": "道可道，非常道。我们在北京大学学习计算机科学，2024年8月去了上海。",
    "kana": "これは日本語の文章です。東京タワーに行きました。ﾃﾞｰﾀとコーヒー。",
    "Thai": "ภาษาไทยเป็นภาษาที่มีวรรณยุกต์และไม่มีการเว้นวรรค ราคา ๑๒๓ บาท",
    "Lao": "ພາສາລາວເປັນພາສາທີ່ມີວັນນະຍຸດ",
    "Khmer": "ភាសាខ្មែរជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា",
    "Burmese": "မြန်မာဘာသာစကားသည် မြန်မာနိုင်ငံ၏ ရုံးသုံးဘာသာစကား ဖြစ်သည်",
}
MARKED = {
    "Devanagari": "हिन्दी भारत की राजभाषा है। क्या आप ठीक हैं? क्‍या",
    "Arabic": "اللُّغَةُ العَرَبِيَّةُ جميلة جدا، أليس كذلك؟ می‌خواهم",
    "Hebrew": "שָׁלוֹם עולם, צה״ל ג'ירפה",
    "Tamil": "தமிழ் மொழி பழமையானது",
    "decomposed Latin": "cafe\u0301 nai\u0308ve Vie\u0323\u0302t",
}
SPACED = {
    "Cyrillic": "Всё смешалось в доме Облонских, но — «что делать?»",
    "Greek": "Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν.",
    "Korean": "한국어는 아름다운 언어입니다. 서울에 갔어요.",
    "English": "“Don’t panic,” he said — 3.14 € · naïve café… 🎉 ❤️ 1️⃣ 👩‍👧 x_y",
}


@pytest.mark.parametrize("script", [*UNSPACED, *MARKED])
def test_words_are_those_of_icu(script):
    text = {**UNSPACED, **MARKED}[script]
    expected = [w for w in breakers.WordBreaker(text, "root") if w.strip()]
    assert split_words(text) == expected
    assert len(expected) >= 3


@pytest.mark.parametrize("script", SPACED)
def test_other_text_is_split_as_before(script):
    before = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_+")
    assert split_words(SPACED[script]) == before.findall(SPACED[script])


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF) | st.sampled_from("–—‘’“”…•€→✓🎉\ufe0f"), max_size=60))
def test_any_latin_text_is_split_as_before(text):
    assert split_words(text) == WORD.findall(text)


@given(st.text(alphabet="ab'’ ,_\n的我们北京タワーไทยกำ्िहन\u0301\u200d\u200f\ufe0f1", max_size=60))
def test_no_character_is_lost(text):
    """Tokens in order are the text without white space and marks of direction, whatever the mixture of scripts."""
    assert "".join(split_words(text)).replace("\u200f", "") == re.sub(r"[\s\u200f]", "", text)


@pytest.mark.parametrize("stray", ["初始", "頭艦食敌夢", "\u0302", "\u202d", "น้ำ"])
def test_strays_in_english_change_nothing(stray):
    text = "the cat sat on the mat, and nobody knew why it had come. " * 8 + stray
    assert split_words(text) == WORD.findall(text)
    assert not Corpus.from_texts([text]).unspaced.any()
    assert split_words(f"a{stray}" * 200) != WORD.findall(f"a{stray}" * 200)


def test_lower_case_of_the_turkish_capital_is_whole():
    text = "the train to İstanbul leaves at noon. " * 9
    assert "i\u0307stanbul" in split_words(text.lower())


@given(st.lists(st.sampled_from(["the cat ", "北京 ", "ไทย ", "Москва ", "e\u0301 ", "หรือ"]), min_size=1, max_size=90))
def test_a_corpus_knows_which_documents_icu_splits(words):
    text = "".join(words)
    breaks = split_words(text) != WORD.findall(text) and re.search(f"[{words_module.UNSPACED}]", text) is not None
    unspaced = bool(Corpus.from_texts([text]).unspaced[0])
    assert unspaced or not breaks


def test_runs_are_split_alike_alone_and_together():
    runs = [re.sub(r"[^\w\u0300-\u1fff]", "", text) for text in UNSPACED.values()]
    together = split_words(" ".join(runs))
    assert together == [word for run in runs for word in split_words(run)]


def test_icu_does_not_depend_on_the_language():
    for text in (*UNSPACED.values(), *MARKED.values(), *SPACED.values()):
        root = list(breakers.WordBreaker(text, "root"))
        for language in ("en", "de", "zh", "ja", "th", "ar", "he", "sv"):
            assert list(breakers.WordBreaker(text, language)) == root


def test_marks_of_direction_are_no_tokens():
    assert split_words("שלום\u200f! \u202bعالم\u202c") == ["שלום", "!", "عالم"]
    assert split_words("ភាសា\u200bខ្មែរ") == ["ភាសា", "ខ្មែរ"]


@pytest.fixture
def without_icu(monkeypatch):
    monkeypatch.setattr(words_module, "has_icu", lambda: False)
    for module in ("momus.critic.splitting", "momus.checks.languages"):
        monkeypatch.setattr(f"{module}.has_icu", lambda: False)


def test_without_icu_runs_become_characters(without_icu):
    assert split_words("北京 Python") == ["北", "京", "Python"]
    assert split_words("น้ำ") == ["น้", "ำ"]
    assert icu_version() == ""


def test_without_icu_documents_are_left_out_and_counted(without_icu):
    english = [f"the cat sat on {'the mat ' * i}" for i in range(1, 9)]
    mixed = Corpus.from_texts([*english, "他说：我们在北京大学学习。", "the word 東京 in English"])
    critic = Length().fit(mixed)
    assert critic.fitted_on_["left_out"] == 2
    assert critic.score(mixed).unscored == {UNSPLIT: 2}
    assert "languages" in UNSPLIT
    with pytest.raises(MissingExtraError, match="3 documents"):
        Length().fit(Corpus.from_texts([UNSPACED["Han"], UNSPACED["Thai"], UNSPACED["Khmer"]]))
    with pytest.raises(FittingError):
        Length().fit(Corpus.from_texts(["one"]))
    texts = [f"{t} again" for t in english]
    comparison = compare(mixed, {"g": texts}, critics=["length"], permutations=99)
    assert any("2 documents of" in w or "1 document of" in w for w in comparison.warnings if "[languages]" in w)


def test_a_critic_remembers_the_icu_that_split_its_text(tmp_path, monkeypatch):
    chinese = Corpus.from_texts([UNSPACED["Han"] * i for i in range(1, 6)])
    critic = Length().fit(chinese)
    assert critic.fitted_on_["tokenizer"] == f"words (says), ICU {icu_version()}"
    assert not notes_of(critic)
    critic.save(tmp_path / "critic")
    monkeypatch.setattr("momus.text.tokens.icu_version", lambda: "1.2")
    loaded = Length.load(tmp_path / "critic")
    (note,) = [n for n in notes_of(loaded) if n.warning]
    assert f"'words (says), ICU {icu_version()}'" in note.text
    assert "'words (says), ICU 1.2'" in note.text


def test_english_leaves_no_trace_of_icu():
    assert "tokenizer" not in Length().fit(Corpus.from_texts(["one two", "three"])).fitted_on_


def test_unspaced_text_is_found_in_documents(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "plain"}\n{"text": null}\n{"sections": ["a", "ไทย"]}\n')
    assert read_corpus(tmp_path / "x.jsonl").unspaced.tolist() == [False, False, True]


def test_tokens_are_in_lower_case_by_default():
    assert Corpus.from_texts(["Łódź"]).tokens(get_tokenizer("words")).vocabulary == ["łódź"]
    assert issubclass(Length, TokenCritic)
