"""The papers' settings in examples/papers are parameters that the critics know, and the page names each file."""

import tomllib
from pathlib import Path

import pytest

from momus.critic.registry import make_critics

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples" / "papers").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_critics_are_made_with_the_settings(path):
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    critics = make_critics(list(config), config)
    assert [c.name for c in critics] == list(config)
    for critic in critics:
        for name, value in config[critic.name].items():
            assert getattr(critic, name) == value


def test_the_page_names_each_file():
    page = (ROOT / "docs" / "paper-tables.md").read_text(encoding="utf-8")
    assert len(FILES) >= 6
    assert [p.name for p in FILES if f"`{p.name}`" not in page] == []
