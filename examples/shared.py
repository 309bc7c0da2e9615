"""Helpers of the examples: command-line options, demo texts, and figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

from momus import Corpus, read_corpus
from momus.demo import demo_path
from momus.errors import MomusError
from momus.report.figures.palette import COLOURS

matplotlib.use("Agg")
REAL, GENERATED, OTHER = (COLOURS[name] for name in ("real", "corpus-0", "corpus-1"))
DECODERS = ("ancestral", "nucleus", "nucleus-cool")


def options(text: str | None, argv: Sequence[str] | None = None, **more: dict[str, Any]) -> argparse.Namespace:
    """Parse ``--out``, ``--seed`` and the options of the example; create the output folder."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument("--seed", type=int, default=0)
    for name, settings in more.items():
        parser.add_argument(f"--{name}", **settings)
    chosen = parser.parse_args(argv)
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def corpus(file: str, name: str, most: int = 0) -> Corpus:
    """Read a demo file: its first ``most`` documents, or all if ``most`` is 0."""
    whole = read_corpus(demo_path(file), name=name)
    return whole.slice(0, most) if most else whole


def run(main: Any) -> None:
    """Run an example from the command line; print an error of Momus with its hint, without a traceback."""
    try:
        main()
    except MomusError as error:
        sys.exit(f"{error}")


def figure(path: Path, width: float = 7.0, height: float = 3.6, columns: int = 1) -> Any:
    """Create axes and a function that writes the figure; return (axes, write)."""
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(1, columns, figsize=(width, height), layout="constrained")

    def write() -> Path:
        drawing.savefig(path)
        plt.close(drawing)
        print(f"figure: {path}")
        return path

    return axes, write
