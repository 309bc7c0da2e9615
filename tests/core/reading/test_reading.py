"""Good input: every format gives the same corpus."""

import gzip
import io
import json
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from momus.progress import Reporter
from momus.reading import as_corpus, building, read_corpus
from momus.text.corpus import Corpus, Document, Section

DATA = Path(os.environ.get("MOMUS_DATA", Path(__file__).parents[3] / "../shared/data"))
RECORDS = [
    {"id": "a", "sections": ["To be,", "or not."], "section_names": ["First", None], "prompt": "p"},
    {"id": "b", "sections": ["Ende — schluß\u2028\0."], "section_names": ["Ü"], "prompt": None},
]
DOCUMENTS = [
    Document("a", (Section("To be,", "First"), Section("or not.")), prompt="p"),
    Document("b", (Section("Ende — schluß\u2028\0.", "Ü"),)),
]
LINES = "\n".join(json.dumps(r, ensure_ascii=False) for r in RECORDS).encode()


def real(name):
    path = DATA / name
    if not path.exists():
        pytest.skip("no real data: neither MOMUS_DATA nor ../shared/data holds " + name)
    return path


def arrow_bytes(records, file=False):
    table, sink = pa.Table.from_pylist(records), io.BytesIO()
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=1):
            writer.write_batch(batch)
    return sink.getvalue()


def parquet_bytes(records):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), sink, row_group_size=1)
    return sink.getvalue()


CONTENT = {
    "a.jsonl": LINES,
    "a.ndjson": b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n\r\n") + b"\r\n",
    "lines.json": LINES,
    "list.json": json.dumps(RECORDS).encode(),
    "indented.json": b"\xef\xbb\xbf" + json.dumps(RECORDS, indent=2).encode(),
    "list.jsonl": json.dumps(RECORDS).encode(),
    "values.json": "\n".join(json.dumps(r, indent=1) for r in RECORDS).encode(),
    "a.parquet": parquet_bytes(RECORDS),
    "a.arrow": arrow_bytes(RECORDS),
    "b.arrow": arrow_bytes(RECORDS, file=True),
    "no-ending": LINES,
    "column.json": json.dumps({"data": RECORDS}).encode(),
}


@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", CONTENT)
def test_every_format_gives_the_same_documents(tmp_path, name, pack):
    packers = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
    (tmp_path / (name + pack)).write_bytes(packers[pack](CONTENT[name]))
    path = f"{tmp_path / name}{pack}" + ("#data" if name == "column.json" else "")
    corpus = read_corpus(path)
    assert list(corpus) == DOCUMENTS
    assert corpus.name == name.split(".")[0] + ("#data" if name == "column.json" else "")


def test_compression_is_told_by_content_and_may_have_several_parts(tmp_path):
    first, second = LINES.split(b"\n")
    for compress in (gzip.compress, zstandard.compress):
        (tmp_path / "a.jsonl").write_bytes(compress(first + b"\n") + compress(second))
        assert list(read_corpus(tmp_path / "a.jsonl")) == DOCUMENTS


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch, pack):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(b'{"text": "a"}\n{"text": "b"}\n'))))
    corpus = read_corpus("-")
    assert corpus.ids == ["stdin:1", "stdin:2"]
    assert not sys.stdin.buffer.closed


def test_pipes_are_read_once(tmp_path):
    read, write = os.pipe()
    os.write(write, LINES)
    os.close(write)
    assert list(read_corpus(f"/dev/fd/{read}", fmt="jsonl")) == DOCUMENTS
    os.close(read)


