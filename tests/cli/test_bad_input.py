"""Twenty kinds of bad input: each gives a message that names the place and the way out, or a counted exclusion.

Exit codes: 1 error, 2 wrong use, 3 unreadable text, 4 not fittable, 5 run folder, 6 plug-in.
"""

import gzip
import json
import os
from importlib.metadata import EntryPoint

import pytest

from momus.locking import Lock

GOOD = [{"id": f"d{i}", "text": f"plain words number {i} and some {'more ' * (i % 7)}"} for i in range(24)]


def write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path, momus):
    """Run ``momus compare`` on good files, with some arguments replaced; returns (exit code, all output)."""
    good = write(tmp_path / "good.jsonl", GOOD)
    other = write(tmp_path / "other.jsonl", [{"text": r["text"] + " x", "id": r["id"]} for r in GOOD])

    def call(*extra, generated=None, real=None, critics="length"):
        arguments = ["compare", "-r", str(real or good), "-g", f"{generated or f'gen={other}'}", "-c", critics]
        arguments += ["--permutations", "99", "--resamples", "99", *extra]
        return momus(*arguments)

    return call


def bad_file(kind, tmp_path):
    """Make a bad file; returns its path and fragments of the message to expect."""
    path = tmp_path / "bad.jsonl"
    lines = "".join(json.dumps(r) + "\n" for r in GOOD)
    contents = {
        "truncated JSON": (lines + '{"id": "x", "text": "cut', ["bad.jsonl", "line 25"]),
        "missing field": ("".join(json.dumps({"score": i, "a": "x", "b": "y"}) + "\n" for i in range(3)), ["--field"]),
        "empty file": ("", ["bad.jsonl", "empty"]),
        "duplicate ids": (lines + lines.splitlines()[3] + "\n", ["'d3'", "4", "25"]),
    }
    if kind == "wrong encoding":
        path.write_bytes(b'{"text": "caf\xe9 au lait"}\n')
        return path, ["bad.jsonl", "--encoding", "latin-1"]
    if kind == "folder without text":
        (tmp_path / "folder").mkdir()
        return tmp_path / "folder", ["folder"]
    if kind == "no such file":
        return tmp_path / "nothing.jsonl", ["nothing.jsonl"]
    if kind == "cut gzip":
        path = tmp_path / "bad.jsonl.gz"
        path.write_bytes(gzip.compress(lines.encode())[:-12])
        return path, ["bad.jsonl.gz", "cut off"]
    content, fragments = contents[kind]
    path.write_text(content, encoding="utf-8")
    return path, fragments


@pytest.mark.parametrize(
    "kind",
    [
        "truncated JSON",
        "wrong encoding",
        "missing field",
        "empty file",
        "duplicate ids",
        "folder without text",
        "no such file",
        "cut gzip",
    ],
)
def test_unreadable_texts_name_the_place_and_the_way_out(kind, run, tmp_path):
    path, fragments = bad_file(kind, tmp_path)
    code, output = run(generated=f"gen={path}")
    assert code == 3, output
    assert "→" in output
    assert "Traceback" not in output
    for fragment in fragments:
        assert fragment in output


@pytest.mark.parametrize(
    ("records", "reason", "count"),
    [
        ([{"text": None}, {"text": float("nan")}, *GOOD], "text is null", 1),
        ([{"text": ""}, {"text": " \n"}, *GOOD], "empty", 2),
        ([{"sections": ["a", "b"], "section_names": ["A"]}, *GOOD], "differ in length", 1),
        ([{"text": float("nan")}, *GOOD], "NaN", 1),
    ],
)
def test_defective_documents_are_counted(records, reason, count, run, tmp_path):
    path = write(tmp_path / "some.jsonl", records)
    code, output = run(generated=f"gen={path}")
    assert code == 0, output
    line = next(x for x in output.splitlines() if reason in x)
    assert f"{count} {'document' if count == 1 else 'documents'} of 'gen' unscored" in line


def test_empty_documents_only(run, tmp_path):
    path = write(tmp_path / "blank.jsonl", [{"text": " "}] * 3)
    code, output = run(generated=f"gen={path}")
    assert code == 0, output
    assert "not tested" in output
    assert "3 documents of 'gen' unscored (empty)" in output


def test_one_document(run, tmp_path):
    code, output = run(generated=f"gen={write(tmp_path / 'one.jsonl', GOOD[:1])}")
    assert code == 0, output
    code, output = run(real=write(tmp_path / "one.jsonl", GOOD[:1]))
    assert code in (2, 4), output
    assert "→" in output


@pytest.mark.slow
def test_a_document_of_20_mb(run, tmp_path):
    path = write(tmp_path / "long.jsonl", [{"text": "word " * 4_000_000}, *GOOD])
    code, output = run(generated=f"gen={path}")
    assert code == 0, output


def test_unknown_titles_are_scored_and_missing_sections_are_counted(run, tmp_path, make_sectioned):
    def records(corpus, names=True):
        return [
            {
                "sections": [s.text for s in d.sections],
                "section_names": [s.title if names else "Zzz" for s in d.sections],
            }
            for d in corpus
        ]

    real = write(tmp_path / "real.jsonl", records(make_sectioned(60)))
    odd = write(tmp_path / "odd.jsonl", [*records(make_sectioned(20, seed=1), names=False), {"text": "no marks"}])
    config = tmp_path / "c.toml"
    config.write_text('[sections]\nposterior = "titles"\n')
    code, output = run("--config", config, real=real, generated=f"gen={odd}", critics="sections")
    assert code == 0, output
    assert "1 document of 'gen' unscored (no sections)" in output


