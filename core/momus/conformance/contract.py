"""Checks of construction, parameters and fitting."""

from __future__ import annotations

import inspect
import json
import random
import re

import numpy as np

from momus.conformance import corpora
from momus.conformance.subject import Skip, Subject, assert_same, default_corpus, same_values
from momus.critic import RunningTextCritic
from momus.critic.hooks import row_unit, tokenizer_of
from momus.critic.portions import fit_portions, read_portion
from momus.critic.powers import MergeableMixin, has_latents
from momus.errors import CriticError, MomusError
from momus.estimator import Estimator, clone, construct, fitted_state, parameter_names
from momus.text.corpus import Corpus


def names_are_set(s: Subject) -> None:
    """The critic has a valid name, an axis and a docstring."""
    c = s.critic
    name = getattr(c, "name", "")
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name), f"name is {name!r}: use lower case and hyphens"
    assert getattr(c, "axis", ""), "axis is empty: name in a few words what the critic looks at"
    assert inspect.getdoc(type(c)), "the class has no docstring"


def construction_stores_parameters(s: Subject) -> None:
    """The constructor stores its parameters unchanged, and does nothing else."""
    critic = type(s.critic)(**s.critic.get_params())
    extra = sorted(set(vars(critic)) - _parameters(s))
    assert not extra, f"__init__ sets {', '.join(extra)}: set learned attributes in fit instead"
    for key, value in s.critic.get_params().items():
        assert same_values(getattr(critic, key), value, exact=True), f"__init__ changes parameter {key!r}"


def construction_is_cheap(s: Subject) -> None:
    """The constructor opens no file and draws no random number."""
    state, legacy = random.getstate(), np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    opened: list[str] = []
    watching = [True]  # Python cannot remove an audit hook, so this one is switched off

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching[0] and event in ("open", "socket.connect", "subprocess.Popen"):
            opened.append(f"{event} {arguments[0]!r}")

    import sys

    sys.addaudithook(watch)
    try:
        type(s.critic)(**s.critic.get_params())
    finally:
        watching[0] = False
    assert not opened, f"__init__ triggers {opened[0]}"
    assert state == random.getstate(), "__init__ draws from random"
    assert np.array_equal(legacy, np.random.get_state()[1]), "__init__ draws from numpy.random"  # type: ignore[index]  # noqa: NPY002


