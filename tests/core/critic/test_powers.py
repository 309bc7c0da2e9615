"""Optional powers of critics are mixins, and a power without its mixin is refused."""

import dataclasses

import pytest

from momus.critic import Critic, EvidenceMixin, Note, Reporting, StatisticsMixin, Values
from momus.critic.base import notes_of
from momus.critic.hooks import NotesMixin
from momus.critic.powers import BASES, POWERS


@pytest.mark.parametrize("method", POWERS)
def test_a_power_without_its_mixin_is_refused(method):
    base = BASES.get(POWERS[method], POWERS[method].__name__)
    with pytest.raises(TypeError, match=f"defines {method} but does not inherit .*{base}"):
        type("Wrong", (Critic,), {method: lambda self, *_: None})


def test_a_forgotten_method_of_a_power_is_refused_when_the_critic_is_made():
    class Silent(Critic[Values], EvidenceMixin):
        name = axis = "silent"

        def fit(self, real):
            return self

        def project(self, batch):
            return Values([])

        def log_prior(self, latents):
            return None

    with pytest.raises(TypeError, match="evidence"):
        Silent()


def test_a_subclass_inherits_the_power():
    class Base(Critic[Values], StatisticsMixin):
        name = axis = "base"

        def sufficient_statistics(self, latents):
            return {}

    class Sub(Base):
        def sufficient_statistics(self, latents):
            return {"x": latents.values}

    assert issubclass(Sub, StatisticsMixin)


def test_a_helper_class_brings_no_power_silently():
    class Helper:
        def explain(self, document):
            return None

    with pytest.raises(TypeError, match="ExplanationMixin"):
        type("Wrong", (Helper, Critic), {})


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Reporting)])
def test_what_readers_see_is_said_in_one_place(name):
    with pytest.raises(TypeError, match=rf"write reporting = Reporting\({name}=…\)"):
        type("Wrong", (Critic,), {name: "a"})


def test_notes_may_be_plain_strings():
    class Noted(NotesMixin):
        def notes(self):
            return ["a constant", Note("weak", warning=True)]

    assert notes_of(Noted()) == [Note("a constant"), Note("weak", warning=True)]
