"""Texts that said nothing, or the wrong thing: shared openings, lost order, splits, tables, lists of answers, hints."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.errors import ReadingError, UsageError
from momus.reading import read_corpus
from momus.runs.text_checks import ORDER, order_notes
from momus.runs.texts import read_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.openings import OPENING, shared_openings
from momus.text.running import RunningText
from momus.text.sketches import TextSketch
from momus.text.splitting import run_rows
from momus.verdicts.running_text import compare_law
from momus_critics.laws.critics import Taylor
from momus_critics.length import Length

WORDS = np.array([f"word{i}" for i in range(500)])
ZIPF = 1 / np.arange(1, 501)


def texts(n, seed, words=60):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, words, p=ZIPF / ZIPF.sum())) for _ in range(n)]


def corpus(made, name, **labels):
    return Corpus.from_texts(made, name=name, **labels)


def openings(first, second):
    return shared_openings(TextSketch.of(first, sample=0), TextSketch.of(second, sample=0))


def checks(found, kind):
    return {(c.corpus, c.other): c for c in found.checks if c.kind == kind}


# Shared openings


def test_openings_that_both_sides_share_are_warned_of():
    prompts = texts(60, 1, 30)
    sides = [[f"{p}\n{rest}" for p, rest in zip(prompts, texts(60, seed), strict=True)] for seed in (2, 3)]
    found = read_texts(corpus(sides[0], "real"), {"gen": corpus(sides[1], "gen")}, texts(40, 4), 0)
    check = checks(found, "opening")["gen", "real"]
    assert (check.documents, check.total, check.warns) == (60, 60, True)
    assert OPENING < min(map(len, prompts)) < check.measured.length < max(map(len, prompts)) + 20
    (warning,) = [w for w in found.warnings if "share their first" in w]
    assert "60 of 60 documents of 'gen' share their first" in warning
    assert "'gen:1' and 'real:1'" in warning
    assert "Remove it on both sides; paired=False does not help" in warning[:240], "the terminal cuts what is longer"


def test_openings_are_sought_in_the_whole_real_text_where_it_is_split():
    prompts = texts(60, 1, 30)
    sides = [[f"{p} {rest}" for p, rest in zip(prompts, texts(60, seed), strict=True)] for seed in (2, 3)]
    found = read_texts(corpus(sides[0], "real"), {"gen": corpus(sides[1], "gen")}, None, 0)
    assert checks(found, "opening")["gen", "real"].documents == 60


def test_openings_shared_with_the_text_to_fit_on_are_warned_of():
    prompts = texts(60, 1, 30)
    sides = [[f"{p} {rest}" for p, rest in zip(prompts, texts(60, seed), strict=True)] for seed in (2, 3)]
    found = read_texts(corpus(sides[0], "real"), {"gen": texts(60, 5)}, corpus(sides[1], "fit"), 0)
    assert [k for k, c in checks(found, "opening").items() if c.warns] == [("real", "fit")]
    assert any("'fit', which critics are fitted on" in w for w in found.warnings)


def test_independent_texts_copies_and_forms_do_not_share_openings():
    a, b = texts(100, 1), texts(100, 2)
    form = "This document is licensed under the terms of the licence that every document of this series is under. "
    assert len(form) > OPENING
    for one, other in ((a, b), (a, a), ([form + t for t in a], [form + t for t in b]), (a, ["short"] * 9)):
        assert not openings(corpus(one, "a"), corpus(other, "b")).rows.any()
    one, other = corpus([form + a[0], *a[1:]], "a"), corpus([form + b[0], *b[1:]], "b")
    assert np.flatnonzero(openings(one, other).rows).tolist() == [0], "one document of many is no form"


@given(st.integers(1, 40), st.integers(0, 30))
def test_the_length_of_an_opening_is_what_both_texts_share(extra, spaces):
    start = "x" * OPENING + "y" * extra
    found = openings(corpus([start + " " * spaces + "aa"], "a"), corpus([start + " " * spaces + "bb"], "b"))
    assert found.length == len(start) + bool(spaces)


@pytest.mark.slow
def test_continuations_of_real_prompts_share_openings_and_proposals_do_not(data):
    path = data / "human-vs-lm" / "writing_gpt2-xl.json.gz"
    sides = [read_corpus(f"{path}#{side}") for side in ("original", "sampled")]
    assert openings(sides[1], sides[0]).rows.sum() > 490
    eips = read_corpus(data / "sectioned" / "eips.jsonl.gz")
    ercs = read_corpus(data / "sectioned" / "ercs.jsonl.gz")
    assert openings(ercs, eips).rows.sum() <= 0.01 * len(ercs)
    found = openings(*eips.split(0.5, 1))
    assert found.rows.mean() < 0.05


# The same text on both sides, and its order


def ordered_text(documents, seed=0, words=40):
    """Paragraphs whose vocabulary drifts, so that neighbours resemble each other: text with long-range correlations."""
    rng = np.random.default_rng(seed)
    drift, made = rng.normal(size=500), []
    for _ in range(documents):
        drift = 0.97 * drift + 0.25 * rng.normal(size=500)
        p = ZIPF * np.exp(1.5 * drift)
        made.append(" ".join(rng.choice(WORDS, words, p=p / p.sum())))
    return made


def test_the_same_text_on_both_sides_is_recognised():
    made = texts(60, 1)
    for fit in (None, texts(40, 2)):
        found = read_texts(corpus(made, "real"), {"gen": corpus(made, "gen")}, fit, 0)
        check = checks(found, "copied")["gen", "real"]
        assert (check.documents, check.share, check.warns) == (60, 1.0, True)
        assert any("both sides are the same text" in w and "Check the paths" in w for w in found.warnings)
        assert not any("may have memorised" in w for w in found.warnings), "what is the same text is said once"
    short = ["yes", "no", "perhaps not", "why"] * 5
    found = read_texts(corpus(short, "real"), {"gen": corpus(short[::-1], "gen")}, texts(40, 2), 0)
    assert any("20 of 20 documents of 'gen' are also in 'real'" in w for w in found.warnings)


def test_some_copies_are_not_the_same_text():
    made = texts(60, 1)
    found = read_texts(corpus(made, "real"), {"gen": corpus([*made[:30], *texts(30, 3)], "gen")}, texts(40, 2), 0)
    assert checks(found, "copied")["gen", "real"].documents == 30
    assert not any("both sides are the same text" in w for w in found.warnings)


def taylor(law_text, whole, critic):
    a, b = (RunningText.of(c.tokens(critic.tokenizer)) for c in (law_text, whole))
    return compare_law(critic.laws()[0], a, b, 0.95)


def test_taylor_finds_no_difference_between_a_text_and_itself():
    critic = Taylor()
    whole = corpus(ordered_text(6000), "real")
    by_runs, at_random = [], []
    for seed in range(5):
        texts_ = read_texts(whole.slice(0, 60), {"gen": whole.slice(0, 60)}, None, seed)
        assert texts_.for_critic(critic).real.ids == whole.slice(0, 60).split_in_runs(0.5, seed)[1].ids
        by_runs.append(taylor(whole.split_in_runs(0.5, seed)[1], whole, critic).p)
        at_random.append(taylor(whole.split(0.5, seed)[1], whole, critic).p)
    assert max(at_random) < 0.05, "the fault: neighbours are torn apart on one side only"
    assert min(by_runs) > 0.05


@pytest.mark.slow
def test_taylor_finds_no_difference_between_wikitext_and_itself(data):
    whole = read_corpus(data / "wikitext-2" / "train.txt.gz", fmt="lines").slice(0, 12_000)
    critic = Taylor()
    assert taylor(whole.split(0.5, 0)[1], whole, critic).p < 1e-4
    assert taylor(whole.split_in_runs(0.5, 0)[1], whole, critic).p > 0.05


@given(st.lists(st.integers(0, 50), min_size=2, max_size=80), st.integers(0, 9))
def test_runs_are_contiguous_and_nothing_is_lost(sizes, seed):
    first, second = run_rows(np.array(sizes), 0.5, seed)
    assert sorted([*first, *second]) == list(range(len(sizes)))
    side = np.zeros(len(sizes), dtype=bool)
    side[first] = True
    assert (np.diff(side) != 0).sum() < 20
    assert len(first)
    assert len(second)


def test_only_laws_get_runs_and_groups_stay_whole():
    made = texts(80, 1)
    found = read_texts(corpus(made, "real"), {"gen": texts(40, 2)}, None, 3)
    assert found.for_critic(Length()) is found
    assert order_notes(found, Length()) == []
    laws = found.for_critic(Taylor())
    assert sorted([*laws.fit.ids, *laws.real.ids]) == sorted([*found.fit.ids, *found.real.ids])
    assert any("runs of neighbouring documents" in n.text and not n.warning for n in order_notes(laws, Taylor()))
    grouped = corpus(made, "real", groups=[f"g{i // 8}" for i in range(80)])
    found = read_texts(grouped, {"gen": texts(40, 2)}, None, 3)
    laws = found.for_critic(Taylor())
    assert sorted(laws.real.ids, key=found.whole.ids.index) == laws.real.ids
    assert set(laws.real.ids) == set(found.real.ids)
    assert [n.text for n in order_notes(found, Taylor())] == [ORDER]
    fitted = read_texts(corpus(made, "real"), {"gen": texts(40, 2)}, texts(40, 5), 3)
    assert fitted.for_critic(Taylor()).real.ids == fitted.real.unsorted.ids


def test_laws_say_where_the_orders_of_both_sides_are_not_comparable():
    made = ordered_text(400)
    shuffled = [made[i] for i in np.random.default_rng(0).permutation(400)]
    other = ordered_text(400, seed=1)
    for gen, warns in ((shuffled, True), (other, False)):
        found = read_texts(corpus(made, "real"), {"gen": corpus(gen, "gen")}, texts(40, 2), 0)
        notes = [n.text for n in order_notes(found, Taylor()) if n.warning]
        assert [("not comparable" in n and "'gen'" in n) for n in notes] == [True] * warns
    prompted = corpus(made, "real", prompts=[f"p{i % 100}" for i in range(400)])
    found = read_texts(prompted, {"gen": corpus(other, "gen")}, None, 0)
    assert any("split by prompts" in n.text and n.warning for n in order_notes(found, Taylor()))


# One document, empty documents


def test_one_book_is_told_how_to_be_cut(tmp_path):
    (tmp_path / "book.txt").write_text("\n\n".join(texts(30, 1)))
    with pytest.raises(UsageError) as caught:
        read_texts(tmp_path / "book.txt", {"gen": texts(9, 2)}, None, 0)
    assert "'real' has 1 document:" in caught.value.message
    assert "fmt='paragraphs'" in caught.value.hint
    assert "fit=" in caught.value.hint
    assert len(read_corpus(tmp_path / "book.txt", fmt="paragraphs")) == 30
    with pytest.raises(UsageError, match="20 documents, 1 of them with text"):
        read_texts(["only one", *[" "] * 19], {"gen": texts(9, 2)}, None, 0)
    with pytest.raises(UsageError, match="20 documents, 0 of them with text"):
        read_texts(["\n"] * 20, {"gen": texts(9, 2)}, None, 0)
    for fit, generated in (([], texts(9, 1)), (texts(9, 1), [])):
        with pytest.raises(UsageError, match="has no document"):
            read_texts(texts(9, 3), {"gen": generated}, fit, 0)


# Hints that lead somewhere


CIRCLES = {
    "text-null": ([{"text": None, "output": "To be."}], None, ["output"]),
    "text-number": ([{"text": 3, "output": "To be.", "note": ""}], None, ["output"]),
    "wrong-name": ([{"text": None, "output": "To be."}], "txt", ["output"]),
    "tried": ([{"output": None, "text": None, "story": "To be."}], "output", ["story"]),
    "inner": ([{"output": {"remark": "To be.", "score": 1}}], "output", ["output.remark"]),
    "sections": ([{"sections": None, "body": "To be.", "title": "T"}], None, ["body", "title"]),
    "most": ([{"a": "x", "b": "y"}, {"b": "y"}], None, ["b", "a"]),
    "list": ([{"id": "7", "prompt": "p", "replies": ["To be.", "Or not."]}], None, ["replies"]),
}


@pytest.mark.parametrize("case", CIRCLES)
def test_a_hint_names_fields_that_hold_text(tmp_path, case):
    records, field, expected = CIRCLES[case]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / "a.jsonl", field=field)
    named = [word for word in re.findall(r"field='(.*?)'", caught.value.hint) if word in expected]
    assert named == expected
    for name in expected:  # following the hint ends the search
        assert not read_corpus(tmp_path / "a.jsonl", field=name).blank.all()


def test_a_file_without_any_text_is_not_sent_elsewhere(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"n": 1, "text": null}\n')
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / "a.jsonl")
    assert "field=" not in caught.value.hint
    assert "no field holds text" in caught.value.hint


def test_columns_of_parquet_are_named_with_the_way_to_their_texts(tmp_path):
    pq.write_table(
        pa.Table.from_pylist([{"n": 1, "out": {"answer": "To be."}, "replies": ["a", "b"]}]), tmp_path / "a.parquet"
    )
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / "a.parquet")
    assert "field='out.answer' (“To be.”) or field='replies'" in caught.value.hint
    assert read_corpus(tmp_path / "a.parquet", field="out.answer")[0].text == "To be."
    assert len(read_corpus(tmp_path / "a.parquet", field="replies")) == 2


def test_a_list_of_objects_in_one_json_object_takes_a_separate_field(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"data": [{"output": "To be.", "note": "x"}], "size": [1]}))
    with pytest.raises(ReadingError, match=r"'data' \(1 items\)|'data'"):
        read_corpus(tmp_path / "a.json")
    with pytest.raises(ReadingError) as caught:
        read_corpus(f"{tmp_path}/a.json#data")
    assert "field='output'" in caught.value.hint
    assert [d.text for d in read_corpus(f"{tmp_path}/a.json#data", field="output")] == ["To be."]
    assert [d.text for d in read_corpus(tmp_path / "a.json", field="data.output")] == ["To be."]
    with pytest.raises(ReadingError, match=r"no field 'size\.output'"):
        read_corpus(f"{tmp_path}/a.json#size", field="output")


# Tables


def test_tables_are_read_row_by_row(tmp_path):
    content = 'id,text,label\r\n007,"To be,\nor ""not"" to be",a\r\n\r\n8,Ende — schluß,b\r\n,"",c\r\n'
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + content.encode())
    read = read_corpus(tmp_path / "a.csv", keep=["label"])
    assert read.ids == ["007", "8", "a:3"]
    assert [d.text for d in read] == ['To be,\nor "not" to be', "Ende — schluß", ""]
    assert read.field("label") == ["a", "b", "c"]
    assert read.blank.tolist() == [False, False, True]
    (tmp_path / "b.tsv").write_text("text\tlabel\nTo be, or not\ta\n")
    assert [d.text for d in read_corpus(tmp_path / "b.tsv")] == ["To be, or not"]
    (tmp_path / "c.csv").write_text("label;text\na;To be, or not, to be, that\n")
    assert [d.text for d in read_corpus(tmp_path / "c.csv")] == ["To be, or not, to be, that"]
    (tmp_path / "d.csv").write_text("prompt,story\n,once\np,twice\n")
    assert read_corpus(tmp_path / "d.csv").prompts == [None, "p"]
    (tmp_path / "long.csv").write_text('text\n"' + "word " * 60_000 + '"\n')
    assert read_corpus(tmp_path / "long.csv").characters.tolist() == [300_000]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=40)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), st.sampled_from([",", "\t"]))
def test_tables_that_pandas_writes_come_back(tmp_path_factory, rows, mark):
    import pandas as pd

    path = tmp_path_factory.mktemp("table") / ("a.csv" if mark == "," else "a.tsv")
    pd.DataFrame(rows, columns=["text", "label"]).to_csv(path, sep=mark, index=False, lineterminator="\n")
    read = read_corpus(path, keep=["label"])
    assert [d.text for d in read] == [text for text, _ in rows]
    assert read.field("label") == [label for _, label in rows]


TABLES = {
    "cells": ("a.csv", "text,label\na,b\nTo be, or not,b\n", {}, ["row 2", "3 cells (line 3), expected 2", "quotes"]),
    "few": ("a.tsv", "text\tlabel\nTo be\n", {}, ["row 1", "1 cells", "expected 2", "tab"]),
    "open": ("a.csv", 'text,label\n"To be,b\n', {}, ["ends within a quoted cell", "line 2", "quotation mark"]),
    "inside": ("a.csv", 'text,label\n"To "be"",b\n', {}, ["not a row of cells", "line 2", "twice"]),
    "names": ("a.csv", "text,text\na,b\n", {}, ["names the column 'text' 2 times"]),
    "columns": ("a.csv", "alpha,beta\na,b\n", {}, ["'alpha' (string)", "field='alpha' (“a”) or field='beta'"]),
    "head": ("a.csv", "text,label\n", {}, ["no documents found"]),
    "encoding": ("a.csv", b"text\ncaf\xe9 noir\n", {}, ["encoding='latin-1'"]),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_that_cannot_be_read(tmp_path, case):
    name, content, options, fragments = TABLES[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / name, **options)
    for fragment in (name, *fragments):
        assert fragment in str(caught.value)


def test_bad_rows_of_tables_are_counted_on_demand(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,b\nTo be, or not,b\nc,d\n")
    read = read_corpus(tmp_path / "a.csv", skip_bad_lines=True)
    assert read.problems == [None, "a row with another number of cells than the first", None]


@pytest.mark.parametrize("fmt", ["lines", "text", "paragraphs"])
def test_tables_are_not_taken_for_plain_text(tmp_path, fmt):
    (tmp_path / "a.csv").write_text("text,label\na,b\n")
    with pytest.raises(UsageError) as caught:
        read_corpus(tmp_path / "a.csv", fmt=fmt)
    assert f"leave out fmt={fmt!r}" in caught.value.hint
    (tmp_path / "a.txt").write_text("text,label\na,b\n")
    assert len(read_corpus(tmp_path / "a.txt", fmt="csv")) == 1


# Lists of answers


def test_answers_become_documents_of_one_prompt(tmp_path):
    rows = [
        {"id": "q1", "prompt_id": "p1", "group_id": "g", "year": 1603, "replies": ["Yes.", "No.", ""]},
        {"replies": [{"text": "Perhaps."}, {"text": "Never."}]},
        {"id": "q3", "replies": []},
        {"id": "q4", "replies": "Once."},
        {"id": "q5", "replies": ["Twice."]},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    read = read_corpus(tmp_path / "a.jsonl", field="replies", keep=["year"])
    assert read.ids == ["q1#1", "q1#2", "q1#3", "a:2#1", "a:2#2", "q3", "q4", "q5#1"]
    assert [d.text for d in read] == ["Yes.", "No.", "", "Perhaps.", "Never.", "", "Once.", "Twice."]
    assert read.prompts[:5] == ["p1", "p1", "p1", "a:2", "a:2"]
    assert read.groups[:4] == ["g", "g", "g", None]
    assert read.field("year")[:4] == ["1603", "1603", "1603", None]
    assert read.problems[5] == "replies is an empty list"
    assert not read.sectioned.any()
    ((field, records, documents),) = [(a.field, a.records, a.documents) for a in read.answers]
    assert (field, records, documents) == ("replies", 3, 6)
    pq.write_table(pa.Table.from_pylist([{"replies": ["Yes.", "No."]}]), tmp_path / "a.parquet")
    assert read_corpus(tmp_path / "a.parquet", field="replies").ids == ["a:1#1", "a:1#2"]


@pytest.mark.parametrize("field", ["sections", "chapters", "paragraphs", "parts", "sentences"])
def test_parts_stay_one_document(tmp_path, field):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", field: ["One.", "Two."]}) + "\n")
    read = read_corpus(tmp_path / "a.jsonl", field=field)
    assert (read.ids, read.sectioned.tolist(), read.section_counts.tolist()) == (["a"], [True], [2])
    assert read.answers == ()


def test_titled_and_nested_lists_stay_sections(tmp_path):
    lists = [[{"title": "A", "text": "x"}, {"title": "B", "text": "y"}], [["One.", "Two."], ["Three."]]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"body": v}) + "\n" for v in lists))
    read = read_corpus(tmp_path / "a.jsonl", field="body")
    assert read.section_counts.tolist() == [2, 2]


def test_answers_are_told_with_their_counts(tmp_path):
    rows = [{"id": f"q{i}", "replies": texts(3, i)} for i in range(20)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    found = read_texts(texts(60, 99), {"gen": read_corpus(tmp_path / "a.jsonl", field="replies")}, None, 0)
    (warning,) = [w for w in found.warnings if "'replies'" in w]
    assert "In 'gen', 'replies' holds 60 texts in the lists of 20 records" in warning
    assert "call the field 'sections'" in warning
    assert found.generated[0].units.prompts == 20, "the answers of a record are not independent"


# Splits of data sets


def write_parquet(path, n=2):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([{"text": f"{path.name} {i}"} for i in range(n)]), path)


def test_splits_of_a_data_set_are_not_merged_silently(tmp_path):
    names = ["train-00000-of-00002.parquet", "train-00001-of-00002.parquet", "test-00000-of-00001.parquet"]
    for name in names:
        write_parquet(tmp_path / name)
    with pytest.raises(UsageError) as caught:
        read_corpus(tmp_path)
    assert "train (2 files)" in caught.value.message
    assert "test (test-00000-of-00001.parquet)" in caught.value.message
    assert str(tmp_path / "train*") in caught.value.hint
    assert str(tmp_path / names[2]) in caught.value.hint
    assert len(read_corpus(tmp_path / "train*")) == 4
    assert read_corpus(tmp_path / "train*").ids[0] == "train-00000-of-00002.parquet:1"
    assert len(read_corpus(tmp_path / names[2])) == 2
    assert len(read_corpus(tmp_path / "*")) == 6
    assert len(read_corpus(tmp_path / "*.parquet")) == 6
    with pytest.raises(ReadingError, match="no file matches"):
        read_corpus(tmp_path / "dev*")


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (["train/a.jsonl", "validation/a.jsonl"], True),
        (["train.jsonl", "dev.jsonl"], True),
        (["xsum_train.jsonl", "xsum_test.jsonl"], True),
        (["train.txt", "valid.txt"], True),
        (["train.jsonl", "more.jsonl"], False),
        (["val.jsonl", "dev.jsonl"], False),
        (["train-ride.txt", "test-match.txt"], False),
        (["a_train_b.jsonl", "a_test_b.jsonl"], False),
    ],
)
def test_names_of_splits(tmp_path, names, refused):
    for i, name in enumerate(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({"text": f"To be {i}."}) + "\n")
    if refused:
        with pytest.raises(UsageError) as caught:
            read_corpus(tmp_path)
        everything = caught.value.hint.split("'")[1]
        assert len(read_corpus(everything)) == len(names), "the way out works"
    else:
        assert len(read_corpus(tmp_path)) == len(names)


# Counts


def test_one_is_singular():
    assert repr(Corpus.from_texts(["a"], name="x")) == "Corpus('x', 1 document)"
    assert [counted(n, "document") for n in (0, 1, 2, 1000)] == [
        "0 documents",
        "1 document",
        "2 documents",
        "1,000 documents",
    ]
    with pytest.raises(UsageError, match=r"'real' has 1 document:"):
        read_texts(["a"], {"gen": ["b"]}, None, 0)
