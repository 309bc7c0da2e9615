"""Saved critics that were damaged or forged: refused with words, never a traceback, never another result."""

import functools
import importlib.util
import json
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import momus
from momus import Corpus
from momus.critic.base import notes_of
from momus.critic.fitted import check_origin
from momus.critic.registry import critic_class
from momus.critic.saved import ARRAYS_NAME, DIGESTS, JSON_NAME, _content_digest
from momus.errors import MomusError, StoreError

_spec = importlib.util.spec_from_file_location("faults_mutations", Path(__file__).with_name("mutations.py"))
assert _spec is not None
assert _spec.loader is not None
mutations = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)

QUICK, FULL = 60, 600
PARAMS = {
    "code-mixing": {"sweeps": 4, "starts": 1, "chains": 1, "draws": 2},
    "topics": {"n_topics": 3, "steps": 3, "min_count": 2, "max_share": 1.0, "word_posterior": "point"},
}
SMALL = ["length", "unigram", "perplexity", "type-token", "sections", "heaps"]
LARGE = ["symbol-share", "rank-frequency", "mauve", "code-mixing", "topics"]


def text(rng, words=40):
    names = [a + b for a in "bdfglmnp" for b in ("ax", "el", "irk", "oth", "un")]
    weights = 1 / np.arange(1, len(names) + 1)
    drawn = rng.choice(names, words, p=weights / weights.sum())
    return " ".join(" ".join(drawn[i : i + 8]).capitalize() + "." for i in range(0, words, 8))


def corpus(n=24, seed=0):
    rng = np.random.default_rng(seed)
    titles = ["Abstract", "Design", "Notes"]
    documents = [[(t, text(rng)) for t in titles if t != "Notes" or i % 2] for i in range(n)]
    return Corpus.from_sections(documents, name="made")


