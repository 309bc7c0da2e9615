"""Sentences and tables of a study: what each says of known numbers, and where one sentence gives way to another."""

import pytest

from momus.inference.agreement import Agreement
from momus_people.axis import AxisRow
from momus_people.result import ContrastRow, CorpusRow, RaterRow, StudyResult
from momus_people.view import (
    AXES,
    agreement_sentence,
    axis_sentence,
    contrast_sentences,
    finding_sentences,
    result_view,
    shown_cells,
    shown_name,
)

NAN = float("nan")


def axis(name="order", partial=-0.4, p=0.01, is_yardstick=False):
    return AxisRow(name, name, 0.3, 0.1, 0.5, partial, partial - 0.2, partial + 0.2, p, p, 1200, is_yardstick)


def rater(name="rater-1", flags=(), left_out=False, **numbers):
    given = {"answered": 24, "missing": 0, "invalid": 0, "failed": 1, "checks": 2, "same": 3, "repeats": 4, **numbers}
    return RaterRow(name=name, seconds=12.4, rho=-0.25, p=0.5, flags=flags, left_out=left_out, **given)


def result(**given):
    found = {
        "question": "coherence", "asked": "How coherent?", "kind": "rating", "scale": tuple("abcde"), "answers": 70,
        "expected": 72, "agreement": None, "corpora": (), "contrasts": (), "raters": (), "axis": (), "notes": (),
        **given,
    }  # fmt: skip
    return StudyResult(study="0", **found)


def test_corpora_that_differ_have_a_sentence_each_from_the_better_one():
    assert contrast_sentences(result(contrasts=[ContrastRow("m", "real", 0.6, 0.51, 0.8)])) == [
        "A passage of m is rated higher than one of human text in 60 % of cases [51 %, 80 %]."
    ]
    assert contrast_sentences(result(kind="pair", contrasts=[ContrastRow("m", "real", 0.3, 0.2, 0.49)])) == [
        "A passage of human text is preferred to one of m in 70 % of cases [51 %, 80 %]."
    ]


@pytest.mark.parametrize(("low", "high", "most"), [(0.5, 0.8, 80), (0.2, 0.5, 80), (0.4, 0.7, 70)])
def test_intervals_that_touch_one_half_tell_nothing_apart(low, high, most):
    assert contrast_sentences(result(contrasts=[ContrastRow("m", "real", 0.5, low, high)])) == [
        f"Not told apart: m and human text; preferences of up to {most} % remain possible."
    ]


def test_agreement_and_what_has_none():
    a = Agreement(0.414, 0.3, 0.555, "ordinal", 1024, 3210)
    assert agreement_sentence(result(agreement=a)) == (
        "Krippendorff's α (ordinal) is 0.41 [0.30, 0.56] over 3,210 values of 1,024 passages."
    )
    assert agreement_sentence(result()) == "Agreement cannot be measured: no item has two different answers."


@pytest.mark.parametrize(("p", "follow"), [(0.05, True), (0.051, False)])
def test_readers_follow_axes_at_the_level_of_five_percent(p, follow):
    told = axis_sentence(result(axis=[axis(p=p), axis("length", is_yardstick=True)]))
    if follow:
        assert told == (
            "Readers' judgements of coherence follow order (ρ = −0.40 [−0.60, −0.20], the odder, the worse), "
            "beyond length and the other yardsticks."
        )
    else:
        assert told == (
            "Readers' judgements of coherence follow none of 1 axis beyond length and the other yardsticks; the "
            "largest partial correlation is order (ρ = −0.40 [−0.60, −0.20], the odder, the worse)."
        )


def test_axes_are_listed_by_the_size_of_their_correlation():
    rows = [axis("a", 0.1), axis("b", -0.5), axis("c", 0.3), axis("d", 0.0, p=0.9), axis("e", NAN, p=NAN)]
    told = axis_sentence(result(axis=rows, question="Would you go on?"))
    assert told.startswith("Readers' answers follow b (ρ = −0.50")
    assert [told.index(f"; {n} (ρ") > 0 for n in "ca"] == [True, True]
    assert told.index("; c (") < told.index("; a (")
    assert "the odder, the better), and none of the 2 other axes, beyond" in told
    none = axis_sentence(result(axis=[axis("a", 0.1, p=1), axis("b", -0.5, p=1)]))
    assert "the largest partial correlation is b" in none
    assert axis_sentence(result(axis=[axis("e", NAN, p=NAN)])).endswith("the other yardsticks.")
    assert "the odder, the better" in axis_sentence(result(axis=[axis("zero", 0.0)]))


def axis_cells(row):
    return tuple(cell(row) for _, cell in AXES)


def test_cells_of_axes():
    assert axis_cells(axis()) == ("order", "0.30 [0.10, 0.50]", "−0.40 [−0.60, −0.20]", "0.01", "1,200")
    assert axis_cells(axis("length", NAN, is_yardstick=True))[::2] == ("yardstick: length", "–", "1,200")
    assert axis_cells(axis("length", is_yardstick=True))[3] == "–"


@pytest.mark.parametrize(
    ("given", "name", "cells"),
    [
        ({}, "mean rating, 1 to 5", "3.25 [2.50, 4.00]"),
        ({"scale": ("no", "yes")}, "share “yes”", "325 % [250 %, 400 %]"),
        ({"kind": "pair"}, "share of pairs that it wins", "325 % [250 %, 400 %]"),
    ],
)
def test_what_is_shown_of_a_corpus(given, name, cells):
    row = CorpusRow("m", 3.25, 2.5, 4.0, 8, 30)
    assert (shown_name(result(**given)), shown_cells(result(**given), row)) == (name, cells)


def test_the_page_of_a_result_lists_corpora_axes_and_raters():
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    rows = [rater(missing=2, invalid=1), rater("rater-2", ("hasty",), left_out=True, checks=0, repeats=0)]
    corpora = [CorpusRow("m", 3.25, 2.5, 4.0, 8, 3000)]
    console.print(result_view(result(raters=rows, corpora=corpora, axis=[axis()], notes=["one note"])))
    lines = [" ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()]
    for line in (
        "70 of 72 answers to items",
        "Note: one note.",
        "m 3.25 [2.50, 4.00] 8 3,000",
        "rater-1 24, 2 missing, 1 invalid 1 of 2 3 of 4 12 −0.25",
        "rater-2 24 – – 12 −0.25 hasty, left out",
        "Left out: rater-2.",
    ):
        assert line in lines
    odd = finding_sentences(result(raters=[rater(flags=("hasty", "one answer only"))]))
    assert odd[-1] == "Look at the answers of rater-1 (hasty, one answer only)."
