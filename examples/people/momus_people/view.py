"""Sentences about a study, made from its fields, and its tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.text import Text

from momus.report.safe import one_line
from momus.report.words.blocks import Columns
from momus.report.words.format import HUMAN, p_value, text_table
from momus.text.counting import counted, percentage
from momus_people.axis import AxisRow
from momus_people.design import balance
from momus_people.excerpts import Stripped
from momus_people.result import REAL, ContrastRow, CorpusRow, RaterRow, StudyResult
from momus_people.study import Study

SURE = 0.05
T = TypeVar("T")


def finding_sentences(result: StudyResult) -> list[str]:
    """The answer of a study: corpora, agreement, axes, raters."""
    sentences = [*contrast_sentences(result), agreement_sentence(result)]
    if any(not r.is_yardstick for r in result.axis):
        sentences.append(axis_sentence(result))
    if out := [r.name for r in result.raters if r.left_out]:
        sentences.append(f"Left out: {', '.join(out)}.")
    if odd := [f"{r.name} ({', '.join(r.flags)})" for r in result.raters if r.flags and not r.left_out]:
        sentences.append(f"Look at the answers of {'; '.join(odd)}.")
    return sentences


def contrast_sentences(result: StudyResult) -> list[str]:
    """One sentence per pair of corpora that differ surely, and one for all others."""
    sure = [c for c in result.contrasts if c.low > 0.5 or c.high < 0.5]
    unsure = [c for c in result.contrasts if c not in sure]
    sentences = [_difference(c, result.kind) for c in sure]
    if unsure:
        pairs = "; ".join(f"{_corpus(c.first)} and {_corpus(c.second)}" for c in unsure)
        widest = max(max(c.high, 1 - c.low) for c in unsure)
        sentences.append(f"Not told apart: {pairs}; preferences of up to {percentage(widest, 0)} remain possible.")
    return sentences


def _difference(c: ContrastRow, kind: str) -> str:
    better, worse, chances = c.first, c.second, (c.preference, c.low, c.high)
    if c.preference < 0.5:
        better, worse, chances = worse, better, (1 - c.preference, 1 - c.high, 1 - c.low)
    middle, low, high = (percentage(v, 0) for v in chances)
    does = "rated higher than" if kind == "rating" else "preferred to"
    return f"A passage of {_corpus(better)} is {does} one of {_corpus(worse)} in {middle} of cases [{low}, {high}]."


def _corpus(name: str) -> str:
    return HUMAN if name == REAL else one_line(name, 80)


def agreement_sentence(result: StudyResult) -> str:
    """Krippendorff's α in a sentence."""
    a = result.agreement
    if a is None:
        return "Agreement cannot be measured: no item has two different answers."
    what = "pairs" if result.kind == "pair" else "passages"
    shown = _two(a.alpha, a.low, a.high)
    return f"Krippendorff's α ({a.level}) is {shown} over {a.values:,} values of {a.units:,} {what}."


def axis_sentence(result: StudyResult) -> str:
    """Which axes go with the answers, beyond length and the other yardsticks.

    A higher value of a critic means a text that is less likely under it, or odder.
    """
    rows = [r for r in result.axis if not r.is_yardstick]
    known = sorted((r for r in rows if isfinite(r.partial)), key=lambda r: -abs(r.partial))
    sure = [_partial(r) for r in known if r.p_adjusted <= SURE]
    named = " " not in result.question
    what = f"Readers' judgements of {one_line(result.question, 40)}" if named else "Readers' answers"
    held = "beyond length and the other yardsticks"
    if sure:
        rest = "" if len(sure) == len(rows) else f", and none of the {len(rows) - len(sure)} other axes"
        return f"{what} follow {'; '.join(sure)}{rest}, {held}."
    most = f"; the largest partial correlation is {_partial(known[0])}" if known else ""
    return f"{what} follow none of {counted(len(rows), 'axis', 'axes')} {held}{most}."


def _partial(r: AxisRow) -> str:
    better = "the odder, the worse" if r.partial < 0 else "the odder, the better"
    return f"{one_line(r.axis, 60)} (ρ = {_two(r.partial, r.partial_low, r.partial_high)}, {better})"


def _two(value: float, low: float | None = None, high: float | None = None) -> str:
    """A value to two decimals, with its interval; a dash if there is none, as for a critic that is a yardstick."""
    if not isfinite(value):
        return "–"
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.2f}{interval}".replace("-", "−")


