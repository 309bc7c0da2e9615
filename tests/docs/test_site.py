"""The site builds without a warning, asks nothing from elsewhere, and its measured tables are those of the figures."""

import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from momus.plugins import critic_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_all_pages_are_built(site):
    pages = [p.relative_to(DOCS).with_suffix("") for p in DOCS.rglob("*.md")]
    assert len(pages) >= 25
    for page in pages:
        folder = page.parent if page.name == "index" else page
        assert (site / folder / "index.html").exists(), page
    assert not list(site.rglob("*.py"))


def test_nothing_is_asked_from_elsewhere(site):
    """No script, style, font or picture comes from another host; links that a reader follows may."""
    loads = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"((?:https?:)?//[^\"]+)\"")
    for page in site.rglob("*.html"):
        found = [u for u in loads.findall(page.read_text("utf-8")) if "canonical" not in u]
        assert not found, (page, found)
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//", sheet.read_text("utf-8")), sheet


def test_doctests_of_the_reference_are_code(site):
    page = (site / "api" / "shipped" / "index.html").read_text("utf-8")
    assert "&gt;&gt;&gt; " in page
    for page in (site / "api").rglob("*.html"):
        text = page.read_text("utf-8")
        assert "<blockquote>" not in text, page
        assert "```" not in text, page
        assert not re.search(r"<(?:li|p)>(?:<[^>]+>)*&gt;&gt;&gt;", text), page


def test_doctests_of_the_documentation_tools():
    pytest.importorskip("griffe", reason="the extra `docs` is not installed")
    spec = importlib.util.spec_from_file_location("momus_docs_doctests", DOCS / "doctests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = doctest.testmod(module)
    assert found.attempted >= 2
    assert not found.failed


def test_every_critic_has_its_page_figure_and_measurement():
    measured = json.loads((DOCS / "figures" / "measured.json").read_text("utf-8"))
    pages = {p.name: p.read_text("utf-8") for p in (DOCS / "critics").glob("*.md")}
    together = "".join(pages.values())
    for name in critic_names():
        if not measured.get(name):
            pytest.fail(f"no figure of {name!r}: add it to docs/figures/texts.py and run make_figures.py {name}")
        assert (DOCS / "figures" / f"{name}.svg").exists()
        assert f"../figures/{name}.svg" in together, name
        assert f"`{name}`" in pages["index.md"], name


def test_pages_show_what_was_measured():
    spec = importlib.util.spec_from_file_location("momus_docs_figures", DOCS / "figures" / "make_figures.py")
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    measured = json.loads(figures.MEASURED.read_text("utf-8"))
    blocks = 0
    for page in (DOCS / "critics").glob("*.md"):
        text = page.read_text("utf-8")
        blocks += text.count("<!-- measured: ")
        assert figures.filled(text, measured) == text, f"{page.name}: run docs/figures/make_figures.py --pages"
    assert blocks == len(measured)
