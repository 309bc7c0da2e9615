"""No row has a value that no document has, and equal texts do not differ: all shipped critics."""

import ast
import inspect
import re
import textwrap
from functools import cache

import numpy as np
import pytest

from momus import Corpus
from momus.critic import RunningTextCritic
from momus.critic.registry import critic_class, make_critics
from momus.errors import MomusError
from momus.plugins import critic_names
from momus.verdicts.judge import judge

PEOPLE = ("Anna", "Boris", "Clara", "Dmitri", "Emma")
SENTENCES = (
    "In the morning {0} walked to the station and waited for {1}.",
    "He said that she would come, and she came.",
    "The train of 9.40 was late; 17 people stood on the platform.",
    "Who knows why?",
    "“I never liked this town,” said {0}, and {1} laughed.",
    "We went home, because it rained.",
    "There were letters on the table, a lamp, and an old map of the river.",
    "Later {1} told {0} about it.",
)
SCORED = {"permutations": 39, "resamples": 9}


def documents(name, seed, change=lambda text: text, n=24):
    """Documents of several paragraphs with names, numbers, quotations, pronouns and sometimes a list."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        chosen = rng.integers(len(SENTENCES), size=rng.integers(7, 15))
        said = [SENTENCES[k].format(*rng.choice(PEOPLE, 2, replace=False)) for k in chosen]
        parts = [" ".join(said[:3]), " ".join(said[3:5]), " ".join(said[5:])]
        if i % 3 == 0:
            parts.insert(1, "- a coat\n- a hat")
        texts.append(change("\n\n".join(parts)))
    return Corpus.from_texts(texts, name=name, prompts=[f"{name}{i // 2}" for i in range(n)])


def first_sentence(text):
    return re.split(r"(?<=[.?!])\s", text)[0]


WITHOUT = {
    "paragraphs": lambda text: " ".join(text.split()),
    "lists": lambda text: re.sub(r"(?m)^- .*\n?", "", text),
    "names": lambda text: re.sub("|".join(PEOPLE), "somebody", text),
    "quotations": lambda text: re.sub("[“”]", "", text),
    "digits": lambda text: re.sub(r"\d", "", text),
    "pronouns": lambda text: re.sub(r"\b(I|He|he|she|We|it|It|there|There)\b", "somebody", text),
    "sentences": first_sentence,
    "lengths": lambda text: "so " * 30,
}
NONE = {
    "paragraphs": {("edges", "last_paragraph_words")},
    "names": {("names", "name_rate"), ("names", "known_share")},
    "pronouns": {("discourse", "first_person_share")},
    "sentences": {("edges", "last_paragraph_words"), ("rhythm", "spread"), ("rhythm", "neighbour_correlation")},
    "lengths": {("type-token", "beta"), ("names", "known_share"), ("rhythm", "spread")},
}
"""Statistics that have no value in a text without a thing; a rate of names is 0, of which there is no logarithm."""
NAMES = sorted(critic_names())


@cache
def fitted(name):
    if critic_class(name).reporting.required:
        pytest.skip("the critic needs a resource")
    (critic,) = make_critics([name])
    try:
        critic.fit(documents("fit", 0))
    except MomusError as error:
        pytest.skip(str(error))
    return critic


def scores_of(critic, corpus):
    try:
        return critic.score(corpus)
    except MomusError as error:
        pytest.skip(str(error))


def verdicts_of(critic, real, generated):
    return judge(critic, scores_of(critic, real), scores_of(critic, generated), **SCORED)


@pytest.mark.parametrize("name", NAMES)
def test_what_no_document_has_has_no_value_no_test_and_does_not_lead(name):
    critic = fitted(name)
    whole = scores_of(critic, documents("real", 1))
    for thing, change in WITHOUT.items():
        lacking = scores_of(critic, documents("mine", 2, change))
        verdicts = judge(critic, whole, lacking, **SCORED)
        for v in verdicts:
            values = [v.real_value, v.generated_value]
            assert all(x is None or np.isfinite(x) for x in values), (thing, v.statistic)
            if v.method.lacks:
                assert (v.p, v.effect, v.p_in_axis, v.leads) == (None, None, None, False), (thing, v.statistic)
                assert v.method.reason.startswith("no "), (thing, v.statistic)
        none = {(name, v.statistic) for v in verdicts if v.p is None and v.method.reason and v.effect is None}
        assert none >= {row for row in NONE.get(thing, ()) if row[0] == name}, thing


def test_the_row_says_which_text_has_none_of_what():
    critic = fitted("edges")
    one, other = documents("real", 1, WITHOUT["paragraphs"]), documents("mine", 2)
    by_name = {v.statistic: v for v in verdicts_of(critic, one, other)}
    row = by_name["last_paragraph_words"]
    assert (row.real_value, row.method.reason) == (
        None,
        "no human document has several paragraphs; 100 % of 'mine' have",
    )
    assert row.generated_value > 5
    scores = critic.score(documents("old", 1)), critic.score(documents("new", 1, WITHOUT["paragraphs"]))
    (row,) = (v for v in judge(critic, *scores, **SCORED) if v.statistic == "last_paragraph_words")
    assert (row.generated_value, row.method.reason) == (
        None,
        "no document of new has several paragraphs; 100 % of 'old' have",
    )


@pytest.mark.parametrize("name", NAMES)
def test_equal_texts_do_not_differ(name):
    critic, text = fitted(name), documents("real", 1)
    for v in verdicts_of(critic, text, text.take(np.arange(len(text)), "mine")):
        assert v.difference in (0.0, None), v.statistic
        assert v.effect in (0.0, None), v.statistic
        assert v.p in (1.0, None), v.statistic


@pytest.mark.parametrize("name", NAMES)
def test_rows_hold_what_was_counted(name):
    """A constant that is added to a numerator or denominator becomes the value of a text in which both are 0."""
    cls = critic_class(name)
    if issubclass(cls, RunningTextCritic) or "sufficient_statistics" not in vars(cls):
        pytest.skip("the critic has no rows of its own")
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls.sufficient_statistics)))
    for node in ast.walk(tree):
        added = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and [node.left, node.right]
        for side in added or ():
            assert not (isinstance(side, ast.Constant) and isinstance(side.value, float)), ast.unparse(node)
