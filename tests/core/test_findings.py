"""Findings: which competes with which, what is told first, and what is told once."""

from dataclasses import replace

import numpy as np
import pytest
from tests.verdicts import verdict_of

import momus
import momus.progress
from momus import Corpus
from momus.against.versions import Against, Direction
from momus.evidence import Overuse, Overused, Table, Wording
from momus.inference import Method
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import said, says_what
from momus.report.words.table import cell_text, overview
from momus.runs.answer import Cell, answer_of
from momus.runs.findings import GENERAL, Finding, findings_of_axis, in_order, significant
from momus.runs.result import CriticResult, Results
from momus.verdicts.table import INDEX, RATE, RATIO, surely_touched, touched

WORDS = Wording("mean length", ("shorter", "longer"), "words")
SPREAD = Wording("standard deviation of log lengths", ("more alike in length", "more varied in length"))
LISTS = Wording("documents with a list", ("less often", "more often"), "", "share", "{} of documents have a list")
OPENINGS = Wording("most changed of all first words", item="documents open with")


def row(statistic="mean", g=0.5, wording=WORDS, sure=0.8, **changes):
    """A row that differs, by ``g`` standard deviations, of which the interval leaves a part sure."""
    values = {
        "critic": "length", "axis": "length of documents", "statistic": statistic, "unit": "document", "generated": "b",
        "real_value": 100.0, "generated_value": 100.0 + 50 * g, "difference": 50 * g, "low": 50 * g * sure,
        "high": 50 * g * (2 - sure), "effect": g, "effect_low": min(g * sure, g * (2 - sure)),
        "effect_high": max(g * sure, g * (2 - sure)), "effect_kind": "hedges_g", "p": 0.001, "p_adjusted": 0.001,
        "p_axis": 0.001, "p_in_axis": 0.001, "n_real": 100, "n_generated": 100, "headline": True, "wording": wording,
        "method": Method("permutation", "value"), "unscored_real": 0, "unscored_generated": 0, "alpha": 0.05,
    }  # fmt: skip
    return verdict_of(**{**values, **changes})


def share(old, new, statistic="list_share", wording=LISTS, **changes):
    """A row of what documents have or lack, with an interval of ±.05."""
    deviation = ((old * (1 - old) + new * (1 - new)) / 2) ** 0.5
    g, half = (new - old) / deviation, 0.05 / deviation
    given = {
        "critic": "layout", "axis": "layout", "real_value": old, "generated_value": new, "difference": new - old,
        "low": new - old - 0.05, "high": new - old + 0.05, "effect": g, "effect_low": g - half, "effect_high": g + half,
    }  # fmt: skip
    return row(statistic, wording=wording, **{**given, **changes})


def openings(critical=0.1, **changes):
    """The row of the largest change of an opening."""
    given = {"critic": "edges", "axis": "openings and endings", "effect_kind": "distance", "difference": 0.24}
    given |= {"method": Method("permutation", "distance", critical=critical), "low": 0.1, "high": 0.3, "effect": 0.24}
    return row("recurring_openings", wording=OPENINGS, **{**given, "effect_low": 0.1, "effect_high": 0.3, **changes})


HERE = Overused("here's a", 42.0, 18.0, "Here's a plan.", 0.24)
RARE = Overused("sure", 3.0, 1.0, "", 0.02)
OPENED = Overuse("first words", "% of documents", (HERE, RARE), of="recurring_openings")


def results(*verdicts, overuse=OPENED):
    """Results with the things that `edges` tells by name."""
    named = [("b", [Table("edge-openings", "First words", (), (), overuse=overuse)])]
    kept = CriticResult("edges", "openings and endings", "?", {}, {}, [], evidence=named)
    return Results(verdicts=list(verdicts), results=[kept])


