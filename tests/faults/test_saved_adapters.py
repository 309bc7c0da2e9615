"""Saved critics of adapters that were damaged or forged: refused with the name of the attribute, never a traceback."""

import importlib.util
import json
import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import numpy as safetensors
from safetensors.numpy import load_file, save_file

from momus import Corpus
from momus.critic.base import notes_of
from momus.critic.saved import ARRAYS_NAME, DIGESTS, JSON_NAME, _content_digest
from momus.errors import MomusError
from momus.files import file_digest
from momus_adapters.pyro import PyroCritic

sys.path.insert(0, str(Path(__file__).parents[1] / "adapters"))  # programs are saved by name, and found again by it
from pyro_programs import __name__ as PROGRAMS

_spec = importlib.util.spec_from_file_location("faults_mutations", Path(__file__).with_name("mutations.py"))
assert _spec is not None
assert _spec.loader is not None
mutations = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)

BAG = {"features": "momus_adapters.features:BagOfWords", "feature_options": {"min_count": 1, "max_share": 1.0}}
WORDS = ["cat", "dog", "mat", "rain", "day", "hill", "town"]
QUICK, FULL = 20, 600


def corpus(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return Corpus.from_texts([" ".join(rng.choice(WORDS, 12)) for _ in range(n)], name="words")


def pyro_critic(**features):
    features = features or {"features": f"{PROGRAMS}:log_characters"}
    return PyroCritic(model=f"{PROGRAMS}:normal_model", guide=f"{PROGRAMS}:normal_guide", steps=2, draws=2, **features)


MAKERS = {
    "counts": lambda: pyro_critic(**BAG),
    "pyro": pyro_critic,
}
CLASSES = {"counts": PyroCritic, "pyro": PyroCritic}
TEXTS = {"counts": corpus, "pyro": corpus}


def load(kind, folder):
    """These classes are not registered: a user loads them by their class."""
    return CLASSES[kind].load(folder, trust=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One saved critic of each kind, by name of the kind."""
    folder = tmp_path_factory.mktemp("saved")
    for kind, make in MAKERS.items():
        make().fit(TEXTS[kind]()).save(folder / kind)
        load(kind, folder / kind).score(TEXTS[kind](4, 1))
    return folder


def forged(source, folder, json_change=None, **arrays):
    """A copy with other values, whose digests fit; each array has a function that changes it."""
    shutil.copytree(source, folder)
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    stored = load_file(folder / ARRAYS_NAME)
    for name, change in arrays.items():
        stored[name] = np.ascontiguousarray(change(stored[name]))
    if json_change is not None:
        json_change(content["state"])
    save_file(stored, folder / ARRAYS_NAME)
    content[DIGESTS]["arrays"] = file_digest(folder / ARRAYS_NAME)
    content[DIGESTS]["content"] = _content_digest(content)
    (folder / JSON_NAME).write_text(json.dumps(content), encoding="utf-8")
    return folder


def with_nan(values):
    return np.where(np.arange(values.size).reshape(values.shape) == 0, np.nan, values)


def within(stored, change):
    """The bytes of arrays, each of which is changed."""
    arrays = safetensors.load(stored.tobytes())
    return np.frombuffer(safetensors.save({k: np.ascontiguousarray(change(v)) for k, v in arrays.items()}), np.uint8)


def part(state, name):
    return state[name]["@part"]


CASES = [
    ("counts", {"json_change": lambda s: s.update(features_={"words_": ["a"]})}, "unscored failed at"),
    ("pyro", {"parameters_.bytes_": lambda v: within(v, with_nan)}, "the model or the guide fails"),
    ("pyro", {"parameters_.bytes_": lambda v: v[1:]}, "project failed at .*SafetensorError"),
    ("pyro", {"curve_": with_nan}, "curve_.* finite numbers"),
    ("pyro", {"json_change": lambda s: s.update(shape_=[-1])}, "project failed at"),
    ("pyro", {"json_change": lambda s: s.update(plates_="x")}, "the model or the guide fails"),
]


@pytest.mark.parametrize(("kind", "change", "word"), CASES)
def test_states_that_no_fit_leaves_end_in_words(saved, tmp_path, kind, change, word):
    folder = forged(saved / kind, tmp_path / "forged", **change)
    with pytest.raises(MomusError, match=word):
        load(kind, folder).score(TEXTS[kind](4, 1))


def outcome(source, folder, change, seed):
    """Mutate a copy of a saved critic: refused when it is loaded, when it scores, or scored."""
    shutil.copytree(source, folder)
    what = change(folder, random.Random(seed))
    try:
        critic = load(source.name, folder)
        critic.score(TEXTS[source.name](4, 1))
        notes_of(critic)
    except MomusError:
        return "refused"
    except Exception as error:
        raise AssertionError(f"{source.name}, seed {seed}: {what}: {type(error).__name__}: {error}") from error
    finally:
        shutil.rmtree(folder)
    return "scored"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", [QUICK, pytest.param(FULL, marks=pytest.mark.slow)])
def test_mutations_end_in_words_or_in_scores(saved, tmp_path, number):
    for change in (mutations.damage, mutations.forge):
        kinds = list(MAKERS)
        found = [outcome(saved / kinds[i % len(kinds)], tmp_path / "copy", change, i) for i in range(number)]
        assert found.count("refused") > number // 2