def test_plain_text(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n\r\n \nthree")
    whole, lines, paragraphs = (read_corpus(tmp_path / "a.txt", fmt=f) for f in (None, "lines", "paragraphs"))
    assert list(whole) == [Document.plain("a", "one\ntwo\n\n \nthree")]
    assert list(lines) == [Document.plain(f"a:{n}", t) for n, t in [(1, "one"), (2, "two"), (5, "three")]]
    assert list(paragraphs) == [Document.plain("a:1", "one\ntwo"), Document.plain("a:5", "three")]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-be", "utf-8-sig", "cp1252"])
def test_other_encodings(tmp_path, encoding):
    text = "".join(
        json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in ("für", "Ċ" if "16" in encoding else "x")
    )
    (tmp_path / "a.jsonl").write_bytes(text.encode(encoding))
    assert next(d.text for d in read_corpus(tmp_path / "a.jsonl", encoding=encoding)) == "für"
    assert len(read_corpus(tmp_path / "a.jsonl", encoding=encoding)) == 2


def test_folders_are_read_in_order_with_paths_as_ids(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name, content in [
        ("b.txt", b"B"), ("sub/a.md", b"A"), ("README.md", b"about"), (".hidden/c.txt", b"C"), ("x.png", b"\0"),
        ("empty.txt", b""), ("c.jsonl.gz", gzip.compress(b'{"text": "1"}\n\n{"id": "own", "text": "2"}\n')),
    ]:  # fmt: skip
        (tmp_path / name).write_bytes(content)
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ["b.txt", "c.jsonl.gz:1", "own", "empty.txt", "sub/a.md"]
    assert [d.text for d in corpus] == ["B", "1", "2", "", "A"]
    assert read_corpus(tmp_path, fmt="lines").ids == ["b.txt:1", "sub/a.md:1"]
    assert read_corpus(tmp_path, fmt="jsonl").ids == ["c.jsonl.gz:1", "own"]


def test_hugging_face_folder(tmp_path):
    records = [{"text": t, "label": 1} for t in "abcd"]
    names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(names, (records[:3], records[3:]), strict=True):
        (tmp_path / name).write_bytes(arrow_bytes(part))
    (tmp_path / "dataset_info.json").write_text("{}")
    assert read_corpus(tmp_path).ids == [f"{tmp_path.name}:{i}" for i in (1, 2, 3, 4)]
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": n} for n in names]}))
    corpus = read_corpus(tmp_path, name="hub")
    assert [d.text for d in corpus] == list("abcd")
    assert corpus.ids == [f"{tmp_path.name}:{i}" for i in (1, 2, 3, 4)]


SHAPES = {
    "sentences": ({"sections": [["One.", "Two."], "Three."]}, [("One. Two.", None), ("Three.", None)], True),
    "objects": ({"sections": [{"title": "T", "text": "x"}, {"text": ["y", "z"]}]}, [("x", "T"), ("y z", None)], True),
    "both": ({"text": "x", "sections": ["y"]}, [("y", None)], True),
    "null-sections": ({"text": "x", "sections": None}, [("x", None)], False),
    "no-sections": ({"sections": []}, [], True),
    "empty": ({"text": ""}, [("", None)], False),
    "obvious": ({"prompt": "p", "story": "x", "n": 3}, [("x", None)], False),
    "columns": ({"sections": {"title": ["T"], "text": ["x"]}}, [("x", "T")], True),
    "cohan": (
        {"article_id": "1", "abstract_text": ["<S> a </S>"], "article_text": ["b"],
         "section_names": ["I", "II"], "sections": [["<S> b .</S>", "<S> c . </S>"], ["d"]]},
        [("b . c .", "I"), ("d", "II")], True,
    ),
    "half-pair": ({"text": "a\ud800b"}, [("a\ufffdb", None)], False),
    "whole-pair": ({"text": "\U0001f600"}, [("\U0001f600", None)], False),
}  # fmt: skip


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_of_records(tmp_path, case):
    record, sections, sectioned = SHAPES[case]
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    document = read_corpus(tmp_path / "a.jsonl")[0]
    assert document.problem is None
    assert document.sections == tuple(Section(*s) for s in sections)
    assert document.sectioned == sectioned


@pytest.mark.parametrize(
    ("field", "texts"),
    [("abstract_text", ["a b"]), ("chapters", ["x", "y"]), ("deep.0.text", ["z"]), ("summary", ["s"])],
)
def test_other_fields(tmp_path, field, texts):
    record = {"id": 3, "abstract_text": ["<S> a </S>", "<S> b </S>"], "chapters": ["x", "y"]}
    record |= {"deep": {"0": {"text": "z"}}, "summary": "s", "text": "t"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "a.json").write_text(json.dumps(record))
    for corpus in (read_corpus(tmp_path / "a.jsonl", field=field), read_corpus(f"{tmp_path}/a.json#{field}")):
        assert corpus.ids == ["3"]
        assert [s.text for s in corpus[0].sections] == texts


def test_lists_side_by_side_are_paired(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"real": ["a", "b"], "fake": ["c", None], "one": ["d"]}))
    real_side, fake, one = (read_corpus(f"{tmp_path}/a.json#{f}") for f in ("real", "fake", "one"))
    assert real_side.prompts == fake.prompts == ["1", "2"]
    assert real_side.ids == ["a:1", "a:2"]
    assert fake.problems == [None, "fake is null"]
    assert (one.prompts, one.name) == ([None], "a#one")
    (tmp_path / "b.json").write_text(json.dumps({"id": [7, 8], "prompt": ["p", "q"], "text": ["a", "b"]}))
    columns = read_corpus(tmp_path / "b.json")
    assert (columns.ids, columns.prompts) == (["7", "8"], ["p", "q"])


def test_prompts_become_strings(tmp_path):
    rows = [{"prompt_id": 3, "prompt": "x"}, {"prompt": [{"role": "user", "b": 1}]}, {}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r | {"text": "t"}) + "\n" for r in rows))
    assert read_corpus(tmp_path / "a.jsonl").prompts == ["3", '[{"b":1,"role":"user"}]', None]


