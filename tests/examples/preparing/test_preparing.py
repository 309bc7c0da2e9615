"""Preparing titled documents: titles, filters and their counts, and Cohan's files."""

import gzip
import json

import fsspec
import pytest

from momus.cli import main
from momus.errors import UsageError
from momus.reading import read_corpus
from momus.reading.options import Source
from momus.text.documents import Document, Section
from momus_preparing import Filters, prepare
from momus_preparing.filters import lemmatizer, spelling_variants, standard_title
from momus_preparing.pipeline import holds_markup

LONG = "word " * 40


def document(name, *titles, text=LONG):
    return titled(name, [(t, text) for t in titles])


def titled(name, sections, problem=None):
    return Document(name, tuple(Section(text, title) for title, text in sections), problem=problem)


def read(path):
    raw = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(raw) if path.suffix == ".gz" else raw).splitlines()]


def test_titles_get_one_spelling():
    lemma = lemmatizer("en")
    names = [standard_title(t, lemma) for t in ("1. Introduction", "METHODS (2)", "Test Cases", "References", None)]
    assert names == ["introduction", "method", "test case", "reference", ""]
    with pytest.raises(UsageError, match="no language 'xx'"):
        lemmatizer("xx")


def test_variants_go_to_the_most_frequent_spelling_only():
    found = spelling_variants({"behaviour": 3, "behavior": 9, "set-up": 2, "set up": 1, "note": 4, "notes": 1, "": 7})
    assert found == {"behaviour": "behavior", "set up": "set-up"}


def test_every_drop_is_counted_and_nothing_else_is_lost(tmp_path):
    good = [document(f"g{i}", "1. Introduction", "Methods", "See also", "Results") for i in range(6)]
    documents = [
        *good,
        document("few", "Introduction", "Results", "References"),
        document("short", "Introduction", "Methods", "Results", text="too short"),
        document("long", "Introduction", "Methods", "Results", text="word " * 2001),
        document("rare", "Introduction", "Methods", "Curiosities"),
        document("untitled", None, None, None),
        titled("half", [("Introduction", LONG), (None, LONG), ("Results", LONG)]),
        titled("broken", [], "text is null"),
    ]
    out = tmp_path / "out.jsonl.gz"
    found = prepare(iter(documents), out, Filters.published())
    assert (found.read, found.kept) == (13, 6)
    assert found.read == found.kept + found.dropped.total()
    assert found.dropped == {
        "fewer than 3 sections": 1,
        "a section of fewer than 30 tokens": 1,
        "a section of more than 2,000 tokens": 1,
        "a title in fewer than 5 documents": 1,
        "no titles": 1,
        "a section without a title": 1,
        "text is null": 1,
    }
    assert found.sections == {"see also": 6, "reference": 1}
    records = read(out)
    assert [r["id"] for r in records] == [f"g{i}" for i in range(6)]
    assert records[0]["section_names"] == ["introduction", "method", "result"]
    assert len(read_corpus(out)) == 6
    assert not list(tmp_path.glob(".partial*"))


SHORT = [("Introduction", LONG), ("Methods", LONG), ("Results", LONG), ("Copyright", "Public domain.")]


@pytest.mark.parametrize(
    ("short", "names", "last"),
    [
        ("keep", ["introduction", "methods", "results", "copyright"], "Public domain."),
        ("merge", ["introduction", "methods", "results"], f"{LONG}\n\nPublic domain."),
        ("drop", ["introduction", "methods", "results"], LONG),
    ],
)
def test_a_short_section_does_not_drop_its_document(tmp_path, short, names, last):
    out = tmp_path / "out.jsonl"
    found = prepare([titled("a", SHORT), document("b", "A", "B", "C")], out, Filters(language="", short=short))
    assert (found.kept, found.short) == (2, 1)
    record, other = read(out)
    assert record["section_names"] == names
    assert record["sections"][-1] == last
    assert record.get("short_sections") == ([3] if short == "keep" else None)
    assert "short_sections" not in other


def test_the_option_that_would_keep_more_is_named(tmp_path):
    documents = [titled(f"s{i}", SHORT) for i in range(4)]
    documents += [document("few", "A", "B"), titled("both", [("A", "x"), ("B", LONG)]), document("fine", "A", "B", "C")]
    found = prepare(documents, tmp_path / "out.jsonl", Filters(language="", short="document"))
    assert (found.read, found.kept) == (7, 1)
    assert found.regained == {"short='keep'": 4, "least_sections=1": 1}
    with pytest.raises(UsageError, match="none of 5 documents is kept: 4 × a section of fewer than 30 tokens") as error:
        prepare(documents[:5], tmp_path / "none.jsonl", Filters(language="", short="document"))
    assert error.value.hint == "short='keep' would keep 4 of them"
    with pytest.raises(UsageError, match="the source is empty"):
        prepare([], tmp_path / "none.jsonl")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".out.jsonl.momus", "out.jsonl"]


