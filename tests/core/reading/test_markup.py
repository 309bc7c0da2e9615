# ruff: noqa: E501
"""Documents with headings: every markup becomes the same sections, and what cannot be read says why."""

from importlib.metadata import EntryPoint

import pytest

import momus.plugins
from momus.errors import MomusError, PluginError, ReadingError
from momus.plugins import MARKUPS, registered
from momus.reading import markup as markups
from momus.reading import read_corpus
from momus.reading.location import Problem
from momus.reading.markup import markup_record

NEEDS = {"html": "lxml", "latex": "pylatexenc", "mediawiki": "mwparserfromhell"}
"""Packages of the extra ``markup``, by markup."""
SAME = {
    "markdown": "---\nid: x\n---\n# Manual\n\nAbout *this*.\n\n## Use\n\nCall `run()`.\n\n### Fast\n\nDo [so](u).\n\n"
    "## Limits\n\n```\n# no heading\n```\n\nEnd\n---\n\n> # nor this\n",
    "html": "<html><head><title>x</title></head><body><nav><h2>Menu</h2></nav><main><h1>Manual</h1><p>About <i>this</i>."
    "<h2>Use<a class='headerlink' href='#'>¶</a></h2><p>Call <code>run()</code>.</p><h3>Fast</h3><p>Do\n  <a href=u>so</a>.</p>"
    "<h2>Limits</h2><pre># no heading</pre><h2>End</h2><p>nor this</p><script>x</script></main><footer>F</footer></body></html>",
    "latex": r"\documentclass{book}\title{T}\begin{document}\maketitle\chapter{Manual} About \emph{this}.\section{Use}"
    r"Call \texttt{run()}.\subsection*{Fast} Do \href{u}{so}.\section{Limits}\begin{verbatim}# no heading\end{verbatim}"
    "\n"
    r"\section{End} nor this % a remark"
    "\n"
    r"\end{document}",
    "mediawiki": "= Manual =\nAbout ''this''.\n== Use ==\nCall <code>run()</code>.\n=== Fast ===\nDo [http://u so].{{box}}\n"
    "== Limits ==\n# no heading\n== End ==\nnor this<ref>a note</ref>\n",
}


@pytest.mark.parametrize("markup", SAME)
def test_all_markups_give_the_same_sections(markup):
    pytest.importorskip(NEEDS.get(markup, "markdown_it"))
    record = markup_record(SAME[markup], markup)
    assert not isinstance(record, Problem), record
    assert record["section_names"] == ["lead", "Use", "Limits", "End"]
    lead, use, limits, end = record["sections"]
    assert lead == "About this."
    assert use.replace("http://u ", "") in {"Call run().\n\nFast\n\nDo so.", "Call run().\n\nFast\n\nDo so <u>."}
    assert limits.strip("# ") == "no heading"
    assert end == "nor this"


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# A\nx\n# B\ny\n# C\nz", ["A", "B", "C"]),
        ("# T\n## A\nx\n## B\ny", ["A", "B"]),  # a title without text of its own is no section
        ("# One\nx\n# Two\n## a\n## b\n## c\n", ["One", "a", "b", "c"]),
        ("x\n\n# A\ny", ["lead", "A"]),
        ("# A\n\n# B\n\n# C\n", ["A", "B", "C"]),  # sections without text stay
        ("<h1>T</h1>\n\n## A\nx\n\n<h2>B</h2>\n\ny", ["A", "B"]),  # HTML within Markdown
    ],
)
def test_the_level_that_divides_a_document(text, titles):
    pytest.importorskip("lxml" if "<h1>" in text else "markdown_it")
    assert markup_record(text, "markdown")["section_names"] == titles


