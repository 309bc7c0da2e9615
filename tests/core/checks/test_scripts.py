"""Scripts that critics claim, and comparisons of texts that they do not claim."""

import pytest

from momus import Corpus, compare
from momus.checks.languages import scripts_of, unclaimed
from momus.critic import Critic
from momus.critic.hooks import claimed_scripts
from momus.critic.registry import critic_class
from momus.text.languages import ANY, SPACED, WORDS, Scripts
from momus.text.sketches import TextSketch
from momus_critics.coreference import Coreference
from momus_critics.length import Length
from momus_critics.shares import StopwordShare

THAI = [f"แมวนั่งอยู่บนเสื่อ {'และสุนัขก็นั่งอยู่ข้าง ๆ ' * i}" for i in range(1, 13)]
GERMAN = [
    f"Der Hund und die Katze sitzen im Garten hinter dem Haus. {'Und er bellt die ganze Nacht. ' * i}"
    for i in range(9, 21)
]

ENGLISH = [
    f"The dog and the cat sit in the garden behind the house. {'And he barks all through the night. ' * i}"
    for i in range(9, 21)
]


def test_every_shipped_critic_says_what_it_reads():
    names = ("coreference", "length", "sections", "heaps", "distortion", "mauve")
    claimed = {name: claimed_scripts(critic_class(name)) for name in names}
    assert claimed["coreference"] == Scripts(("Latn",))
    assert claimed["length"] == claimed["sections"] == claimed["heaps"] == claimed["mauve"] == WORDS
    assert claimed["distortion"] == ANY


def test_defaults_of_plug_ins_are_what_spaces_separate():
    assert claimed_scripts(Critic) == SPACED
    assert Length().scripts == WORDS
    assert Length(tokens="whitespace").scripts == ANY
    assert Coreference(resolver="given").scripts == ANY


def test_scripts_of_a_text_do_not_depend_on_order():
    corpus = Corpus.from_texts(["Москва", "東京タワ", "αβγ", "a1!"])
    letters = {"Cyrl": 6, "Grek": 3, "Hani": 2, "Kana": 2, "Latn": 1}
    assert scripts_of(TextSketch.of(corpus)) == {code: n / 14 for code, n in letters.items()}
    assert scripts_of(TextSketch.of(Corpus.from_texts(["ター"]))) == {"Kana": 1.0}
    assert scripts_of(TextSketch.of(corpus)) == scripts_of(TextSketch.of(corpus.take([3, 2, 1, 0])))
    assert scripts_of(TextSketch.of(Corpus.from_texts(["12 !"]))) == {}


def test_the_text_with_most_unclaimed_letters_is_named():
    scripts = {
        "real": scripts_of(TextSketch.of(Corpus.from_texts(["abc"]))),
        "a": scripts_of(TextSketch.of(Corpus.from_texts(["ก ข ค x"]))),
    }
    outside = unclaimed(Coreference(), scripts)
    assert outside.startswith("75 % of the letters of 'a' are outside")
    assert outside.endswith("most of them Thai")
    assert not unclaimed(Length(), scripts)


@pytest.mark.parametrize(("thai", "latin", "told"), [(49, 51, False), (50, 50, False), (51, 49, True), (99, 1, True)])
def test_a_text_is_not_the_critics_if_more_than_half_of_its_letters_are_of_other_scripts(thai, latin, told):
    corpus = Corpus.from_texts(["ก" * thai + " " + "x" * latin])
    outside = unclaimed(Coreference(), {"a": scripts_of(TextSketch.of(corpus))})
    assert outside.startswith(f"{thai} % of the letters of 'a'" if told else "")
    assert bool(outside) == told


def test_a_critic_that_does_not_claim_the_script_is_left_out_or_warned_of(monkeypatch):
    pytest.importorskip("icu4py")
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["length", "coreference"])
    left = compare(THAI, {"g": THAI}, permutations=99)
    assert [r.name for r in left.results] == ["length"]
    assert any("'coreference' was left out" in w and "Thai" in w for w in left.warnings)
    monkeypatch.setattr(Length, "scripts", Scripts(("Latn",)))
    asked = compare(THAI, {"g": THAI}, critics=["length"], permutations=99)
    assert [r.name for r in asked.results] == ["length"]
    assert any("'length' was asked for" in w for w in asked.warnings)


def test_stopwords_of_another_language_are_told():
    found = compare(GERMAN, {"g": GERMAN}, critics=["stopword-share"], permutations=99).warnings
    assert any("reads the texts as 'en'" in w and "language='de'" in w for w in found)
    german = compare(GERMAN, {"g": GERMAN}, critics=[StopwordShare(language="de")], permutations=99).warnings
    assert not any("reads the texts as" in w for w in german)


@pytest.mark.parametrize(("german", "told"), [(0, False), (5, False), (7, True), (12, True)])
def test_a_language_is_told_where_more_documents_are_in_it_than_in_that_of_the_critic(german, told):
    texts = [*GERMAN[:german], *ENGLISH[german:]]
    found = compare(texts, {"g": texts}, critics=["stopword-share"], permutations=99).warnings
    assert any("reads the texts as 'en'" in w and "are in 'de'" in w for w in found) == told
