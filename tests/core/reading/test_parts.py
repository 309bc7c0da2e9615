"""Files read in parts: the parts together are the whole file, and a file that changes is refused."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momus
from momus.errors import ReadingError, UsageError
from momus.reading import ReadingOptions
from momus.reading.parts import cut, list_inputs, read_part


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def same_as_whole(path, options=None, documents=3, size=1 << 20):
    options = options or ReadingOptions()
    (file,), _ = list_inputs([str(path)], options)
    _, parts = cut(file, documents, size, options.encoding)
    tables = [read_part(file, part, options).table for part in parts]
    whole = momus.read_corpus(path, field=options.field, fmt=options.fmt, skip_bad_lines=options.skip_bad_lines)
    assert pa.concat_tables(tables).combine_chunks().equals(whole.table.combine_chunks())
    return len(parts)


def test_parts_of_lines_are_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "a"}', "", '{"text": "b", "id": "x"}', '["no object"]', '{"text": "c\\u2028d"}', '{"text": "é"}']
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    assert same_as_whole(path, documents=2) == 3
    assert same_as_whole(path, documents=100) == 1
    assert same_as_whole(path, documents=100, size=20) >= 3


LINES = st.lists(
    st.one_of(
        st.just(""), st.just("[1]"), st.text(max_size=20).map(lambda t: json.dumps({"text": t}, ensure_ascii=False))
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.integers(1, 5), st.integers(10, 200), st.booleans())
def test_any_cut_of_lines_gives_the_file(tmp_path_factory, lines, end, documents, size, ended):
    path = tmp_path_factory.mktemp("cut") / "a.jsonl"
    whole = ['{"text": "first"}', *lines]
    path.write_bytes((end.join(whole) + end * ended).encode("utf-8", "surrogatepass"))
    assert same_as_whole(path, documents=documents, size=size) >= 1


def test_parts_of_plain_lines_and_of_other_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo\r\nthree")
    assert same_as_whole(tmp_path / "a.txt", ReadingOptions(fmt="lines"), documents=1) == 4
    (tmp_path / "b.csv").write_text("text\none\ntwo\n")
    assert same_as_whole(tmp_path / "b.csv", documents=1) == 1
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n{"text": "b"}\n'))
    assert same_as_whole(tmp_path / "c.jsonl.gz", documents=1) == 1


@pytest.mark.parametrize(("rows", "group", "documents"), [(10, 3, 3), (10, 3, 7), (10, 10, 4), (5, 1, 2), (1, 1, 1)])
def test_parts_of_parquet_are_the_file(tmp_path, rows, group, documents):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(rows)]}), path, row_group_size=group)
    assert same_as_whole(path, documents=documents) >= rows / documents


def test_a_fault_in_a_part_names_the_line_of_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 5 + "{broken\n")
    (file,), _ = list_inputs([str(path)], ReadingOptions())
    _, parts = cut(file, 2, 1 << 20, "utf-8")
    with pytest.raises(ReadingError, match="line 6"):
        read_part(file, parts[-1], ReadingOptions())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "a"}] * 3)
    (file,), _ = list_inputs([str(path)], ReadingOptions())
    _, parts = cut(file, 2, 1 << 20, "utf-8")
    write_lines(path, [{"text": "longer"}] * 3)
    with pytest.raises(ReadingError, match="changed while it was read"):
        read_part(file, parts[0], ReadingOptions())


@pytest.mark.parametrize("path", ["-", "https://host/a.jsonl"])
def test_only_files_are_read_in_parts(path):
    with pytest.raises(UsageError, match="only files and folders"):
        list_inputs([path], ReadingOptions())


def test_a_file_given_twice_is_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "a"}])
    with pytest.raises(UsageError, match="named twice"):
        list_inputs([str(path), str(tmp_path)], ReadingOptions())


def test_files_of_one_name_get_different_ids(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "a.jsonl", [{"text": name}])
    files, _ = list_inputs([str(tmp_path / n / "a.jsonl") for n in "xy"], ReadingOptions())
    assert len({read_part(f, None, ReadingOptions()).ids[0] for f in files}) == 2
