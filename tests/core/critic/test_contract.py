"""The contract of a critic stays small."""

import inspect

import momus.critic
from momus.critic import Critic
from momus.estimator import Estimator


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