def test_no_overlap_between_vocabularies(run, tmp_path):
    path = write(tmp_path / "greek.jsonl", [{"text": "αβγ δεζ ηθι " * (i + 1)} for i in range(12)])
    code, output = run(generated=f"gen={path}", critics="unigram,rank-frequency")
    assert code == 0, output
    assert output.count("beyond") == 2, "both findings: beyond human variation"


@pytest.mark.parametrize(
    ("arguments", "code", "fragments"),
    [
        ({"generated": "somefile.jsonl"}, 2, ["NAME=PATH"]),
        ({"critics": "lenght"}, 6, ["did you mean 'length'"]),
        ({"critics": "length,length"}, 2, ["twice"]),
        ({"generated": "real=x"}, 2, ["a text is called 'real'", "another name"]),
        ({"generated": "gen=no-such-file"}, 3, ["no-such-file"]),
    ],
)
def test_wrong_use(arguments, code, fragments, run):
    found, output = run(**arguments)
    assert found == code, output
    assert "→" in output
    for fragment in fragments:
        assert fragment in output


def test_two_names_alike(run, tmp_path):
    path = write(tmp_path / "x.jsonl", GOOD)
    code, output = run("-g", f"gen={path}")
    assert code == 2
    assert "two corpora are called 'gen'" in output


def test_config_is_checked(run, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text("[length]\nbinz = 3\n")
    code, output = run("--config", config)
    assert code == 2
    assert "no parameter 'binz'" in output
    assert "bins" in output


def test_broken_plugin_is_named_and_stops_no_other(run, monkeypatch):
    import momus.plugins

    real_entry_points = momus.plugins.entry_points

    def with_broken(group):
        broken = EntryPoint("broken", "no_such_module:Critic", group)
        return [*real_entry_points(group=group), *([broken] if group == "momus.critics" else [])]

    monkeypatch.setattr(momus.plugins, "entry_points", with_broken)
    code, output = run(critics="broken")
    assert code == 6
    assert "no_such_module" in output
    assert run()[0] == 0


def test_output_folder_in_use(run, tmp_path):
    out = tmp_path / "run"
    assert run("--out", out)[0] == 0
    assert sorted(p.name for p in out.iterdir()) == [
        ".report.html.momus",
        "critics",
        "documents.parquet",
        "joint.json",
        "manifest.json",
        "report.html",
        "run.json",
        "texts.parquet",
        "verdicts.jsonl",
    ]
    code, output = run("--out", out)
    assert code == 5
    assert "--overwrite" in output
    assert run("--out", out, "--overwrite")[0] == 0
    (out / ".lock").write_text("1")  # of a process that has ended: nobody holds the lock
    assert run("--out", out, "--overwrite")[0] == 0
    lock = Lock(out / ".lock", "run").acquire()
    code, output = run("--out", out, "--overwrite")
    lock.release()
    assert code == 5
    assert f"in use by process {os.getpid()}" in output
    stranger = tmp_path / "mine"
    stranger.mkdir()
    (stranger / "thesis.tex").write_text("x")
    code, output = run("--out", stranger)
    assert code == 5
    assert (stranger / "thesis.tex").exists()


def test_hostile_markup_in_titles_and_names(run, tmp_path, make_sectioned):
    hostile = '<script>alert(1)</script>[bold]"><img src=x onerror=alert(2)>'
    records = [
        {
            "id": f"{hostile}{i}",
            "sections": [s.text + hostile for s in d.sections],
            "section_names": [hostile, *"abcde"[: len(d.sections) - 1]],
        }
        for i, d in enumerate(make_sectioned(40))
    ]
    path = write(tmp_path / "hostile.jsonl", records)
    out = tmp_path / "run"
    code, output = run(
        "--out", out, real=path, generated=f"<script>alert(3)</script>={path}", critics="sections,unigram"
    )
    assert code == 0, output
    html = (out / "report.html").read_text()
    assert "<img" not in html
    assert "<script>alert" not in html


def test_other_commands(run, momus, tmp_path):
    out = tmp_path / "run"
    assert run("--out", out)[0] == 0

    code, output = momus("outliers", out, "--critic", "length", "--top", 2)
    assert code == 0
    assert output.count("why") == 2
    code, output = momus("outliers", out, "--critic", "nope")
    assert code == 2
    assert "it has length" in output
    code, output = momus("outliers", tmp_path, "--critic", "length")
    assert code == 5
    assert "→" in output
    rows = tmp_path / "rows.csv"
    code, output = momus("score", out / "critics" / "length", tmp_path / "good.jsonl", "--out", rows)
    assert code == 0
    assert len(rows.read_text().splitlines()) == len(GOOD) + 1
    assert "in the text that the critic was fitted on" in output
    code, output = momus("score", tmp_path, tmp_path / "good.jsonl")
    assert code == 5
    assert momus("show", out, "--html", "--out", tmp_path / "again.html")[0] == 0
    assert (tmp_path / "again.html").read_text() == (out / "report.html").read_text()
    code, output = momus("critics", "length")
    assert code == 0
    assert "bins = 0" in output
    assert momus("fit", "length", "--fit", tmp_path / "good.jsonl", "--out", tmp_path / "c")[0] == 0
    code, output = momus("score", tmp_path / "c", tmp_path / "good.jsonl", "--out", tmp_path / "rows.xls")
    assert code == 2
    assert ".parquet" in output
