"""Axes: one row and one number per document, and their file."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from momus import Corpus
from momus.critic import Critic, LogPrior, Values
from momus.critic.registry import critic_class
from momus.errors import StoreError
from momus.joint.axes import axis_of
from momus.runs.kept import HEADLINE, OF_AXIS, read_axis, write_axis
from momus_critics.length import Length
from momus_critics.shares import StopwordShare
from momus_critics.unigram import Unigram


def texts(n, seed, mean=12):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(["the", "a", "cat", "dog", "ran"], rng.poisson(mean) + 1)) for _ in range(n)]


REAL = Corpus.from_texts([*texts(20, 0), ""], name="real")
TEXTS = [*texts(15, 1, 20), "zebra of a new kind"]
GENERATED = Corpus.from_texts(TEXTS, name="g")


class Plain(Critic[Values]):
    """A critic whose headline is Latent NLL: z is the number of characters."""

    name = "plain"
    axis = "characters"

    def fit(self, real):
        self.mean_ = float(real.characters.mean())
        return self

    def project(self, batch):
        return Values(np.asarray(batch.characters, dtype=np.float64))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-latents.values / self.mean_)


def axis(critic):
    critic = critic.fit(REAL)
    scored = [critic.score(c) for c in (REAL, GENERATED)]
    return critic, scored, axis_of(critic, scored)


CRITICS = [Length, Unigram, StopwordShare]


@pytest.mark.parametrize("make", CRITICS)
def test_rows_pool_to_the_headline_statistic(make):
    from momus.verdicts.judge import judge

    critic, scored, found = axis(make())
    (verdict,) = (v for v in judge(critic, *scored, permutations=99) if v.headline)
    assert (found.critic, found.name, found.statistic.name) == (critic.name, critic.axis, verdict.statistic)
    pooled = [np.asarray(found.rows[c].sum(axis=0)).reshape(1, -1) for c in ("real", "g")]
    assert pooled[0].shape == pooled[1].shape, "the same columns"
    if found.statistic.kind == "distance":
        assert float(found.statistic.function(*pooled)[0]) == pytest.approx(verdict.generated_value)
    else:
        values = [float(found.statistic.function(p)[0]) for p in pooled]
        assert values == pytest.approx([verdict.real_value, verdict.generated_value])
    for name, side in (("real", REAL), ("g", GENERATED)):
        assert found.rows[name].shape[0] == len(side) == len(found.values[name])
        assert np.isnan(found.values[name]).tolist() == (~found.scored[name]).tolist()
    assert not found.scored["real"][-1]
    empty = found.rows["real"][[-1]]
    assert not (empty.toarray() if sparse.issparse(empty) else empty).any(), "an unscored document counts for nothing"


def test_values_are_those_of_documents():
    _, _, length = axis(Length())
    assert length.values["g"].tolist() == [len(t.split()) for t in TEXTS]
    _, scored, unigram = axis(Unigram())
    assert unigram.values["g"] == pytest.approx(scored[1].per_step)


def test_latent_nll_has_rows_of_its_own():
    critic, scored, found = axis(Plain())
    assert found.statistic.name == "latent_nll"
    assert found.rows["g"][:, 0] == pytest.approx(scored[1].nll)
    assert found.rows["g"][:, 1].tolist() == [1.0] * len(GENERATED)
    assert critic.name == "plain"


def test_critics_of_running_text_have_none():
    assert axis_of(critic_class("zipf-slope")(), []) is None


# The file


@pytest.mark.parametrize("make", [*CRITICS, Plain])
def test_the_file_holds_what_was_written(make, tmp_path):
    critic, _, written = axis(make())
    write_axis(written, tmp_path)
    read = read_axis(tmp_path, critic)
    assert (read.critic, read.name, read.statistic) == (written.critic, written.name, written.statistic)
    assert list(read.rows) == ["real", "g"]
    for name in read.rows:
        a, b = written.rows[name], read.rows[name]
        assert sparse.issparse(a) == sparse.issparse(b)
        assert a.shape == b.shape
        assert abs(a - b).max() == 0
        assert np.array_equal(written.values[name], read.values[name], equal_nan=True)
        assert written.scored[name].tolist() == read.scored[name].tolist()


def damaged(path, how):
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    elif how == "no parquet":
        path.write_text("nothing")
    elif how == "missing":
        path.unlink()
    else:
        table = pq.read_table(path)
        record = json.loads(table.schema.metadata[OF_AXIS])
        if how == "no width":
            del record["width"]
        if how == "narrow":
            record["width"] = 1
        if how == "no column":
            table = table.drop_columns(["counts"])
        pq.write_table(table.replace_schema_metadata({OF_AXIS: json.dumps(record)}), path)


@pytest.mark.parametrize("how", ["cut", "no parquet", "missing", "no width", "narrow", "no column"])
def test_a_damaged_file_is_refused(how, tmp_path):
    critic, _, written = axis(Unigram())
    write_axis(written, tmp_path)
    damaged(tmp_path / HEADLINE, how)
    with pytest.raises(StoreError, match=r"not readable|width is missing") as caught:
        read_axis(tmp_path, critic)
    assert "with another folder" in caught.value.hint


def test_rows_of_another_statistic_are_refused(tmp_path):
    _, _, written = axis(Length())
    write_axis(written, tmp_path)
    with pytest.raises(StoreError, match="rows of 'ks', which 'plain' does not test"):
        read_axis(tmp_path, Plain().fit(REAL))