def parameters_are_plain(s: Subject) -> None:
    """Parameters can be written as JSON, for the record of a run."""
    params = s.critic.get_params()
    try:
        again = json.loads(json.dumps(params, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"parameters cannot be written as JSON: {error}") from error
    assert construct(type(s.critic), again).get_params().keys() == params.keys()


def fit_returns_the_critic(s: Subject) -> None:
    """`fit` returns self and sets fitted attributes whose names end in an underscore."""
    critic = s.fitted
    assert s.returned is critic, "fit() does not return self"
    learned = set(fitted_state(critic)) - {"fitted_on_", "fitted_hashes_"}
    assert learned or not has_latents(critic), "fit() sets no attribute whose name ends in an underscore"
    allowed = _parameters(s) | {"device", "_in_fit"}
    loose = sorted(k for k in vars(critic) if not k.endswith("_") and k not in allowed)
    assert not loose, f"fit() sets {', '.join(loose)}: end the names of fitted attributes in an underscore"
    assert critic.get_params() == s.critic.get_params(), "fit() changes parameters"


def _parameters(s: Subject) -> set[str]:
    """Names of the critic's parameters, and of those of its base classes, which its constructor may fix."""
    bases = (cls for cls in type(s.critic).__mro__ if issubclass(cls, Estimator))
    return {name for cls in bases for name in parameter_names(cls)}


def refitting_forgets(s: Subject) -> None:
    """Fitting on A and then on B gives the same scores as fitting on B alone."""
    other = _other_text(s)
    critic = clone(s.critic)
    critic.fit(other)
    critic.fit(s.fit_text)
    assert_same(s.scores, critic.score(s.held_out), "after another fit")


def same_seed_same_fit(s: Subject) -> None:
    """Two fits agree, regardless of the state of global random generators."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        random.seed(12345)
        np.random.seed(54321)  # noqa: NPY002
        again = s.refitted
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
    first, second = fitted_state(s.fitted), fitted_state(again)
    assert first.keys() == second.keys(), "two fits set different attributes"
    for key, value in first.items():
        assert same_values(value, second[key]), f"two fits on the same text differ in {key!r}: seed its random numbers"
    assert_same(s.scores, again.score(s.held_out), "between two fits")


def merging(s: Subject) -> None:
    """A critic that is fitted in parts learns exactly what it learns from the whole text, however it is cut."""
    if not isinstance(s.critic, MergeableMixin):
        raise Skip("the critic cannot be fitted in parts")
    n = len(s.fit_text)
    order = np.random.default_rng(0).permutation(n)
    for cuts in ((n // 2,), (1, n // 3, n // 3, n - 1)):  # one part is empty, and two have one document
        parts = [read_portion(clone(s.critic), s.fit_text.take(rows)) for rows in np.split(order, cuts)]
        merged = fit_portions(clone(s.critic), s.fit_text.name, reversed(parts))
        learned, expected = fitted_state(merged), fitted_state(s.fitted)
        assert learned.keys() == expected.keys(), "fitting on parts sets other attributes"
        forgotten = {**expected, "fitted_on_": {k: v for k, v in s.fitted.fitted_on_.items() if k != "identity"}}
        for key, value in forgotten.items():
            assert same_values(learned[key], value, exact=True), (
                f"fitted on {len(parts)} parts, {key!r} differs: fit_counts must add up, and fit must be "
                "fit_from(fit_counts(real))"
            )


def inputs_are_untouched(s: Subject) -> None:
    """Neither fitting nor scoring changes a corpus."""
    text = s.corpus.take(s.corpus.canonical_rows)  # in this order a critic is fitted on the corpus itself
    tokenizer = tokenizer_of(s.critic)
    tokens = None if tokenizer is None else text.tokens(tokenizer).ids.copy()
    table, fingerprint = text.table, text.fingerprint
    critic = clone(s.critic)
    critic.fit(text)
    critic.score(text)
    fresh = Corpus(text.table, text.name)
    assert text.table.equals(table), "the table was replaced"
    assert fresh.fingerprint == fingerprint, "the text was changed"
    if tokenizer is not None and tokens is not None:
        assert np.array_equal(text.tokens(tokenizer).ids, tokens), "the tokens were changed in place"


def scoring_learns_nothing(s: Subject) -> None:
    """Scoring does not change P_c: nothing leaks from scored text into the critic."""
    critic = s.refitted
    critic.score(_other_text(s))
    critic.score(s.held_out.take(np.arange(0, len(s.held_out), 2)))
    assert_same(s.scores, critic.score(s.held_out), "after scoring other text")
    before = fitted_state(s.fitted)
    for key, value in fitted_state(critic).items():
        assert same_values(value, before[key]), f"scoring changes {key!r}"


def little_text_is_an_error(s: Subject) -> None:
    """Fitting on too little text succeeds, or raises an error with a hint."""
    for texts in (["word"], ["", " "], ["word"] * 3):
        try:
            clone(s.critic).fit(Corpus.from_texts(texts))
        except CriticError:
            raise
        except MomusError as error:
            if not error.hint:
                raise AssertionError(f"the error on {texts!r} has no hint: {error}") from error


def _other_text(s: Subject) -> Corpus:
    if isinstance(s.critic, RunningTextCritic):
        return s.beside(corpora.prose(seed=1))
    if row_unit(s.critic) == "prompt":
        return s.beside(corpora.answers(240, seed=1))
    return s.beside(corpora.documents(80, seed=1)) if s.corpus is default_corpus(s.critic) else s.held_out
