"""Rows of a Hugging Face data set in, the same rows with scores out."""

import math

import pytest

import momus
from momus import Corpus
from momus.errors import NotFittedError, UsageError
from momus_critics.laws import Taylor
from momus_critics.length import Length
from momus_critics.unigram import Unigram

datasets = pytest.importorskip("datasets", reason="pip install datasets")
REAL = [f"{'the cat sat on the mat ' * (1 + i % 4)}." for i in range(24)]
ROWS = [{"key": i, "text": text, "answer": f"the {text}"} for i, text in enumerate([*REAL[:4], "", "zzz zzz"])]


@pytest.fixture(scope="module")
def critics():
    return [Length().fit(Corpus.from_texts(REAL)), Unigram().fit(Corpus.from_texts(REAL))]


@pytest.fixture
def data():
    return datasets.Dataset.from_list(ROWS)


def test_rows_keep_their_order_and_get_the_scores_of_the_critic(data, critics):
    scored = momus.score_dataset(data, critics)
    assert isinstance(scored, datasets.Dataset)
    assert scored["key"] == data["key"]
    assert scored["text"] == data["text"]
    for critic in critics:
        alone = critic.score(Corpus.from_texts(data["text"]))
        expected = [None if math.isnan(v) else v for v in alone.nll]
        assert list(scored[f"momus_{critic.name}_nll"]) == expected
        assert list(scored[f"momus_{critic.name}_steps"]) == alone.steps.tolist()
        assert list(scored[f"momus_{critic.name}_reason"]) == list(alone.reasons)
    assert scored.features["momus_length_nll"].dtype == "float64"
    assert scored[4]["momus_length_nll"] is None
    assert scored[4]["momus_length_reason"]
    assert "momus_length_nll" not in data.column_names, "the data set that was given is unchanged"


def test_columns_without_any_reason_are_strings(critics):
    full = datasets.Dataset.from_list(ROWS[:2])
    scored = momus.score_dataset(full, critics[0])
    assert scored.features["momus_length_reason"].dtype == "string"
    both = datasets.concatenate_datasets([scored, scored])
    assert len(both) == 4


def test_splits_fields_saved_critics_and_prefix(data, critics, tmp_path):
    critics[0].save(tmp_path / "length")
    splits = datasets.DatasetDict({"train": data, "test": data.select([1, 0])})
    scored = momus.score_dataset(splits, tmp_path / "length", field="answer", prefix="c_")
    assert isinstance(scored, datasets.DatasetDict)
    assert scored["test"]["c_length_nll"] == scored["train"].select([1, 0])["c_length_nll"]
    assert scored["train"]["c_length_nll"] != momus.score_dataset(data, critics[0])["momus_length_nll"]
    written = scored["train"].to_parquet(tmp_path / "scored.parquet")
    assert written > 0
    again = momus.read_corpus(tmp_path / "scored.parquet", keep=["c_length_nll"])
    assert again.field("c_length_nll")[0] == repr(scored["train"][0]["c_length_nll"])


def test_mistakes_are_named(data, critics, tmp_path):
    with pytest.raises(UsageError, match="a column 'momus_length_nll' already"):
        momus.score_dataset(momus.score_dataset(data, critics[:1]), critics)
    with pytest.raises(UsageError, match=r"IterableDataset, no Dataset(.|\n)*streaming"):
        momus.score_dataset(data.to_iterable_dataset(), critics)
    with pytest.raises(UsageError, match="the critics are none"):
        momus.score_dataset(data, [])
    with pytest.raises(UsageError, match="the critics are length, length"):
        momus.score_dataset(data, [critics[0]] * 2)
    with pytest.raises(NotFittedError):
        momus.score_dataset(data, Length())
    lists = datasets.Dataset.from_list([{"answers": ["a b", "c d"]}, {"answers": ["e f"]}])
    with pytest.raises(UsageError, match=r"the 2 rows hold 3 texts(.|\n)*one row of each answer"):
        momus.score_dataset(lists, critics, field="answers")
    taylor = Taylor().fit(Corpus.from_texts([" ".join(REAL) * 200]))
    with pytest.raises(UsageError, match="'taylor' measures blocks of running text"):
        momus.score_dataset(data, taylor)
