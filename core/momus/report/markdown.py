"""The overview of a comparison in Markdown, as for an issue, a pull request or a job summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from momus.report.answer import answer_of
from momus.report.overuse import overuse_of
from momus.report.safe import one_line
from momus.report.sentences import first_sentences, largest_gaps, legend, overuse_lines
from momus.report.table import overview
from momus.report.trust_line import trust_items

if TYPE_CHECKING:
    from momus.runs.result import Comparison

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@])")


def comparison_markdown(comparison: Comparison) -> str:
    """Write the answer, what it rests on, the overview table, the largest gaps, over-used text, and the warnings."""
    answer = answer_of(comparison)
    table = overview(answer)
    trust = " · ".join(("" if i.ok else "**!** ") + escaped(f"{i.label}: {i.text}") for i in trust_items(comparison))
    named = [*largest_gaps(answer), *overuse_lines(overuse_of(comparison.results, answer))]
    gaps = [f"* **{escaped(name)}:** {escaped(sentence)}." for name, sentence in named]
    notes = [f"* Note: {escaped(w)}" for w in comparison.warnings]
    blocks = [
        " ".join(escaped(s) for s in first_sentences(answer)),
        trust,
        markdown_table(("axis", *table.names), [(r.label, *r.cells) for r in (*table.axes, *table.ranks)]),
        "  \n".join(escaped(line) for line in legend(answer)),
        "\n".join(gaps),
        "\n".join(notes),
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


def markdown_table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    r"""A pipe table; the first column is aligned left, the others right.

    >>> print(markdown_table(("axis", "a|b"), [("length", "2.1**")]))
    | axis | a\|b |
    |:-----|-----:|
    | length | 2.1\*\* |
    """
    lines = [heads, *rows]
    texts = ["| " + " | ".join(escaped(cell) for cell in line) + " |" for line in lines]
    rule = "|" + "|".join([":-----", *["-----:"] * (len(heads) - 1)]) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def escaped(text: object) -> str:
    r"""One line of text in which nothing is markup, neither of Markdown nor of HTML.

    >>> print(escaped("a_b|<script>\n# x & `y`"))
    a\_b\|&lt;script&gt; \# x &amp; \`y\`
    """
    plain = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?i)\b(https?)://", r"\1&#58;//", _SPECIAL.sub(r"\\\1", plain))
