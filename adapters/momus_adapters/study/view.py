"""Tables of a study for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from momus.report.safe import one_line
from momus.text.counting import counted
from momus_adapters.study.build import Made
from momus_adapters.study.power import DIFFERENCE, Need
from momus_adapters.study.raters import RaterRow
from momus_adapters.study.result import CorpusRow, StudyResult
from momus_adapters.study.words import axis_cells, finding_sentences, need_sentence, shown_cells, shown_name

if TYPE_CHECKING:
    from rich.console import RenderableType


def result_view(result: StudyResult) -> RenderableType:
    """The answer in sentences, then tables of corpora, axes and raters."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(one_line(result.asked, 300), style="bold")]
    parts.append(Text(f"{result.answers:,} of {result.expected:,} answers to items"))
    parts += [Text(s) for s in finding_sentences(result)]
    parts += [Text(f"Note: {one_line(n, 400)}.") for n in result.notes]
    if result.corpora:
        heads = ["corpus", shown_name(result), "effect in logits", "passages", "answers"]
        parts += [Text(""), _table(heads, [_corpus_cells(result, c) for c in result.corpora])]
    if result.axis:
        heads = ["axis", "ρ within prompts", "ρ given yardsticks", "p (Holm)", "passages"]
        parts += [Text(""), _table(heads, [axis_cells(r) for r in result.axis])]
    heads = ["rater", "answers", "checks failed", "repeats kept", "s per item", "ρ with others", "leniency", "flags"]
    parts += [Text(""), _table(heads, [_rater_cells(r) for r in result.raters])]
    parts += [Text(f"{r.name} writes: {one_line(r.comment, 400)}") for r in result.raters if r.comment]
    return Group(*parts)


def _corpus_cells(result: StudyResult, c: CorpusRow) -> tuple[str, ...]:
    numbers = (shown_cells(result, c), _two(c.effect, c.low, c.high))
    return (one_line(c.corpus, 60), *numbers, f"{c.passages:,}", f"{c.answers:,}")


def _rater_cells(r: RaterRow) -> tuple[str, ...]:
    lost = "".join([f", {r.missing:,} missing" * bool(r.missing), f", {r.invalid:,} invalid" * bool(r.invalid)])
    return (
        r.name,
        f"{r.answered:,}{lost}",
        f"{r.failed} of {r.checks}" if r.checks else "–",
        f"{r.same} of {r.repeats}" if r.repeats else "–",
        f"{r.seconds:.0f}" if isfinite(r.seconds) else "–",
        _two(r.rho),
        _two(r.leniency),
        ", ".join([*r.flags, *(["left out"] if r.left_out else [])]),
    )


def _two(value: float, low: float | None = None, high: float | None = None) -> str:
    """A value to two decimals, with its interval; a dash if there is none."""
    if not isfinite(value):
        return "–"
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.2f}{interval}".replace("-", "−")


def made_view(made: Made, out: str, difference: float | None) -> RenderableType:
    """What a new study holds, what was stripped, and how much it can detect."""
    from rich.console import Group
    from rich.text import Text

    study, balance = made.study, made.study.design.balance
    p = study.protocol
    noun = {"pair": "pair", "set": "set of four"}.get(p.kind, "passage")
    plural = "sets of four" if p.kind == "set" else ""
    assert balance is not None
    parts: list[RenderableType] = [
        Text(f"Study {study.name}: {one_line(p.asked, 300)}", style="bold"),
        Text(
            f"{counted(p.items, noun, plural)}, {counted(p.raters, 'rater')}, {counted(p.per_item, 'judgement')} of "
            f"each; a rater has {_range(balance.per_rater)} items, {p.repeats} of them twice, and {p.checks} attention "
            f"checks. Two raters share {_range(balance.together)} items. Seed {p.seed}."
        ),
        Text("Passages: " + ", ".join(f"{one_line(n, 40)} {k:,}" for n, k in balance.per_corpus.items()) + "."),
    ]
    for title, counts in (("Stripped", made.counts.stripped), ("Left out", made.counts.left_out)):
        for name, what in counts.items():
            if what:
                listed = ", ".join(f"{k} ({n:,})" for k, n in what.most_common())
                parts.append(Text(f"{title}, documents of {one_line(name, 40)}: {one_line(listed, 400)}."))
    parts.append(Text(need_sentence(made.needs, p.items, DIFFERENCE if difference is None else difference)))
    parts.append(needs_table(made.needs, p.items))
    parts.append(Text(f"Pages for raters: {out}/raters. Label Studio: {out}/label-studio. Keep {out}/key.json back."))
    return Group(*parts)


def needs_table(needs: Sequence[Need], items: int) -> RenderableType:
    """Items needed by judgements per item and raters."""
    rows = [
        (
            f"{n.judgements}",
            f"{n.raters}",
            f"{n.items:,}" if n.items is not None else "no number: tastes differ",
            f"{n.items * n.judgements:,}" if n.items is not None else "–",
            f"{n.power:.2f}",
        )
        for n in needs
    ]
    heads = ("judgements per item", "raters", "items for 80 % power", "judgements in all", f"power of {items:,} items")
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, highlight=False, pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _range(values: Sequence[int]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
