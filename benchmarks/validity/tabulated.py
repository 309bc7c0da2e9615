"""The command of a script that measures one table, and writes it into a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from null_and_power import write_between


def run(description: str | None, name: str, table: Callable[[int], str], replications: int) -> None:
    """Measure a table, which prints itself, and write it between its marks in a page."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=replications)
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    asked = parser.parse_args()
    measured = table(asked.replications)
    if asked.write:
        write_between(asked.write, name, measured)
