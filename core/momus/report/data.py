"""A finished run, read back from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from momus.store.runs import RunFolder

if TYPE_CHECKING:
    from momus.comparison import Comparison


def read_comparison(run: str | Path) -> Comparison:
    """Read what a run has left; per-document scores stay in ``documents.parquet``.

    Raises
    ------
    StoreError
        The folder holds no finished run.
    """
    from momus.comparison import Comparison

    folder = RunFolder(run)
    signature = folder.read_run()
    names = [c["name"] for c in signature["critics"]]
    return Comparison(
        folder.read_verdicts(), folder.results(names), signature, list(signature["warnings"]), pairs=folder.read_pairs()
    )
