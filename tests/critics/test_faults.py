"""Faults: which texts have each kind and which healthy ones do not, rates that are recovered, and texts of any kind."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momus import Corpus
from momus.text.blocks import read_blocks
from momus_critics.faults import Faults
from momus_critics.faults.endings import broken_off
from momus_critics.faults.loops import find_loops
from momus_critics.faults.sheet import KINDS
from momus_critics.faults.signs import control_tokens, foreign_scripts, noise, refusal

NAMES = [kind.name for kind in KINDS]
SUBJECTS = ("The old man", "A small boy", "Her sister", "The quiet doctor", "My neighbour", "The tired teacher")
VERBS = ("walked along", "looked behind", "waited near", "painted", "remembered", "sat below")
OBJECTS = ("the wooden bridge", "a green garden", "the empty station", "some broken houses", "the long river")
ENDS = ("before the rain began", "because nobody had called", "while the others were away", "and then went home")


def story(rng, sentences=14):
    said = (" ".join(str(rng.choice(words)) for words in (SUBJECTS, VERBS, OBJECTS, ENDS)) for _ in range(sentences))
    return ". ".join(said) + "."


def stories(n, seed=0):
    rng = np.random.default_rng(seed)
    return [story(rng) for _ in range(n)]


@pytest.fixture(scope="module")
def critic():
    return Faults().fit(Corpus.from_texts(stories(60)))


def faults_of(critic, text):
    corpus = Corpus.from_texts([text])
    return {NAMES[k] for k in critic.project(corpus).states}


CUT = (
    "It rained. Then she left the",
    "It rained :( all day. Then she said (as",
    "Here are two:\n\n1. Buy milk.\n2. Buy",
    "So it is.\n\n```python\nx = 1\n",
    "It is so.\n\nIt rained all day.\n\nEach of these",
    "He went home.\n\n1. **Red Rum** was a horse.\n2. **Seabisc",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3",
    "She said (as he had",
    "今天下午下了一场大雨。我们都没有带伞。后来我",
    "The meeting is tomorrow at the coffee shop on Main Stre",
    "Here are two:\n\n1. Milk\n2. Bread\n3",
    "So it is.\n\n- **Rain:** It fell.\n- **Snow:** It lay.\n\n### Then\n\n- **Sun:** It",
    "1. One\n   - It rained.\n   - It snowed.\n2. Two\n   - It rained.\n\n### Last\n\n- Wind is often",
    'He said two things:\n\n1. "It rains."\n2. "Despite all',
    "Roses are red,\nviolets are blue,\nsugar is sweet,\nhoney is, too.\n\nSo sweet is the rain,\nthe wind and the sn",
    "So it is.\n\n```\nx = 1\n```\n\nReplace",
)
WHOLE = (
    "It rained. She left.",
    "Buy these:\n\n- milk\n- bread\n- salt",
    "Dear Bob,\n\nI am well.\n\nYours,\nAnn",
    "```python\nx = 1\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "Roses are red,\nviolets are blue,\nsugar is sweet\nand so are you",
    "See https://example.org/a",
    "今天下午下了一场大雨。我们都没有带伞。",
    "It was fun! 🎉",
    "It rained. I will not go there again : -(",
    "The Future of Work: Why It Is Here and What We Can Do",
    "Read it now! #OpenSource #TechTrends",
    '"Believe you can and you are halfway there." – Theodore Roosevelt',
)


@pytest.mark.parametrize("text", CUT)
def test_texts_that_break_off_are_told(text):
    assert broken_off(text, read_blocks(text))


@pytest.mark.parametrize("text", WHOLE)
def test_texts_that_end_are_not(text):
    assert broken_off(text, read_blocks(text)) is None


LOOPS = {
    "the " * 80: 80,
    "So it went. " + "Nobody knew why the man had come. " * 4: 4,
    "\n\n".join(f"Wait, let me check case {i} again before I answer." for i in range(8, 14)): 6,
    "No" + "!" * 9291: 9291,
    "我不知道他为什么来这里，" * 9: 9,
    "- I will go home and sleep until the morning comes.\n" * 5: 5,
    # what a round says twice, and a quotation before a colon, which is no key of an object
    "The deepest of all is the Pacific Ocean. Here are facts about the Pacific Ocean, as of now:\n\n" * 4: 4,
    'Here are some more queries for those who search for "learning French":\n\n' * 4: 4,
}
NO_LOOPS = (
    json.dumps([{"id": i, "name": n, "open": True} for i, n in enumerate(OBJECTS * 4)], indent=1),
    "| thing | sold |\n|---|---|\n" + "\n".join(f"| {w} | yes |" for w in (*OBJECTS, *VERBS, *ENDS)),
    "\n".join(f"{i}. Buy {i} pieces of bread" for i in range(1, 12)),
    "\n".join(f"{a} and {b},\nso say we all.\n" for a in OBJECTS for b in ENDS[:2]),
    "Chapter 1 ........................................ 7\n" * 3 + "-" * 80,
    "def f(x):\n    return x\n\n" + "\n\n".join(f"def f{i}(x):\n    return x + {i}" for i in range(9)),
)


@pytest.mark.parametrize(("text", "times"), LOOPS.items())
def test_loops_are_told_with_their_rounds(text, times):
    (loop,), _ = find_loops([text])
    assert loop is not None
    assert times - 1 <= loop.times <= times + 1


@pytest.mark.parametrize("text", NO_LOOPS)
def test_lists_tables_code_and_refrains_are_no_loops(text):
    assert find_loops([text])[0] == [None]


def test_a_passage_said_again_and_slips_are_graded(critic):
    """A sentence that is said twice is no loop, and one slip no fault: how far they go is told."""
    (text,) = stories(1, seed=21)
    said = "Quick zebras jumped over lazy foxes whose vixens kept dozing."
    again = Corpus.from_texts([f"{said} {text}", f"{said} {text} {said}"])
    assert critic.project(again).flags[:, NAMES.index("loop")].tolist() == [0.0, 0.0]
    rows = critic.sufficient_statistics(critic.project(again))["oddities"]
    assert rows.shape == (2, len(critic.reporting.oddities))
    assert rows[1, -1] >= len(said) > rows[0, -1]
    slipped = re.sub(r"\b(\w\w)(\w)(\w)", r"\1\3\2", text, count=2)
    slips = critic.sufficient_statistics(critic.project(Corpus.from_texts([text, slipped])))["oddities"][:, -2]
    assert slips[1] > slips[0]


@pytest.mark.parametrize(
    ("find", "bad", "good"),
    [
        (control_tokens, ("So.<|eot_id|>", "So.</s>", "It is.\n\nHuman: why?"), ("a < b | c > d", "use <b>bold</b>")),
        (noise, ("It isnâ€™t", "Tom &amp; Ann", r"One.\n\nTwo."), ("Tom & Ann", "café “so”", r"the path \new")),
        (
            lambda t: [refusal(t)] if refusal(t) else [],
            (
                "I'm sorry, but I can't help with that.",
                "As an AI language model, I have no home.",
                "很抱歉，我无法回答。",
            ),
            ("She said that she was sorry.", "I cannot see the sea from here."),
        ),
        (
            lambda t: [foreign_scripts(t, ["Latn"])] if foreign_scripts(t, ["Latn"]) else [],
            ("It was 今天下午下了一场大雨 so.", "So Сегодня шёл дождь."),
            ("α and β", "the sign 道 is read so", "naïve café"),
        ),
    ],
)
def test_signs_that_should_not_stand_in_a_text(find, bad, good):
    assert all(list(find(text)) for text in bad)
    assert not any(list(find(text)) for text in good)


def test_all_kinds_are_flagged_by_the_critic(critic):
    text = stories(1, seed=7)[0]
    german = "Der Regen hatte erst am Abend aufgehört, als sie das alte Haus auf dem Hügel erreichten."
    typos = text.replace("because", "becuase").replace("remembered", "remebmered").replace("while", "whlie")
    assert faults_of(critic, text) == set()
    assert "foreign-language" in faults_of(critic, f"{text} {german}")
    assert "misspelt" in faults_of(critic, typos)
    shuffled = np.random.default_rng(1).permutation(text.replace(".", "").split()).tolist()
    assert "word-salad" in faults_of(critic, " ".join(shuffled) + ".")
    assert faults_of(critic, "Yes") == {"one-word"}


def test_another_spelling_of_a_word_is_no_slip():
    british = "They recognised the colour of the harbour, travelled to the centre and organised a neighbourly dialogue."
    american = "They recognized the color of the harbor, traveled to the center and organized a neighborly dialog."
    slipped = "They recongised the colur of the habrour, travleled to the cenrte and ogranised a neighboulry dialogue."
    fitted = Faults().fit(Corpus.from_texts([british, *stories(60, seed=3)]))
    assert "misspelt" not in faults_of(fitted, american)
    assert "misspelt" in faults_of(fitted, slipped)


def test_a_field_decides_whether_a_text_breaks_off(critic):
    text = stories(1, seed=8)[0]
    from momus.reading import ReadingOptions, as_corpus

    records = [{"id": str(i), "text": text, "finish_reason": end} for i, end in enumerate(("stop", "length"))]
    z = critic.project(as_corpus(records, "a", ReadingOptions(keep=("finish_reason",))))
    assert z.flags[:, NAMES.index("broken-off")].tolist() == [0, 1]


def test_planted_rates_are_recovered(critic):
    rng = np.random.default_rng(3)
    texts = stories(200, seed=4)
    planted = rng.random(200) < 0.2
    texts = [t + " <|im_end|>" if p else t for t, p in zip(texts, planted, strict=True)]
    flags = critic.project(Corpus.from_texts(texts)).flags.mean(axis=0)
    assert flags[NAMES.index("control-tokens")] == planted.mean()
    assert flags.sum() - flags[NAMES.index("control-tokens")] <= 0.02
    fitted = Faults().fit(Corpus.from_texts(texts))
    assert fitted.rates_[NAMES.index("control-tokens")] == pytest.approx((planted.sum() + 0.5) / 201)


def test_rates_of_words_in_disorder_are_those_of_documents_held_out():
    rng = np.random.default_rng(5)
    texts = stories(200, seed=6)
    shuffled = [" ".join(rng.permutation(t.replace(".", "").split()).tolist()) + "." for t in texts[:6]]
    fitted = Faults().fit(Corpus.from_texts([*shuffled, *texts[6:]]))
    assert fitted.rates_[NAMES.index("word-salad")] == pytest.approx(6.5 / 201)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_any_text_has_a_sheet(critic, texts):
    z = critic.project(Corpus.from_texts(texts))
    assert len(z) == len(texts)
    assert np.isfinite(critic.log_prior(z).values).all()
    lengths = np.repeat([len(t) for t in texts], z.lengths)
    assert (z.places[:, 0] >= 0).all()
    assert (z.places[:, 0] <= lengths).all()


def test_a_document_does_not_depend_on_others(critic):
    texts = [*stories(5, seed=9), "the " * 80, "Then she left the"]
    whole = critic.project(Corpus.from_texts(texts)).flags
    alone = [critic.project(Corpus.from_texts([t])).flags[0] for t in texts]
    assert np.array_equal(whole, np.array(alone))


def test_loops_are_found_alike_where_places_need_more_bits(monkeypatch):
    """Places of a text of more than 16 million signs do not fit beside a key."""
    texts = ["So it went on. " * 40, "One and two and three. He left, and then he was gone for good." * 1, "No! " * 90]
    before = find_loops(texts)
    monkeypatch.setattr("momus_critics.faults.loops.PLACES", 4)
    assert [loop is not None for loop in before[0]] == [True, False, True]
    after = find_loops(texts)
    assert (after[0], after[1].tolist()) == (before[0], before[1].tolist())


def test_of_many_periods_those_of_most_of_a_text_are_looked_at(monkeypatch):
    text = "".join(f"{w} and {w} are told. " for w in OBJECTS) + "So it went on and nobody knew why it did. " * 9
    before, _ = find_loops([text])
    monkeypatch.setattr("momus_critics.faults.loops.MOST", 1)
    assert find_loops([text])[0] == before
    assert before[0].times == 9
