"""What is drawn and shown: balance, blinding, giveaways, and attention checks."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momus.errors import UsageError
from momus.text.corpus import Corpus
from momus_people.design import assigned, balance, corpora_of_items
from momus_people.excerpts import Excerpt, Stripped, cut, excerpts_of, stripped
from momus_people.protocol import Protocol, read_protocol
from momus_people.study import page_data, rater_page

from .studies import HOSTILE, study

PAPER = Path(__file__).parents[3] / "examples" / "people" / "section-order.toml"


@pytest.mark.parametrize("settings_", [{}, {"kind": "pair"}], ids=["rating", "pair"])
def test_items_are_balanced(settings_):
    made = study(80, **settings_)
    design, even = made.design, balance(made.design, made.protocol, made.corpora)
    assert len(set(even["passages"].values())) == 1
    assert max(even["items_per_rater"]) - min(even["items_per_rater"]) <= 1
    least, most = even["items_shared_by_two_raters"]
    assert most - least <= 3
    units = Counter(t.unit for t in design.trials if t.role == "item")
    assert set(units.values()) == {made.protocol.per_item}
    assert len(units) == made.protocol.items
    taken = [(design.passages[k].corpus, design.passages[k].id) for i in design.items for k in i]
    assert len(set(taken)) == len(taken), "no document twice"
    if made.protocol.width > 1:  # one prompt within each item, as far as corpora differ
        assert all(len({design.passages[k].prompt for k in i}) == 1 for i in design.items)
    else:  # all corpora answer the same prompts
        assert even["items_of_one_prompt"] == made.protocol.items // 3


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(1, 60), st.integers(0, 99))
def test_loads_of_raters_differ_by_one(raters, items, seed):
    per_item = 1 + seed % raters
    blocks = assigned([k % 3 for k in range(items)], raters, per_item, np.random.default_rng(seed))
    assert all(len(set(row)) == per_item for row in blocks.tolist())
    load = np.bincount(blocks.ravel(), minlength=raters)
    assert load.max() - load.min() <= 2


def test_all_pairs_of_corpora_meet_equally():
    groups = corpora_of_items(list("abcd"), Protocol(kind="pair", items=60), np.random.default_rng(0))
    assert set(Counter(n for g in groups for n in g).values()) == {30}
    assert set(Counter(tuple(sorted(g)) for g in groups).values()) == {10}


def test_the_same_seed_draws_the_same_study():
    one, same, other = study(), study(), study(seed=1)
    assert one.name == same.name != other.name
    assert [t.code for t in one.design.trials] == [t.code for t in same.design.trials]
    assert rater_page(one, 0) == rater_page(same, 0) != rater_page(one, 1)


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_raters_see_nothing_of_the_blinding(kind):
    made = study(80, kind=kind, items=12)
    for rater in range(made.protocol.raters):
        seen = json.dumps(page_data(made, rater))
        for hidden in ("model-a", "model-b", '"real"', "prompt", "unit", "expected", '"check"', '"repeat"'):
            assert hidden not in seen
    orders = [[t.unit for t in made.design.trials if t.rater == r and t.role == "item"] for r in (0, 1)]
    assert orders[0] != orders[1]


def test_repeats_are_turned_and_come_late_and_checks_say_what_to_answer():
    made = study(80, kind="pair", checks=3, repeats=4)
    for rater in range(made.protocol.raters):
        mine = [t for t in made.design.trials if t.rater == rater]
        assert Counter(t.role for t in mine)["check"] == 3
        for place, t in enumerate(mine):
            if t.role == "repeat":
                first = next(k for k, o in enumerate(mine) if o.unit == t.unit and o.role == "item")
                assert first < place
                assert mine[first].passages == t.passages[::-1]
            if t.role == "check":
                letter = "A" if t.expected == "left" else "B"
                (shown,) = [s for s in page_data(made, rater)["trials"] if s["id"] == t.code]
                assert f"choose Passage {letter}." in shown["passages"][0][0]


def test_hostile_texts_are_data(tmp_path):
    made = study(60, hostile=True, words=70)
    page = rater_page(made, 0)
    body = page.split('id="study">')[1].split("</script>")[0]
    assert json.loads(body)["trials"]
    assert "<" not in body
    assert page.count("<script") == 2
    assert "onerror" not in page.replace(body, "")
    assert not {"\u202e", "\x1b"} & set(page)
    assert "default-src 'none'" in page


def test_markup_and_giveaways_are_stripped_and_counted():
    text, found = stripped(f"Sure, here you go:\n# Title\n**Bold** “quote” {HOSTILE}<|endoftext|></s>")
    assert found == {
        "phrases of an assistant",
        "Markdown",
        "typographic quotes and dashes",
        "HTML",
        "end-of-text marks",
    }
    for gone in ("<script", "<img", "**", "“", "endoftext", "Sure"):
        assert gone not in text
    counts = Stripped()
    texts = ["one two three. four five six", "short", "<b>seven</b> eight nine ten eleven twelve"]
    made = excerpts_of(Corpus.from_texts(texts, name="x"), 4, False, counts)
    assert [e.text for e in made] == ["one two three. […]", "seven eight nine ten […]"]
    assert (counts.left_out["x"], counts.stripped["x"]) == ({"shorter than 4 words": 1}, {"HTML": 1})


@given(st.text(max_size=300), st.integers(1, 40))
def test_a_cut_keeps_words_and_no_more(text, words):
    found = cut(text, words)
    count = len(text.split())
    assert (found is None) == (count < words)
    if found is not None:
        kept = found.removesuffix(" […]").split()
        assert text.split()[: len(kept)] == kept
        assert words >= len(kept) >= max(int(0.6 * words), 1)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    for settings_, message in (
        ({"items": 500}, "has 40 passages, and the study needs"),
        ({"items": 120, "checks": 1}, "remain for attention checks"),
        ({"judgements": 9}, "9 raters are to judge"),
        ({"scale": ("one",)}, "a scale needs"),
        ({"kind": "triple"}, "kind"),
        ({"training": 2}, "training needs labels"),
        ({"kind": "pair", "labels": ("titles",)}, "in ratings only"),
    ):
        with pytest.raises(UsageError, match=message):
            study(**settings_)
    (tmp_path / "protocol.toml").write_text("item = 3", encoding="utf-8")
    with pytest.raises(UsageError, match="unknown key 'item'"):
        read_protocol(tmp_path / "protocol.toml")


def test_the_protocol_of_the_paper_draws_with_training_and_labels():
    made = study(
        80,
        **{k: v for k, v in asdict(read_protocol(PAPER)).items() if k in ("labels", "scale", "training")},
        words=0,
    )
    shown = page_data(made, 0)["trials"]
    assert [s["truth"] for s in shown[:5]] == [["intro", "method", "result"]] * 5
    assert not any("truth" in s for s in shown[5:])
    assert made.labels == ["intro", "method", "result"]


def test_excerpts_without_text_are_left_out():
    counts = Stripped()
    assert excerpts_of(Corpus.from_texts(["<b></b>", " "], name="x"), 0, False, counts) == []
    assert counts.left_out["x"] == {"empty": 2}
    assert Excerpt("c", "i", None, ("a", "b")).text == "a\n\nb"
