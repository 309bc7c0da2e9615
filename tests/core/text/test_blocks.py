"""Blocks and prose: known texts, places in the text, signs that change nothing, and hostile text."""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from momus.text import blocks as module
from momus.text.blocks import PROSE, read_blocks
from momus.text.plain import folded, in_place, inline, prose

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "validity"))
from signs import CHANGES

LONG = (
    'Tea — or whatever you drink in place of it — tastes better with time, and "a watched kettle" is said not to boil, '
    "so look at something else, and come back to the kettle after a while."
)
ANSWER = f"""# How to make tea

It's *easy* — "really", she said... First you'll need:

- **Water**: about 2 cups, difficult to find
- leaves, or a bag
  1. black
  2. green

Then:

1. Boil the water. It takes 5 minutes & a bit.
2. Pour it.

{LONG}

## Times

| tea | minutes |
|-----|---------|
| black | 4 |

> Patience is everything.

**A note**

```python
print("tea")  # no heading
```
"""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# So\n\nIt rained.", [("title", 1)]),
        ("It rained.\n\nSo\n==\n\n### Three", [("paragraph", 0), ("heading", 1), ("heading", 3)]),
        ("It rained.\n\n**So:**", [("paragraph", 0), ("heading", 7)]),
        ("• a\n• b\n  ◦ c", [("item", 1), ("item", 1), ("item", 2)]),
        ("(a) one\n(b) two", [("item", 1), ("item", 1)]),
        ("So:\n2) two\n3) three", [("paragraph", 0), ("item", 1), ("item", 1)]),
        ("a | b\n--|--\n1 | 2", [("table", 0)]),
        ("It rained.\n\n```\nx = 1\n\n# no heading", [("paragraph", 0), ("code", 0)]),
        ("- one\n\n  ```\n  x\n  ```\n\n  more", [("item", 1), ("code", 0)]),
        ("Why?\n\n> one\n>\n> - two", [("paragraph", 0), ("quotation", 0)]),
        ("Roses are red,\nviolets are blue,\nsugar is sweet.", [("verse", 0)]),
        ("It rained.\n\n* * *\n\n~ ~ ~", [("paragraph", 0), ("break", 0), ("break", 0)]),
        ("– Come in, she said.\n– No.", [("paragraph", 0), ("paragraph", 0)]),
        ("", []),
    ],
)
def test_blocks_of_known_texts(text, kinds):
    assert [(b.kind, b.level) for b in read_blocks(text)][: len(kinds)] == kinds
    assert bool(read_blocks(text)) == bool(kinds)


def test_signs_of_items_are_kept():
    blocks = read_blocks("- a\n\n(b) c\n\n12. d\n\n• e")
    assert [b.sign for b in blocks] == ["-", "(b)", "12.", "•"]


@example("\x1f\t")
@given(st.text(alphabet="ab \n\r\t#*->|`1.)(_~=•", max_size=120))
def test_blocks_stand_in_order_where_they_say(text):
    last = 0
    for block in read_blocks(text):
        assert last <= block.start < block.stop <= len(text)
        assert text[block.start : block.stop].strip()
        if block.kind in PROSE:
            last = block.start
            assert set(block.content) - set(text) <= {"\n", " "}


@given(st.lists(st.text(alphabet="abc .,!?\"'", max_size=80), max_size=6), st.sampled_from(["\n", "\n\n", "\n \n"]))
def test_plain_paragraphs_are_those_of_markdown(lines, between):
    text = between.join(lines)
    plain = read_blocks(text)
    try:
        module._MARKED, kept = module.re.compile(""), module._MARKED
        assert module._read(text) == plain
    finally:
        module._MARKED = kept


@pytest.mark.parametrize("name", CHANGES)
def test_signs_do_not_change_prose(name):
    changed = CHANGES[name](ANSWER)
    assert changed != ANSWER or name in ("bullets -", "straight quotes", "straight apostrophes")
    assert prose(changed) == prose(ANSWER)


def test_prose_is_what_is_said_without_signs():
    assert prose(ANSWER) == [
        "It's easy — “really”, she said... First you'll need:",
        "Water: about 2 cups, difficult to find",
        "leaves, or a bag",
        "black",
        "green",
        "Then:",
        "Boil the water. It takes 5 minutes & a bit.",
        "Pour it.",
        LONG.replace('"a', "“a").replace('kettle"', "kettle”"),
        "Patience is everything.",
    ]


@given(st.text(alphabet="ab’“ \n\r\t#*->|`1.)(_~=•[]\\\\", max_size=120))
def test_prose_in_place_keeps_the_place_of_every_character(text):
    shown = in_place(text)
    assert len(shown) == len(text)
    assert all(a == b or a == " " for a, b in zip(shown, text, strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ANSWER, " ".join(prose(ANSWER))),
        ("> - *one*\n> - two\n\nSo\n==\n\n1) a [link](http://a.b) &amp; more", "one two a link & more"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nIt’s “so”…", "It’s “so”…"),
    ],
)
def test_prose_in_place_is_the_prose_as_it_is_spelled(text, words):
    # spaces stand where signs were
    assert folded("".join(in_place(text).split())) == folded("".join(words.split()))


SYMBOLS = ["2*3*4 is 24", "snake_case_name", "a < b > c", "C:\\dir", "f(x)[0](y)", "**", "_", "&x"]


@pytest.mark.parametrize("text", SYMBOLS)
def test_symbols_that_are_no_signs_stay(text):
    assert inline(text) == text


@given(st.text(max_size=60) | st.text("-‐‑–‒—― 1a\"“'.", max_size=8))
def test_folding_twice_changes_nothing(text):
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    "text",
    [
        *("*" * 20_000, "> " * 5_000 + "a", "**a " * 10_000, "- " * 3_000, "_a " * 10_000, "|" * 20_000, "[" * 20_000),
        *("`" * 20_000, "<b " * 10_000, "(a) " * 5_000, "a - " * 20_000, "\n" * 100_000, "&" * 20_000, "-" * 50_000),
    ],
)
def test_hostile_text_is_read_in_time(text):
    start = time.perf_counter()
    prose(text)
    assert time.perf_counter() - start < 5
