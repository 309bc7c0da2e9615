"""Render a comparison as an HTML page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.errors import StoreError
from momus.evidence import Table
from momus.files import replace_file
from momus.joint.ranks import ALL_AXES
from momus.report.answer import Answer, answer_of
from momus.report.cards import cards_of, first_excerpt, row_scale
from momus.report.downloads import data_of, figure_csv
from momus.report.figures.chart import chart_svg
from momus.report.figures.overview_rows import overview_csv, overview_of
from momus.report.figures.overview_svg import NARROW, key_svg, overview_svg, row_svg
from momus.report.figures.palette import Look, looks
from momus.report.figures.scale import GapScale
from momus.report.figures.svg import draw
from momus.report.format import number, p_value
from momus.report.joint_words import (
    ADJUSTED,
    SUBGROUPS,
    adjusted_cells,
    chance,
    count,
    given,
    joint_lines,
    rank,
    subgroup_cells,
)
from momus.report.overuse import overuse_of
from momus.report.pairs import pair_rows, pair_sentences
from momus.report.passages import Shown
from momus.report.safe import anchor, clean
from momus.report.sentences import finding_words, first_sentences, label, overuse_lines
from momus.report.trust_line import trust_items
from momus.report.words import band, effective, families, floors, gap, method, null, statistic_name
from momus.text.counting import percentage
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from jinja2 import Environment

    from momus.runs.result import Comparison

SHOWN_ROWS = 200
"""Largest number of rows that the report shows of a table."""


def write_report(comparison: Comparison, path: Path) -> Path:
    """Write the report, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written, or is a link.
    """
    text = render(comparison)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})", hint="name another file") from error
    return path


def asset(name: str) -> str:
    """Read a template, script or style sheet of the report."""
    return (files("momus.report") / "templates" / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Hash of a script, in the form that a content security policy names it by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def environment(corpora: Mapping[str, Look] | None = None) -> Environment:
    """Jinja environment of the templates, with the filters and functions that they use; escapes everything.

    ``corpora`` gives the looks of the generated corpora.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    looks_of = corpora or {}
    jinja = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters |= {"number": number, "p": p_value, "clean": clean, "anchor": anchor}
    jinja.globals |= {
        "finding_words": finding_words,
        "statistic_name": statistic_name,
        "label": label,
        "interval": lambda v, scale: Markup(_interval(v, scale)),
        "picture": lambda item: Markup(draw(item, looks_of)),
        "narrow": lambda chart: Markup(chart_svg(chart, looks_of, NARROW, 220).svg()),
        "key": lambda name: Markup(key_svg(looks_of[name])) if name in looks_of else "",
        "kind": lambda item: type(item).__name__,
        "data_of": data_of,
        "figure_csv": figure_csv,
        "numeric_columns": numeric_columns,
        "row_scale": row_scale,
        "examples_words": examples_words,
        "cell": cell,
        "gap": gap,
        "rank": rank,
        "chance": chance,
        "given": given,
        "band": band,
        "effective": effective,
        "shown": SHOWN_ROWS,
    }
    return jinja


def render(comparison: Comparison) -> str:
    """Render the report as HTML; all content of texts is cleaned and escaped."""
    from markupsafe import Markup

    answer, pairs = answer_of(comparison), pair_rows(comparison.pairs)
    shown, cards = overview_of(answer), cards_of(comparison, answer)
    script, style = asset("report.js"), asset("style.css")
    return (
        environment(looks(shown.corpora))
        .get_template("report.html.j2")
        .render(
            comparison=comparison,
            answer=answer,
            first=first_sentences(answer) if answer.corpora else [],
            trust=trust_items(comparison),
            cards=cards,
            pairs=pairs,
            pair_sentences=pair_sentences(pairs),
            example=first_excerpt(cards),
            overuse=overuse_lines(overuse_of(comparison.results, answer)),
            overview_wide=Markup(overview_svg(shown)),
            overview_narrow=Markup(overview_svg(shown, narrow=True)),
            overview_data=overview_csv(shown),
            bands_words=bands_words(comparison.verdicts),
            methods=methods(comparison.verdicts),
            level=percentage(comparison.signature["confidence"], 0),
            families=families(comparison.verdicts, comparison.signature["adjustment"]),
            floors=floors(comparison.verdicts),
            delta=comparison.signature.get("equivalence"),
            refits=comparison.signature.get("refits", 0),
            script=Markup(script),
            style=Markup(style),
            script_digest=digest(script),
            **_joint(comparison, answer),
        )
    )


