"""Write what ``TABLES.md`` measured of each critic into its page and into ``docs/validity.md``.

Run:  python benchmarks/validity/by_critic.py [--check]

A page has ``<!-- validity: NAME -->`` … ``<!-- end of validity -->`` for each critic; the tables themselves are
written by the scripts that measure them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
SIZES = ("50 | 50", "200 | 200", "1,000 | 1,000")
MARKED = re.compile(r"(<!-- validity: ([a-z-]+) -->\n).*?(<!-- end of validity -->)", re.DOTALL)


def rows(name: str) -> list[list[str]]:
    """The rows of all tables between two marks of ``TABLES.md``, cells without marks of emphasis."""
    text = (HERE / "TABLES.md").read_text(encoding="utf-8")
    inside = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]
    lines = [line.replace(r"\|", "¦") for line in inside.splitlines() if line.startswith("|")]
    return [[c.strip().replace("¦", "|") for c in line.strip("|").split("|")] for line in lines]


def levels() -> dict[str, dict[str, str]]:
    """Rate of false alarms by critic and text, and size; of the present tests where these were measured."""
    found: dict[str, dict[str, str]] = {}
    for name in ("null", "levels"):
        sizes: list[str] = []
        for critic, *cells in rows(name):
            if critic == "critic (text)":
                sizes = cells
                continue
            for size, cell in zip(sizes, cells, strict=False):
                if re.match(r"0\.\d{3}", cell):
                    found.setdefault(critic, {})[size] = cell.partition(" ")[0]
    return found


def powers() -> dict[str, list[tuple[str, str]]]:
    """Of each critic and text: the defects of its axis, each with the smallest strength that is found."""
    own: dict[str, list[tuple[str, str]]] = {}
    for critic, defect, found, *_ in rows("power"):
        if critic.endswith(")") and critic != "critic (text)" and not found.startswith(("from", "at no")):
            own.setdefault(critic, []).append((defect, found))
    return own


def paragraph(name: str) -> str:
    """The rates of one critic, in words."""
    rates, own = levels(), powers()
    found = []
    for key in (k for k in rates if k.partition(" ")[0] == name):
        cells = [f"{rates[key][s]} ({s})" for s in SIZES if s in rates[key]]
        text = key.partition("(")[2].rstrip(")")
        found.append(f"False alarms at 0.05 on *{text}*: {', '.join(cells)}.")
        if own.get(key):
            strengths = ", ".join(f"`{d}` {s}" for d, s in own[key])
            found.append(f"Smallest strength found in 90 % of splits: {strengths}.")
    return " ".join([*found, "[How this was measured](../validity.md)."])


def summary() -> str:
    """The rates of all critics in a sentence, with those that chance does not expect."""
    found = [
        (float(rate), critic.partition(" ")[0], size) for critic, c in levels().items() for size, rate in c.items()
    ]
    outside = [f"`{critic}` {rate:.3f} ({size})" for rate, critic, size in sorted(found) if not 0.035 <= rate <= 0.065]
    inside = len(found) - len(outside)
    return (
        f"Of {len(found)} cells (a critic, a text, documents on either side), {inside} lie within 0.035 to 0.065, as "
        f"chance expects of 39 in 40; outside are {', '.join(outside)}."
    )


def filled(text: str) -> str:
    """A page with its marked places written anew."""
    return MARKED.sub(lambda m: f"{m[1]}{summary() if m[2] == 'all' else paragraph(m[2])}\n{m[3]}", text)


def main() -> None:
    """Write all pages, or say which are not up to date."""
    old = {p: p.read_text(encoding="utf-8") for p in (DOCS / "validity.md", *sorted((DOCS / "critics").glob("*.md")))}
    for path, text in old.items():
        if filled(text) != text:
            print(path.relative_to(DOCS))
            if "--check" not in sys.argv:
                path.write_text(filled(text), encoding="utf-8")


if __name__ == "__main__":
    main()
