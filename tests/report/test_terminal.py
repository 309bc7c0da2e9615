"""The overview on a terminal, in Markdown, LaTeX and JSON: it fits, says what the data say, and escapes names."""

import json
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from tests.verdicts import verdict_of

import momus
from momus.evidence import Wording
from momus.inference import Method
from momus.joint.ranks import ALL_AXES, Joint, Ranking, RankRow
from momus.report.exports import comparison_json, comparison_latex, comparison_markdown
from momus.report.terminal import WIDTH, comparison_text
from momus.report.words.table import overview, shortened
from momus.runs.answer import answer_of
from momus.runs.result import CriticResult
from momus.verdicts.table import adjust

LONG = "a-model-with-a-very-long-name-that-no-column-holds-at-temperature-0."
HOSTILE = "[bold]a|b\\c_d{e}%&#$^~*`<script>\n\x1b[31mred\x07"


def verdict(critic, axis, generated, **changes):
    """A row of a value with an effect of 0.5, which differs; the band is 0.2."""
    row = {
        "critic": critic,
        "axis": axis,
        "statistic": "mean",
        "unit": "document",
        "generated": generated,
        "real_value": 10.0,
        "generated_value": 12.0,
        "difference": 2.0,
        "low": 1.0,
        "high": 3.0,
        "effect": 0.5,
        "effect_kind": "hedges_g",
        "effect_low": 0.3,
        "effect_high": 0.7,
        "band": 0.2,
        "band_source": "groups",
        "p": 0.0001,
        "p_adjusted": None,
        "q": None,
        "mde": 0.2,
        "n_real": 50,
        "n_generated": 50,
        "unscored_real": 0,
        "unscored_generated": 0,
        "headline": True,
        "told": True,
        "wording": Wording("mean length", ("shorter", "longer"), "words"),
        "method": Method(test="permutation", family="value", permutations=999),
    }
    return verdict_of(**(row | changes))


def rank_row(name, k, n):
    return RankRow(ALL_AXES, ALL_AXES, name, 1.0 + k, 0.5, 2.0 + k, 1, n, 1 / n, (), 50, 50, 50)


def comparison(names, axes=("length of documents", "an axis with a name of more than 28 letters"), warnings=()):
    rows = []
    for i, axis in enumerate(axes):
        for k, name in enumerate(names):
            changes = {} if i == 0 else {"effect": 0.01, "effect_low": -0.1, "effect_high": 0.1, "p": 0.9, "low": -1.0}
            rows.append(verdict(f"critic{i}", axis, name, **(changes | {"band": 0.2 / (k + 1)})))
    verdicts = adjust(rows)
    results = [
        CriticResult(f"critic{i}", axis, "?", {}, {}, [v for v in verdicts if v.axis == axis])
        for i, axis in enumerate(axes)
    ]
    ranking = Ranking([rank_row(n, k, len(names)) for k, n in enumerate(names)], {}, 0.95, 999, True)
    corpora = [("fit", "fit"), ("real", "real"), *((n, "generated") for n in names)]
    signature = {
        "confidence": 0.95,
        "momus": "0",
        "seed": 0,
        "split": False,
        "checks": [],
        "languages": [],
        "permutations": 999,
        "multiplicity": "holm",
        "seconds": {"total": 1.0},
        "critics": [],
        "corpora": [{"name": n, "role": role, "documents": 50, "fingerprint": "0"} for n, role in corpora],
    }
    joint = Joint(ranking=ranking if len(names) > 1 else None)
    return momus.Comparison(verdicts, results, signature, list(warnings), joint=joint)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("name", [LONG, "模型" * 30, "x"])
def test_it_fits_80_columns(n, name):
    text = comparison_text(comparison([f"{name}{i}" for i in range(n)], warnings=["long " * 200, LONG * 3]))
    assert max(cell_len(line) for line in text.splitlines()) <= WIDTH
    assert len(re.findall(r"^length of documents:? .*\d", text, re.MULTILINE)) == -(
        -n // 4
    )  # blocks of at most four corpora
    assert len(re.findall(r"\d\.\d↑\*\*", text)) == n


