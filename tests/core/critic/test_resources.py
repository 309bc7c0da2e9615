"""Loaded models: once per process, by parameters; never on the critic; gone with the arrays that they are made of."""

import gc
import pickle
import threading

import numpy as np
import pytest

import momus
from momus.conformance import check_critic
from momus.critic import DeviceMixin, resource
from momus.critic import tools as home
from momus.critic.tools import token_batches
from momus.errors import UsageError

loads: list[tuple] = []


class Model:
    """Lengths of texts by a table that takes a while to load, and cannot be pickled."""

    def __init__(self, *parameters, **options):
        loads.append(parameters)
        self.lock = threading.Lock()

    def lengths(self, texts):
        return np.log1p(np.array([len(t) for t in texts], dtype=float))


class Loaded(momus.Critic[momus.Values], DeviceMixin):
    """A critic with a loaded model; z is normal."""

    name = "loaded"
    axis = "length by a model"

    def __init__(self, *, model="a"):
        self.model = model

    def fit(self, real):
        z = self.project(real).values
        self.mean_, self.sd_ = float(z.mean()), float(z.std()) + 0.1
        return self

    def project(self, batch):
        return momus.Values(resource(Model, self.model, self.device).lengths([d.text for d in batch]))

    def log_prior(self, latents):
        return momus.LogPrior.of_vectors(-(((latents.values - self.mean_) / self.sd_) ** 2) / 2)


@pytest.fixture(autouse=True)
def _empty():
    home._LOADED.clear()
    loads.clear()
    yield
    home._LOADED.clear()


def test_equal_parameters_share_one_model_and_others_do_not():
    first = resource(Model, "a", options={"x": [1, 2], "y": None})
    assert resource(Model, "a", options={"y": None, "x": (1, 2)}) is first
    others = [
        resource(Model, "b", options={"x": [1, 2], "y": None}),
        resource(Model, "a"),
        resource(Model, 1),
        resource(Model, True),
        resource(Model, "1"),
    ]
    assert len({id(m) for m in (first, *others)}) == 6


def test_a_critic_with_a_model_passes_the_checks_and_loads_it_once():
    report = check_critic(Loaded())
    assert report.ok, str(report)
    assert loads == [("a", "cpu")]
    critic = Loaded().fit(momus.Corpus.from_texts(["one", "two two", "three three three"]))
    assert set(vars(critic)) == {"model", "mean_", "sd_", "fitted_on_", "fitted_hashes_", "_in_fit"}
    again = pickle.loads(pickle.dumps(critic))
    assert again.get_params() == critic.get_params()
    critic.to("cpu:1").project(momus.Corpus.from_texts(["one"]))
    assert loads == [("a", "cpu"), ("a", "cpu:1")], "another device has its own copy"


def test_what_is_made_of_fitted_arrays_goes_with_them():
    table = np.arange(3)
    first = resource(Model, table)
    assert resource(Model, table) is first
    other = table.copy()
    assert resource(Model, other) is not first
    loads.clear()
    del table
    gc.collect()
    assert len(home._LOADED) == 1
    assert resource(Model, other) is not first
    assert loads == []


def test_the_one_used_longest_ago_is_dropped():
    for name in range(home.MOST):
        resource(Model, name)
    resource(Model, 0)
    resource(Model, "one more")
    assert len(home._LOADED) == home.MOST
    loads.clear()
    resource(Model, 0)
    assert loads == []
    resource(Model, 1)
    assert loads == [(1,)]


def test_threads_load_it_once():
    threads = [threading.Thread(target=resource, args=(Model, "a")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [("a",)]


def test_a_function_that_is_new_at_each_call_is_refused():
    with pytest.raises(UsageError, match="lambda"):
        resource(lambda: 1)


@pytest.mark.parametrize("tokens", [1, 17, 64, 10_000])
def test_batches_hold_every_row_once_within_their_budget(tokens):
    lengths = np.random.default_rng(0).integers(0, 50, 301)
    batches = token_batches(lengths, tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(301))
    assert all(len(b) == 1 or len(b) * lengths[b].max() <= tokens for b in batches)
    assert token_batches([], tokens) == []