def test_long_values_across_pieces(tmp_path):
    values = ["ä" * n for n in (1, 1 << 17, 3, 1 << 20, (1 << 17) - 3)]
    (tmp_path / "a.json").write_text(json.dumps(values, ensure_ascii=False, indent=1), encoding="utf-8")
    assert [d.text for d in read_corpus(tmp_path / "a.json")] == values


def test_spilled_and_in_memory_are_equal(tmp_path, monkeypatch):
    rows = [{"text": f"document {i} " * 9, "prompt": str(i % 7)} for i in range(9_000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    kept = read_corpus(tmp_path / "a.jsonl")
    for spill in (0, 1 << 20):
        before = pa.total_allocated_bytes()
        monkeypatch.setattr(building, "SPILL_BYTES", spill)
        spilled = read_corpus(tmp_path / "a.jsonl")
        assert spilled.table.equals(kept.table)
        assert pa.total_allocated_bytes() - before < kept.table.nbytes / 2
        assert os.name == "nt" or not list((tmp_path / "tmp").iterdir())
    (tmp_path / "a.jsonl").open("a").write("{")
    monkeypatch.setattr(building, "SPILL_BYTES", 0)
    with pytest.raises(Exception, match="line 9001"):
        read_corpus(tmp_path / "a.jsonl")
    assert not list((tmp_path / "tmp").iterdir())


def test_progress_counts_bytes_to_the_total(tmp_path):
    class Stages(Reporter):
        def stage(self, label, total=None):
            return nullcontext(calls.append)

    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"x{i}"}) + "\n" for i in range(9_000)))
    calls = []
    as_corpus(tmp_path / "a.jsonl", reporter=Stages())
    assert len(calls) == 3
    assert calls[-1] == 100
    assert calls == sorted(calls)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SECTIONED = st.builds(
    lambda sections, prompt: {"sections": sections, "prompt": prompt, "sectioned": True},
    st.lists(st.tuples(TEXT, st.none() | TEXT), max_size=4),
    st.none() | TEXT,
)
PLAIN = st.builds(lambda t, p: {"sections": [(t, None)], "prompt": p, "sectioned": False}, TEXT, st.none() | TEXT)


@given(st.lists(SECTIONED | PLAIN, min_size=1, max_size=8), st.booleans())
def test_documents_to_json_lines_and_back(drawn, ascii_only):
    documents, lines = [], []
    for i, d in enumerate(drawn):
        sections = tuple(Section(*s) for s in d["sections"])
        # the prompt is its text in one spelling
        prompt = None if d["prompt"] is None else " ".join(d["prompt"].split())
        documents.append(Document(str(i), sections, d["sectioned"], prompt))
        record = {"id": i, "prompt": d["prompt"]}
        if d["sectioned"]:
            record |= {"sections": [s.text for s in sections], "section_names": [s.title for s in sections]}
        else:
            record["text"] = sections[0].text
        lines.append(json.dumps(record, ensure_ascii=ascii_only))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.jsonl").write_text("\n".join(lines), encoding="utf-8", newline="\n")
        corpus = read_corpus(Path(folder, "a.jsonl"))
    assert list(corpus) == documents
    assert corpus.table.equals(Corpus.from_documents(documents).table)


REAL = {
    "sectioned/eips.jsonl.gz": ("", 566),
    "sectioned/ercs.jsonl.gz": ("", 607),
    "litbank/novels.jsonl.gz": ("", 100),
    "human-vs-lm/writing_gpt2-xl.json.gz": ("#sampled", 500),
    "long-stories/stories.jsonl.gz": ("#chapters", 273),
    "decoding/gpt2-xl-contrastive-wikitext.json.gz": ("#generated_result.0", 1314),
    "code-mixing/manpages-aligned_de_fr_es.jsonl.gz": ("#de", 4292),
    "books/shakespeare.txt.gz": ("", 1),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name):
    field, count = REAL[name]
    corpus = read_corpus(f"{real(name)}{field}")
    assert len(corpus) == count
    assert corpus.problems == [None] * count
    assert not corpus.blank.all()


def test_real_pairs_share_their_prompts():
    path = real("human-vs-lm/writing_gpt2-xl.json.gz")
    sides = [read_corpus(f"{path}#{side}") for side in ("original", "sampled")]
    assert sides[0].prompts == sides[1].prompts == [str(i) for i in range(1, 501)]
    assert sides[0].ids == sides[1].ids
    assert sides[0].fingerprint != sides[1].fingerprint


def test_real_wikitext_keeps_its_words():
    corpus = read_corpus(real("wikitext-2/train.txt.gz"))
    words = sum(len(d.text.split()) for d in corpus)
    assert (len(corpus), words) == (1, 2_051_910)
