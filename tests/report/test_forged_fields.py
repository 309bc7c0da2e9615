"""Every text field of a run folder from elsewhere is cleaned on the page, in the terminal and in exports."""

import json

import pytest

import momus
from momus.comparison import read_comparison
from momus.errors import MomusError
from momus.report.page import render
from momus.report.terminal import comparison_text
from momus.runs.manifest import write_manifest

EVIL = "\x1b]0;owned\x07\u202e"
FILES = ("run.json", "joint.json", "verdicts.jsonl", "critics/length/result.json")


def leaves(content, path=()):
    """Paths of all strings in a JSON value; of those in a list, of the first row that has the field."""
    if isinstance(content, str):
        yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    fields = set()
    for key, value in items:
        for leaf in leaves(value, (*path, key)):
            field = tuple(step for step in leaf[len(path) + 1 :] if isinstance(step, str))
            if isinstance(content, dict) or field not in fields:
                fields.add(field)
                yield leaf


def forge(content, path):
    *outer, last = path
    for key in outer:
        content = content[key]
    content[last] += EVIL


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged") / "run"
    texts = {
        name: [f"the {word} rose over hill number {i} " * (1 + i % 4) for i in range(24)]
        for name, word in (("fit", "sun"), ("real", "sun"), ("g", "moon"), ("h", "star"))
    }
    generated = {"g": texts["g"], "h": texts["h"]}
    options = {"critics": ["length"], "permutations": 99, "resamples": 9}
    momus.compare(texts["real"], generated, fit=texts["fit"], out=folder, **options)
    return folder


def write(path, content):
    lines = [json.dumps(row) for row in content] if path.suffix == ".jsonl" else [json.dumps(content)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for critic in (path.parents[2 if path.name == "result.json" else 0] / "critics").iterdir():
        write_manifest(critic)
    write_manifest(path.parents[2] if path.name == "result.json" else path.parent)


def readable(folder):
    try:
        return read_comparison(folder)
    except MomusError:  # a field that may hold known words only
        return None


@pytest.mark.parametrize("name", FILES)
def test_no_control_character_of_a_forged_field_is_shown(run, name):
    path = run / name
    whole = path.read_bytes()
    text = whole.decode("utf-8")
    content = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    forged = 0
    try:
        for leaf in leaves(content):
            if leaf[-1] == "against":  # it says what kind of comparison this is
                continue
            changed = json.loads(json.dumps(content))
            forge(changed, leaf)
            write(path, changed)
            if readable(run) is not None:
                content, forged = changed, forged + 1
        write(path, content)
        comparison = read_comparison(run)
        views = {
            "page": render(comparison),
            "terminal": comparison_text(comparison, every=True),
            "markdown": comparison.to_markdown(),
            "latex": comparison.to_latex(),
        }
    finally:
        write(path, [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text))
    assert forged > 3, "fields that may hold any text"
    for view, shown in views.items():
        assert not set(EVIL) & set(shown) & {"\x1b", "\x07", "\u202e"}, view