def test_a_shift_touches_the_documents_that_must_change():
    assert surely_touched(row(g=0.5)) == pytest.approx(touched(0.4))
    assert surely_touched(share(0.42, 0.18)) == pytest.approx(0.19), "of what documents have, the difference of shares"
    assert surely_touched(openings()) == pytest.approx(0.1)
    assert surely_touched(row(effect_low=-0.1)) == 0
    assert surely_touched(row(wording=Wording(format="score"))) == 0
    log = row(effect_kind="log_ratio", effect=0.2, effect_low=0.1, effect_high=0.3, difference=20.0, standard_error=4.0)
    assert surely_touched(log) == pytest.approx(touched(RATIO * 5 * (2 / 100) ** 0.5 / 2)), (
        "of t and n where there is no g"
    )


def test_an_index_speaks_only_where_nothing_concrete_differs():
    spread, mean = row("spread", 2.0, SPREAD), row("mean", 0.2)
    assert [f.row.statistic for f in findings_of_axis([spread, mean], ())] == ["mean"], "the mean before the spread"
    assert [f.row.statistic for f in findings_of_axis([spread], ())] == ["spread"]
    cell = Cell.of([spread, mean])
    assert says_what(cell).startswith("longer: mean length 110 words (human: 100")
    assert cell_text(Cell.of([spread])).endswith("↑* more varied in length")


def test_a_thing_is_told_by_its_name_with_both_shares():
    answer = answer_of(results(openings(), row("mean", 0.3)))
    first = first_sentences(answer)[0]
    expected = "18 % of documents open with “here's a” (human: 42 %)"
    assert first == f"b differs from human text most in openings and endings: {expected}."
    (cell,) = answer.axis("edges").cells
    assert (cell.sign, cell_text(cell)) == (-1, "Δ0.24↓* “here's a”")
    gone = results(openings(), overuse=Overuse("x", "% of documents", (Overused("so", 9, 0, "", 0.2),), OPENED.of))
    assert "no document opens with “so” (human: 9 %)" in first_sentences(answer_of(gone))[0]


def test_only_things_beyond_the_critical_value_are_findings():
    assert significant(OPENED, openings()) == [HERE]
    assert significant(OPENED, openings(critical=0.01)) == [HERE, RARE]
    assert significant(OPENED, openings(critical=0.9)) == [HERE], "the largest differs, since its row does"
    assert significant(OPENED, None) == []
    silent = results(openings(p_adjusted=0.4))
    assert answer_of(silent).findings == ()


def test_openings_add_up_since_a_document_has_one():
    went = [Overused(text, old, new, "", 0.2) for text, old, new in (("of course", 23, 1), ("thank you", 20, 0))]
    went += [Overused("hello !", 14, 0, "", 0.15), Overused("rare", 2, 0, "", 0.01)]
    things = (*went, Overused("sure ,", 3, 25, "", 0.22), Overused("i'm glad", 12, 1, "", 0.12))
    opened = Overuse("first words", "% of documents", things, of="recurring_openings", exclusive=True)
    told = answer_of(results(openings(), overuse=opened)).findings
    # chance makes .1 of the largest change, .24: of each of the four, change · .1 / size
    chance = (0.22 * 0.1 / 0.2, 0.2 * 0.1 / 0.2, 0.14 * 0.1 / 0.15, 0.11 * 0.1 / 0.12)
    assert told[0].touched == pytest.approx(0.67 - sum(c**2 for c in chance) ** 0.5)
    assert [said(f) for f in told] == [
        "2 % of documents open with “of course”, “thank you”, “hello!” or 1 other (human: 69 %)",
        "25 % of documents open with “sure,” (human: 3 %)",
    ]
    banded = answer_of(results(openings(band=0.1, band_source="groups"), overuse=opened)).axis("edges").worst
    assert "human: 69 %" in says_what(banded)
    assert "bands" not in says_what(banded), "which would be those of the largest change alone"
    alone = replace(opened, exclusive=False)
    assert len(answer_of(results(openings(), overuse=alone)).findings) == 5, "shares of words do not add up"


def test_findings_of_all_axes_are_told_by_the_documents_that_they_touch():
    rows = row("mean", 0.3), share(0.5, 0.8), openings()
    told = [f.row.critic for f in answer_of(results(*rows)).findings]
    assert told == ["layout", "edges", "length"]
    sentences = first_sentences(answer_of(results(*rows)))
    assert sentences[0].endswith("most in layout: 80 % of documents have a list (human: 50 %).")
    assert sentences[2] == (
        "Also: 18 % of documents open with “here's a” (human: 42 %); longer: mean length 115 words (human: 100, +15 %)."
    )


