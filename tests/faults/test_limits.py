"""Files that are small on disk and large in memory stop early, with words, and within a ceiling of memory."""

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from momus.errors import ReadingError, UsageError
from momus.limits import Limits
from momus.reading import read_corpus

MB = 10**6
LINE = b'{"text":"' + b"x" * 4000 + b'"}\n'
READ = """
import json, resource, sys
from momus.reading import read_corpus
from momus.errors import MomusError
import pyarrow.parquet
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
def size(): return status("VmSize")
for path in json.loads(sys.argv[1]):
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins at what is in use now
    before = status("VmHWM")
    resource.setrlimit(resource.RLIMIT_AS, (size() + int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        told = f"{len(read_corpus(path))} read"
    except MomusError as error:
        told = str(error)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps([told, status("VmHWM") - before]))
"""


def read_within(paths, ceiling):
    """Read files one after the other in a process with a ceiling on its memory: (outcome, growth of its peak)."""
    command = [sys.executable, "-c", READ, json.dumps([str(p) for p in paths]), str(ceiling)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def zeros(path, size):
    """A gzip file of ``size`` zeros in members of 16 MiB, which take 16 kB each."""
    path.write_bytes(gzip.compress(bytes(16 << 20), 6) * (size >> 24))
    return path


linux = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS and /proc/self are Linux's")


QUICK_BOMBS = ("one line of 2 GB", "Zstandard", "a text in each row")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("kinds", [QUICK_BOMBS, pytest.param((), marks=pytest.mark.slow)], ids=["some", "all"])
def test_bombs_stop_early_within_300_mb(tmp_path, kinds):
    spaces = gzip.compress(b"x" * (16 << 20), 6) * 128
    rows = np.arange(5001, dtype=np.int32)
    texts = pa.DictionaryArray.from_arrays(np.zeros(5000, np.int32), ["x" * 800_000])  # 4 GB, written out
    zeroes = pa.table({"text": ["\0" * 2**27]})
    lists = pa.table({"sections": pa.ListArray.from_arrays(rows, texts)})
    wide = {"compression": "zstd", "use_dictionary": False}
    bombs = {
        "2 GB of zeros as text": ("a.txt.gz", lambda path: zeros(path, 2 << 30)),
        "one line of 2 GB": ("b.jsonl.gz", lambda path: zeros(path, 2 << 30)),
        "2 GB in a JSON list": ("c.json.gz", lambda path: path.write_bytes(gzip.compress(b'[{"text": "') + spaces)),
        "2 GB in a cell": ("d.csv.gz", lambda path: path.write_bytes(gzip.compress(b'id,text\n1,"') + spaces)),
        "2 GB of short lines": ("e.jsonl.gz", lambda path: path.write_bytes(gzip.compress(LINE * 4000, 6) * 120)),
        "Zstandard": ("f.jsonl.zst", lambda path: path.write_bytes(zstandard.compress(LINE * 4000, 3) * 120)),
        "a text in each row": ("g.parquet", lambda path: pq.write_table(pa.table({"text": texts}), path)),
        "a text in each list": ("h.parquet", lambda path: pq.write_table(lists, path)),
        "zeros in Parquet": ("i.parquet", lambda path: pq.write_table(zeroes, path, **wide)),
    }
    bombs = {kind: bomb for kind, bomb in bombs.items() if not kinds or kind in kinds}
    paths = [tmp_path / name for name, _ in bombs.values()]
    for path, (_, write) in zip(paths, bombs.values(), strict=True):
        write(path)
        assert path.stat().st_size < 8 * MB
    outcomes = read_within(paths, 1000 * MB)
    for kind, (told, growth) in zip(bombs, outcomes, strict=True):
        assert "→" in told, (kind, told)
        assert growth < 300 * MB, (kind, growth)
        assert any(word in told for word in ("limits=", "MOMUS_LIMITS")), (kind, told)


WIDE = pytest.param("wörd ", id="one wide character")


@pytest.mark.slow
@linux
@pytest.mark.parametrize("text", [pytest.param("word ", id="ascii"), WIDE])
def test_a_document_takes_at_most_ten_times_its_size(tmp_path, text):
    body = text * 4_000_000 + ("\U0001f600" if text == "wörd " else "")
    files = [tmp_path / name for name in ("a.txt", "b.jsonl", "c.json", "d.csv", "e.jsonl.gz")]
    contents = [body, json.dumps({"text": body}, ensure_ascii=False), json.dumps([body]), f"text\n{body}\n"]
    contents.append(contents[1])
    for path, content in zip(files, contents, strict=True):
        (gzip.open if path.suffix == ".gz" else open)(path, "wb").write(content.encode())
    size = len(body.encode())
    # one process for each: the peak of a process never falls
    for path in files:
        ((told, growth),) = read_within([path], 4000 * MB)
        assert told == "1 read"
        # the parser of CSV holds a cell with characters beyond U+FFFF three times, at four bytes a character
        most = 12 if path.suffix == ".csv" and not body.isascii() else 10
        assert growth <= most * size, (path.name, growth / size)


LONG = {
    "a.jsonl": '{"text": "%s"}\n{"text": "short"}\n',
    "a.json": '[{"text": "%s"}]',
    "a.csv": "id,text\n1,%s\n",
    "quoted.csv": 'id,text\n1,"%s"\n',
    "a.txt": "%s",
}


@pytest.mark.parametrize("name", LONG)
def test_the_limit_is_told_and_can_be_raised(tmp_path, name):
    path = tmp_path / name
    path.write_text(LONG[name] % ("abcd\n" if name in ("a.txt", "quoted.csv") else "abcd ").join(["x"] * 400_000))
    small, large = Limits(document=MB), Limits(document=3 * MB)
    with pytest.raises(ReadingError, match="longer than 1 MB") as caught:
        read_corpus(path, limits=small)
    assert "limits=" in caught.value.hint
    assert len(read_corpus(path, limits=large)) >= 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_long_lines_are_counted_if_asked(tmp_path, encoding):
    path = tmp_path / "a.jsonl"
    path.write_text(LONG["a.jsonl"] % ("x" * 2 * MB), encoding=encoding)
    corpus = read_corpus(path, limits=Limits(document=MB), skip_bad_lines=True, encoding=encoding)
    assert [d.problem for d in corpus] == ["too long", None]


@pytest.mark.slow
def test_paragraphs_and_lines_have_the_limit_too(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one line\n" * 200_000, encoding="utf-8")
    with pytest.raises(ReadingError, match="the paragraph is longer"):
        read_corpus(path, fmt="paragraphs", limits=Limits(document=MB))
    assert len(read_corpus(path, fmt="lines", limits=Limits(document=MB))) == 200_000


def test_a_text_of_many_rows_is_read_if_the_ratio_is_raised(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["word " * 20_000] * 1500}), path)
    with pytest.raises(ReadingError, match="stand in many rows"):
        read_corpus(path, limits=Limits(free=MB))
    corpus = read_corpus(path, limits=Limits(free=MB, ratio=10**6))
    assert len(corpus) == 1500
    assert corpus.table["sections"][1499].as_py() == ["word " * 20_000]


