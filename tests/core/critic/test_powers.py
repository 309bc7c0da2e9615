"""Optional powers of critics are mixins; without its mixin, a name is free for a helper."""

import dataclasses
import statistics

import numpy as np
import pytest

from momus import Corpus
from momus.conformance import check_critic
from momus.critic import Critic, EvidenceMixin, LogPrior, Note, Reporting, StatisticsMixin, Values
from momus.critic.base import notes_of
from momus.critic.hooks import AdvancedMixin, ReadingMixin, row_unit, scored_units
from momus.critic.powers import DecompositionMixin, ItemsMixin, MergeableMixin
from momus.critic.registry import critic_class
from momus.critic.scoring import score
from momus.plugins import CRITICS, registered

MIXINS = (StatisticsMixin, EvidenceMixin, ItemsMixin, DecompositionMixin, MergeableMixin, AdvancedMixin, ReadingMixin)
NAMES = sorted({name for mixin in MIXINS for name in vars(mixin) if not name.startswith("_")} - {"fit"})


class Words(Critic[Values]):
    """Number of words."""

    name, axis = "words", "number of words"

    def fit(self, real):
        self.mean_ = float(self.project(real).values.mean())
        return self

    def project(self, batch):
        return Values(np.array([len(d.text.split()) for d in batch], dtype=float))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-np.abs(latents.values - self.mean_))


TEXTS = Corpus.from_texts(["a b", "a b c", "a"])


@pytest.mark.parametrize("name", NAMES)
def test_a_helper_may_have_the_name_of_a_power(name):
    def helper(self, *_):
        raise AssertionError("a helper is not called")

    cls = type("Helped", (Words,), {name: helper, "__doc__": "Helped."})
    critic = cls().fit(TEXTS)
    assert row_unit(critic) == "document"
    assert scored_units(critic, TEXTS) is TEXTS
    scores = score(critic, TEXTS)
    assert scores.nll.tolist() == Words().fit(TEXTS).score(TEXTS).nll.tolist()
    assert not scores.rows
    assert scores.summary is None
    assert notes_of(critic) == []


def test_the_checks_point_out_a_power_without_its_mixin():
    class Forgetful(Words):
        def sufficient_statistics(self, latents):
            return {}

        def evidence(self, real, generated):
            return []

    checks = ["rows_belong_to_documents", "evidence_serialises"]
    details = [record.detail for record in check_critic(Forgetful(), checks=checks).records]
    assert details == [
        "the critic has no sufficient statistics; sufficient_statistics would be used if it inherited StatisticsMixin",
        "the critic has no evidence; evidence would be used if it inherited EvidenceMixin",
    ]


def test_a_forgotten_method_of_a_power_is_refused_when_the_critic_is_made():
    class Silent(Words, StatisticsMixin):
        pass

    with pytest.raises(TypeError, match="sufficient_statistics"):
        Silent()


@pytest.mark.parametrize("field", dataclasses.fields(Reporting), ids=lambda field: field.name)
def test_what_a_critic_declares_is_said_in_one_place(field):
    value = {} if field.name == "directions" else field.default
    with pytest.raises(TypeError, match=rf"write reporting = Reporting\({field.name}=…\)"):
        type("Wrong", (Critic,), {field.name: value})
    type("Helped", (Critic,), {field.name: lambda self: None})  # a method is a helper


def test_notes_may_be_plain_strings():
    class Noted(EvidenceMixin):
        def notes(self):
            return ["a constant", Note("weak", warning=True)]

    assert notes_of(Noted()) == [Note("a constant"), Note("weak", warning=True)]


def test_shipped_critics_are_made_of_few_mixins():
    shipped = [name for name, found in registered(CRITICS).items() if found[0].value.startswith("momus_critics")]
    mixins = {
        name: sum(cls.__name__.endswith("Mixin") for cls in critic_class(name).__mro__)
        for name in shipped
        if found_ready(name)
    }
    assert len(mixins) > 25
    assert statistics.median(mixins.values()) <= 4, mixins
    assert max(mixins.values()) <= 7, mixins


def found_ready(name):
    return registered(CRITICS)[name][0].missing() is None
