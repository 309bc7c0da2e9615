"""The papers' settings are parameters that the critics know, and the page and the registry name the same tables."""

import re
import sys
from pathlib import Path

import pytest

from momus.critic.registry import make_critics
from momus.plugins import READERS, registered

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "reproduce"))
from papers import paper_tables  # noqa: E402

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
TABLES = paper_tables()
RUN = [t for t in TABLES.values() if t.columns]
ID = re.compile(r"`((?:deng|meister|takahashi|lebrun)-[a-z0-9]+)`")


@pytest.mark.parametrize("table", RUN, ids=lambda t: t.id)
def test_critics_are_made_with_the_settings(table):
    config = table.parameters()
    assert list(config) == [c for c in config if c in table.critics]
    assert set(config) == set(table.critics)
    for critic in make_critics(list(config), config):
        for name, value in config[critic.name].items():
            assert getattr(critic, name) == value
    make_critics(table.critics, {c: {**config[c], **v} for c, v in table.substitutes.items()})
    for name, changes in table.alternatives.items():
        other = table.parameters(name)
        make_critics(table.critics, other)
        assert {c: {k: other[c][k] for k in values} for c, values in changes.items()} == changes
        assert other != config
    make_critics(table.critics, {c: {**config[c], **v} for c, v in table.shipped_parameters.items()})


@pytest.mark.parametrize("table", RUN, ids=lambda t: t.id)
def test_a_table_is_complete(table):
    assert all(len(figures) == len(table.columns) for _, figures in table.rows)
    assert len({name for name, _ in table.rows}) == len(table.rows)
    assert not table.instead


def test_a_table_that_is_not_run_says_what_to_do():
    others = [t for t in TABLES.values() if not t.columns]
    assert [t.id for t in others if not t.instead] == []
    scripts = {s for t in others for s in re.findall(r"benchmarks/\S+\.py", t.instead)}
    assert scripts
    assert [s for s in scripts if not (ROOT / s).exists()] == []
    named = {i for t in others for i in re.findall(r"table\.py ([a-z0-9-]+)", t.instead)}
    assert named <= {t.id for t in RUN}


def test_readers_that_a_note_names_exist():
    text = "\n".join(f"{t.note} {t.instead}" for t in TABLES.values())
    assert "--alternative" in text
    assert set(re.findall(r"\b([a-z-]+):PATH", text)) <= set(registered(READERS))


def test_every_settings_file_is_used():
    shipped = {p.name for p in (ROOT / "benchmarks" / "reproduce" / "papers" / "settings").iterdir()}
    assert shipped == {f"{t.settings}.toml" for t in RUN}


def test_the_page_names_every_table_and_no_other():
    assert set(ID.findall(PAGE)) == set(TABLES)


def test_every_row_of_the_page_names_its_id():
    rows = [line for line in PAGE.splitlines() if re.match(r"\| (Table|Figure|Appendix)", line)]
    assert len(rows) > 15
    link = re.compile(r"\]\([a-z]|not covered: ")
    assert [r for r in rows if not ID.search(r.split("|")[1]) and not link.search(r)] == []


NUMBERS = re.compile(r"\b([Tt]able|[Ff]igure)s? (\d+(?:(?:, | and | to )\d+)*)")


@pytest.mark.parametrize(
    ("paper", "tables", "figures"), [("Deng", 16, 16), ("Meister", 7, 9), ("Takahashi", 7, 7), ("LeBrun", 9, 13)]
)
def test_the_page_names_every_table_and_figure_of_the_papers(paper, tables, figures):
    part = re.search(rf"^\*\*{paper}.*?(?=^\*\*|^## )", PAGE, flags=re.MULTILINE | re.DOTALL)[0]
    named = set()
    for kind, numbers in NUMBERS.findall("\n".join(line for line in part.splitlines() if line.startswith("| "))):
        spans = [span.split(" to ") for span in re.split(", | and ", numbers)]
        named |= {(kind.lower(), n) for span in spans for n in range(int(span[0]), int(span[-1]) + 1)}
    expected = {("table", n) for n in range(1, tables + 1)} | {("figure", n) for n in range(1, figures + 1)}
    assert expected - named == set()
    assert named - expected == set()
