"""A comparison with a model on a terminal, in Markdown and as a page: the same blocks in three forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momus.report.figures.canvas import Canvas
from momus.report.figures.dots import rows_svg
from momus.report.figures.palette import looks
from momus.report.figures.rows import overview_rows
from momus.report.html import render_page
from momus.report.safe import clean, one_line
from momus.report.words.against import blocks_of, first_sentences, step, trend, version_value
from momus.report.words.blocks import PrintedBlock, markdown_blocks, terminal_blocks
from momus.report.words.format import markdown
from momus.runs.answer import answer_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.against.versions import Against, Path
    from momus.runs.result import Results

WIDTH = 80
SIZE, MARGIN = (360.0, 120.0), 34.0
"""Width and height of the figure of a path, and room for its words."""


def against_view(comparison: Results, against: Against, every: bool = False, wide: bool = False) -> RenderableType:
    """Build the view for a terminal; with ``every`` or ``wide``, with all tables, and every number."""
    from rich.console import Group
    from rich.text import Text

    answer = answer_of(comparison)
    if not answer.corpora:
        return Text("Nothing was compared.")
    sentences = first_sentences(answer, against)
    parts: list[RenderableType] = [Text(one_line(s, 600), style="" if i else "bold") for i, s in enumerate(sentences)]
    parts.append(Text(one_line(basis(comparison, against)), style="dim"))
    blocks = terminal_blocks(blocks_of(answer, against, comparison.joint, every or wide))
    parts += [Text(), *blocks] if blocks else []
    if every or wide:
        from momus.report.wide import verdict_table

        parts += [Text(""), verdict_table(comparison.verdicts, every)]
    parts += [Text(f"Note: {one_line(w)}", style="yellow") for w in comparison.warnings]
    return Group(*parts)


def against_markdown(comparison: Results, against: Against) -> str:
    """Write all blocks in Markdown."""
    answer = answer_of(comparison)
    parts = [" ".join(markdown(s) for s in first_sentences(answer, against)), markdown(basis(comparison, against))]
    parts += markdown_blocks(blocks_of(answer, against, comparison.joint, words=True))
    parts += ["\n".join(f"* Note: {markdown(w)}" for w in comparison.warnings)] if comparison.warnings else []
    return "\n\n".join(parts) + "\n"


def against_page(comparison: Results, against: Against) -> str:
    """Render the report as HTML; all content of texts is cleaned and escaped."""
    from markupsafe import Markup

    answer = answer_of(comparison)
    shown = overview_rows(answer)
    return render_page(
        "against.html.j2",
        corpora=looks(shown.corpora),
        first=first_sentences(answer, against) if answer.corpora else [],
        basis=basis(comparison, against),
        blocks=[(b, _numeric(b)) for b in blocks_of(answer, against, comparison.joint)],
        overview=(Markup(rows_svg(shown)), Markup(rows_svg(shown, narrow=True))),
        figures=[(p, Markup(path_svg(p, against))) for p in against.paths if len(against.versions) > 2],
        comparison=comparison,
        against=against,
    )


def _numeric(block: PrintedBlock) -> list[bool]:
    texts = f"{block.align}r".index("r")
    return [i >= texts and not h.startswith("passage") for i, h in enumerate(block.heads)]


def basis(comparison: Results, against: Against) -> str:
    """What the comparison rests on: documents, folds, prompts."""
    corpora = {c["name"]: c for c in comparison.signature["corpora"] if c["role"] != "fit"}
    sizes = ", ".join(f"{c['documents']:,} of {name}" for name, c in corpora.items())
    paired = any(v.method.design in ("pairs", "prompts") for v in comparison.verdicts)
    how = "compared prompt by prompt" if paired else "no prompts in common: compared as independent documents"
    return f"Documents: {sizes}; {how}; critics cross-fitted over {against.folds} folds."


def path_svg(path: Path, against: Against) -> str:
    """The line of one axis over the versions, with intervals; the largest step is thick."""
    width, height = SIZE
    canvas = Canvas(width, height)
    low, high = min(path.lows), max(path.highs)
    span = (high - low) or 1.0

    def place(k: int, v: float) -> tuple[float, float]:
        x = MARGIN + k * (width - 2 * MARGIN) / (len(path.values) - 1)
        return x, height - 30 - (v - low) / span * (height - 66)

    points = [place(k, v) for k, v in enumerate(path.values)]
    for k in range(1, len(points)):
        canvas.line(points[k - 1], points[k], "generated", 3.2 if k == path.step else 1.4)
    for k, (point, value) in enumerate(zip(points, path.values, strict=True)):
        canvas.line(place(k, path.lows[k]), place(k, path.highs[k]), "ink", 1.2)
        canvas.mark(point, "o", "generated", True, 3.5)
        shown = version_value(path, value)
        canvas.text((point[0], place(k, path.highs[k])[1] - 6), shown, "middle", 10)
        canvas.text((point[0], height - 10), clean(against.versions[k], 24), "middle", 10)
    moved = f"{trend(path, against.alpha)}, largest step {step(path, against.versions)}"
    title = f"{path.axis}: {path.label}, {moved}"
    return canvas.svg(clean(title, 200))
