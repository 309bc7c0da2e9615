"""Statistics and headlines that are declared wrongly are errors that name the choices."""

import numpy as np
import pytest

import momus
from momus import Critic, LogPrior, Values
from momus.critic import Reporting, Statistic, StatisticsMixin
from momus.critic.statistic import mean
from momus.errors import UsageError

TEXTS = [f"some words {'more ' * (i % 5)}" for i in range(20)]


@pytest.mark.parametrize(("field", "value"), [("kind", "dist"), ("scale", "ln"), ("effect", "cohen")])
def test_choices_of_a_statistic_are_checked(field, value):
    with pytest.raises(UsageError, match=f"statistic 'share': {field} is '{value}'"):
        Statistic(**{"name": "share", "rows": "x", "kind": "value", "function": mean, field: value})


class Words(Critic[Values], StatisticsMixin):
    name = axis = "words"

    def fit(self, real):
        self.mean_ = 1.0
        return self

    def project(self, batch):
        return Values(np.array([float(len(d.text)) for d in batch]))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-((latents.values - self.mean_) ** 2))

    def sufficient_statistics(self, latents):
        return {"words": np.column_stack([latents.values, np.ones(len(latents))])}

    def statistics(self):
        return (Statistic("share", self.pooled, "value", mean),)

    pooled = "words"


def test_a_headline_must_be_a_statistic():
    class Misspelt(Words):
        reporting = Reporting(headline="shares")

    with pytest.raises(UsageError, match="headline 'shares' is none of its statistics"):
        momus.compare(TEXTS, {"g": TEXTS}, critics=[Misspelt()], permutations=99, resamples=99)


def test_a_statistic_must_pool_rows_that_exist():
    class Missing(Words):
        pooled = "letters"

    with pytest.raises(UsageError, match="statistic 'share' pools rows 'letters'"):
        momus.compare(TEXTS, {"g": TEXTS}, critics=[Missing()], permutations=99, resamples=99)


def test_a_single_name_is_one_critic_and_a_class_is_none():
    options = {"permutations": 99, "resamples": 99}
    assert {v.critic for v in momus.compare(TEXTS, {"g": TEXTS}, critics="length", **options).verdicts} == {"length"}
    with pytest.raises(UsageError, match="Words is a class"):
        momus.compare(TEXTS, {"g": TEXTS}, critics=[Words], **options)


def test_a_shown_critic_gives_parameters_as_toml(capsys):
    import tomllib

    pytest.importorskip("pyro")
    from momus.cli.critics import critic_view
    from momus.plugins import critic_names

    for name in critic_names():
        lines = critic_view(name).renderables[2].plain.split("\n")
        table = [line.strip() for line in lines if " = " in line]
        assert tomllib.loads("\n".join(table)) is not None