def test_one_finding_of_several_axes_is_told_once():
    rate = Wording("question marks", ("fewer", "more"), "per 1,000 words")
    having = Wording("documents with question marks", ("", ""), "", "share", "{} of documents have question marks")
    a, b = Finding(row("rate", wording=rate), weight=0.3), Finding(share(0.2, 0.4, wording=having), weight=0.2)
    other = Finding(share(0.2, 0.1, wording=having), weight=0.1)
    told = in_order([b, other, a])
    assert [f.weight for f in told] == [0.3, 0.1], "what falls is another finding than what rises"
    assert b not in told


@pytest.mark.parametrize(
    ("rate", "having"),
    [("first person", "documents with first-person words"), ("numbered items", "numbered list items")],
)
def test_a_rate_and_a_share_of_the_same_things_are_told_once(rate, having):
    told = Finding(row("rate", wording=Wording(rate, unit="per 1,000 words")), weight=0.3)
    again = Finding(share(0.2, 0.4, wording=Wording(having, format="share")), weight=0.2)
    assert in_order([again, told]) == [told]


def test_a_rate_is_seen_later_than_a_share_of_documents_and_none_is_said_in_words():
    commas = row("commas", wording=Wording("commas", ("poorer in commas", "richer in commas"), "per 1,000 words"))
    length, none = row("mean"), share(0.3, 0.0, low=-0.3 / 0.8, high=-0.2)
    (rate,), (mean,) = findings_of_axis([commas], ()), findings_of_axis([length], ())
    assert rate.touched == mean.touched
    assert rate.weight == pytest.approx(RATE * mean.weight)
    assert says_what(Cell.of([none])) == "none of the documents have a list (human: 30 %)"


def test_what_few_documents_say_a_thousand_times_touches_no_others():
    def touches(documents):
        openings = row("gap", wording=Wording("largest gap", item="sentences open with"), real_value=0.0)
        thing = Overused("1 4", 212.0, 6.0, size=0.6, documents=documents)
        (found,) = findings_of_axis([openings], [Overuse("openings", "per 1,000 sentences", (thing,), "gap")])
        return found.touched

    many = touches(None)
    assert many > 0.03 == pytest.approx(touches((0.03, 0.01)))
    assert touches((0.9, 0.8)) == pytest.approx(many), "nothing is taken from what many have"


def test_what_moves_with_narrower_statistics_is_told_behind_them():
    stops = row("stops", wording=Wording("full stops", ("poorer", "richer"), "per 1,000 words", general=True))
    (moved,), (mean,) = findings_of_axis([stops], ()), findings_of_axis([row("mean")], ())
    assert moved.weight == pytest.approx(GENERAL * RATE * mean.weight)