def test_names_that_are_cut_stay_apart():
    names = [f"{'same-' * 10}{i}{'-tail' * 10}" for i in range(3)]
    text = comparison_text(comparison(names))
    heads = next(line for line in text.splitlines() if line.startswith("axis"))
    assert re.findall(r"(\d) same-\S+tail", heads) == ["1", "2", "3"]
    for i, name in enumerate(names, 1):
        assert f"{i}{name}" in "".join(text.split())  # the key below the table


def test_rows_and_corpora_are_in_the_order_of_the_answer():
    found = comparison(["far", "near"])
    found.joint.ranking.rows[0], found.joint.ranking.rows[1] = rank_row("near", 0, 2), rank_row("far", 1, 2)
    table = overview(answer_of(found))
    assert table.names == ("near", "far"), "by the distance of the ranks, which the row of means shows"
    assert [r.label.partition(":")[0] for r in table.axes] == [a.axis for a in answer_of(found).axes]
    assert table.axes[0].cells == ("5.0↑**", "2.5↑**")
    assert table.axes[1].cells == ("0.1=", "0.0=")
    assert [r.cells for r in table.ranks] == [("1.0", "2.0"), ("1–2, 0.50", "1–2, 0.50")]


def test_a_text_is_nearest_only_if_ranks_and_means_agree():
    found = comparison(["a", "b"])  # the mean of a is smaller
    for nearest, tied, said in (("a", ("a",), "a is nearer"), ("b", ("a", "b"), "Too close to call: a or b")):
        rows = [
            replace(rank_row(name, i, 2), rank_low=place, rank_high=place)
            for i, name in enumerate("ab")
            for place in [1 if name == nearest else 2]
        ]
        found.joint.ranking.rows[:] = rows
        answer = answer_of(found)
        assert answer.tied == tied
        assert (answer.nearest is not None) == (nearest == "a")
        assert said in comparison_text(found)


def test_a_share_of_replicates_is_1_only_if_all_agree():
    found = comparison(["near", "far"])
    rows = [replace(r, p_nearest=p) for r, p in zip(found.joint.ranking.rows, (0.999, 0.001), strict=True)]
    found.joint.ranking.rows[:] = rows
    (_, places) = overview(answer_of(found)).ranks
    assert places.cells == ("1–2, > 0.99", "1–2, < 0.01")
    text = comparison_text(found, every=True)
    assert "> 0.99" in text.split("Distance from real text over all axes")[1]
    assert "1.00" not in text


def test_what_was_not_tested_and_what_has_no_band():
    found = comparison(["a"])
    found.verdicts = adjust([verdict("x", "x", "a", p=None), verdict("y", "y", "a", band=None, difference=-0.0123)])
    assert {r.label: r.cells for r in overview(answer_of(found)).axes} == {
        "x": ("n/a",),
        "y: mean length": ("Δ-0.012↑*",),
    }
    text = comparison_text(found)
    assert "no human band is known" in text
    assert "not tested" in text


def test_the_first_lines_are_the_answer_and_the_last_a_warning_of_three_lines():
    lines = comparison_text(comparison(["near", "far"], warnings=["word " * 100])).splitlines()
    assert "Beyond human variation: near and far on 1 of 2 axes each." in " ".join(lines[:2])
    assert [line.startswith("Note: word") for line in lines[-3:]] == [True, False, False]
    assert lines[-1].endswith("…")


def test_many_warnings_are_counted():
    text = comparison_text(comparison(["a"], warnings=[f"warning {i}" for i in range(11)]))
    assert text.count("Note:") == 3
    assert "and 8 more" in text
    assert (
        comparison_text(comparison(["a"], warnings=[f"warning {i}" for i in range(11)]), every=True).count("Note:")
        == 11
    )


def test_str_is_the_narrow_view_and_every_has_all_rows():
    found = comparison(["a", "b"])
    assert str(found) == comparison_text(found)
    found.verdicts = [
        *found.verdicts,
        verdict("critic0", "length of documents", "a", headline=False, statistic="extra"),
    ]
    assert "extra" in comparison_text(found, every=True)


