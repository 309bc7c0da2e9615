"""The answer of a comparison: order of texts and axes, directions, sentences, trust line."""

from dataclasses import replace

import numpy as np
import pytest
from tests.verdicts import verdict_of

import momus
from momus.cli.app import Commands
from momus.comparison import Comparison
from momus.evidence import Wording
from momus.inference import Method
from momus.joint.ranks import ALL_AXES, Joint, Ranking, RankRow
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import axis_sentences, bands, joined, legend, mark
from momus.report.words.table import cell_text
from momus.report.words.trust import trust_items
from momus.runs.answer import Cell, answer_of
from momus.runs.result import CriticResult, Unscored
from momus.schema import build
from momus.verdicts.band import atlas

LENGTH = Wording("length", ("shorter", "longer"), "words")


def row(critic, generated, gap, p=0.001, **changes):
    """A headline distance whose effect is ``gap`` human bands, with an interval of ±0.5."""
    values = {
        "critic": critic,
        "axis": f"axis {critic}",
        "statistic": "ks",
        "unit": "document",
        "generated": generated,
        "real_value": 0.1,
        "generated_value": 0.3,
        "difference": 0.2,
        "low": 0.1,
        "high": 0.3,
        "effect": gap * 0.1,
        "effect_low": (gap - 0.5) * 0.1,
        "effect_high": (gap + 0.5) * 0.1,
        "effect_kind": "distance",
        "p": p,
        "p_adjusted": p,
        "q": p,
        "mde": 0.05,
        "n_real": 100,
        "n_generated": 100,
        "unscored_real": 0,
        "unscored_generated": 0,
        "headline": True,
        "band": 0.1,
        "band_source": "groups",
        "method": Method("permutation", "distance", permutations=999),
    }
    return verdict_of(**{**values, **changes})


def leading(critic, generated, difference, half=5.0, p=0.001, **changes):
    """A row of means that leads its family: real text has 172 words."""
    values = {
        "statistic": "mean_length",
        "headline": False,
        "leads": True,
        "p_axis": p,
        "p_in_axis": p,
        "wording": LENGTH,
        "real_value": 172.0,
        "generated_value": 172.0 + difference,
        "difference": difference,
        "low": difference - half,
        "high": difference + half,
        "method": Method("permutation", "value", permutations=999),
    }
    return row(critic, generated, 3.0, p, **{**values, **changes})


def behind(critic, generated, gap, p=0.001, **changes):
    """The headline of a family that another statistic leads."""
    return row(critic, generated, gap, p, **{"p_axis": p, "p_in_axis": p, "leads": False, **changes})


def rank(model, distance, low, high):
    return RankRow(ALL_AXES, ALL_AXES, model, distance, distance - 0.5, distance + 0.5, low, high, 0.5, (), 50, 50, 50)


def comparison(verdicts, ranks=()):
    ranking = Ranking(ranks, {}, 0.95, 999, True) if ranks else None
    return Comparison(verdicts=list(verdicts), joint=Joint(ranking=ranking))


def test_axes_are_sorted_by_size_and_not_by_p():
    rows = [row("small", "a", 0.9, p=1e-9), row("large", "a", 7.0, p=0.01), row("none", "a", 9.0, p=0.9)]
    rows.append(row("untested", "a", 0.0, p=None, method=Method(reason="too short")))
    answer = answer_of(comparison(rows))
    assert [a.critic for a in answer.axes] == ["large", "small", "none", "untested"]
    assert [cell_text(a.cells[0]) for a in answer.axes] == ["7.0**", "0.9*", "9.0", "n/a"]
    assert answer.largest.row.critic == "large"
    assert answer.corpora[0].beyond == 1
    assert answer.corpora[0].differs == 2
    assert answer.corpora[0].tested == 3


@pytest.mark.parametrize(("difference", "sign", "word"), [(-31.0, -1, "shorter"), (31.0, 1, "longer"), (2.0, 0, "")])
def test_a_direction_needs_an_interval_on_one_side_of_0(difference, sign, word):
    cell = Cell.of([behind("length", "opt", 3.0), leading("length", "opt", difference)])
    assert (cell.sign, cell.direction) == (sign, word)


