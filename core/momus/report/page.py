"""A comparison as HTML: the report, one self-contained page, and a small summary for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mode
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from momus.against.versions import Against
from momus.against.versions import Path as VersionPath
from momus.joint.ranks import ALL_AXES
from momus.outputs import write_own
from momus.report.cards import cards_of, findings_of
from momus.report.figures.dots import FEW, NARROW, key_svg, rows_canvas, rows_svg
from momus.report.figures.palette import looks
from momus.report.figures.rows import overview_rows, path_rows, slices_heatmaps
from momus.report.figures.scales import Scale, gap_scale
from momus.report.html import environment, render_page
from momus.report.passages import Shown, outlier_passages, shown_examples
from momus.report.safe import clean
from momus.report.words.against import basis, blocks_of, step, trend
from momus.report.words.blocks import PrintedBlock
from momus.report.words.findings import band, effective, families, floors, gap, method, null
from momus.report.words.joint import (
    chance,
    count,
    group_blocks,
    pair_rows,
    pair_sentences,
    rank,
    rank_cells,
    without_rank,
)
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import axis_line, axis_sentences, label, legend
from momus.report.words.table import overview
from momus.report.words.trust import trust_items
from momus.runs.answer import Answer, answer_of
from momus.runs.examples import EXAMPLES
from momus.runs.folder import REPORT
from momus.runs.manifest import REPORT_KIND
from momus.runs.overuse import overuse_of
from momus.runs.result import Results
from momus.text.counting import percentage
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

WIDTH = 84
"""Pixels that the largest gap of a table is away from 0."""


def write_report(comparison: Results, path: Path) -> Path:
    """Write the report, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written, or the path holds what Momus did not write.
    """
    return write_own(path, render(comparison), REPORT_KIND)


def render(comparison: Results) -> str:
    """Render the report as HTML; all content of texts is cleaned and escaped."""
    if comparison.against is not None:
        return _against_page(comparison, comparison.against)
    answer = answer_of(comparison)
    shown, cards = overview_rows(answer), cards_of(comparison, answer, overuse_of(comparison.results, answer))
    corpora, joint = looks(shown.corpora), comparison.joint
    return render_page(
        "report.html.j2",
        corpora=corpora,
        comparison=comparison,
        answer=answer,
        first=first_sentences(answer) if answer.corpora else [],
        trust=trust_items(comparison),
        cards=cards,
        pairs=pair_rows(comparison.pairs),
        pair_sentences=pair_sentences(comparison.pairs),
        findings=findings_of(cards),
        tall=len(answer.axes) > FEW,
        overview_wide=Markup(rows_svg(shown)),
        overview_narrow=Markup(rows_svg(shown, narrow=True)),
        overview_data=shown.csv(),
        bands_words=bands_words(comparison.verdicts),
        methods=methods(comparison.verdicts),
        level=percentage(comparison.signature["confidence"], 0),
        families=families(comparison.verdicts, comparison.signature["multiplicity"]),
        floors=floors(comparison.verdicts, comparison.signature["multiplicity"]),
        refits=any(v.refit_spread is not None for v in comparison.verdicts),
        without_rank=without_rank(joint, {r.name: r.axis for r in comparison.results}),
        ranked=any(c.rank is not None for c in answer.corpora),
        rank_cells=[rank_cells(r) for r in (joint.ranking.of(ALL_AXES) if joint.ranking is not None else ())],
        groups=group_blocks(joint),
        maps=slices_heatmaps(joint.slices, comparison.verdicts),
        key=lambda name: Markup(key_svg(corpora[name])) if name in corpora else "",
        **HELPERS,
    )


def _against_page(comparison: Results, against: Against) -> str:
    """Render the report of a comparison with a model."""
    answer = answer_of(comparison)
    shown = overview_rows(answer)
    return render_page(
        "against.html.j2",
        corpora=looks(shown.corpora),
        first=first_sentences(answer) if answer.corpora else [],
        basis=basis(comparison, against),
        blocks=[(b, _numeric(b)) for b in blocks_of(answer, against, comparison.joint)],
        overview=(Markup(rows_svg(shown)), Markup(rows_svg(shown, narrow=True))),
        figures=[(p, Markup(path_svg(p, against))) for p in against.paths if len(against.versions) > 2],
        comparison=comparison,
        against=against,
        maps=slices_heatmaps(comparison.joint.slices, comparison.verdicts),
        moved=moved_prompts(comparison, answer),
    )


def moved_prompts(comparison: Results, answer: Answer, most: int = 10) -> list[tuple[str, Shown]]:
    """Prompts whose answers moved most, axis by axis in turn, with both answers."""
    examples = {r.name: r.examples for r in comparison.results}
    axes = [(a.axis, shown_examples(a, examples[a.critic], EXAMPLES)) for a in answer.axes if a.worst.differs]
    turns = [(axis, shown[k]) for k in range(EXAMPLES) for axis, shown in axes if k < len(shown)]
    return [(axis, s) for axis, s in turns if s.same_prompt][:most]


def _numeric(block: PrintedBlock) -> list[bool]:
    texts = f"{block.align}r".index("r")
    return [i >= texts and not h.startswith("passage") for i, h in enumerate(block.heads)]


def path_svg(path: VersionPath, against: Against) -> str:
    """The statistic of one axis over the versions, with intervals."""
    moved = f"{trend(path, against.alpha)}, largest step {step(path, against.versions)}"
    canvas = rows_canvas(path_rows(path, against.versions), NARROW)
    return canvas.svg(clean(f"{path.axis}: {path.label}, {moved}", 200))


def methods(verdicts: Sequence[Verdict]) -> list[tuple[str, list[str]]]:
    """Describe each method once, with the rows that were tested so."""
    rows: dict[str, dict[str, list[str]]] = {}
    for v in verdicts:
        what = f"{v.critic}, {label(v)}"
        rows.setdefault(f"{method(v)}. Null hypothesis: {null(v)}.", {}).setdefault(what, []).append(v.generated)
    everything = len(dict.fromkeys(v.generated for v in verdicts))
    return [
        (sentence, [what if len(g) == everything else f"{what} on {', '.join(g)}" for what, g in by.items()])
        for sentence, by in rows.items()
    ]


def bands_words(verdicts: Sequence[Verdict]) -> str:
    """Say where the human bands come from."""
    sources = {v.band_source for v in speaking(verdicts) if v.gap is not None}
    if sources == {"groups"}:
        return f"estimated from {max(v.band_groups for v in verdicts)} groups of real text"
    if "groups" in sources:
        return "estimated from groups of real text where that is possible, else measured on other texts"
    return "measured on other texts, since the real text has no groups to estimate it from"


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


def row_scale(verdicts: Sequence[Verdict]) -> Scale:
    """One scale for the intervals of a table of rows."""
    return gap_scale([v.gap_interval[1] for v in verdicts if v.gap_interval is not None])


def _interval(v: Verdict, scale: Scale) -> str:
    """Style of a cell that shows the gap of a row with its interval, in pixels from 0; empty without one."""
    interval = v.gap_interval
    if interval is None or v.gap is None:
        return ""
    low, gap, high = (WIDTH * scale(x) for x in (interval[0], v.gap, interval[1]))
    return f"--l:{low:.0f};--w:{high - low:.0f};--g:{gap:.0f}"


HELPERS: Mapping[str, Any] = {
    "axis_line": axis_line,
    "axis_sentences": axis_sentences,
    "outlier_passages": outlier_passages,
    "label": label,
    "interval": _interval,
    "kind": lambda item: type(item).__name__,
    "row_scale": row_scale,
    "examples_words": examples_words,
    "gap": gap,
    "rank": rank,
    "chance": chance,
    "band": band,
    "effective": effective,
    "usual_units": lambda rows: mode([effective(v) for v in rows] or [""]),
}
"""Functions that the templates of the report call."""


def summary_html(comparison: Results) -> str:
    """Render the answer, the overview table, what it rests on, and a link to the report, as a piece of HTML.

    It holds no script and loads nothing; all texts are cleaned and escaped.
    """
    if not comparison.verdicts:
        return '<div class="momus"><p>A comparison without verdicts.</p></div>'
    answer = answer_of(comparison)
    return (
        environment()
        .get_template("summary.html.j2")
        .render(
            sentences=first_sentences(answer),
            table=overview(answer, words=True),
            legend=legend(answer),
            trust=trust_items(comparison) if comparison.signature else [],
            warnings=comparison.warnings,
            link=_report_link(comparison.folder),
        )
    )


def _report_link(folder: Path | None) -> str:
    """Address of the report of a run folder, relative to the working directory where it is below that; else empty."""
    if folder is None or not (folder / REPORT).is_file():
        return ""
    report, here = (folder / REPORT).resolve(), Path.cwd()
    return quote(report.relative_to(here).as_posix()) if report.is_relative_to(here) else report.as_uri()