def test_a_folder_of_markdown_is_prepared_and_an_empty_result_is_an_error(tmp_path, capsys, monkeypatch):
    for name in ("a/README.md", "b/README.md", "a/guide.md", "a/plain.md"):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        sections = (
            "" if "plain" in name else f"# T\n\n## Use\n{LONG}\n## Limits\nNone.\n## See also\nx\n## Install\n{LONG}"
        )
        (tmp_path / "docs" / name).write_text(sections or "text")
    monkeypatch.setenv("COLUMNS", "200")
    out = tmp_path / "out.jsonl"

    def run(*words):
        monkeypatch.setattr("sys.argv", ["momus", "prepare", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out + printed.err

    code, said = run(tmp_path / "docs", "-o", out)
    assert code == 0
    assert [(r["id"], r["section_names"]) for r in read(out)] == [("a/guide.md", ["use", "limit", "install"])]
    assert "1 │ dropped: no headings" in said
    assert (
        "In 'docs', 2 files were set aside for their names ('a/README.md' …); --include README.md reads them." in said
    )
    code, said = run(tmp_path / "docs", "-o", out, "--overwrite", "--include", "README*")
    assert code == 0
    assert [r["id"] for r in read(out)] == ["a/README.md", "a/guide.md", "b/README.md"]
    code, said = run(tmp_path / "docs", "-o", tmp_path / "none.jsonl", "--short", "document")
    assert code == 2
    assert "none of 2 documents is kept" in said
    assert "--short keep would keep 1 of them" in said
    assert not (tmp_path / "none.jsonl").exists()
    code, said = run(tmp_path / "docs", "-o", out, "--overwrite", "--short", "no")
    assert code == 2
    assert "short is 'no'" in said


def test_nothing_is_left_or_overwritten_when_it_fails(tmp_path):
    def failing():
        yield document("a", "A", "B", "C")
        raise KeyboardInterrupt

    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        prepare(failing(), out)
    assert list(tmp_path.iterdir()) == []
    out.write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        prepare([], out)
    assert out.read_text() == "precious"


def cohan(name):
    return {
        "article_id": name,
        "article_text": ["ignored"],
        "abstract_text": ["<S> ignored </S>"],
        "section_names": ["INTRODUCTION", "2 Methods", "results"],
        "sections": [[LONG, LONG], [LONG], [LONG]],
    }


def test_files_of_cohan(tmp_path, monkeypatch, capsys):
    source = tmp_path / "train.txt"
    source.write_text(
        "".join(json.dumps(cohan(f"a{i}")) + "\n" for i in range(5)) + json.dumps({"sections": None}) + "\n"
    )
    out = tmp_path / "out.jsonl"
    monkeypatch.setattr("sys.argv", ["momus", "prepare", str(source), "-o", str(out)])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    said = capsys.readouterr().out
    assert "6 │ read" in said
    assert "5 │ kept" in said
    assert "3 titles" in said
    assert [r["id"] for r in read(out)] == [f"a{i}" for i in range(5)]


def test_prepared_documents_keep_groups_prompts_and_fields(tmp_path):
    made = [{"id": "a", "sections": ["x", "y"], "section_names": ["A", "B"], "group": "g", "prompt": "p", "topic": 1}]
    (tmp_path / "a.jsonl").write_text(json.dumps(made[0]))
    corpus = read_corpus(tmp_path / "a.jsonl", keep=["topic"])
    prepare(corpus, tmp_path / "b.jsonl", Filters(1, 0, 99, 1, ""))
    again = read_corpus(tmp_path / "b.jsonl", keep=["topic"])
    assert (again.groups, again.prompts, again.field("topic")) == (["g"], ["p"], ["1"])


def test_folders_of_headings_are_known_anywhere(tmp_path):
    system = fsspec.filesystem("memory")
    system.store.clear()
    for name in ("README.md", "train/a.md", "c/fig.png", ".git/x.md", "rows.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"# Use\nSo.")
        system.pipe(f"/docs/{name}", b"# Use\nSo.")
    for source in ("memory://docs", "memory://docs/train/a.md", "memory://docs/*.md", str(tmp_path)):
        assert holds_markup(Source.parse(source))
    assert not holds_markup(Source.parse("memory://docs/rows.jsonl"))
    system.store.clear()
