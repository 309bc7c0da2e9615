"""Changes between runs in words, for the terminal (80 columns), as Markdown, and as JSON; tables for other views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from momus.files import plain
from momus.history.diff import AxisChange, CorpusDiff, RunDiff
from momus.history.kept import InputChange
from momus.history.outliers import OutlierChange
from momus.report.format import markdown, markdown_table, number, text_table
from momus.report.safe import clean
from momus.text.counting import counted, joined, percentage

if TYPE_CHECKING:
    from rich.console import RenderableType

CHANGE_HEADS = ("axis", "before", "after", "change", "interval", "")
ARROWS = {"farther": "▲ farther", "nearer": "▼ nearer", "not told apart": "·"}
INPUTS = {
    "version": "version of Momus",
    "seed": "seed",
    "real text": "real text",
    "fitted text": "text that critics are fitted on",
    "generated text": "generated text",
    "critic": "critic",
    "parameter": "parameter",
    "setting": "setting",
}


def run_name(path: str) -> str:
    """A run by the name of its folder."""
    return PurePath(path).name or path


def signed(value: float) -> str:
    """A number with its sign.

    >>> signed(0.5), signed(-0.25), signed(0.0)
    ('+0.5', '−0.25', '0')
    """
    text = number(float(f"{abs(value):.3g}"))
    return text if value == 0 else f"{'+' if value > 0 else '−'}{text}"


def interval(low: float, high: float) -> str:
    """An interval of signed numbers."""
    return f"[{signed(low)}, {signed(high)}]"


def change_cells(change: AxisChange) -> tuple[str, ...]:
    """Cells of `CHANGE_HEADS`: in human bands, or in units of the effect (with a star) where there is no band."""
    unit = change.band or 1.0
    return (
        change.axis + ("" if change.band else "*"),
        number(float(f"{change.before / unit:.3g}")),
        number(float(f"{change.after / unit:.3g}")),
        signed(change.change / unit),
        interval(change.low / unit, change.high / unit),
        ARROWS[change.finding],
    )


def diff_sentences(diff: RunDiff, pair: CorpusDiff) -> list[str]:
    """Say whether the later text is farther from real text, and on which axes significantly."""
    name, earlier = _models(diff, pair)
    lines = []
    if pair.overall is not None:
        o = pair.overall
        span = f"{signed(o.change)} human bands on average, interval {interval(o.low, o.high)}"
        says = {
            "farther": f"{name} is farther from real text than {earlier}",
            "nearer": f"{name} is nearer to real text than {earlier}",
            "not told apart": f"no overall change detected from {earlier} to {name}",
        }
        lines.append(f"Over all axes, {says[o.finding]} ({span}).")
    for finding, words in (("farther", "Significantly farther on"), ("nearer", "Significantly nearer on")):
        axes = [c.axis for c in pair.axes if c.finding == finding]
        if axes:
            lines.append(f"{words} {joined(axes)}.")
    if not any(c.finding != "not told apart" for c in pair.axes):
        lines.append("No single axis changed significantly.")
    return lines


def _models(diff: RunDiff, pair: CorpusDiff) -> tuple[str, str]:
    """What sentences call the later and the earlier text."""
    names = [(pair.after, run_name(diff.after)), (pair.before, run_name(diff.before))]
    later, earlier = (run if len(diff.pairs) == 1 else f"{corpus!r} of {run}" for corpus, run in names)
    return later, earlier


def outlier_lines(outliers: Sequence[OutlierChange]) -> list[str]:
    """One line per critic whose outliers changed."""
    lines = []
    for o in outliers:
        if not o.appeared and not o.vanished:
            continue
        new = f", such as {o.new[0].key!r}" if o.new else ""
        gone = f", such as {o.gone[0].key!r}" if o.gone else ""
        lines.append(
            f"{o.critic}: {o.before:,} of {counted(o.n_before, 'document')} before, {o.after:,} of {o.n_after:,} now; "
            f"{o.appeared:,} new{new}; {o.vanished:,} gone{gone}."
        )
    return lines


def input_line(change: InputChange) -> str:
    """One input that differs."""
    what = INPUTS[change.kind]
    if change.kind == "critic":
        return f"critic {change.name}: only in the {'later' if change.after else 'earlier'} run"
    if change.kind in ("parameter", "setting"):
        what = f"{what} {change.name}"
    return f"{what}: {change.before or '–'} → {change.after or '–'}"


def diff_notes(diff: RunDiff, pair: CorpusDiff) -> list[str]:
    """What a reader must know about the numbers."""
    notes = []
    if diff.real_changed:
        notes.append(
            "The real texts of the runs differ: each run is compared with its own, and the change includes theirs."
        )
    notes += [f"{critic} is not compared: {why}." for critic, why in pair.not_compared.items()]
    wider = [c.axis for c in pair.axes if c.from_errors]
    if wider:
        notes.append(f"From the standard errors of both verdicts alone, which makes intervals wider: {joined(wider)}.")
    if any(not c.band for c in pair.axes):
        notes.append("* no human band: in units of the effect.")
    compared = "prompt by prompt" if pair.matched else "all documents, since runs and real text share no prompts"
    notes.append(
        f"Distances in human bands, {compared}; intervals hold at once over "
        f"{counted(len(pair.axes), 'axis', 'axes')} ({percentage(diff.confidence, 0)}, "
        f"{counted(pair.units, 'unit')} resampled)."
    )
    return notes


def diff_json(diff: RunDiff) -> dict[str, Any]:
    """All fields, with the finding of each change."""
    content: dict[str, Any] = plain(asdict(diff))
    for kept, pair in zip(content["pairs"], diff.pairs, strict=True):
        for row, change in zip(kept["axes"], pair.axes, strict=True):
            row["finding"] = change.finding
        if pair.overall is not None:
            kept["overall"]["finding"] = pair.overall.finding
    return content


def diff_view(diff: RunDiff) -> RenderableType:
    """Sentences, a table of axes, inputs that differ and outliers."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(f"{run_name(diff.before)} → {run_name(diff.after)}", style="bold")]
    for pair in diff.pairs:
        if len(diff.pairs) > 1 or pair.before != pair.after:
            parts.append(Text(f"\n{pair.before} → {pair.after}", style="bold"))
        parts += [Text(clean(line)) for line in diff_sentences(diff, pair)]
        parts += [Text(), text_table(CHANGE_HEADS, [change_cells(c) for c in _rows(pair)], "lrrrrl", narrow=True)]
        outliers = outlier_lines(pair.outliers)
        if outliers:
            parts.append(Text("\nOutliers (less likely than 99 % of the real documents)", style="bold"))
            parts += [Text(clean(line)) for line in outliers]
        parts += [Text(clean(line, 2000), style="dim") for line in diff_notes(diff, pair)]
    inputs = _inputs(diff)
    if inputs:
        parts.append(Text("\nInputs that differ", style="bold"))
        parts += [Text(clean(line)) for line in inputs]
    return Group(*parts)


