"""The table and the figure of `synthetic.py`, from the rows that it wrote as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[Mapping[str, Any]]

PAPER = {"data": (1.99, 44.30), "HSMM": (2.05, 47.24), "transformer": (2.28, 64.80)}
"""Word PPL and Latent PPL of table 1 of Deng et al. (2022)."""
GOOD = 2.30
"""Word PPL up to which a transformer counts as good at words: that of the paper's, rounded up."""


def merged(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Rows of several runs; the process and the HSMM of the first."""
    runs = [json.loads(f.read_text(encoding="utf-8")) for f in files]
    return [r for i, rows in enumerate(runs) for r in rows if i == 0 or r["model"] == "transformer"]


def table(rows: Rows) -> str:
    """A row per model: word PPL, Latent PPL and invalid sub-sequences, ± one standard error."""
    lines = ["| model | word PPL | Latent PPL | invalid sub-sequences | learned in |", "|---|---:|---:|---:|---:|"]
    for r in rows:
        name = r["note"] if r["model"] == "transformer" else {"data": "the process itself"}.get(r["model"], r["model"])
        word = f"{r['word_ppl']:.3f} ± {r['word_error']:.3f}"
        latent = f"{r['latent_ppl']:,.1f} ± {r['latent_error']:.1f} (n = {r['generated']:,})"
        seconds = f"{r['seconds']:,.0f} s" if r["seconds"] else "–"
        lines.append(f"| {name} | {word} | {latent} | {r['invalid']:.2%} | {seconds} |")
    for name, (words, latent) in PAPER.items():
        lines.append(f"| *in the paper:* {name} | {words:.2f} | {latent:.2f} | | |")
    return "\n".join(lines)


def figure(rows: Rows, path: Path) -> None:
    """Word PPL against Latent PPL: the transformer along its training, process and HSMM, and the paper's models."""
    from momus.evidence import Axis, Chart, Series
    from momus.report.figures.svg import draw, standalone

    trained = sorted((r["word_ppl"], r["latent_ppl"]) for r in rows if "n-grams" in r["note"])
    others = sorted((r["word_ppl"], r["latent_ppl"]) for r in rows if r["model"] != "transformer")
    paper = sorted(PAPER.values())

    def series(name: str, points: Sequence[tuple[float, float]], role: str, kind: str) -> Series:
        return Series(name, [x for x, _ in points], [y for _, y in points], role, kind)

    chart = Chart(
        "hidden-states",
        "Next words and hidden states",
        Axis("word PPL"),
        Axis("Latent PPL", "log"),
        [
            series("transformer, in training", trained, "generated", "line"),
            series("process and HSMM", others, "real", "points"),
            series("the paper's", paper, "reference", "points"),
        ],
    )
    path.write_text(standalone(draw(chart)), encoding="utf-8")
    print(f"{len(trained)} networks of one training in {path}")
