"""Structure-aware fuzz of readers and options: an input is read, or refused with words; nothing else happens."""

import gzip
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momus.cli import main
from momus.errors import MomusError
from momus.limits import Limits
from momus.reading import FORMATS, read_corpus

FILES, WORDS_TYPED = 220, 60
"""Inputs of the default run: files and command lines."""
MANY = 5000
"""Inputs of each fuzz of the slow run."""
SETTINGS = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
NAMES = st.sampled_from(["text", "sections", "section_names", "id", "prompt_id", "group_id", "output", "x"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(2**63), 1e308, "", "\0", "\u2028", "a b c", "\ud800"]),
    st.floats(),
    st.text(max_size=12),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4))
ODD_RECORDS = st.dictionaries(NAMES, VALUES, max_size=6)
PLAIN_RECORDS = st.fixed_dictionaries({"text": st.sampled_from(["a b c", "x", "é\u2028"])}, optional={"other": SCALARS})
RECORDS = st.one_of(PLAIN_RECORDS, PLAIN_RECORDS, ODD_RECORDS)
"""Odd records among plain ones: if all were odd, nearly every file would be refused at its first line."""
PIECES = st.sampled_from(
    [b"{", b"[", b'"', b"\\", b"\n", b"\r", b",", b"\xff", b"\0", b"\xef\xbb\xbf", b"1e999", *[b""] * 12]
)


def contents(records, kind):
    """Records as a file of a kind."""
    if kind in ("json", "jsonl"):
        lines = [json.dumps(record) for record in records]
        return ("[" + ",".join(lines) + "]" if kind == "json" else "\n".join(lines)).encode("utf-8", "surrogatepass")
    if kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        rows = [mark.join(("id", "text")), *(mark.join(map(str, record.values())) for record in records)]
        return "\n".join(rows).encode("utf-8", "surrogatepass")
    sink = io.BytesIO()
    table = pa.table({"id": [str(i) for i in range(len(records))], "text": [str(len(r)) * 9 for r in records]})
    pq.write_table(table, sink)
    return sink.getvalue()


def check_reading(folder, records, kind, at, piece, packed, options):
    """Write and read one file; return whether it was read rather than refused."""
    data = contents(records, kind)
    place = round(at * len(data))
    data = data[:place] + piece + data[place + len(piece) :]
    data = gzip.compress(data) if packed else data
    if packed and at > 0.9:
        data = data[: len(data) // 2]
    path = folder / f"a.{kind}{'.gz' if packed else ''}"
    path.write_bytes(data)
    try:
        corpus = read_corpus(path, limits=Limits(document=500), **options)
    except MomusError:
        return False
    assert len(corpus.ids) == len(set(corpus.ids)) == len(corpus) > 0
    assert sum(d.problem is None for d in corpus) > 0
    return True


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "skip_bad_lines": st.booleans(),
        "field": st.just("text") | NAMES,
        "fmt": st.none() | st.sampled_from(sorted(FORMATS)),
        "keep": st.lists(NAMES, max_size=2),
        "encoding": st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16", "ascii", "utf-7"]),
    },
)
KINDS = st.sampled_from(["json", "jsonl", "csv", "tsv", "parquet"])
INPUTS = (st.lists(RECORDS, max_size=5), KINDS, st.floats(0, 1), PIECES, st.booleans(), OPTIONS)


@pytest.mark.parametrize("inputs", [FILES, pytest.param(MANY, marks=pytest.mark.slow)])
def test_readers(inputs, tmp_path):
    outcomes = []

    @settings(max_examples=inputs, **SETTINGS)
    @given(st.tuples(*INPUTS))
    def check(arguments):
        outcomes.append(check_reading(tmp_path, *arguments))

    check()
    assert min(outcomes.count(True), outcomes.count(False)) > len(outcomes) // 20  # both kinds of outcome are tried


ODD = [
    "",
    "-1",
    "0",
    "nan",
    "1e999",
    "9" * 400,
    "x",
    "a=b",
    "=",
    ",",
    ",,",
    "\x1b[2J",
    "\ud800",
    "é",
    "-",
    "--",
    "/",
    ".",
]
WORDS = st.sampled_from(
    [*ODD, "length", "unigram", "sections", "2-gram", "none", "holm", "bh", "cpu", "cuda:99", "jsonl", "utf-16", "FILE"]
)
COMMANDS = {
    "compare": [
        *("--real", "--generated", "--fit", "--critics", "--seed", "--permutations", "--device", "--config"),
        *(
            "--multiplicity",
            "--control-for",
            "--by",
            "--top",
            "--field",
            "--format",
            "--max-document",
        ),
    ],
    "fit": ["--fit", "--config", "--field", "--format", "--encoding", "--keep", "--device"],
    "score": ["--out", "--field", "--format", "--encoding"],
    "show": ["--all", "--json", "--html", "--out"],
    "outliers": ["--critic", "--top", "--corpus"],
    "prepare": ["--least-sections", "--language", "--field"],
    "calibrate": ["--real", "--sizes", "--strengths", "--defects", "--by", "--seed", "--jobs", "--alpha"],
    "diff": ["--json", "--critics"],
    "gate": ["--max", "--alpha", "--baseline"],
    "critics": [],
    "export": ["--to", "--name", "--step"],
}


@st.composite
def command_lines(draw):
    name = draw(st.sampled_from(sorted(COMMANDS)))
    words = [name, *draw(st.lists(WORDS, max_size=2))]
    for option in draw(st.lists(st.sampled_from(COMMANDS[name]), max_size=4)) if COMMANDS[name] else []:
        words += [option, draw(WORDS)]
    return words


@pytest.mark.parametrize("inputs", [WORDS_TYPED, pytest.param(MANY, marks=pytest.mark.slow)])
def test_options(inputs, tmp_path, monkeypatch):
    """No command line ends in an internal error; files are all within a folder of the test."""
    monkeypatch.chdir(tmp_path)

    @settings(max_examples=inputs, **SETTINGS)
    @given(command_lines())
    def check(words):
        (tmp_path / "FILE").write_text('{"text": "a b"}\n', encoding="utf-8")
        told = io.StringIO()
        quiet = redirect_stderr(told), redirect_stdout(io.StringIO())
        with mock.patch("sys.argv", ["momus", *words]), quiet[0], quiet[1], pytest.raises(SystemExit) as end:
            main()
        assert "internal error" not in told.getvalue(), (words, told.getvalue())
        assert end.value.code in range(8), (words, told.getvalue())

    check()
