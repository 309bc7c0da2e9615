"""Every code block of the documentation and the README runs, in order, in a folder of its page."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEOPLE = ROOT / "examples" / "people" / "README.md"
PAGES = [
    *(ROOT / "README.md", PEOPLE),
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "```" in p.read_text("utf-8")),
]
NOT_RUN = {
    "README.md": 3,
    "gpu.md": 1,
    "install.md": 2,
    "languages.md": 1,
    "models-in-critics.md": 1,
    "passages.md": 1,
    "quickstart.md": 1,
    "models.md": 5,
    "scale.md": 3,
    "structure.md": 5,
    "validity.md": 2,
    "which-critic.md": 1,
    "against.md": 1,
}
"""How many blocks of a page may be marked as not run; each says why on the page."""

QUICK = (
    "quickstart",
    "index",
    "texts",
)
"""Pages that are run by default; `make slow` runs all."""


def load():
    spec = importlib.util.spec_from_file_location("momus_docs_blocks", ROOT / "docs" / "blocks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


blocks = load()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=[pytest.mark.slow] * (p.stem not in QUICK), id=p.parent.name if p == PEOPLE else p.stem)
        for p in PAGES
    ],
)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MOMUS_CACHE", str(tmp_path / "cache"))
    running = blocks.Page(tmp_path)
    for block in blocks.blocks_of(page):
        running.run(block)


@pytest.mark.parametrize("page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda p: p.stem)
def test_every_block_is_run_or_says_why_not(page):
    found = blocks.blocks_of(page)
    kinds = {b.language for b in found}
    assert kinds <= {"python", *blocks.SHELLS, *blocks.SILENT}, f"{page.name}: {kinds}"
    left = [b for b in found if b.not_run]
    allowed = NOT_RUN.get(f"{page.parent.name}/{page.name}", NOT_RUN.get(page.name, 0))
    assert len(left) == allowed, [f"{b}: {b.not_run}" for b in left]
    for block in found:
        if block.language == "console" and not block.not_run:
            assert block.content.startswith("$ "), block
        if block.language in blocks.SILENT and not block.title:
            assert not re.search(r"^\s*(\$|momus [a-z]+ -|pip |python )", block.content, flags=re.MULTILINE), (
                f"{block} holds a command that is not run"
            )


def test_there_are_blocks_of_each_kind():
    found = [b for page in PAGES for b in blocks.blocks_of(page)]
    assert sum(b.runs and b.language == "python" and not b.title for b in found) >= 10
    assert sum(b.runs and b.language == "console" for b in found) >= 10


def test_a_block_that_fails_is_a_failure(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```console\n$ echo $((40 + 2))\n42\n$ momus critics nowhere\n```\n")
    running = blocks.Page(tmp_path)
    first, second = blocks.blocks_of(page)
    running.run(first)
    assert running.space["x"] == 1
    with pytest.raises(AssertionError, match=r"page\.md, line 5: `momus critics nowhere` ended with 6"):
        running.run(second)


def test_what_a_page_says_of_its_blocks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs a network -->\n```console\n$ false\n```\n\n    indented\n\n"
        '```toml title="a/b.toml"\nx = 1\n```\n\n```console\n$ cat a/b.toml && \\\n  echo more\nx = 1\nmore\n```\n'
    )
    found = blocks.blocks_of(page)
    assert [(b.language, b.runs) for b in found] == [
        ("console", False),
        ("indented", True),
        ("toml", True),
        ("console", True),
    ]
    assert found[0].not_run == "needs a network"
    running = blocks.Page(tmp_path)
    assert running.run(found[0]) == running.run(found[2]) == ""
    assert running.run(found[3]).endswith("x = 1\nmore\n")
    with pytest.raises(AssertionError, match="no block is called"):
        running.run(found[1])


def test_blocks_that_need_a_package_are_left_alone_without_it(tmp_path):
    page = tmp_path / "page.md"
    block = (
        "<!-- needs: {} -->\n```console\n$ echo ran\n```\n\n<!-- needs: {} -->\n<!-- output -->\n```text\n{}\n```\n\n"
    )
    page.write_text(block.format("pytest", "pytest", "ran") + block.format("no_such_package", "no_such_package", "x"))
    found = blocks.blocks_of(page)
    assert [(b.runs, b.output, b.not_run) for b in found[::2]] == [(True, False, ""), (False, False, "")]
    running = blocks.Page(tmp_path)
    assert [running.run(b) for b in found] == ["$ echo ran\nran\n", "", "", ""]
    page.write_text(block.format("pytest", "pytest", "x"))
    with pytest.raises(AssertionError, match="the output differs"):
        [running.run(b) for b in blocks.blocks_of(page)]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nd", True),
        ("a\n…\nd", "a\nb\nc", False),
        ("took 3.1 s | n = 5", "took 12 s | n = 5", True),
        ("took 3.1 s | n = 5", "took 12 s | n = 6", False),
        ("a", "a\nb", False),
        ("a  ", "a", True),
    ],
)
def test_output_is_compared_line_by_line(shown, printed, same):
    assert blocks.agrees(blocks.normal(shown), blocks.normal(printed)) == same


def test_output_that_differs_is_a_failure_or_is_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo 41\n42\n```\n\n```python\nprint(7)\n```\n\n<!-- output -->\n```text\n8\n```\n")
    console, python, output = blocks.blocks_of(page)
    assert (console.output, output.output, output.runs) == (False, True, False)
    (tmp_path / "a").mkdir()
    running = blocks.Page(tmp_path / "a")
    with pytest.raises(AssertionError, match=r"page\.md, line 1: the output differs(.|\n)*-42\n\+41"):
        running.run(console)
    running.run(python)
    with pytest.raises(AssertionError, match=r"line 11: the output differs(.|\n)*-8\n\+7"):
        running.run(output)
    (tmp_path / "b").mkdir()
    updating = blocks.Page(tmp_path / "b", update=True)
    for block in (console, python, output):
        updating.run(block)
    assert updating.updates == [("42", "41"), ("8", "7")]


def words(path):
    return len(path.read_text(encoding="utf-8").split())


def test_the_manual_stays_short():
    pages = {p.relative_to(ROOT).as_posix(): words(p) for p in (ROOT / "docs").rglob("*.md")}
    assert max(pages.values()) <= 3000, max(pages, key=pages.get)
    assert sum(pages.values()) <= 57_000
    assert words(ROOT / "README.md") <= 1000
    assert pages["docs/validity-judges.md"] <= 2000
    assert pages["docs/writing-a-critic.md"] <= 2000
