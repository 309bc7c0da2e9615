"""Every registered critic is an estimator as scikit-learn means it."""

import json
import re
from pathlib import Path

import pytest
import sklearn.base
from sklearn.utils import estimator_checks as checks

from momus import Corpus
from momus.critic import RunningTextCritic
from momus.critic.registry import critic_class, load_critic
from momus.critic.saved import _content_digest
from momus.errors import NotFittedError, StoreError, UsageError
from momus.estimator import construct, parameter_names
from momus.plugins import critic_names

CLASSES = {name: critic_class(name) for name in critic_names()}
PARAMETERS = [
    checks.check_estimator_cloneable,
    checks.check_estimator_repr,
    checks.check_no_attributes_set_in_init,
    checks.check_parameters_default_constructible,
    checks.check_get_params_invariance,
    checks.check_set_params,
    checks.check_do_not_raise_errors_in_init_or_set_params,
]


@pytest.mark.parametrize("check", PARAMETERS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", CLASSES)
def test_parameters_behave_as_scikit_learn_requires(name, check):
    check(name, CLASSES[name]())


@pytest.mark.parametrize("name", CLASSES)
def test_clones_have_the_parameters_and_nothing_else(name):
    critic = CLASSES[name]()
    critic.learned_ = 1.0
    copy = sklearn.base.clone(critic)
    assert type(copy) is type(critic)
    assert (copy.get_params(), hasattr(copy, "learned_")) == (critic.get_params(), False)


def test_new_parameters_forget_what_was_learned():
    texts = Corpus.from_texts(["one two", "three"])
    critic = CLASSES["length"]().fit(texts)
    critic.set_params(bins=3)
    with pytest.raises(NotFittedError):
        critic.score(texts)


@pytest.mark.parametrize("call", [lambda c, p: construct(c, p), lambda c, p: c().set_params(**p)])
def test_unknown_parameters_are_refused_with_the_nearest(call):
    with pytest.raises(UsageError) as error:
        call(CLASSES["length"], {"bin": 3})
    assert "did you mean 'bins'?" in error.value.hint
    assert all(name in error.value.hint for name in parameter_names(CLASSES["length"]))


PARAMETERS_OF = {name: set(parameter_names(cls)) for name, cls in CLASSES.items()}
SHARED = {p for p in set().union(*PARAMETERS_OF.values()) if sum(p in own for own in PARAMETERS_OF.values()) > 1}


@pytest.mark.parametrize("parameter", sorted(SHARED))
def test_defaults_of_one_parameter_are_of_one_type(parameter):
    defaults = [cls().get_params()[parameter] for name, cls in CLASSES.items() if parameter in PARAMETERS_OF[name]]
    assert len({type(default) for default in defaults if default is not None}) <= 1


def test_the_table_of_the_docs_says_which_critics_have_which_parameter():
    page = (Path(__file__).parents[2] / "docs/critics/index.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M))
    assert set(rows) >= SHARED
    for parameter, row in rows.items():
        named = set(re.findall(r"`([\w-]+)`", row.split(" | ")[1]))
        critics = {name for name, own in PARAMETERS_OF.items() if parameter in own}
        if "laws of running text" in row:
            critics -= {name for name, cls in CLASSES.items() if issubclass(cls, RunningTextCritic)}
        assert named == critics or "all that read words" in row, parameter


def test_a_saved_critic_with_other_names_is_refused_with_the_name(tmp_path):
    CLASSES["length"](bins=3).fit(["a b c a", "b c d"]).save(tmp_path)
    path = tmp_path / "critic.json"
    content = json.loads(path.read_text())
    content["params"]["n_bins"] = content["params"].pop("bins")
    content["sha256"]["content"] = _content_digest(content)
    path.write_text(json.dumps(content))
    with pytest.raises(StoreError, match="no parameter 'n_bins'") as error:
        load_critic(tmp_path)
    assert "did you mean 'bins'?" in error.value.hint
