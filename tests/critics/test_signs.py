"""Signs of layout move no axis but layout, and spellings of marks none but marks."""

import sys
from pathlib import Path

import pytest

from momus import Corpus
from momus.critic.registry import critic_class

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "validity"))
from sign_invariance import changed, same_rows
from signs import CHANGES

SIGNS = (
    *("bullets +", "numbers )", "strong __", "emphasis _", "headings closed", "deeper headings", "trailing spaces"),
    *("blank lines between items", "tables without outer bars", "fences ~~~", "CRLF"),
)
SPELLINGS = ("curled quotes", "curled apostrophes", "spaced dashes", "no-break spaces", "ellipses", "ligatures")
OF_WORDS = (
    *("length", "unigram", "stopword-share", "symbol-share", "rank-frequency", "type-token", "perplexity", "keyness"),
    *("repetition", "rhythm", "discourse", "edges", "names", "register", "path", "diversity", "mauve"),
)


def answer(i):
    city, food = ("Rome", "Oslo", "Lima")[i % 3], ("tea", "soup", "bread", "rice")[i % 4]
    return (
        f"# {food.title()} in {city}\n\nIt's *easy* to find {food} — really, she said... I can't say \"no\" to it.\n\n"
        f"- **Old Town**: go with Ann, who is *never* late\n- the market of {city}\n\n"
        f"1. Ask for {food}. It costs {i + 2} coins.\n2. Eat it, and find another one.\n\n## Prices\n\n"
        f"| {food} | price |\n|---|---|\n| hot | {i} |\n\nThen we'd difficulties in {city}, {i} of them.\n\n"
        f"```\nprint('{food}')\n```\n\nThat is all. Is it?"
    )


@pytest.fixture(scope="module")
def answers():
    return Corpus.from_texts(map(answer, range(20)), prompts=[f"p{i // 2}" for i in range(20)])


@pytest.fixture(scope="module")
def resigned(answers):
    """The answers with other signs of layout, and with other spellings of marks too."""
    signs = answers
    for name in SIGNS:
        signs = changed(signs, CHANGES[name])
    spelled = signs
    for name in SPELLINGS:
        spelled = changed(spelled, CHANGES[name])
    return signs, spelled


@pytest.mark.parametrize("name", OF_WORDS)
def test_no_sign_moves_an_axis_of_words(name, answers, resigned):
    critic = critic_class(name)().fit(answers)
    assert critic.reads in ("prose", "says")
    assert same_rows(critic.score(answers), critic.score(resigned[1]))


@pytest.mark.parametrize(("name", "moves"), [("marks", (False, True)), ("layout", (True, True))])
def test_layout_alone_sees_signs_and_marks_alone_sees_spellings(name, moves, answers, resigned):
    critic = critic_class(name)().fit(answers)
    scores = critic.score(answers)
    assert tuple(not same_rows(scores, critic.score(corpus)) for corpus in resigned) == moves
