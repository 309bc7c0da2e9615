"""Where texts come from: addresses, compressed files, chat messages, frames, fields and prompts of one text."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momus import ReadingOptions, read_corpus
from momus.cli.options import chosen_fields
from momus.errors import MissingExtraError, ReadingError, UsageError
from momus.limits import Limits
from momus.reading.options import Source

ROWS = [{"id": f"d{i}", "text": f"Text {i}."} for i in range(3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
TEXTS = [row["text"] for row in ROWS]


def parquet(rows):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def texts(corpus):
    return [document.text for document in corpus]


# Compressed files


@pytest.mark.parametrize(("suffix", "pack"), [("bz2", bz2.compress), ("xz", lzma.compress), ("gz", gzip.compress)])
def test_compressed_files(tmp_path, suffix, pack):
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(pack(LINES[:30]) + pack(LINES[30:]))  # parts that follow one another are one text
    assert texts(read_corpus(path)) == TEXTS
    whole = pack(b"".join(b'{"text": "%d %x"}\n' % (i, i * 7919**9) for i in range(20_000)))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadingError, match=r"cut off( after line| at its beginning)"):
        read_corpus(path)
    path.write_bytes(whole[:400] + b"\0" * 400 + whole[800:])
    with pytest.raises(ReadingError, match="damaged"):
        read_corpus(path)
    path.write_bytes(pack(bytes(2_000_000)))
    with pytest.raises(ReadingError, match="expected at most 200 times as much"):
        read_corpus(path, limits=Limits(free=100_000))


def test_a_text_that_begins_like_bzip2_is_a_text(tmp_path):
    (tmp_path / "a.txt").write_text("BZh9 is how such files begin.")
    assert texts(read_corpus(tmp_path / "a.txt")) == ["BZh9 is how such files begin."]
    (tmp_path / "a.txt.bz2").write_text("BZh9 is how such files begin.")
    with pytest.raises(ReadingError, match="not a bzip2 file"):
        read_corpus(tmp_path / "a.txt.bz2")


# Addresses


@pytest.fixture
def remote():
    """Write files at addresses in memory; they go when the test ends."""
    system = fsspec.filesystem("memory")
    system.store.clear()

    def write(name, data):
        system.pipe(f"/{name}", data)
        return f"memory://{name}"

    yield write
    system.store.clear()


def test_remote_files_are_read_like_local_ones(remote):
    assert texts(read_corpus(remote("data/a.jsonl", LINES))) == TEXTS
    assert texts(read_corpus(remote("data/a.jsonl.xz", lzma.compress(LINES)))) == TEXTS
    corpus = read_corpus(remote("data/b.parquet", parquet([{"body": t, "year": 1603} for t in TEXTS])) + "#body")
    assert texts(corpus) == TEXTS
    assert (corpus.name, corpus.ids[0]) == ("b#body", "b:1")
    assert corpus.origin.source == "memory://data/b.parquet"


def test_remote_folders_splits_and_patterns(remote):
    for name in ("README.md", "data/train-0.jsonl", "data/train-1.jsonl", "data/test-0.jsonl"):
        remote(f"set/{name}", LINES.replace(b'"id": "d', b'"id": "%s' % name.encode()))
    with pytest.raises(UsageError, match=r"train \(2 files\)(.|\n)*memory://set/data/test-0.jsonl or"):
        read_corpus("memory://set")
    assert texts(read_corpus("memory://set/data/train*")) == TEXTS * 2
    assert texts(read_corpus("memory://set/data/test-0.jsonl")) == TEXTS
    remote("saved/state.json", b"{}")
    with pytest.raises(ReadingError, match=r"remote folder that Hugging Face datasets saved(.|\n)*\*\.arrow"):
        read_corpus("memory://saved")


def test_remote_folders_of_markup_are_read_like_local_ones(remote, tmp_path):
    page = b"# Use\nSo.\n# Limits\nNone."
    names = ("README.md", "train/a.md", "test/b.md.gz", "c/LICENSE.md", "c/fig.png", ".git/x.md", "rows.jsonl")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        content = gzip.compress(page) if name.endswith("gz") else page
        (tmp_path / name).write_bytes(content)
        remote(f"docs/{name}", content)
    for include, ids in (
        ((), ["test/b.md.gz", "train/a.md"]),
        (["README*"], ["README.md", "test/b.md.gz", "train/a.md"]),
    ):
        far, near = (read_corpus(path, fmt="markup", include=include) for path in ("memory://docs", tmp_path))
        assert far.ids == near.ids == ids
        assert far.section_titles == near.section_titles == ["Use", "Limits"] * len(ids)
        assert far.left_out == near.left_out
    assert far.left_out.names == ("c/LICENSE.md",)
    assert far.left_out.others == {".png": 1, ".jsonl": 1}
    assert read_corpus("memory://docs/train/*", fmt="markup").ids == ["a.md"]
    assert read_corpus("memory://docs/README*", fmt="markup").ids == ["README.md"], "a pattern says which files"
    remote("aside/README.md", page)
    with pytest.raises(ReadingError, match=r"1 set aside for their names \('README.md'\)(.|\n)*include="):
        read_corpus("memory://aside", fmt="markup")
    with pytest.raises(ReadingError, match="no file matches this pattern"):
        read_corpus("memory://docs/*.nothing")


def test_logs_are_read_from_addresses(remote):
    samples = [{"doc_id": i, "resps": [[t]], "filtered_resps": [t], "target": "x"} for i, t in enumerate(TEXTS)]
    lines = "".join(json.dumps(s) + "\n" for s in samples).encode()
    date = "2026-01-02T03-04-05.678"
    remote(f"run/results_{date}.json", b'{"model_name": "far"}')
    url = remote(f"run/samples_qa_{date}.jsonl", lines)
    for source in (url, "memory://run"):
        corpus = read_corpus(f"lm-eval:{source}")
        assert texts(corpus) == TEXTS
        assert corpus.origin.logs[0]["model"] == "far"


def test_remote_errors_have_words(remote):
    with pytest.raises(ReadingError, match=r"memory://none.jsonl: there is no such file"):
        read_corpus("memory://none.jsonl")
    with pytest.raises(UsageError, match=r"nothing:// is no kind of address(.|\n)*s3://"):
        read_corpus("nothing://x.jsonl")
    with pytest.raises(UsageError, match=r"chain of addresses(.|\n)*unpack"):
        read_corpus("zip://a.jsonl::memory://b.zip")
    url = remote("c.jsonl.gz", gzip.compress(LINES)[:-9])
    with pytest.raises(ReadingError, match="the compressed file is cut off"):
        read_corpus(url)
    with pytest.raises(ReadingError, match="the remote file holds more than 20 bytes"):
        read_corpus(remote("d.jsonl", LINES * 100), limits=Limits(file=20))


def test_a_missing_transport_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingExtraError, match=r"s3:// need a package(.|\n)*\[remote\]"):
        read_corpus("s3://bucket/x.parquet")


class Answers(BaseHTTPRequestHandler):
    """Sends JSON Lines to those who have the key, and nothing to others."""

    def do_GET(self):
        if "key=right-secret" not in self.path:
            self.send_error(403)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(LINES)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(LINES)

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


@pytest.fixture
def web():
    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_the_web_and_its_secrets(web):
    pytest.importorskip("aiohttp", reason="pip install -e .[remote]")
    corpus = read_corpus(f"{web}/a.jsonl?api_key=right-secret")
    assert texts(corpus) == TEXTS
    assert corpus.name == "a"
    assert "right-secret" not in corpus.origin.source
    with pytest.raises(ReadingError, match=r"access is denied \(status 403\)") as caught:
        read_corpus(f"{web}/a.jsonl?api_key=wrong-secret")
    assert "wrong-secret" not in str(caught.value)


# Names of texts


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("a.jsonl", (None, "a.jsonl", None)),
        ("lm-eval:s3://b/x.jsonl#target", ("lm-eval", "s3://b/x.jsonl", "target")),
        ("a=lm-eval:x.jsonl", ("lm-eval", "x.jsonl", None)),
        ("https://h/x.jsonl?a=1", (None, "https://h/x.jsonl?a=1", None)),
        ("C:\\x.jsonl", (None, "C:\\x.jsonl", None)),
        ("a/b:c.jsonl", (None, "a/b:c.jsonl", None)),
        ("-", (None, "-", None)),
    ],
)
def test_names_of_texts(name, parsed):
    assert Source.parse(name) == Source(*parsed)


def test_a_file_with_a_colon_or_a_hash_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("lm-eval:a.jsonl", "b#c.jsonl"):
        (tmp_path / name).write_bytes(LINES)
        assert texts(read_corpus(name)) == TEXTS
    assert texts(read_corpus("lm-eval:a.jsonl#id")) == ["d0", "d1", "d2"]


# Chat messages

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Who?"}, {"type": "image_url", "image_url": "x"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look"}}]},
    {"role": "tool", "content": "An island."},
    {"role": "assistant", "content": "<think>Hm.</think>Nobody."},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "Well."}, {"type": "text", "text": "Go."}]},
]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ("assistant", ["Nobody.\n\nGo."]),
        ("last", ["Go."]),
        ("all", ["Be brief.", "Who?", "Nobody.", "Go."]),
        ("reasoning", ["Hm.\n\nWell."]),
        ("tools", ['{"function":{"name":"look"}}']),
    ],
)
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "memory"])
def test_chats(tmp_path, turns, expected, kind):
    plain = [m if isinstance(m["content"], str) else {**m, "content": "x"} for m in CHAT]
    chat = CHAT if kind != "parquet" else plain  # a column of Parquet has one type
    record = {"id": "a", "messages": chat}
    if kind == "memory":
        corpus = read_corpus([record], turns=turns, keep=["reasoning", "tool_calls"])
    else:
        path = tmp_path / f"a.{kind}"
        path.write_bytes(json.dumps(record).encode() if kind == "jsonl" else parquet([record]))
        corpus = read_corpus(path, turns=turns, keep=["reasoning", "tool_calls"])
    if kind == "parquet":
        return _check_plain(corpus, turns)
    assert [s.text for s in corpus[0].sections] == expected
    assert corpus.sectioned.tolist() == [turns == "all"]
    assert corpus.field("reasoning") == ["Hm.\n\nWell."]
    assert corpus.field("tool_calls") == ['{"function":{"name":"look"}}']
    assert corpus.origin.set_apart == {
        "reasoning": 1, "tool calls": 1, "tool results": 1, "content that is not text": 1
    }  # fmt: skip
    return None


def _check_plain(corpus, turns):
    """The chat of which blocks were made strings."""
    shown = {"assistant": "Nobody.\n\nx", "last": "x", "reasoning": "Hm."}
    if turns in shown:
        assert texts(corpus) == [shown[turns]]
    elif turns == "all":
        assert [s.title for s in corpus[0].sections] == ["system", "user", "assistant", "assistant"]


def test_chats_without_an_answer_and_several_chats():
    asked = [{"role": "user", "content": "Who?"}]
    said = [{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "Nobody."}]
    rows = [{"messages": asked}, {"messages": said}, {"messages": [*asked, {"role": "assistant", "content": ""}]}]
    corpus = read_corpus(rows)
    assert corpus.problems == ["the chat has no turn of the assistant", None, None]
    assert texts(corpus) == ["", "Nobody.", ""], "an empty answer is an empty document"
    several = read_corpus([{"id": "q", "replies": [said, said]}], field="replies")
    assert several.ids == ["q#1", "q#2"]
    assert texts(several) == ["Nobody.", "Nobody."]
    with pytest.raises(UsageError, match="unknown turns 'every'"):
        read_corpus("x.jsonl", turns="every")


# Fields and prompts of one text


def test_fields_of_one_text():
    assert chosen_fields(["text", "a=resps"], ["real", "a"]) == {"*": "text", "a": "resps"}
    with pytest.raises(UsageError, match="two fields are given for 'a'"):
        chosen_fields(["a=x", "a=y"], ["a"])
    options = ReadingOptions(field={"a": "resps"}, prompt="question")
    assert options.for_text("a") == {"field": "resps", "prompt": "question", "where": None}
    assert options.for_text("b") == {"field": None, "prompt": "question", "where": None}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_prompt_can_be_any_field(tmp_path, suffix):
    rows = [{"text": "A.", "doc": {"question": "Who?"}}, {"text": "B.", "doc": {"question": None}}]
    data = parquet(rows) if suffix == "parquet" else "".join(json.dumps(r) + "\n" for r in rows).encode()
    (tmp_path / f"a.{suffix}").write_bytes(data)
    assert read_corpus(tmp_path / f"a.{suffix}", prompt="doc.question").prompts == ["Who?", None]


# Frames and streams


def test_frames_of_any_library():
    import narwhals as nw

    frame = pd.DataFrame(ROWS).assign(other=1)
    table = pa.Table.from_pandas(frame)
    for source in (nw.from_native(table), nw.from_native(table).lazy(), nw.from_native(frame), table, frame):
        corpus = read_corpus(source)
        assert (corpus.ids, texts(corpus)) == (["d0", "d1", "d2"], TEXTS)
    assert texts(read_corpus(nw.from_native(frame)["text"])) == TEXTS


def test_iterators_are_streamed():
    seen = []

    def records():
        for i in itertools.count():
            seen.append(i)
            yield {"text": f"Text {i}."} if i < 10_000 else object()
            if i == 10_000:
                raise ConnectionError("the stream ended")

    with pytest.raises(ConnectionError):
        read_corpus(records())
    assert len(seen) == 10_001
    assert len(read_corpus({"text": f"{i}"} for i in range(10_000))) == 10_000


def test_an_unknown_format_says_what_was_found(tmp_path):
    (tmp_path / "a.rst").write_bytes(b"Title\n=====\n")
    with pytest.raises(ReadingError) as caught:
        read_corpus(tmp_path / "a.rst")
    for words in ("'.rst'", "Title", "lm-eval:PATH", "inspect:PATH", "fmt="):
        assert words in str(caught.value)
    (tmp_path / "a.jsonl").write_text(json.dumps({"a": "x" * 1000, "b": "y"}) + "\n")
    with pytest.raises(ReadingError, match=r'first record is \{"a":"x{100,200}…'):
        read_corpus(tmp_path / "a.jsonl")
