"""Table of the levels that ``null_and_power.py null`` measured at some sizes, for a page, whose other rows stay.

Run:  python benchmarks/validity/null_and_power.py null --sizes 50,50x200,200 --out runs/validity
      python benchmarks/validity/null_levels.py --out runs/validity --write benchmarks/validity/TABLES.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

from null_and_power import ALPHA, kept, level, merged, write_between
from studies import STUDIES

from momus.calibration.rates import rate

SIZES = ((50, 50), (50, 200), (200, 200))


def table(out: Path) -> str:
    """One row per critic with a measured cell; a cell with fewer splits than the others says how many."""
    cells = kept(out)
    heads = [f"{a} \\| {b}" for a, b in SIZES]
    lines = ["| critic (text) | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(SIZES)]
    for study in STUDIES:
        found = {(c.critic, c.n_real, c.n_generated): c for c in cells.get((study.name, "null"), [])}
        for critic in study.critics:
            row = [found.get((critic, *size)) for size in SIZES]
            if any(c is not None and c.tested for c in row):
                texts = ["not measured" if c is None else c.reason or level(rate(c, ALPHA)) for c in row]
                lines.append(f"| {critic} ({study.name}) | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, or insert it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/validity"))
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    text = table(a.out)
    print(text)
    if a.write:
        old = a.write.read_text(encoding="utf-8").partition("<!-- levels -->\n")[2].partition("\n<!-- end of levels")[0]
        write_between(a.write, "levels", merged(old, text))


if __name__ == "__main__":
    main()