def test_dictionaries_give_the_same_texts_as_plain_columns(tmp_path):
    sections = [["a", "b"], [], ["a", None], None, ["c" * 50]]
    table = pa.table({"id": list("vwxyz"), "sections": sections})
    for name, coded in (("coded.parquet", True), ("plain.parquet", False)):
        pq.write_table(table, tmp_path / name, use_dictionary=coded)
    coded, plain = (read_corpus(tmp_path / name).table for name in ("coded.parquet", "plain.parquet"))
    assert coded.equals(plain)


@pytest.mark.slow
def test_a_file_that_is_cut_while_it_is_read_is_an_error_not_a_signal(tmp_path):
    script = """
import os, sys
import momus.reading.gathering as gathering
from momus.errors import ReadingError
from momus.reading import read_corpus
add = gathering.Rows._add
def cut(self, *args):
    if self.rows == 10:
        os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) // 3)
    add(self, *args)
gathering.Rows._add = cut
try:
    read_corpus(sys.argv[1])
except ReadingError as error:
    print("worded", error)
"""
    texts = pa.table({"text": [os.urandom(3000).hex() for _ in range(12_000)]})
    for name in ("a.parquet", "a.arrow"):
        path = tmp_path / name
        if name == "a.parquet":
            pq.write_table(texts, path, row_group_size=2000, use_dictionary=False)
        else:
            with pa.ipc.new_file(path, texts.schema) as file:
                file.write_table(texts, 2000)
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[:6]) == (0, "worded"), done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipes_sockets_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    for path in (tmp_path / "a.jsonl", tmp_path, Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(ReadingError, match=r"this is a (named pipe|device), expected a file"):
            read_corpus(path)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd")
def test_a_stream_of_the_shell_is_read(tmp_path):
    reader, writer = os.pipe()
    thread = threading.Thread(target=lambda: (os.write(writer, b'{"text": "a b"}\n'), os.close(writer)))
    thread.start()
    assert len(read_corpus(f"/dev/fd/{reader}", fmt="jsonl")) == 1
    thread.join()
    os.close(reader)


def test_limits_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("MOMUS_LIMITS", "document=2MB, ratio=7")
    assert (Limits.current().document, Limits.current().ratio) == (2 * MB, 7)
    for wrong in ("document", "document=-1", "document=1e9", "speed=3", "document=9999999999999TB"):
        monkeypatch.setenv("MOMUS_LIMITS", wrong)
        with pytest.raises(UsageError, match="MOMUS_LIMITS"):
            Limits.current()


def test_deep_and_huge_json_are_counted(tmp_path):
    deep, digits = "[" * 100_000, "9" * 400
    bad = [deep, "9" * 5000, digits, f'{{"text": {digits}}}', f'{{"text": 1e999, "id": {digits}}}']
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{line}\n" for line in ['{"text": "good"}', *bad, '{"text": "good"}']), encoding="utf-8")
    corpus = read_corpus(path, skip_bad_lines=True)
    assert [d.problem is None for d in corpus] == [True, *[False] * 5, True]