@pytest.mark.parametrize("markup", SAME)
def test_hostile_and_empty_documents_are_problems_not_errors(markup):
    pytest.importorskip(NEEDS.get(markup, "markdown_it"))
    deep = {
        "markdown": "> " * 5000 + "x",
        "html": "<div>" * 100_000,
        "latex": "{" * 5000,
        "mediawiki": "{{" * 5000 + "[[" * 5000,
    }
    for text in ("", " \n", deep[markup], "\0\x1b[31m"):
        record = markup_record(text, markup)
        assert isinstance(record, Problem), record


def test_nothing_is_included_from_other_files(tmp_path):
    for package in NEEDS.values():
        pytest.importorskip(package)
    (tmp_path / "secret.txt").write_text("secret")
    texts = {
        "latex": rf"\section{{A}}\input{{{tmp_path}/secret.txt}}x\section{{B}}x",
        "html": f'<!DOCTYPE a [<!ENTITY s SYSTEM "file://{tmp_path}/secret.txt">]><h1>A</h1>&s;<h1>B</h1>x',
    }
    for markup, text in texts.items():
        record = markup_record(text, markup)
        assert record["section_names"][-2:] == ["A", "B"], markup
        assert "secret" not in "".join(record["sections"]).replace(f"{tmp_path}/secret.txt", ""), markup


def test_a_folder_of_documents_names_what_is_left_out(tmp_path):
    for name in ("a/README.md", "b/README.md", "c/use.md", "c/LICENSE.md", "c/fig.png", ".git/x.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# A\nx\n# B\ny")
    corpus = read_corpus(tmp_path, fmt="markup")
    assert corpus.ids == ["c/use.md"]
    assert corpus.left_out.names == ("a/README.md", "b/README.md", "c/LICENSE.md")
    assert corpus.left_out.others == {".png": 1}
    both = read_corpus(tmp_path, fmt="markup", include=["README*"])
    assert both.ids == ["a/README.md", "b/README.md", "c/use.md"]
    assert both.section_titles == ["A", "B"] * 3
    assert read_corpus(tmp_path, fmt="markup", include=["a/*"]).ids == ["a/README.md", "c/use.md"]
    (tmp_path / "c/use.md").unlink()
    with pytest.raises(ReadingError, match=r"3 set aside for their names \('a/README.md' …\), 1 × .png") as error:
        read_corpus(tmp_path, fmt="markup")
    assert "include=['README.md']" in error.value.hint


def test_documents_without_headings_say_how_to_go_on(tmp_path):
    (tmp_path / "a.md").write_text("text only")
    with pytest.raises(ReadingError, match="has no headings") as error:
        read_corpus(tmp_path / "a.md", fmt="markup")
    assert "fmt='text'" in error.value.hint
    (tmp_path / "b.md").write_text("# A\nx\n# B\ny")
    assert read_corpus(tmp_path, fmt="markup").problems == ["no headings", None]
    (tmp_path / "c.xyz").write_text("# A")
    with pytest.raises(MomusError, match="does not say the markup"):
        read_corpus(tmp_path / "c.xyz", fmt="markup")


def test_every_markup_has_one_parser(monkeypatch):
    assert {name: len(found) for name, found in registered(MARKUPS).items()} == dict.fromkeys(markups.NAMES, 1)
    assert set(markups.SUFFIXES.values()) == set(markups.NAMES) == set(SAME)
    other = EntryPoint("markdown", "other_package:parts_of", MARKUPS)
    found = momus.plugins.entry_points
    monkeypatch.setattr(momus.plugins, "entry_points", lambda group: [*found(group=group), other])
    monkeypatch.setattr(markups, "_parser", markups._parser.__wrapped__)
    with pytest.raises(PluginError, match=r"two plug-ins are called 'markdown': .*\(other_package:parts_of\)"):
        markup_record("# A", "markdown")
    monkeypatch.setattr(momus.plugins, "entry_points", lambda group: [other])
    with pytest.raises(PluginError, match=r"'markdown' .* cannot be imported \(other_package:parts_of\)"):
        markup_record("# A", "markdown")
    with pytest.raises(PluginError, match="no markup 'latex'"):
        markup_record("# A", "latex")
