"""The section of a data card: what it says, how it is put into a card, and that names cannot break it."""

import re

import numpy as np
import pytest

import momus
from momus.cli.app import app
from momus.errors import StoreError, UsageError
from momus.report.exports import BEGIN, END, HEADING

HOSTILE = "a|b <script> `x` -->"


def texts(n, words, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(["sea", "ship", "wave", "sail"], rng.integers(words, 2 * words))) for _ in range(n)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    generated = {HOSTILE: [*texts(39, 14, 1), ""], "near": texts(40, 10, 2)}
    fit = texts(40, 10, 3)
    momus.compare(
        texts(40, 10, 0), generated, fit=fit, critics=["length", "symbol-share"], out=folder, permutations=199
    )
    return folder


@pytest.fixture(scope="module")
def comparison(run):
    return momus.read_comparison(run)


def test_the_section_has_the_numbers_of_the_verdicts(comparison):
    card = comparison.to_card("near")
    assert card.startswith(f"{BEGIN}\n\n{HEADING}\n")
    assert re.search(END.format("[0-9a-f]{16}") + "\n$", card)
    for verdict in (v for v in comparison.verdicts if v.headline and v.generated == "near"):
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {verdict.axis} ")]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if verdict.p_adjusted is not None:
            assert cells[1] == f"{verdict.gap:.1f}"
        assert cells[4] == f"{verdict.n_generated} against {verdict.n_real}"
        assert cells[5] == verdict.finding
    signature = comparison.signature
    digest = next(c["fingerprint"] for c in signature["corpora"] if c["name"] == "near")
    assert digest in card
    assert f"seed {signature['seed']}" in card


def test_names_cannot_break_the_section(comparison):
    card = comparison.to_card(HOSTILE)
    assert card.count("-->") == 2, "those of the marks"
    assert "<script>" not in card
    heads, *rows = [re.sub(r"\\\|", "", line) for line in card.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {heads.count("|")}
    assert "1 of 40" in card, "the empty document is counted"


def test_a_text_must_be_named_if_there_are_several(comparison):
    with pytest.raises(UsageError, match=r"no text is named, and the run has(.|\n)*name one"):
        comparison.to_card()
    with pytest.raises(UsageError, match="no generated text is called 'far'"):
        comparison.to_card("far")


def test_the_section_of_a_card_is_replaced(run, tmp_path, capsys):
    card = tmp_path / "README.md"
    card.write_text("---\nlicense: mit\n---\n\n# My data\n")
    command = ["show", str(run), "--card", "--text", "near", "--into", str(card)]
    app(command, standalone_mode=False)
    first = card.read_text()
    assert first.startswith("---\nlicense: mit\n---\n\n# My data\n\n" + BEGIN)
    card.write_text(first + "\n## Licence\n")
    app(["show", str(run), "--card", "--text", HOSTILE, "--into", str(card)], standalone_mode=False)
    app(command, standalone_mode=False)
    assert card.read_text() == first + "\n## Licence\n"
    output = capsys.readouterr().out
    assert output.count("Section added") == 1
    assert output.count("Section replaced") == 2
    card.write_text(first + first)
    with pytest.raises(UsageError, match="do not enclose one section"):
        app(command, standalone_mode=False)
    assert card.read_text() == first + first


@pytest.mark.parametrize(
    "around",
    [
        (b"[![build](https://example.org/badge.svg)](https://example.org)\n\n# Mine\n", b"\nafter\n"),
        (b"# Mine\r\n\r\none\ntwo\r\n", b"\r\nafter\nmore\r\n"),
        (b"# Mine\rlone\rends\r", b"\rafter\r"),
        (b"\xef\xbb\xbf\xef\xbb\xbf# Mine  \n\n\n\n", b"\n\xef\xbb\xbf\n \t"),
        (b"[link] at the beginning, no line end", b" after"),
        (b"", b""),
    ],
    ids=["badge", "mixed", "lone", "marks", "unended", "empty"],
)
def test_every_byte_outside_of_the_section_stays(around, run, tmp_path):
    card, command = tmp_path / "README.md", ["show", str(run), "--card", "--text", "near", "--into"]
    before, after = around
    card.write_bytes(before)
    app([*command, str(card)], standalone_mode=False)
    assert card.read_bytes().startswith(before)
    begun = card.read_bytes().index(BEGIN.encode())
    card.write_bytes(card.read_bytes().rstrip(b"\r\n") + after)
    above = card.read_bytes()[:begun]
    for text in (HOSTILE, "near"):
        app([*command[:4], text, "--into", str(card)], standalone_mode=False)
        assert card.read_bytes().startswith(above + BEGIN.encode())
        assert card.read_bytes().endswith(b" -->" + after)


@pytest.mark.parametrize(
    "edit", [lambda text: text.replace("axis", "my axis", 1), lambda text: text.replace("\n\n", "\n", 1)]
)
def test_a_section_that_was_edited_stays(edit, run, tmp_path):
    card, command = tmp_path / "README.md", ["show", str(run), "--card", "--text", "near", "--into"]
    app([*command, str(card)], standalone_mode=False)
    edited = edit(card.read_text())
    card.write_text(edited)
    with pytest.raises(StoreError, match="was edited"):
        app([*command, str(card)], standalone_mode=False)
    assert card.read_text() == edited


@pytest.mark.parametrize("content", ["# Mine".encode("utf-16"), b"# caf\xe9", b'{"a": [1]}', b"\n[1, 2]"])
def test_what_is_no_markdown_in_utf8_is_no_card(content, run, tmp_path):
    card = tmp_path / "README.md"
    card.write_bytes(content)
    with pytest.raises(StoreError, match="is not a card"):
        app(["show", str(run), "--card", "--text", "near", "--into", str(card)], standalone_mode=False)
    assert card.read_bytes() == content


def test_without_a_card_the_section_is_printed(run, comparison, capsys):
    app(["show", str(run), "--card", "--text", "near"], standalone_mode=False)
    assert capsys.readouterr().out == comparison.to_card("near")
