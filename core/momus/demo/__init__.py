"""The demo: real documentation, and what a small language model writes at two temperatures, with texts that ship."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from momus.arguments import arg

if TYPE_CHECKING:
    from momus.comparison import Comparison
    from momus.progress import Reporter

CRITICS = ("sections", "rank-frequency", "length", "unigram", "repetition")
GENERATED = {"warm": "generated-nucleus.jsonl.gz", "cool": "generated-nucleus-cool.jsonl.gz"}


ABOUT = (
    "Real: documentation of Python packages. Generated: what SmolLM2-135M, fine-tuned on such documentation, writes "
    "for the same names at temperature 1 (warm) and 0.7 (cool). Does careful sampling read more like people?"
)
"""What the demo compares, for somebody who sees it for the first time."""


def demo_path(name: str) -> Path:
    """Path of a file of the demo data; ``LICENSES.md`` in the same folder describes the files.

    >>> demo_path("fit.jsonl.gz").exists()
    True
    """
    return Path(str(files("momus.demo"))) / "data" / name


def run_demo(out: Path, seed: int = 0, command: str | None = None, reporter: Reporter | None = None) -> Comparison:
    """Run the comparison of ``momus demo``; replaces an earlier one in ``out``.

    Raises
    ------
    StoreError
        The folder holds something else.
    """
    from momus.comparison import compare
    from momus.errors import StoreError
    from momus.ownership import holds

    finished = out / "run.json"
    if finished.exists() and not holds(finished, *(f'"{name}"'.encode() for name in (*CRITICS, *GENERATED))):
        raise StoreError(
            f"{out} holds a run, but not one of `momus demo`", hint=f"name another folder with {arg('out')}"
        )
    return compare(
        demo_path("real.jsonl.gz"),
        {name: demo_path(file) for name, file in GENERATED.items()},
        fit=demo_path("fit.jsonl.gz"),
        critics=CRITICS,
        out=out,
        overwrite=True,
        seed=seed,
        command=command,
        reporter=reporter,
    )
