"""The contract of a critic stays small."""

import inspect

import pandas as pd
import pytest

import momus.critic
from momus import Corpus
from momus.critic import Critic
from momus.critic.hooks import overlap
from momus.errors import ReadingError, UsageError
from momus.estimator import Estimator
from momus_critics.length import Length


def members(cls):
    """Public names that a class has, those that are only annotated too."""
    annotated = {
        name
        for base in cls.__mro__
        if base.__module__.startswith("momus.")
        for name in vars(base).get("__annotations__", {})
    }
    return {n for n in {*dir(cls), *annotated} if not n.startswith("_") and not n.endswith("_")}


def test_a_critic_has_at_most_fifteen_public_members_of_which_eight_are_attributes():
    public = members(Critic)
    methods = {
        n
        for n in public
        if callable(inspect.getattr_static(Critic, n, None))
        or isinstance(inspect.getattr_static(Critic, n, None), (classmethod, property))
    }
    assert len(public) <= 15, sorted(public)
    assert len(public - methods) <= 8, sorted(public - methods)


def test_three_methods_are_all_that_a_critic_must_define():
    assert Critic.__abstractmethods__ == {"fit", "project", "log_prior"}


def test_the_room_exports_at_most_twenty_five_names():
    assert len(momus.critic.__all__) <= 25
    assert all(hasattr(momus.critic, name) for name in momus.critic.__all__)


def test_estimators_have_the_members_of_scikit_learn_only():
    assert members(Estimator) == {"get_params", "set_params"}


SOURCES = {
    "list": lambda folder: ["to be", "or not to be"],
    "dicts": lambda folder: [{"text": "to be"}, {"text": "or not to be"}],
    "frame": lambda folder: pd.DataFrame({"text": ["to be", "or not to be"]}),
    "path": lambda folder: folder / "texts.jsonl",
}


@pytest.mark.parametrize("kind", SOURCES)
def test_texts_are_taken_wherever_a_corpus_is(kind, tmp_path):
    (tmp_path / "texts.jsonl").write_text('{"text": "to be"}\n{"text": "or not to be"}\n')
    texts, corpus = SOURCES[kind](tmp_path), Corpus.from_texts(["to be", "or not to be"])
    critic, expected = Length().fit(texts), Length().fit(corpus)
    assert critic.fitted_hashes_.tolist() == expected.fitted_hashes_.tolist()
    assert critic.score(texts).nll.tolist() == expected.score(corpus).nll.tolist()
    assert critic.project(corpus).values.tolist() == [2, 4]
    assert critic.unscored(corpus) == [None, None]
    assert overlap(critic, texts) == 2


@pytest.mark.parametrize("texts", [3, [3], "no such file", None])
def test_what_is_no_text_is_refused_in_words(texts):
    with pytest.raises((UsageError, ReadingError), match=r"source of texts|not a document|no such file"):
        Length().fit(texts)