def test_shorter_sentences_come_before_their_full_stops():
    rng = np.random.default_rng(0)
    words = ["rain", "stone", "cat", "runs", "under", "tree", "house", "river"]

    def texts(longest):
        cuts = [rng.integers(longest // 2, longest + 1, 60 // longest * 2) for _ in range(80)]
        return [" ".join(f"{' '.join(rng.choice(words, n)).capitalize()}." for n in row) for row in cuts]

    sides = {name: Corpus.from_texts(texts(n), name=name) for name, n in (("fit", 20), ("real", 20), ("new", 10))}
    compared = momus.compare(
        fit=sides["fit"], real=sides["real"], generated={"new": sides["new"]}, critics=["marks", "rhythm"],
        permutations=199, resamples=99, reporter=momus.progress.Silent(),
    )  # fmt: skip
    assert {v.statistic for v in compared.verdicts if v.is_finding} >= {"full_stop", "sentence_length"}
    assert answer_of(compared).findings[0].row.critic == "rhythm"


def test_a_share_of_words_on_a_general_axis_is_an_index():
    known = row("known", wording=Wording("known words", format="share"), real_value=0.85, generated_value=0.78)
    length, having = row("mean"), share(0.5, 0.8)
    assert [f.row for f in findings_of_axis([known, having], (), GENERAL)] == [having]
    (alone,), (mean,) = findings_of_axis([known], (), GENERAL), findings_of_axis([length], (), GENERAL)
    assert alone.weight == pytest.approx(INDEX * mean.weight)
    (narrow,), (mean,) = (findings_of_axis([v], ()) for v in (known, length))
    assert narrow.weight == pytest.approx(RATE * mean.weight), "of narrow axes, a rate"


def test_small_changes_are_told_last_and_by_that_name():
    narrow = {"band": 10.0, "band_source": "groups"}
    answer = answer_of(results(row("mean", 0.9, **narrow), share(0.5, 0.7)))
    assert [f.row.critic for f in answer.findings] == ["layout", "length"]
    assert [a.critic for a in answer.axes] == ["layout", "length"]
    corpus = answer.corpora[0]
    assert (corpus.differs, corpus.small) == (2, 1)
    assert says_what(answer.axes[1].cells[0]).startswith("a small change: longer: mean length")
    assert "differs on 2, 1 of them by a small change" in first_sentences(answer)[1]


def test_a_text_that_does_not_differ_is_not_said_to():
    rows = [share(0.5, 0.8), share(0.5, 0.51, generated="c", p_adjusted=0.7)]
    told = first_sentences(answer_of(Results(verdicts=rows)))
    assert any(s.startswith("b differs from human text in layout: ") for s in told), told
    both = [share(0.5, 0.8), share(0.5, 0.7, generated="c")]
    assert "Both differ from human text in layout – b: " in " ".join(first_sentences(answer_of(Results(verdicts=both))))


def test_no_arrow_stands_without_the_name_of_its_statistic():
    rows = [share(0.5, 0.8), share(0.5, 0.3, generated="c"), share(0.5, 0.6, "bold_share", LISTS, generated="d")]
    named = overview(answer_of(Results(verdicts=rows)))
    assert named.axes[0].label == "layout: documents with a list"
    words = overview(answer_of(Results(verdicts=rows)), words=True).axes[0]
    assert words.label == "layout"
    assert all(any(arrow in cell and len(cell.split(" ", 1)) == 2 for arrow in "↑↓") for cell in words.cells)
    bold = Wording("documents with bold type", ("", ""), "", "share", "{} of documents have bold type")
    rows[2] = share(0.5, 0.6, "bold_share", bold, generated="d")
    cells = dict(zip(named.names, overview(answer_of(Results(verdicts=rows))).axes[0].cells, strict=True))
    assert {name for name, cell in cells.items() if "↑" in cell or "↓" in cell} == {"b", "c"}


@pytest.mark.parametrize(
    ("others", "said_in"),
    [
        ((), "a"),
        ((("b", "nats per step", 0.5),), "b"),
        ((("b", "nats per step", -0.5),), ""),
        ((("b", "nats per document", -9.0),), "a"),
    ],
)
def test_which_version_is_more_predictable_is_told_where_axes_agree(others, said_in):
    axes = (("a", "nats per step", 0.2), *others)
    directions = tuple(Direction(a, a, "b", unit, 2 + d, 2, d, d - 0.1, d + 0.1, 0.01, 0.01) for a, unit, d in axes)
    answer = replace(answer_of(results(row(), overuse=None)), against=Against("old", 4, directions=directions))
    told = [s for s in first_sentences(answer) if "predictable under" in s]
    assert len(told) == bool(said_in)
    assert all(s.startswith(f"old is more predictable under b than b under old, most in {said_in} (2 ") for s in told)


def test_documents_that_have_something_and_all_others_are_told_once():
    warm, cold = (Wording(format="share", clause=f"{{}} of documents are labelled “{w}”") for w in ("warm", "cold"))
    labels = {"critic": "label:tone", "axis": "label tone"}
    rows = share(0.3, 0.6, "warm", warm, **labels), share(0.7, 0.4, "cold", cold, **labels)
    assert [f.row.statistic for f in in_order(findings_of_axis(rows, ()))] == ["warm"]
    rows = rows[0], share(0.6, 0.4, "cold", cold, **labels)
    assert len(in_order(findings_of_axis(rows, ()))) == 2, "of three labels, each"