def test_every_pair_has_its_answer_on_the_terminal():
    shown = comparison(["a", "b", "c"])
    distance = Method(test="permutation", family="distance", permutations=999)
    of_pair = {"statistic": "ks", "p_adjusted": 0.01, "band": 0.25, "method": distance, "band_source": "default"}
    pair = verdict("critic0", "length of documents", "b", reference="a", **of_pair)
    alike = replace(pair, generated="c", p_adjusted=0.6, effect_low=-0.1)
    elsewhere = replace(pair, critic="critic1", axis="other", p_adjusted=0.6, effect_low=-0.1)
    shown.verdicts = [replace(v, generated_value=9.0) if v.generated == "a" else v for v in shown.verdicts]
    shown.pairs = [alike, pair, elsewhere]
    text = " ".join(comparison_text(shown).partition("Pair by pair")[2].split())
    assert text == (
        "b and a: differ on 1 of 2 axes, in length of documents – b: mean length 12 words (a: 9, +33 %). "
        "c and a: not told apart on the only axis."
    )


def test_hostile_names_are_only_text_on_a_terminal():
    found = comparison([HOSTILE, "b"], axes=(HOSTILE, "[red]y"), warnings=[HOSTILE])
    for every in (False, True):
        text = comparison_text(found, every=every)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
        assert "[bold]" in text
        assert "[red]y" in text


def test_hostile_names_are_only_text_in_markdown():
    page = comparison_markdown(comparison([HOSTILE, "b"], axes=(HOSTILE, "https://x.y/"), warnings=[HOSTILE]))
    tokens = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").parse(page)
    kinds = {t.type for t in tokens} | {c.type for t in tokens for c in t.children or ()}
    assert not kinds & {"html_inline", "html_block", "link_open", "em_open", "code_inline", "image", "fence"}
    cells = [t.content for t, before in zip(tokens[1:], tokens, strict=False) if before.type == "td_open"]
    assert len(cells) == 4 * 3  # a bar in a name opens no cell: two axes and two rows of ranks, two corpora
    shown = "".join(c.content for t in tokens for c in t.children or () if c.type in ("text", "text_special"))
    assert "[bold]a|b\\c_d{e}%&#$^~*`<script> [31mred" in shown
    assert "\x1b" not in page


def test_hostile_names_are_only_text_in_latex():
    page = comparison_latex(comparison([HOSTILE, "b"], axes=(HOSTILE, "y"), warnings=[]))
    body = page.split(r"\midrule")[1]
    name = body.split(" & ")[0].strip()
    assert name.startswith(r"{[}bold{]}a\textbar{}b\textbackslash{}c\_d\{e\}\%\&\#\$\textasciicircum{}")
    plain = re.sub(r"\\[\\{}%&#$_]", "", page)
    assert plain.count("{") == plain.count("}")
    assert "\x1b" not in page
    rows = [line for line in page.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert [c for c in page.splitlines()[1:] if re.search(r"(?<!\\)%", c)] == []


def test_json_is_complete_and_has_no_nan():
    found = comparison([HOSTILE, "b"], warnings=["w"])
    content = json.loads(json.dumps(comparison_json(found), allow_nan=False))
    assert content["answer"]["corpora"][0]["generated"] == HOSTILE
    assert [v["p"] for v in content["verdicts"]] == [v.p for v in found.verdicts]
    cell = content["answer"]["axes"][0]["cells"][1]
    assert (cell["gap"], cell["direction"], cell["finding"]) == (5.0, "longer", "beyond human variation")
    assert content["warnings"] == ["w"]
    assert content["joint"]["ranking"]["rows"][1]["model"] == "b"


@pytest.mark.parametrize("width", range(1, 12))
def test_shortened_texts_have_the_width(width):
    for text in ("temperature-0.75", "模型模型模型", "é" * 20):
        assert cell_len(shortened(text, width)) <= width
    assert shortened("abc", 3) == "abc"


def test_an_empty_comparison_prints_too():
    assert str(momus.Comparison()) == "Nothing was compared.\n"