def test_the_spread_over_refits_stands_in_the_cell():
    cell = Cell.of([row("mauve", "opt", 3.0, difference=0.3, effect=0.6, band=0.2, refit_spread=0.05)])
    assert cell_text(cell).startswith("3.0±0.5")
    assert bands(cell.row) == "3.0±0.5 human bands"
    assert "over fits" in " ".join(legend(answer_of(comparison([cell.row]))))


def test_there_is_no_direction_where_texts_are_not_told_apart():
    cell = Cell.of([behind("length", "opt", 3.0, p=0.2), leading("length", "opt", -31.0, p=0.2)])
    assert cell.row.headline, "which speaks where nothing differs"
    assert (cell.sign, cell.direction, mark(cell)) == (0, "", "")


def test_a_sentence_has_direction_values_unit_and_size():
    answer = answer_of(comparison([behind("length", "opt", 9.0), leading("length", "opt", -31.0)]))
    ((name, sentence),) = axis_sentences(answer.axes[0])
    assert name == "opt"
    assert sentence == "shorter: length 141 words (human: 172, −18 %), 3.0 human bands; also different: ks"


def test_shares_are_told_in_percent():
    words = Wording("symbols", ("fewer symbols", "more symbols"), format="share")
    share = {"real_value": 0.125, "generated_value": 0.25, "low": 0.1, "high": 0.2}
    rows = [behind("symbols", "opt", 3.0, p=0.2), leading("symbols", "opt", 0.125, wording=words, **share)]
    ((_, sentence),) = axis_sentences(answer_of(comparison(rows)).axes[0])
    assert sentence == "more symbols: 25 % (human: 12 %), 3.0 human bands"


def test_the_answer_names_the_nearest_text_and_the_largest_gap():
    rows = [row(c, g, s) for c, g, s in [("one", "a", 5), ("two", "a", 0.2), ("one", "b", 6), ("two", "b", 2)]]
    ranks = [rank("b", 4.0, 2, 2), rank("a", 2.6, 1, 1)]
    answer = answer_of(comparison(rows, ranks))
    assert answer.nearest.generated == "a"
    first, largest = first_sentences(answer)
    assert first == "a is nearer to human text. Beyond human variation: b on 2 of 2 axes; a on 1."
    assert largest.startswith("Both differ from human text most in axis one – ")


def test_the_largest_gap_of_both_names_the_text_whose_values_are_told():
    rows = [behind("one", g, 5) for g in "ab"] + [leading("one", "a", -31.0), leading("one", "b", 32.0)]
    largest = first_sentences(answer_of(comparison([*rows, row("two", "a", 0.2), row("two", "b", 0.3)])))[1]
    assert largest.startswith("Both differ from human text most in axis one – a: shorter: ")


def test_values_have_the_digits_that_their_change_needs():
    words = Wording(label="Zipf exponent")
    values = {"real_value": 1.2345, "generated_value": 1.2641, "low": 0.01, "high": 0.05}
    ((_, sentence),) = axis_sentences(
        answer_of(comparison([leading("zipf", "opt", 0.0296, wording=words, **values)])).axes[0]
    )
    assert "1.26 (human: 1.23, +2.4 %)" in sentence


def test_two_texts_that_differ_on_unequal_numbers_of_axes_are_told_apart():
    rows = [row("one", "a", 0.2, p=0.5), row("one", "b", 0.4), row("two", "a", 0.2, p=0.5), row("two", "b", 0.4)]
    first = first_sentences(answer_of(comparison(rows)))[0]
    assert "a differs on 0 and b differs on 2" in first