def _joint(comparison: Comparison, answer: Answer) -> dict[str, Any]:
    """What the page shows of the analyses of all axes together."""
    joint = comparison.joint
    ranked = [] if joint.ranking is None else joint.ranking.of(ALL_AXES)
    return {
        "joint_lines": joint_lines(
            joint, {r.name: r.axis for r in comparison.results}, 1 - comparison.signature["confidence"]
        ),
        "ranked": any(c.rank is not None for c in answer.corpora),
        "rank_cells": [
            (
                r.model,
                number(r.distance),
                f"{number(r.low)} to {number(r.high)}",
                rank(r),
                chance(r),
                f"{r.n_real:,} | {r.n:,}",
            )
            for r in ranked
        ],
        "adjusted_heads": ADJUSTED,
        "adjusted_rows": [adjusted_cells(r) for r in joint.adjusted],
        "subgroup_heads": SUBGROUPS,
        "subgroup_rows": [(s.by, *row) for s in joint.subgroups for row in subgroup_cells(s)],
    }


@dataclass(frozen=True)
class MethodNote:
    """How some rows were tested, and which rows those are."""

    sentence: str
    rows: Sequence[str]


def methods(verdicts: Sequence[Verdict]) -> list[MethodNote]:
    """Describe each method once, with the rows that were tested so."""
    rows: dict[str, dict[str, list[str]]] = {}
    for v in verdicts:
        what = f"{v.critic}, {label(v)}"
        rows.setdefault(f"{method(v)}. Null hypothesis: {null(v)}.", {}).setdefault(what, []).append(v.generated)
    everything = len(dict.fromkeys(v.generated for v in verdicts))
    return [
        MethodNote(sentence, [what if len(g) == everything else f"{what} on {', '.join(g)}" for what, g in by.items()])
        for sentence, by in rows.items()
    ]


def bands_words(verdicts: Sequence[Verdict]) -> str:
    """Say where the human bands come from."""
    sources = {v.band_source for v in verdicts if v.headline and v.gap is not None}
    if sources == {"groups"}:
        return f"estimated from {max(v.band_groups for v in verdicts)} groups of real text"
    if "groups" in sources:
        return "estimated from groups of real text where that is possible, else a default"
    return "defaults fixed beforehand, since the real text has no groups to estimate it from"


def examples_words(examples: Sequence[Shown]) -> str:
    """Say what the fold of examples holds.

    >>> from momus.report.passages import Passage
    >>> p = Passage("g", "1", "", (), False, False, "")
    >>> examples_words([Shown(p, p, True)] * 3), examples_words([Shown(p, p, False)])
    ('three passages beside human text of the same prompt', 'one passage beside human text')
    """
    same = all(e.same_prompt for e in examples)
    passages = f"{count(len(examples))} passage{'s' * (len(examples) != 1)}"
    return f"{passages} beside human text{' of the same prompt' * same}"


def numeric_columns(table: Table) -> list[bool]:
    """Which columns of a table hold numbers only, or nothing.

    >>> numeric_columns(Table("t", "T", ("word", "count"), (("the", 3), ("a", None))))
    [False, True]
    """
    columns = zip_longest(*table.rows[:SHOWN_ROWS])
    found = [any(v is not None for v in c) and not any(isinstance(v, str | bool) for v in c) for c in columns]
    return found or [False] * len(table.columns)


def _interval(v: Verdict, scale: GapScale) -> str:
    """The gap of a row with its interval; empty without one."""
    interval = v.gap_interval
    if interval is None or v.gap is None:
        return ""
    return row_svg(interval[0], v.gap, interval[1], scale, v.differs)


def cell(value: Any) -> str:
    """Format the cell of a table."""
    if isinstance(value, bool | str):
        return clean(value)
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else clean(value)
