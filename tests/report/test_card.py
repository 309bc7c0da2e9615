"""The section of a data card: what it says, how it is put into a card, and that names cannot break it."""

import re

import numpy as np
import pytest

import momus
from momus.cli.app import app
from momus.errors import UsageError
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
    assert card.endswith(f"{END}\n")
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


def test_without_a_card_the_section_is_printed(run, comparison, capsys):
    app(["show", str(run), "--card", "--text", "near"], standalone_mode=False)
    assert capsys.readouterr().out == comparison.to_card("near")
