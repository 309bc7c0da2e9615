"""Critics fitted in parts: any partition of a text, read anywhere, gives the critic of the whole text."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from momus.cli.app import app
from momus.conformance import check_critic, corpora
from momus.critic import Counts, Critic, LogPrior, MergeableMixin, Values
from momus.critic.hooks import is_fitted
from momus.critic.portions import Portion, fit_portions, read_portion
from momus.critic.registry import critic_class, load_critic, make_critics
from momus.engine.fitting import fit_in_parts, read_sample
from momus.errors import FittingError, ReadingError, StoreError, UsageError
from momus.estimator import clone
from momus.reading import as_corpus
from momus.text.corpus import Corpus

COUNTING = ("length", "unigram", "rank-frequency", "type-token", "stopword-share", "symbol-share")
COUNTING += ("repetition", "discourse", "coreference")
PARAMS = {"coreference": {"resolver": "given"}, "type-token": {"order": 2}}
WORDS = ["the", "of", "Rain", "house", "hill", "town", "and", "she", "12", "light,", "stone.", "“a”", "wind!", "été"]


def saved(critic, folder):
    """The bytes of a saved critic, without the digest of the documents' order, which portions forget."""
    critic.fitted_on_.pop("identity", None)
    critic.save(folder)
    return (folder / "critic.json").read_bytes(), (folder / "arrays.safetensors").read_bytes()


def test_the_critics_that_count_are_mergeable():
    for name in (*COUNTING, "templates"):
        assert issubclass(critic_class(name), MergeableMixin)


@pytest.mark.parametrize("name", [n for n in COUNTING if n != "coreference"])
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=25), min_size=4, max_size=14),
    cuts=st.lists(st.integers(0, 14), max_size=4),
    seed=st.integers(0, 9),
)
def test_any_partition_in_any_order_gives_the_same_saved_critic(name, texts, cuts, seed, tmp_path):
    corpus = Corpus.from_texts([" ".join(t) for t in [["the", "a"], *texts]], name="fit")
    (critic,) = make_critics([name], PARAMS)
    rows = np.random.default_rng(seed).permutation(len(corpus))
    parts = [corpus.take(part) for part in np.split(rows, sorted(c for c in cuts if c <= len(rows)))]
    portions = [read_portion(clone(critic), part) for part in parts]
    try:
        whole = clone(critic).fit(corpus)
    except (FittingError, ZeroDivisionError) as error:
        with pytest.raises(type(error)):
            fit_portions(clone(critic), "fit", portions)
        return
    merged = fit_portions(clone(critic), "fit", portions)
    assert saved(merged, tmp_path / "merged") == saved(whole, tmp_path / "whole")


def test_portions_are_a_commutative_monoid():
    critic = critic_class("unigram")()
    a, b, c = (read_portion(critic, Corpus.from_texts(t)) for t in (["x y", ""], ["y y z"], ["x"]))
    total = Portion.total
    equal = ((total([total([a, b]), c]), total([a, total([b, c])])), (total([a, b]), total([b, a])), (total([a]), a))
    for one, other in equal:
        assert one.counts.tables == other.counts.tables
        assert sorted(one.hashes) == sorted(other.hashes)
        assert one.left_out == other.left_out
    assert a.left_out == 1


def test_large_counts_are_exact():
    big = 2**53
    total = Counts.of(words=(["a"], [big]), totals=[big]) + Counts.of(words=(["a"], [1]), totals=[1])
    assert total.table("words")[1].tolist() == total.array("totals").tolist() == [big + 1]


class Forgetful(MergeableMixin, Critic[Values]):
    """z is the number of characters, around a mean that is not additive."""

    name = "forgetful"
    axis = "characters"

    def __init__(self):
        pass

    def fit_counts(self, real):
        return Counts.of(mean=[round(float(real.characters.mean()))])

    def fit_from(self, counts):
        self.mean_ = float(counts.array("mean")[0])
        return self

    def project(self, batch):
        return Values(batch.characters.astype(float))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-((latents.values - self.mean_) ** 2))