def _inputs(diff: RunDiff) -> list[str]:
    """Inputs that differ, but for the generated texts, which are expected to; those that are the same are named."""
    changed = {i.name for i in diff.inputs if i.kind == "generated text"}
    same = [f"generated text {p.after}: the same in both runs" for p in diff.pairs if p.after not in changed]
    return [*(input_line(i) for i in diff.inputs if i.kind != "generated text"), *same]


def _rows(pair: CorpusDiff) -> list[AxisChange]:
    return [*([pair.overall] if pair.overall is not None else []), *pair.axes]


def diff_markdown(diff: RunDiff) -> str:
    """A Markdown page."""
    lines = [f"# {markdown(run_name(diff.before))} → {markdown(run_name(diff.after))}", ""]
    for pair in diff.pairs:
        if len(diff.pairs) > 1 or pair.before != pair.after:
            lines += [f"## {markdown(pair.before)} → {markdown(pair.after)}", ""]
        lines += [*(markdown(s) for s in diff_sentences(diff, pair)), ""]
        lines += [markdown_table(CHANGE_HEADS, [change_cells(c) for c in _rows(pair)]), ""]
        lines += [f"* {markdown(line)}" for line in [*outlier_lines(pair.outliers), *diff_notes(diff, pair)]]
        lines.append("")
    inputs = _inputs(diff)
    if inputs:
        lines += ["Inputs that differ:", "", *(f"* {markdown(line)}" for line in inputs), ""]
    return "\n".join(lines)