def fit(names, folder):
    real = corpus()
    for name in names:
        critic_class(name)(**PARAMS.get(name, {})).fit(real).save(folder / name)
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Folder with one saved critic of each small kind."""
    return fit(SMALL, tmp_path_factory.mktemp("saved"))


@functools.cache
def expected(source):
    """Scores of the saved critic as it was."""
    return momus.load_critic(source).score(corpus(6, 1)).nll


def check(source, folder, change, seed):
    """Mutate a copy of a saved critic, and return its outcome: refused, or whether it scores as before."""
    shutil.copytree(source, folder)
    what = change(folder, random.Random(seed))
    before = expected(source)
    try:
        critic = momus.load_critic(folder)
        after = critic.score(corpus(6, 1)).nll
        notes_of(critic)
    except MomusError:
        return "refused", what
    except Exception as error:
        raise AssertionError(f"{source.name}, seed {seed}: {what}: {type(error).__name__}: {error}") from error
    finally:
        shutil.rmtree(folder)
    return ("same" if np.array_equal(before, after, equal_nan=True) else "differs"), what


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("change", ["damage", "forge"])
def test_mutated_critics_are_refused(saved, tmp_path, change):
    outcomes = [
        check(saved / SMALL[i % len(SMALL)], tmp_path / "copy", getattr(mutations, change), i)
        for i in range(QUICK // 2)
    ]
    if change == "damage":  # a damaged folder is refused, or its content is the same, as after a flip in a space
        assert not [what for outcome, what in outcomes if outcome == "differs"]
    assert sum(outcome == "refused" for outcome, _ in outcomes) > QUICK // 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many_mutated_critics_are_refused(saved, tmp_path):
    fit(LARGE, tmp_path / "large")
    sources = [*(saved / name for name in SMALL), *(tmp_path / "large" / name for name in LARGE)]
    for i in range(FULL):
        for change in (mutations.damage, mutations.forge):
            outcome, what = check(sources[i % len(sources)], tmp_path / "copy", change, 1000 + i)
            assert outcome != "differs" or change is mutations.forge, what


def reseal(folder, change):
    """Change ``critic.json``, and make its digest fit."""
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    change(content)
    content[DIGESTS]["content"] = _content_digest(content)
    (folder / JSON_NAME).write_text(json.dumps(content), encoding="utf-8")


def copied(saved, name, tmp_path):
    return Path(shutil.copytree(saved / name, tmp_path / name))


def test_every_bit_of_the_arrays_counts(saved, tmp_path):
    folder = copied(saved, "type-token", tmp_path)
    path = folder / ARRAYS_NAME
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 12)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(StoreError, match="changed or damaged"):
            momus.load_critic(folder)


def test_numbers_changed_in_the_json_are_noticed(saved, tmp_path):
    folder = copied(saved, "type-token", tmp_path)
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    content["state"]["alpha_"] *= 1.001
    (folder / JSON_NAME).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(StoreError, match="changed or damaged"):
        momus.load_critic(folder)


def test_folders_without_digests_or_of_another_format_are_refused(saved, tmp_path):
    folder = copied(saved, "type-token", tmp_path)
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    for change, words in (({"format": 1}, "saved critic of format 1; Momus"), ({DIGESTS: None}, "sha256 is null")):
        (folder / JSON_NAME).write_text(json.dumps({**content, **change}), encoding="utf-8")
        with pytest.raises(StoreError, match=words):
            momus.load_critic(folder)


@pytest.mark.parametrize("hashes", [np.uint64(5), [[1, 2]], [2, 1], [1, 1]])
def test_hashes_are_ascending_numbers_in_one_row(hashes):
    critic = critic_class("length")()
    critic.fitted_hashes_ = np.array(hashes, dtype=np.uint64)
    with pytest.raises(StoreError, match="fitted_hashes_"):
        check_origin(critic)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("type-token", lambda c: c["state"].update(fitted_on_={}), "fitted_on_"),
        ("type-token", lambda c: c["state"].update(alpha_={"@float": "nan"}), "finite"),
        ("type-token", lambda c: c["state"].update(score_=1), None),
        ("type-token", lambda c: c["state"].pop("fitted_hashes_"), "fitted_hashes_"),
        ("type-token", lambda c: c["state"].update(fit=1), "not a fitted attribute"),
        ("type-token", lambda c: c["params"].update(order="x"), "order is 'x'"),
        ("type-token", lambda c: c["state"].update(alpha_=10**30), "at most 63 bits"),
    ],
)
def test_states_that_no_fit_leaves_are_refused_with_the_attribute(saved, tmp_path, name, change, words):
    folder = copied(saved, name, tmp_path)
    reseal(folder, change)
    if words is None:  # an attribute that nothing reads
        momus.load_critic(folder)
        return
    with pytest.raises(StoreError, match=words):
        momus.load_critic(folder)


def test_deep_json_and_constants_are_refused(saved, tmp_path):
    folder = copied(saved, "type-token", tmp_path)
    for body in (
        '{"format": 2, "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"format": NaN}',
        "[]",
        '{"format": [1]}',
    ):
        (folder / JSON_NAME).write_text(body, encoding="utf-8")
        with pytest.raises(StoreError):
            momus.load_critic(folder)
    shutil.copy(saved / "type-token" / JSON_NAME, folder)

    def nest(content):
        value = 0
        for _ in range(60):
            value = [value]
        content["state"]["deep_"] = value

    reseal(folder, nest)
    with pytest.raises(StoreError, match="at most 20 levels"):
        momus.load_critic(folder)


def test_links_out_of_the_folder_and_pipes_are_refused(saved, tmp_path):
    for target in (JSON_NAME, ARRAYS_NAME):
        folder = tmp_path / f"linked-{target}"
        shutil.copytree(saved / "length", folder)
        (folder / target).unlink()
        (folder / target).symlink_to(saved / "length" / target)
        with pytest.raises(StoreError, match="leads out of its folder"):
            momus.load_critic(folder)
        (folder / target).unlink()
        os.mkfifo(folder / target)
        with pytest.raises(StoreError, match="no regular file"):
            momus.load_critic(folder)


def test_saving_writes_through_no_link(saved, tmp_path):
    critic = momus.load_critic(saved / "length")
    other = tmp_path / "other.txt"
    other.write_text("mine", encoding="utf-8")
    (tmp_path / "critic").mkdir()
    (tmp_path / "critic" / JSON_NAME).symlink_to(other)
    with pytest.raises(StoreError, match="is a link to"):
        critic.save(tmp_path / "critic")
    assert other.read_text(encoding="utf-8") == "mine"
    (tmp_path / "critic" / JSON_NAME).unlink()
    critic.save(tmp_path / "critic")
    assert sorted(p.name for p in (tmp_path / "critic").iterdir()) == [ARRAYS_NAME, JSON_NAME]
    assert load_file(tmp_path / "critic" / ARRAYS_NAME).keys() == load_file(saved / "length" / ARRAYS_NAME).keys()