def test_the_conformance_check_finds_a_critic_whose_counts_do_not_add_up():
    (record,) = check_critic(Forgetful(), corpora.documents(20), checks=["merging"]).records
    assert record.status == "failed"
    assert "'mean_' differs" in record.detail


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of two files with 60 documents, two of them blank and one twice."""
    folder = tmp_path_factory.mktemp("texts") / "train"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = [{"text": " ".join(rng.choice(WORDS, rng.integers(2, 30)))} for _ in range(57)]
    rows = [*rows, {"text": ""}, {"text": " "}, rows[3]]
    for name, part in (("a", rows[:35]), ("b", rows[35:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in part))
    return folder


@pytest.mark.parametrize("workers", [1, 2])
def test_files_fitted_in_parts_are_the_fit_on_the_whole(files, tmp_path, workers):
    whole = critic_class("unigram")().fit(as_corpus(files, "fit"))
    parts = critic_class("unigram")()
    fit_in_parts(parts, str(files), workers=workers, documents=7)
    assert parts.fitted_on_ == {k: v for k, v in whole.fitted_on_.items() if k != "identity"}
    assert saved(parts, tmp_path / "parts") == saved(whole, tmp_path / "whole")
    assert load_critic(tmp_path / "parts").fitted_on_["documents"] == 58


def test_what_cannot_be_fitted_in_parts_is_refused_with_a_way_out(files):
    with pytest.raises(UsageError, match="'keyness' cannot be fitted in parts") as error:
        fit_in_parts(critic_class("keyness")(), str(files))
    assert "sample=20000" in error.value.hint
    with pytest.raises(UsageError, match="only files and folders on disk"):
        fit_in_parts(critic_class("length")(), "-")
    with pytest.raises(ReadingError):
        fit_in_parts(critic_class("length")(), str(files / "none.jsonl"))
    one = critic_class("length")()
    with pytest.raises(FittingError, match="at least 2 documents"):
        fit_portions(one, "fit", [read_portion(one, Corpus.from_texts(["a", ""]))])
    assert not is_fitted(one)


def test_a_killed_worker_ends_the_fit_with_words(files):
    with pytest.raises(StoreError, match="was killed") as error:
        fit_in_parts(Deadly(), str(files), workers=2, documents=7)
    assert "jobs=" in error.value.hint


class Deadly(Forgetful):
    """Kills the process that counts."""

    def fit_counts(self, real):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)


def test_a_sample_depends_on_the_seed_alone(files):
    one, documents, _ = read_sample(str(files), 20, seed=1, documents=7)
    other, _, _ = read_sample(str(files), 20, seed=1, documents=50)
    assert documents == 60
    assert len(one) == 20
    assert one.table.equals(other.table)
    assert set(read_sample(str(files), 20, seed=2)[0].ids) != set(one.ids)
    assert len(read_sample(str(files), 100)[0]) == 60


@pytest.mark.slow
def test_every_document_is_as_likely_to_be_drawn(files):
    drawn = np.zeros(60)
    ids = as_corpus(files, "fit").ids
    for seed in range(120):
        drawn[np.isin(ids, read_sample(str(files), 20, seed=seed)[0].ids)] += 1
    distinct = np.array([i for i, d in enumerate(ids) if i not in (3, 57, 58, 59)])  # blank and equal texts go together
    # 40 expected draws each, standard deviation 5.2
    assert abs(drawn[distinct].mean() - 40) < 2
    assert drawn[distinct].min() > 20
    assert drawn[distinct].max() < 60


def call(*words):
    return CliRunner().invoke(app, ["fit", *map(str, words)])


def test_the_command_fits_in_parts_and_on_samples(files, tmp_path):
    assert "58 documents (2 left out)" in call("length", "-f", files, "-o", tmp_path / "a", "--jobs", 1).stdout
    assert call("length", "-f", files, "-o", tmp_path / "b").exit_code == 0
    assert (tmp_path / "a" / "arrays.safetensors").read_bytes() == (tmp_path / "b" / "arrays.safetensors").read_bytes()
    done = call("rhythm", "-f", files, "-o", tmp_path / "c", "--sample", 30)
    assert "A sample of 30 documents, drawn at random from 60" in done.stdout
    assert load_critic(tmp_path / "c").fitted_on_["documents"] <= 30
    for words in (["rhythm", "--jobs", 1], ["length", "--jobs", 1, "--sample", 9]):
        error = call(*words, "-f", files, "-o", tmp_path / "d").exception
        assert isinstance(error, UsageError)
        assert error.hint
        assert not (tmp_path / "d").exists()
