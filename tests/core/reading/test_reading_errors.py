"""Bad input: what stops the reading, what is kept as a counted exclusion, and what the messages say."""

import gzip
import io
import json
import os
import pickle
import sys
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from momus.errors import MomusError, ReadingError, UsageError
from momus.reading import building, read_corpus

GOOD = b'{"id": "a", "text": "To be."}\n'
LONG = GOOD + b"".join(b'{"id": "%d", "text": "%x"}\n' % (i, i * 7919**9) for i in range(20_000))

CHECKED = zstandard.ZstdCompressor(write_checksum=True).compress(LONG)
DAMAGED = CHECKED[:-4] + bytes(255 - b for b in CHECKED[-4:])


def parquet(rows):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def stream(rows):
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


ERRORS = {
    "empty": ("a.jsonl", b"", {}, ["a.jsonl: the file is empty"]),
    "empty-gz": ("a.jsonl.gz", gzip.compress(b""), {}, ["a.jsonl.gz: the file is empty"]),
    "blank-lines": ("a.jsonl", b"\n \n", {}, ["a.jsonl: no documents found"]),
    "empty-list": ("a.json", b"[]", {}, ["a.json: no documents found"]),
    "blank-text": ("a.txt", b"\n\n", {"fmt": "lines"}, ["a.txt: no documents found"]),
    "bad-line": (
        "a.jsonl",
        GOOD + b'{"text": }\n' + GOOD,
        {},
        ["a.jsonl, line 2: not valid JSON", "column 10", "skip"],
    ),
    "cut-line": (
        "a.jsonl",
        GOOD + b'{"text": "Not to',
        {},
        ["line 2", "not valid JSON", "cut off", "skip_bad_lines=True"],
    ),
    "two-values": ("a.jsonl", b'{"text": "a"} {"text": "b"}\n', {}, ["line 1", "Extra data", "column 15"]),
    "pretty-jsonl": ("a.jsonl", b'{\n  "text": "a"\n}\n', {}, ["line 1", "over several lines", "fmt='json'"]),
    "cut-list": ("a.json", b'[{"text": "a"},\n{"text": "b', {}, ["a.json, item 2", "cut off in line 2"]),
    "cut-list-comma": ("a.json", b'[{"text": "a"},', {}, ["a.json, item 2", "cut off"]),
    "open-list": ("a.json", b'[{"text": "a"}', {}, ["a.json, item 1", "cut off", "Expecting ','"]),
    "bad-list": ("a.json", b'[{"text": "a"},\n{"text" "b"}, {"text": "c"}]', {}, ["item 2", "line 2", "delimiter"]),
    "bad-list-mark": ("a.json", b'[{"text": "a"};{"text": "b"}, 3, 4, 5]', {}, ["item 1", "Expecting ',' or ']'"]),
    "after-list": ("a.json", b'[{"text": "a"}] x', {}, ["a.json", "after the end of the list"]),
    "deep-list": ("a.json", b'["' + b'",' + b"[" * 99_999, {}, ["a.json, item 2", "nested too deeply"]),
    "huge-in-list": ("a.json", b'["a",' + b"1" * 9999 + b"]", {}, ["a.json, item 2", "too many digits"]),
    "latin-1": (
        "a.jsonl",
        GOOD + b'{"text": "caf\xe9 noir"}\n',
        {},
        ["a.jsonl", "byte 43", "line 2", "encoding='latin-1'"],
    ),
    "cp1252": ("a.txt", b"one\ntwo \x93quoted\x94", {}, ["a.txt", "byte 8", "0x93", "line 2", "encoding='cp1252'"]),
    "latin-1-list": ("a.json", b'[\n"caf\xe9"]', {}, ["a.json", "byte 6", "line 2", "encoding='latin-1'"]),
    "utf-16": ("a.jsonl", GOOD.decode().encode("utf-16"), {}, ["a.jsonl", "line 1", "UTF-16", "encoding='utf-16'"]),
    "utf-16-le": ("a.txt", "To be or not".encode("utf-16-le"), {}, ["UTF-16-LE", "encoding='utf-16-le'"]),
    "utf-16-be": ("a.txt", "To be or not".encode("utf-16-be"), {}, ["UTF-16-BE", "encoding='utf-16-be'"]),
    "utf-32": ("a.txt", "To be or not".encode("utf-32"), {}, ["UTF-32", "encoding='utf-32'"]),
    "cut-character": ("a.txt", "wörld ä".encode()[:-1], {}, ["a.txt", "byte 7", "ends within a character"]),
    "ascii": ("a.txt", "wörld".encode(), {"encoding": "ascii"}, ["not valid ASCII", "byte 1", "encoding="]),
    "no-mark": ("a.jsonl", GOOD, {"encoding": "utf-16"}, ["a.jsonl", "not valid UTF-16", "utf-16-le"]),
    "binary": ("a.txt", bytes(range(256)) * 9, {}, ["a.txt: this is a binary file", "byte 0 is NUL"]),
    "pdf": ("a.txt", b"%PDF-1.7\n...", {}, ["a.txt: this is a PDF", "pdftotext"]),
    "zip": ("a.jsonl", b"PK\x03\x04....", {}, ["zip archive", "unpack"]),
    "pickle": ("a.jsonl", pickle.dumps(["a"], 4), {}, ["pickle", "JSON Lines"]),
    "parquet-as-jsonl": ("a.jsonl", parquet([{"text": "a"}]), {"fmt": "jsonl"}, ["binary file", "Parquet"]),
    "no-parquet": ("a.parquet", GOOD, {}, ["a.parquet: this is not a Parquet file", "fmt="]),
    "cut-parquet": ("a.parquet", parquet([{"text": "a"}])[:-9], {}, ["a.parquet: Arrow cannot read", "again"]),
    "cut-arrow": ("a.arrow", stream([{"text": "a" * 999}])[:-500], {}, ["a.arrow", "cannot"]),
    "parquet-column": (
        "a.parquet",
        parquet([{"abstract": "a", "n": 1}]),
        {},
        ["'abstract' (string)", "field='abstract'"],
    ),
    "parquet-field": (
        "a.parquet",
        parquet([{"text": "a"}]),
        {"field": "txt"},
        ["no field 'txt'", "'text'", "field="],
    ),
    "no-field": (
        "a.jsonl",
        b'{"id": 1, "summary": "x", "n": 2}\n',
        {},
        ["a.jsonl", "'summary' (string)", "field='summary'"],
    ),
    "two-fields": (
        "a.jsonl",
        b'{"output": "x", "story": "y"}\n',
        {},
        ["'output'", "'story'", "field='output' (“x”) or field='story'"],
    ),
    "wrong-field": (
        "a.jsonl",
        GOOD + GOOD.replace(b'"a"', b'"b"'),
        {"field": "txt"},
        ["no field 'txt' (2 times)", "'text'"],
    ),
    "all-null": ("a.jsonl", b'{"text": null}\n' * 2, {}, ["none of the 2 records", "text is null", "line 1"]),
    "no-objects": ("a.jsonl", b"1\n2\n", {}, ["not an object (found number)"]),
    "lists": (
        "a.json",
        b'{"real": ["a", "b"], "fake": ["c"]}',
        {},
        ["'real' (2 items)", "a.json#real or", "a.json#fake"],
    ),
    "text-field": ("a.txt", b"text", {"field": "text"}, ["a.txt: plain text has no field 'text'"]),
    "doubled": (
        "a.jsonl",
        GOOD + b"\n" + GOOD,
        {},
        ["a.jsonl, line 3: the id 'a' is already used in", "a.jsonl, line 1"],
    ),
    "no-gzip": ("a.jsonl.gz", GOOD, {}, ["a.jsonl.gz", "not a gzip file", "remove .gz"]),
    "no-zstd": ("a.jsonl.zst", GOOD, {}, ["a.jsonl.zst", "not a Zstandard file"]),
    "cut-gzip": ("a.jsonl.gz", gzip.compress(LONG)[:-99], {}, ["a.jsonl.gz: the compressed file is cut off"]),
    "cut-gzip-early": ("a.jsonl.gz", gzip.compress(LONG)[:40], {}, ["a.jsonl.gz", "cut off", "at its beginning"]),
    "cut-zstd": ("a.jsonl.zst", zstandard.compress(LONG)[:-99], {}, ["a.jsonl.zst: the compressed file is cut off"]),
    "bad-gzip": ("a.jsonl.gz", gzip.compress(LONG)[:-8] + b"\1" * 8, {}, ["a.jsonl.gz", "damaged", "CRC"]),
    "bad-zstd": ("a.jsonl.zst", DAMAGED, {}, ["a.jsonl.zst", "damaged"]),
    "unknown": ("a.rst", b"To be.", {}, ["a.rst", "unknown extension '.rst'", "fmt="]),
    "csv": ("a.csv", b"id,text\n", {}, ["a.csv", "no documents found"]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_files_are_errors_with_place_and_way_out(tmp_path, case):
    name, content, options, fragments = ERRORS[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / name, **options)
    for fragment in (name, *fragments):
        assert fragment in str(caught.value)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


PROBLEMS = {
    "null": (b'{"id": "x", "text": null}', "text is null"),
    "nan": (b'{"id": "x", "text": NaN}', "text is not a string (found number NaN)"),
    "infinity": (b'{"id": "x", "text": -Infinity}', "text is not a string (found number -Infinity)"),
    "number": (b'{"id": "x", "text": 3}', "text is not a string (found number)"),
    "object": (b'{"id": "x", "text": {}}', "text is not a string (found object)"),
    "no-field": (b'{"id": "x", "txt": "a"}', "no field 'text' or 'sections'"),
    "sections-null": (b'{"id": "x", "sections": null}', "sections is null"),
    "sections-text": (b'{"id": "x", "sections": "a"}', "sections is not a list (found string)"),
    "lengths": (
        b'{"id": "x", "sections": ["a", "b", "c"], "section_names": ["A", "B"]}',
        "sections and section_names differ in length (3 and 2)",
    ),
    "names": (b'{"id": "x", "sections": ["a"], "section_names": "A"}', "section_names is not a list (found string)"),
    "name": (b'{"id": "x", "sections": ["a"], "section_names": [1]}', "a section name is not a string (found number)"),
    "section": (b'{"id": "x", "sections": ["a", null]}', "a section is null"),
    "sentence": (
        b'{"id": "x", "sections": [["a", 1]]}',
        "a section holds a sentence that is not a string (found number)",
    ),
    "title-text": (b'{"id": "x", "sections": [{"title": "a"}]}', "a section has no field 'text'"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_bad_records_keep_row_and_id_with_the_reason(tmp_path, case):
    record, reason = PROBLEMS[case]
    (tmp_path / "a.jsonl").write_bytes(GOOD + record + b"\n")
    corpus = read_corpus(tmp_path / "a.jsonl")
    assert corpus.ids == ["a", "x"]
    assert corpus.problems == [None, reason]
    assert corpus[1].sections == ()


BARE = {
    "array": (b"[1, 2]", {}, "a section is not"),
    "number": (b"17", {}, "record is not an object (found number)"),
    "deep": (b"[" * 99_999, {}, "JSON is nested too deeply"),
    "digits": (b'{"id": "x", "text": ' + b"1" * 9_999 + b"}", {}, "JSON holds a number with too many digits"),
    "id": (b'{"id": ["x"], "text": "a"}', {}, "id is not a string or a number (found list)"),
    "skipped": (b'{"id": "x", "text": "a"', {"skip_bad_lines": True}, "not valid JSON"),
    "skipped-utf-8": (b'{"id": "x", "text": "\xe9a"}', {"skip_bad_lines": True}, "not valid UTF-8"),
}


@pytest.mark.parametrize("case", BARE)
def test_records_without_a_known_id_get_one_from_the_line(tmp_path, case):
    record, options, reason = BARE[case]
    (tmp_path / "a.jsonl").write_bytes(GOOD + b"\n" + record + b"\n")
    corpus = read_corpus(tmp_path / "a.jsonl", **options)
    assert corpus.ids == ["a", "a:3"]
    assert corpus.problems[0] is None
    assert corpus.problems[1].startswith(reason)


def test_a_parquet_text_that_is_not_utf8_costs_its_row_alone(tmp_path):
    bad = pa.Array.from_buffers(pa.string(), 3, pa.array(["a", "?", "c"]).buffers())
    bytes_ = pa.py_buffer(b"a\xffc")
    bad = pa.StringArray.from_buffers(3, bad.buffers()[1], bytes_)
    pq.write_table(pa.table({"text": bad}), tmp_path / "a.parquet")
    assert read_corpus(tmp_path / "a.parquet").problems == [None, "not valid UTF-8", None]


def test_a_parquet_file_is_known_under_any_name(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(parquet([{"text": "a"}]))
    assert [d.text for d in read_corpus(tmp_path / "a.jsonl")] == ["a"]


def test_a_link_to_nothing_is_told_from_a_missing_file(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "gone.jsonl")
    with pytest.raises(ReadingError, match=r"it is a link to .*gone\.jsonl, where nothing is"):
        read_corpus(tmp_path / "link.jsonl")


def test_missing_files_name_the_similar_ones(tmp_path):
    (tmp_path / "stories.jsonl").write_bytes(GOOD)
    with pytest.raises(ReadingError, match=r"story.jsonl: no such file or folder\n.*did you mean .*stories.jsonl"):
        read_corpus(tmp_path / "story.jsonl")
    with pytest.raises(ReadingError, match="does not exist"):
        read_corpus(tmp_path / "x" / "y.jsonl")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "a.jsonl").chmod(0)
    with pytest.raises(ReadingError, match=r"a.jsonl: permission denied"):
        read_corpus(tmp_path / "a.jsonl")


def test_errors_of_the_system_are_reading_errors(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    for error, fragment in [
        (PermissionError(13, "x"), "permission denied"),
        (IsADirectoryError(21, "x"), "is a folder"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ]:

        def fail(*args, error=error, **kwargs):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", fail)
            with pytest.raises(ReadingError, match=fragment):
                read_corpus(tmp_path / "a.jsonl")


def test_folders_without_documents(tmp_path):
    with pytest.raises(ReadingError, match="found no files"):
        read_corpus(tmp_path)
    (tmp_path / "a.xls").write_bytes(b"x")
    with pytest.raises(ReadingError, match=r"found 1 × .xls"):
        read_corpus(tmp_path)
    with pytest.raises(ReadingError, match="no file of the format 'jsonl' in this folder"):
        read_corpus(tmp_path, fmt="jsonl")


def test_a_dataset_dict_names_its_splits(tmp_path):
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path)
    assert "train, test" in caught.value.message
    assert str(tmp_path / "train") in caught.value.hint


def test_a_dataset_without_one_of_its_files(tmp_path):
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    (tmp_path / "dataset_info.json").write_text("{}")
    with pytest.raises(ReadingError, match=r"data-00000-of-00001.arrow is missing"):
        read_corpus(tmp_path)
    (tmp_path / "state.json").write_text(json.dumps(state | {"_indices_data_files": [{"filename": "i.arrow"}]}))
    with pytest.raises(ReadingError, match="flatten_indices"):
        read_corpus(tmp_path)


def test_doubled_ids_across_files_name_both(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "b.jsonl").write_bytes(b'{"id": "b", "text": ""}\n' + GOOD)
    with pytest.raises(ReadingError, match=r"b.jsonl, line 2: the id 'a' is already used in .*a.jsonl, line 1"):
        read_corpus(tmp_path)


@pytest.mark.parametrize("options", [{"fmt": "xls"}, {"encoding": "utf-9"}, {"encoding": "base64"}, {"keep": "id"}])
def test_parameters_that_cannot_be_used(tmp_path, options):
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    with pytest.raises(UsageError) as caught:
        read_corpus(f"{tmp_path}/a.jsonl#text", **options)
    assert caught.value.hint


def test_a_full_disk_names_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(building, "SPILL_BYTES", 1)
    with pytest.raises(ReadingError, match="TMPDIR"):
        read_corpus(tmp_path / "a.jsonl")


def test_standard_input_holds_no_arrow_data(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
    with pytest.raises(MomusError, match="standard input"):
        read_corpus("-", fmt="arrow")


def test_damaged_bytes_are_never_a_traceback(tmp_path):
    random = np.random.default_rng(7)
    rows = [{"id": i, "sections": ["To be.", "Or not."], "section_names": ["A", None]} for i in range(9)]
    plain = "\n".join(map(json.dumps, rows)).encode()
    whole = {"a.jsonl": plain, "a.json": json.dumps(rows).encode(), "a.arrow": stream(rows), "a.parquet": parquet(rows)}
    whole |= {"a.jsonl.gz": gzip.compress(plain), "a.jsonl.zst": zstandard.compress(plain)}
    for turn in range(600):
        name = sorted(whole)[turn % len(whole)]
        content = bytearray(whole[name])
        for at in random.integers(len(content), size=3):
            content[at] = random.integers(256)
        (tmp_path / name).write_bytes(content[: None if turn % 3 else random.integers(len(content))])
        with suppress(MomusError):
            read_corpus(tmp_path / name, skip_bad_lines=bool(turn % 2))


def test_a_window_of_more_memory_than_is_safe_is_refused(tmp_path):
    wide = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=30)).compressobj()
    (tmp_path / "a.jsonl.zst").write_bytes(wide.compress(GOOD) + wide.flush())
    with pytest.raises(ReadingError, match="too much memory"):
        read_corpus(tmp_path / "a.jsonl.zst")
