"""Layout: blocks against known texts, the chain against the base class, planted titles, lists and merged paragraphs."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momus
from momus import Corpus
from momus.text.blocks import read_blocks as text_blocks
from momus_critics.chains.posterior import smooth
from momus_critics.layout import WHAT, Layout
from momus_critics.layout.blocks import CODE, KINDS, kind_of, read_blocks

from .measured import measured

WORDS = ["the", "rain", "fell", "on", "every", "roof", "of", "that", "old", "town", "and", "nobody", "went", "out"]


def sentence(n):
    return " ".join((WORDS * n)[:n]) + "."


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# The End\n\nIt rained.", ["title", "short paragraph"]),
        ("It rained.\n\n# One\n## Two\n##### Five", ["short paragraph", "heading", "subheading", "minor heading"]),
        ("It rained.\n\n**Why it rained:**\n\n1. So", ["short paragraph", "bold line", "numbered item"]),
        ("- a\n  - b\n- c", ["bullet", "nested item", "bullet"]),
        ("Why?\n\n> one\n>\n> - two", ["short paragraph", "quotation"]),
        ("So.\n\n```\n# no heading\n```", ["short paragraph", "code"]),
        ("|a|b|\n|-|-|\n|1|2|", ["table"]),
        ("Roses are red,\nviolets are blue,\nsugar is sweet.", ["verse"]),
        ("So.\n\n* * *\n\nSo.\n\n~ ~ ~", ["short paragraph", "break", "short paragraph", "break"]),
        ("\u201cCome in,\u201d she said.", ["paragraph of speech"]),
        ("Dear Ann\n\nIt rained.\n\nYours truly", ["title", "short paragraph", "short line"]),
        ("    indented text is a paragraph here, as it is in prose.", ["short paragraph"]),
        ("<div>\nso it rained.", ["title", "short paragraph"]),
        ("", []),
    ],
)  # fmt: skip
def test_blocks_of_known_texts(text, kinds):
    assert [kind_of(b) for b in text_blocks(text)] == kinds


SIZES = {20: "short paragraph", 21: "paragraph", 60: "paragraph", 61: "long paragraph", 151: "very long paragraph"}


@pytest.mark.parametrize(("n", "kind"), SIZES.items())
def test_paragraphs_are_sorted_by_length(n, kind):
    assert [kind_of(b) for b in text_blocks(sentence(n))] == [kind]


def test_wrapped_lines_are_one_paragraph_and_long_lines_are_many():
    line = sentence(15).rstrip(".")
    assert len(text_blocks(f"{line}\n{line}\nand so on.")) == 1
    assert len(text_blocks(f"{sentence(30)}\n{sentence(30)}")) == 2


@given(st.lists(st.text(alphabet="ab \n#*->|`1.)_~=", max_size=60), max_size=4))
def test_blocks_do_not_depend_on_the_batch(texts):
    whole = read_blocks(texts)
    for i, text in enumerate(texts):
        mine = slice(whole.offsets[i], whole.offsets[i + 1])
        assert whole.states[mine].tolist() == [CODE[kind_of(b)] for b in text_blocks(text)]
    assert len(whole.states) == len(whole.words)


@pytest.mark.parametrize(
    "text", ["*" * 20_000, "> " * 5_000 + "a", "**a " * 10_000, "- " * 3_000, "_a " * 10_000, "|" * 20_000]
)
def test_hostile_text_is_read_in_time(text):
    start = time.perf_counter()
    read_blocks([text])
    assert time.perf_counter() - start < 5


def corpus(n, seed, title=False, bullets=False, merged=False):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        paragraphs = [sentence(int(rng.integers(25, 90))) for _ in range(rng.integers(4, 9))]
        if bullets:
            paragraphs[1] = "- one thing\n- another thing"
        text = (" " if merged else "\n\n").join(paragraphs)
        out.append(f"# The Roof {i}\n\n{text}" if title else text)
    return Corpus.from_texts(out, name=f"t{seed}")


def test_transitions_are_smoothed_counts():
    text = corpus(30, 0)
    critic = Layout().fit(text)
    k = len(KINDS)
    counts = np.zeros((k + 1, k + 1))
    for d in text:
        path = [k, *(CODE[kind_of(b)] for b in text_blocks(d.text)), k]
        np.add.at(counts, (path[:-1], path[1:]), 1)
    assert critic.counts_ == pytest.approx(counts)
    assert critic.transitions_ == pytest.approx(smooth(counts, critic.constant_))
    z = critic.project(text)
    paths = [[k, *z.states[a:b].tolist(), k] for a, b in zip(z.offsets[:-1], z.offsets[1:], strict=True)]
    expected = [np.log(critic.transitions_[p[:-1], p[1:]]).sum() for p in paths]
    assert critic.log_prior(z).values == pytest.approx(expected)


def test_counts_of_parts_fit_like_the_whole():
    text = corpus(40, 0, bullets=True)
    whole, parts = Layout().fit(text), [Layout().fit_counts(text.take(np.arange(a, a + 20))) for a in (0, 20)]
    other = Layout().fit_from(parts[0] + parts[1])
    assert (other.transitions_ == whole.transitions_).all()
    assert (other.positions_ == whole.positions_).all()


def test_features_of_known_texts():
    critic = Layout().fit(corpus(20, 0))
    # one paragraph behind a title, before a list, and two in a row
    texts = [
        "# So\n\nIt **rained** and *poured*.",
        "It rained \U0001f327.\n\n- so",
        "2 * 3 * 4 and a_b_c.\n\nIt poured.",
    ]
    values = measured(critic, Corpus.from_texts(texts))
    shares = {row: values[f"{row}_share"] for row in WHAT}
    third = ("title", "heading", "bold_type", "italics", "emoji", "list", "several_paragraphs")
    assert {k: v for k, v in shares.items() if v} == pytest.approx(dict.fromkeys(third, 1 / 3))


def test_items_of_known_texts():
    critic = Layout().fit(corpus(20, 0))
    text = "Why?\n\n1. **So:** it rained.\n2. It\n   - did\n\n3. not"
    values = measured(critic, Corpus.from_texts([text, "It rained here."]))
    # ten words, of which six stand in items: three numbered ones and one inside the second
    assert values["items"] == pytest.approx(1000 * 4 / 10)
    assert values["numbered_items"] == pytest.approx(1000 * 3 / 10)
    assert values["listed_share"] == pytest.approx(6 / 10)
    assert values["numbered_share"] == pytest.approx(3 / 4)
    assert values["nested_share"] == pytest.approx(1 / 4)
    assert values["lead_share"] == pytest.approx(1 / 4)
    assert values["apart_share"] == pytest.approx(1 / 3)


def test_the_only_paragraph_of_a_document_has_no_length_beside_that_of_the_document():
    critic = Layout().fit(corpus(20, 0))
    two = "It rained.\n\nSo they stayed at home."
    for texts in ([two], [two, "They went for a long walk.", "# A walk\n\nIt was long."]):
        values = measured(critic, Corpus.from_texts(texts))
        assert values["paragraph_words"] == pytest.approx(3.5)
        assert values["paragraph_spread"] == pytest.approx(np.std(np.log([2, 5])))


@pytest.mark.parametrize("signs", [("1. ", "- "), ("- ", "* "), ("• ", "- ")])
def test_signs_of_bullets_change_no_more_than_numbers(signs):
    critic = Layout().fit(corpus(20, 0, bullets=True))
    one, other = (measured(critic, Corpus.from_texts([f"Why?\n\n{s}so it is\n{s}and so on"])) for s in signs)
    changed = {name for name in one if one[name] != other[name] and not np.isnan(one[name])}
    numbered = (
        {"latent_nll", "latent_ppl", "numbered_share", "numbered_items", "posterior_entropy"}
        if "1. " in signs
        else set()
    )
    assert changed <= numbered


@pytest.mark.parametrize(
    ("change", "row", "sign"),
    [
        ({"title": True}, "title_share", 1),
        ({"bullets": True}, "list_share", 1),
        ({"merged": True}, "several_paragraphs_share", -1),
    ],
)
def test_planted_layout_is_found_and_named(change, row, sign):
    texts = {"same": corpus(60, 2), "changed": corpus(60, 3, **change)}
    found = momus.compare(corpus(60, 1), texts, fit=corpus(60, 0), critics=["layout"], permutations=499, resamples=99)
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", row].p <= 0.01
    assert np.sign(rows["changed", row].difference) == sign
    assert rows["changed", "latent_ppl"].p <= 0.01
    assert rows["same", "latent_ppl"].p > 0.01


def test_a_marked_document_shows_its_blocks():
    critic = Layout().fit(corpus(40, 0))
    marked = critic.explain(corpus(1, 5, title=True))
    assert marked.steps[0].label == "title"
    assert marked.steps[0].marked
    assert marked.steps[0].text.startswith("The Roof")


def test_the_table_has_the_share_of_each_kind_of_block():
    critic = Layout().fit(corpus(20, 0))
    real, other = (critic.score(Corpus.from_texts([t])).summary for t in ("It rained.", "It rained.\n\n- so"))
    table = critic.evidence(real, other)[0]
    assert sorted(table.rows) == [("bullet", 0.0, 50.0, 50.0), ("short paragraph", 100.0, 50.0, -50.0)]


def test_positions_are_the_middles_of_blocks():
    critic = Layout().fit(Corpus.from_texts([f"# So\n\nIt rained {i}." for i in range(4)]))
    assert critic.positions_[CODE["title"]] == pytest.approx(0.25)
    assert critic.positions_[CODE["short paragraph"]] == pytest.approx(0.75)


def test_shares_of_blocks_are_smoothed_by_half_a_block():
    critic = Layout().fit(Corpus.from_texts([f"# So\n\nIt rained {i}." for i in range(4)]))
    assert critic.shares_[CODE["title"]] == pytest.approx(4.5 / (8 + 0.5 * len(KINDS)))
