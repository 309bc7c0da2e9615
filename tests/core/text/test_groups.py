"""Documents come in groups: corpora, readers and scores keep them, and splits respect them."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from more_defects import MORE
from processes import shuffle_corpus

from momus.critic.scores import Scores
from momus.errors import UsageError
from momus.reading import ReadingOptions, building, read_corpus
from momus.runs.texts import read_texts
from momus.text.corpus import Corpus, Document
from momus.text.running import blocks
from momus.text.tokens import get_tokenizer

RECORDS = [
    {"id": "a", "text": "Once.", "group_id": "austen", "topic": "love", "meta": {"year": 1811}},
    {"id": "b", "text": "Twice.", "group_id": None, "topic": None, "meta": {"year": None}},
    {"id": "c", "text": "Thrice.", "group_id": "dickens", "topic": "ships", "meta": {"year": 1859}},
]


def parquet_bytes(records):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), sink, row_group_size=2)
    return sink.getvalue()


def arrow_bytes(records):
    table, sink = pa.Table.from_pylist(records), io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


LINES = "\n".join(map(json.dumps, RECORDS)).encode()
COLUMNS = {
    "id": [r["id"] for r in RECORDS],
    "text": [r["text"] for r in RECORDS],
    "group_id": [r["group_id"] for r in RECORDS],
    "topic": [r["topic"] for r in RECORDS],
    "meta.year": [r["meta"]["year"] for r in RECORDS],
}
CONTENT = {
    "a.jsonl": LINES,
    "a.jsonl.gz": gzip.compress(LINES),
    "list.json": json.dumps(RECORDS).encode(),
    "values.json": "\n".join(json.dumps(r, indent=1) for r in RECORDS).encode(),
    "a.parquet": parquet_bytes(RECORDS),
    "a.arrow": arrow_bytes(RECORDS),
    "columns.json": json.dumps(COLUMNS).encode(),
    "folder/x.jsonl": LINES,
}


@pytest.mark.parametrize("spill", [0, 1 << 20])
@pytest.mark.parametrize("name", CONTENT)
def test_every_format_keeps_groups_and_fields(tmp_path, monkeypatch, name, spill):
    monkeypatch.setattr(building, "SPILL_BYTES", spill)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(CONTENT[name])
    path = path.parent if name.startswith("folder") else f"{path}#text" if name == "columns.json" else path
    corpus = read_corpus(path, keep=["topic", "meta.year"])
    assert corpus.groups == ["austen", None, "dickens"]
    assert corpus.field("topic") == ["love", None, "ships"]
    assert corpus.field("meta.year") == ["1811", None, "1859"]
    assert corpus.field("year") == [None] * 3
    assert corpus[2].fields == {"topic": "ships", "meta.year": "1859"}
    assert read_corpus(path).field("topic") == [None] * 3, "fields are kept only if they are asked for"


def test_group_is_the_second_choice_and_empty_strings_are_none(tmp_path):
    rows = [{"text": "x", "group": 3, "group_id": None}, {"text": "y", "group": "g", "group_id": 7}, {"text": "z"}]
    rows += [{"text": "v", "group_id": ""}, {"text": None, "group": {"b": 1, "a": [2]}}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read_corpus(tmp_path / "a.jsonl").groups == ["3", "7", None, None, '{"a":[2],"b":1}']


def test_labels_are_not_taken_for_the_text(tmp_path):
    rows = [{"content": f"text {i}", "group": "g", "topic": "t"} for i in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "a.parquet").write_bytes(parquet_bytes(rows))
    for name in ("a.jsonl", "a.parquet"):
        corpus = read_corpus(tmp_path / name, keep=["topic"])
        assert [d.text for d in corpus] == ["text 0", "text 1", "text 2"]
        assert corpus.groups == ["g"] * 3


def test_a_field_that_no_text_has_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(LINES)
    options = ReadingOptions(keep=("topic", "tpoic"))
    with pytest.raises(UsageError, match="'tpoic'"):
        read_texts(tmp_path / "a.jsonl", {"g": tmp_path / "a.jsonl"}, tmp_path / "a.jsonl", 0, options)
    with pytest.raises(UsageError, match="list of field names"):
        read_corpus(tmp_path / "a.jsonl", keep="topic")


def documents():
    words = "the ship sailed. He saw her, and she saw him. In London it rained; nobody knew why."
    return Corpus.from_documents(
        Document(f"d{i}", Document.plain("x", f"{words} {i}").sections, False, None, None, f"g{i % 2}", {"k": str(i)})
        for i in range(6)
    )


def test_corpora_that_are_made_from_others_keep_groups_and_fields():
    corpus = documents()
    changed = MORE["pronoun-swap"].plant(corpus, 1.0)
    for other in (corpus.take([0, 1, 2, 3, 4, 5]), corpus.slice(0, 6), Corpus.from_documents(corpus), changed):
        assert other.groups == ["g0", "g1"] * 3
        assert other.field("k") == list("012345")
    assert changed[0].text != corpus[0].text
    assert corpus.take([5, 0]).field("k") == ["5", "0"]
    words = get_tokenizer("words")
    assert shuffle_corpus(corpus, words, 2, 0).groups == corpus.groups
    cut = blocks(corpus, words, 9)
    of_document = dict(zip(corpus.ids, corpus.groups, strict=True))
    assert cut.groups == [of_document[i.rpartition(" ")[2]] for i in cut.ids]
    assert set(cut.groups) == {"g0", "g1"}


def test_scores_keep_groups():
    nll, none = np.array([1.0, np.nan, 3.0]), [None] * 3
    scores = Scores("c", "x", list("abc"), none, nll, np.ones(3, int), none, groups=["g", "h", None])
    assert scores.scored_groups == ["g", None]
    assert list(scores.take(np.array([2, 1])).groups) == [None, "h"]
    without = Scores("c", "x", list("abc"), none, nll, np.ones(3, int), none)
    assert without.scored_groups == []
    assert len(without.take(np.array([0])).groups) == 0


def old_split(ids, share, seed):
    """The split before there were groups, as a reference."""
    by_id = np.argsort(np.asarray(ids, dtype=object), kind="stable")
    order = by_id[np.random.default_rng(seed).permutation(len(ids))]
    cut = round(share * len(ids))
    return [[ids[i] for i in np.sort(rows)] for rows in (order[:cut], order[cut:])]


@given(st.lists(st.text(max_size=4), unique=True, min_size=1, max_size=30), st.floats(0.01, 0.99), st.integers(0, 9))
def test_without_groups_the_split_is_that_of_earlier_versions(ids, share, seed):
    for prompts in (None, [f"p{i}" for i in ids], ["one"] * len(ids)):
        corpus = Corpus.from_texts(["x"] * len(ids), ids=ids, prompts=prompts)
        assert [half.ids for half in corpus.split(share, seed)] == old_split(ids, share, seed)


labels = st.sampled_from([None, None, "g1", "g2", "g3"])


@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=24), st.floats(0.05, 0.95), st.randoms())
def test_splits_keep_units_whole_and_do_not_depend_on_the_order(rows, share, random):
    groups, prompts = map(list, zip(*rows, strict=True))
    corpus = Corpus.from_texts(["x"] * len(rows), groups=groups, prompts=prompts)
    if len(set(groups)) == 1 and groups[0] is not None:
        with pytest.raises(UsageError, match="one group"):
            corpus.split(share, 1)
        return
    first, second = corpus.split(share, 1)
    assert sorted(first.ids + second.ids) == sorted(corpus.ids)
    assert not {g for g in first.groups if g} & {g for g in second.groups if g}
    units = corpus.units
    sides = np.isin(corpus.ids, first.ids)
    assert all(len(set(sides[units.codes == u])) == 1 for u in range(units.count))
    if units.count < len(corpus):
        assert first.ids
        assert second.ids
    order = list(range(len(rows)))
    random.shuffle(order)
    again = corpus.take(order).split(share, 1)
    assert {frozenset(half.ids) for half in again} == {frozenset(first.ids), frozenset(second.ids)}
    assert set(again[0].ids) == set(first.ids)


def test_the_share_is_as_near_as_the_order_of_units_allows():
    rng = np.random.default_rng(0)
    for seed in range(20):
        groups = [f"g{i}" for i in rng.integers(0, 12, 200)]
        corpus = Corpus.from_texts(["x"] * 200, groups=groups)
        largest = max(map(groups.count, set(groups)))
        for share in (0.2, 0.5, 0.8):
            assert abs(len(corpus.split(share, seed)[0]) - 200 * share) <= largest / 2


def test_documents_of_one_repeated_prompt_stay_together_and_the_warning_says_by_what():
    prompts = [f"p{i // 5}" for i in range(60)]
    texts = [f"text number {i} on {i * 7} things" for i in range(60)]
    corpus = Corpus.from_texts(texts, prompts=prompts)
    first, second = corpus.split(0.5, 3)
    assert len(first) == 30
    assert not set(first.prompts) & set(second.prompts)
    assert corpus.units.words() == "12 prompts"
    grouped = Corpus.from_texts(texts, groups=[f"g{i // 15}" for i in range(45)] + [None] * 15)
    warning = read_texts(grouped, {"g": texts[:4]}, None, 5).warnings[0]
    assert "split by 3 groups and 15 single documents and seed 5 into" in warning