def test_ties_are_said_to_be_ties():
    rows = [row("one", g, s) for g, s in [("a", 5), ("b", 5.2), ("c", 9)]]
    ranks = [rank("a", 5.0, 1, 2), rank("b", 5.2, 1, 2), rank("c", 9.0, 3, 3)]
    answer = answer_of(comparison(rows, ranks))
    assert answer.nearest is None
    assert answer.tied == ("a", "b")
    assert first_sentences(answer)[0].startswith("Too close to call: a or b;")
    rows += [row("two", g, s) for g, s in [("a", 0.2), ("b", 0.3), ("c", 9)]]
    said = first_sentences(answer_of(comparison(rows, ranks)))[0]
    assert said == "Too close to call: a or b. Beyond human variation: c on 2 of 2 axes; a and b on 1 each."


def test_a_single_text_without_a_difference():
    answer = answer_of(comparison([row("one", "a", 0.2, p=0.7)]))
    assert first_sentences(answer) == ["a is not told apart from human text on the only axis."]
    assert answer.largest is None


def test_without_a_rank_the_text_with_fewest_axes_beyond_comes_first():
    rows = [row("one", "a", 5), row("one", "b", 0.1, p=0.9)]
    assert [c.generated for c in answer_of(comparison(rows)).corpora] == ["b", "a"]


def test_names_are_joined():
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"


STORY = "The rain had stopped by the time they reached the house, number {}, which stood on a hill above the town. " * 3
GERMAN = (
    "Der Regen hatte aufgehört, als sie das Haus Nummer {} erreichten, das auf einem Hügel über der Stadt lag. " * 3
)


def words(n, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice([f"w{i}" for i in range(500)], 40)) for _ in range(n)]


@pytest.fixture(scope="module")
def trusted():
    return momus.compare(words(60, 0), {"a": words(50, 1), "b": words(40, 2)}, critics=["length"], resamples=99)


def items(found):
    return {i.label: i for i in trust_items(found)}


def test_texts_without_a_fault_are_trusted(trusted):
    assert all(i.ok for i in trust_items(trusted))
    assert items(trusted)["documents"].text == "30 real, 40 to 50 generated each"
    assert items(trusted)["fitted on"].text == "30 documents: half of the real text, set apart"


def test_what_is_off_is_marked():
    real = [STORY.replace("{}", str(i)) + " ".join(words(1, i)) for i in range(60)]
    copies = [*words(20, 3), *real[:20]]
    german = [GERMAN.replace("{}", str(i)) + f" {i}" for i in range(30)]
    found = items(momus.compare(real, {"a": copies, "b": german}, critics=["length"], resamples=99))
    assert not found["languages"].ok
    assert "b" in found["languages"].text
    assert not found["generated texts copied from real text"].ok


def test_many_unscored_documents_are_marked(trusted):
    (result,) = trusted.results
    unscored = replace(result, unscored=[Unscored("b", "empty", 10)])
    doubtful = Comparison(results=[unscored], signature=trusted.signature)
    item = items(doubtful)["unscored"]
    assert (item.ok, item.text) == (False, "at most 10 of 40 (b under length)")


def test_a_result_survives_its_way_through_json(trusted):
    (result,) = trusted.results
    again = build(CriticResult, result.to_json(), "x")
    assert list(again.examples) == list(result.examples)
    assert again.distribution == result.distribution
    assert [v.wording for v in again.verdicts] == [v.wording for v in result.verdicts]


def test_a_text_that_is_hardly_ever_nearest_is_not_too_close_to_call():
    rows = [row("one", g, s) for g, s in [("a", 5), ("b", 5.2), ("c", 5.3)]]
    shares = {"a": 0.9, "b": 0.07, "c": 0.03}
    ranks = [replace(rank(g, 5.0 + i, 1, 3), p_nearest=shares[g]) for i, g in enumerate("abc")]
    assert answer_of(comparison(rows, ranks)).tied == ("a", "b")
    ranks[1] = replace(ranks[1], p_nearest=0.04)
    answer = answer_of(comparison(rows, ranks))
    assert answer.tied == ("a",)
    assert first_sentences(answer)[0].startswith("a is most likely the nearest to human text")


def test_the_help_of_register_lists_the_atlas():
    option = next(p for p in Commands().get_command(None, "compare").params if p.name == "register")
    assert all(name in option.help for name in atlas()["registers"])
