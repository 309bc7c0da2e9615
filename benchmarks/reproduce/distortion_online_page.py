"""Tables and figures of `distortion_online.py`: errors by number of training sequences, beside what the paper says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from distortion_estimation import by_amount, error_slope, mean_interval
from distortion_study import Study
from pages import write_between

from momus.errors import UsageError
from momus.evidence import Axis, Chart, Series
from momus.report.figures.palette import looks
from momus.report.figures.svg import draw, standalone

FEWEST = 8000
"""The figure of rarity begins here: before, errors of −20 to −65 nats would flatten the rest."""
RESAMPLES = 2000
"""Resamples of the intervals of means over all test sequences."""

Interval = tuple[float, float, float]


def cell(interval: Interval, digits: int = 2) -> str:
    """An estimate with its interval, as the tables print it.

    >>> cell((-2.5, -2.75, -2.25))
    '−2.50 [−2.75, −2.25]'
    """
    value, low, high = (f"{v:+.{digits}f}".replace("-", "−").replace("+", "") for v in interval)
    return f"{value} [{low}, {high}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, all but its first column aligned right."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def means(study: Study) -> dict[int, Interval]:
    """Mean error by number of training sequences."""
    return {n: mean_interval(e.errors, study.seed, RESAMPLES) for n, e in study.checkpoints}


def curves(studies: Sequence[Study]) -> str:
    """Mean error of each model (columns) at each number of training sequences (rows)."""
    found = [means(s) for s in studies]
    points = sorted({n for curve in found for n in curve})
    rows = [[f"{n:,}", *(cell(curve[n]) if n in curve else "–" for curve in found)] for n in points]
    return table(["training sequences", *(s.name for s in studies)], rows)


def rarity(studies: Sequence[Study]) -> str:
    """Change of the mean error since a quarter of the data, slope on log p, and error by rarity."""
    rows = []
    for study in studies:
        errors = {n: float(e.errors.mean()) for n, e in study.checkpoints}
        last = max(errors)
        shown = [(n, e) for n, e in study.checkpoints if n in (4000, 16_000, 64_000, 256_000, last)]
        groups = by_amount(shown, seed=study.seed)
        for n, e in shown:
            # the last point is no power of four; its quarter is the nearest earlier point
            earlier = min((m for m in errors if m < n), key=lambda m: abs(math.log(4 * m / n)), default=n)
            change = f"{100 * (errors[n] / errors[earlier] - 1):+.0f} %".replace("-", "−") if earlier < n else "–"
            of_n = groups[groups["sequences"] == n]
            ends = [
                cell((float(r["mean"]), float(r["mean_low"]), float(r["mean_high"])))
                for _, r in of_n.iloc[[0, -1]].iterrows()
            ]
            rows.append([study.name, f"{n:,}", change, cell(error_slope(e), 3), *ends])
    header = ["model", "training sequences", "change", "slope on log p", "rarest fifth", "commonest fifth"]
    return table(header, rows)


def mass(studies: Sequence[Study]) -> str:
    """Errors of perturbed and random strings after the last training sequence of each model."""
    rows = []
    for study in studies:
        found = {f.name: (f.estimate, f.low, f.high) for f in study.findings()}
        rows.append([study.name, f"{study.checkpoints[-1][0]:,}", cell(found["iii a"]), cell(found["iii b"])])
    n = len(studies[0].random)
    return table(["model", "training sequences", f"after 30 perturbations, n = {n}", f"random strings, n = {n}"], rows)


TABLES = {"online: curves": curves, "online: rarity": rarity, "online: mass": mass}


def write(path: Path, studies: Sequence[Study]) -> None:
    """Put the tables into a page, between their marks.

    Raises
    ------
    UsageError
        No model has passed a point.
    """
    if not studies:
        raise UsageError("no model has passed a point yet", hint="train with --folder alone first")
    for name, make in TABLES.items():
        write_between(path, name, make(studies))


def models_chart(studies: Sequence[Study]) -> Chart:
    """KL(L ‖ M) of each model by number of training sequences, both axes logarithmic."""
    series = []
    for study in studies:
        mean = means(study)
        value, high, low = ([-v[i] for v in mean.values()] for i in range(3))
        series.append(Series(study.name, list(mean), value, "generated", "line", low, high))
    return Chart(
        "models",
        "Divergence by number of training sequences",
        Axis("training sequences, each read once", "log"),
        Axis("KL(L ‖ M), nats per sequence", "log"),
        series,
    )


def draw_figures(folder: Path, studies: Sequence[Study]) -> None:
    """Draw the curves of all models, and the chart by rarity of the model that has read most, into a folder."""
    # of models that have read equally many sequences, the one with the smaller error
    most = max(studies, key=lambda s: (s.checkpoints[-1][0], s.fresh.errors.mean()))
    late = replace(most, checkpoints=[(n, e) for n, e in most.checkpoints if n >= FEWEST])
    for name, drawing in (
        ("distortion-amount", draw(late.amount())),
        ("distortion-models", draw(models_chart(studies), looks(s.name for s in studies))),
    ):
        (folder / f"{name}.svg").write_text(standalone(drawing), encoding="utf-8")
    print(f"by rarity: {most.name}")
