"""Every option of a command that the documentation names is one that the command has."""

import re
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from momus.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("examples/**/README.md"),
]
BLOCK = re.compile(r"^```(?:bash|console|sh|yaml)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
COMMAND = re.compile(r"(?:^|[\s$(])momus ([a-z]+)((?:[^|;&\n]|\\\n)*)")
OPTION = re.compile(r"(?<![\w/-])(--?[A-Za-z][\w-]*)")
OTHERS = {"--log_samples", "--save-details", "--settings", "--exact", "--threads", "--work", "--alternative"}
"""Options of other tools, and of scripts of the checkout, that prose names."""


def options_of(command):
    """All spellings of the options of a command and of its subcommands."""
    spellings = {"-h", "--help"}
    for inner in getattr(command, "commands", {}).values():
        spellings |= options_of(inner)
    return spellings.union(*([*p.opts, *p.secondary_opts] for p in command.params))


@pytest.fixture(scope="module")
def known():
    group = get_command(app)
    context = typer.Context(group)
    return {name: options_of(group.get_command(context, name)) for name in group.list_commands(context)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_options_that_a_page_names_exist(page, known):
    text = page.read_text(encoding="utf-8")
    blocks, spans = BLOCK.findall(text), SPAN.findall(BLOCK.sub("", text))
    wrong = []
    for code in [*blocks, *spans]:
        for name, words in COMMAND.findall(code.replace("\\\n", " ")):
            if name in known:
                wrong += [f"momus {name} {option}" for option in OPTION.findall(words) if option not in known[name]]
    every = set().union(*known.values(), OTHERS)
    for span in spans:
        if span.startswith("--"):
            wrong += [option for option in OPTION.findall(span)[:1] if option not in every]
    assert not wrong