def shown_name(result: StudyResult) -> str:
    """What the column of corpora shows."""
    if result.kind != "rating":
        return "share of pairs that it wins"
    if len(result.scale) == 2:
        return f"share “{one_line(result.scale[1], 40)}”"
    return f"mean rating, 1 to {len(result.scale)}"


def shown_cells(result: StudyResult, row: CorpusRow) -> str:
    """That value with its interval."""
    if result.kind == "rating" and len(result.scale) > 2:
        return _two(row.value, row.low, row.high)
    middle, low, high = (percentage(v, 0) for v in (row.value, row.low, row.high))
    return f"{middle} [{low}, {high}]"


def _answered(r: RaterRow) -> str:
    return f"{r.answered:,}" + "".join(
        f", {n:,} {what}" for n, what in ((r.missing, "missing"), (r.invalid, "invalid")) if n
    )


AXES: Columns[AxisRow] = (
    ("axis", lambda r: f"yardstick: {r.axis}" if r.is_yardstick else one_line(r.axis, 60)),
    ("ρ within prompts", lambda r: _two(r.rho, r.low, r.high)),
    ("ρ given yardsticks", lambda r: _two(r.partial, r.partial_low, r.partial_high)),
    ("p (Holm)", lambda r: "–" if r.is_yardstick else p_value(r.p_adjusted)),
    ("passages", lambda r: f"{r.passages:,}"),
)
RATERS: Columns[RaterRow] = (
    ("rater", lambda r: r.name),
    ("answers", _answered),
    ("checks failed", lambda r: f"{r.failed} of {r.checks}" if r.checks else "–"),
    ("repeats kept", lambda r: f"{r.same} of {r.repeats}" if r.repeats else "–"),
    ("s per item", lambda r: f"{r.seconds:.0f}" if isfinite(r.seconds) else "–"),
    ("ρ with others", lambda r: _two(r.rho)),
    ("flags", lambda r: ", ".join([*r.flags, *["left out"] * r.left_out])),
)
"""Columns of the tables of axes and of raters."""


def result_view(result: StudyResult) -> RenderableType:
    """The answer in sentences, then tables of corpora, axes and raters."""
    lines = [f"{result.answers:,} of {result.expected:,} answers to items", *finding_sentences(result)]
    lines += [f"Note: {one_line(n, 400)}." for n in result.notes]
    corpora: Columns[CorpusRow] = (
        ("corpus", lambda c: one_line(c.corpus, 60)),
        (shown_name(result), lambda c: shown_cells(result, c)),
        ("passages", lambda c: f"{c.passages:,}"),
        ("answers", lambda c: f"{c.answers:,}"),
    )
    return Group(
        Text(one_line(result.asked, 300), style="bold"),
        *map(Text, lines),
        *_table(result.corpora, corpora, "llr"),
        *_table(result.axis, AXES, "lllr"),
        *_table(result.raters, RATERS, "l"),
    )


def _table(rows: Sequence[T], columns: Columns[T], align: str) -> list[RenderableType]:
    """An empty line, and a table of one row each; nothing for no rows."""
    cells = [[cell(row) for _, cell in columns] for row in rows]
    return [Text(""), text_table([head for head, _ in columns], cells, align)] if rows else []


def made_view(study: Study, counts: Stripped, out: str) -> RenderableType:
    """What a new study holds, and what was stripped."""
    p, even = study.protocol, balance(study.design, study.protocol, study.corpora)
    lines = [
        f"{counted(p.items, 'pair' if p.kind == 'pair' else 'passage')}, {counted(p.raters, 'rater')}, "
        f"{counted(p.per_item, 'judgement')} of each; a rater has {_range(even['items_per_rater'])} items, "
        f"{p.repeats} of them twice, and {p.checks} attention checks. "
        f"Two raters share {_range(even['items_shared_by_two_raters'])} items. Seed {p.seed}.",
        "Passages: " + ", ".join(f"{one_line(n, 40)} {k:,}" for n, k in even["passages"].items()) + ".",
    ]
    for title, by_corpus in (("Stripped", counts.stripped), ("Left out", counts.left_out)):
        for name, what in by_corpus.items():
            if listed := ", ".join(f"{k} ({n:,})" for k, n in what.most_common() if n):
                lines.append(f"{title}, documents of {one_line(name, 40)}: {one_line(listed, 400)}.")
    lines.append(f"Pages for raters: {out}/raters. Keep {out}/key.json back.")
    return Group(Text(f"Study {study.name}: {one_line(p.asked, 300)}", style="bold"), *map(Text, lines))


def _range(values: Sequence[int]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
