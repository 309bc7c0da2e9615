"""Sentences that explain an output quote its numbers; `test_code_blocks` compares the output with what is printed."""

import re
import runpy
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "quickstart.md"]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def stale(page):
    """Numbers of two digits or more that sentences between an output and the next heading have, and no output has."""
    shown, expected, explains, found = "", False, False, []
    for token in MarkdownIt("commonmark").parse(page):
        if token.type == "html_block":
            expected = "<!-- output -->" in token.content
        elif token.type == "fence":
            shown += token.content if expected else ""
            explains, expected = explains or expected, False
        elif token.type == "heading_open":
            explains = False
        elif token.type == "inline" and explains:
            sentence = re.sub(r"`[^`]*`", "", token.content)
            numbers = [n.rstrip(",") for n in NUMBER.findall(sentence)]
            found += [n for n in numbers if len(n) > 1 and n not in NUMBER.findall(shown)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_sentences_quote_the_output(page):
    text = page.read_text(encoding="utf-8")
    assert "<!-- output -->" in text
    assert not stale(text), f"{page.name} quotes numbers that its output does not have"


def test_a_stale_number_is_found():
    page = "<!-- output -->\n```text\nreal │ 160 │ 0.25\n```\n\n{} have a partner, of `999`.\n\n# Next\n\n30 more.\n"
    assert stale(page.format("160")) == []
    assert stale(page.format("16")) == ["16"]
    assert stale(page.format("0.2 of 1,160")) == ["0.2", "1,160"]


def shown(page, mark):
    """The text block after a comment of a page, line by line."""
    html = False
    for token in MarkdownIt("commonmark").parse(page):
        if token.type == "fence" and html:
            return token.content.rstrip().splitlines()
        html = token.type == "html_block" and mark in token.content
    raise AssertionError(f"no block after {mark}")


def test_the_readme_shows_the_demo_of_the_quick_start():
    readme, start = PAGES
    short = shown(readme.read_text(encoding="utf-8"), "from docs/quickstart.md")
    long = shown(start.read_text(encoding="utf-8"), "<!-- output -->")
    agrees = runpy.run_path(str(ROOT / "docs" / "blocks.py"))["agrees"]
    assert agrees(short, long), "copy the output of `momus show demo-run` from the quick start into the README"
