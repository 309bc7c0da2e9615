"""Make the figures and measured tables of the documentation: one critic, one process, one figure, one entry.

A figure is evidence of the critic itself, drawn as the report draws it. What was measured (verdicts, seconds, peak
memory) goes to ``measured.json`` and from there into the pages, between their ``measured`` marks.

Run:  python docs/figures/make_figures.py            # all critics, then the pages
      python docs/figures/make_figures.py length     # one of them, then the pages
      python docs/figures/make_figures.py --pages    # only the pages, from measured.json
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE / "measured.json"
PAGES = HERE.parent / "critics"
EVIDENCE = {
    "sections": "transition-graph",
    "consistency": "fit",
    "passages": "transition-graph",
    "topics": "topic-correlations-generated",
    "code-mixing": "mixing-index",
    "coreference": "mention-introductions",
    "rank-frequency": "rank-frequency",
    "length": "length-distribution",
    "unigram": "words",
    "type-token": "type-token",
    "mauve": "regions",
    "keyness": "over-used",
}
"""Which piece of evidence is the figure; of the others, the first."""
CONFIG = {"code-mixing": {"n_topics": 3}}


def measure(critic: str) -> dict[str, Any]:
    """Compare with one critic, write its figure, and return what was measured."""
    sys.path.insert(0, str(HERE))
    from texts import TEXTS

    import momus

    texts = TEXTS[critic]()
    begun = time.perf_counter()
    found = momus.compare(
        texts.real,
        {texts.name: texts.generated},
        fit=texts.fit,
        critics=[critic],
        config={**CONFIG, **texts.config},
        seed=0,
        device="cpu",
    )
    seconds = time.perf_counter() - begun
    ((_, evidence),) = found.results[0].evidence
    names = [e.name for e in evidence]
    wanted = EVIDENCE.get(critic, names[0])
    if wanted not in names:
        raise SystemExit(f"{critic} has no evidence {wanted!r}, but {names}")
    chosen = evidence[names.index(wanted)]
    (HERE / f"{critic}.svg").write_text(picture(chosen), encoding="utf-8")
    return {
        "about": texts.about,
        "evidence": {"name": chosen.name, "title": chosen.title, "note": chosen.note},
        "documents": {c.name: len(c) for c in (texts.fit, texts.real, texts.generated)},
        "characters": sum(int(c.characters.sum()) for c in (texts.fit, texts.real, texts.generated)),
        "verdicts": found.rows(),
        "notes": [n.text for n in found.results[0].notes],
        "seconds": round(seconds, 1),
        "stages": {k: v for k, v in found.signature["seconds"].items() if v >= 0.05},
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def picture(item: Any) -> str:
    """Draw a piece of evidence as a separate picture; tables become bars."""
    from momus.evidence import Table
    from momus.report.figures.svg import draw, standalone

    return standalone(bars(item) if isinstance(item, Table) else draw(item))


def study_figures(folder: Path) -> None:
    """Copy two figures that ``benchmarks/reproduce/distortion.py --out FOLDER`` left, in the pages' colours."""
    from momus.report.figures.svg import standalone

    for name in ("probability", "perturbations"):
        body = (folder / f"distortion-transformer-{name}.svg").read_text(encoding="utf-8")
        (HERE / f"distortion-{name}.svg").write_text(standalone(body), encoding="utf-8")


def bars(table: Any) -> str:
    """Draw the columns ``real …`` and ``generated …`` of a table's first rows as pairs of bars."""
    from momus.report.figures.canvas import Canvas
    from momus.report.figures.scales import linear_ticks, tick_text

    rows = list(table.rows)[:14]
    columns = {w: next(i for i, c in enumerate(table.columns) if c.startswith(w)) for w in ("real", "generated")}
    left, right, pitch, top = 260.0, 700.0, 26.0, 30.0
    largest = max(float(row[c]) for row in rows for c in columns.values()) or 1.0
    bottom = top + pitch * len(rows)
    canvas = Canvas(720, bottom + 44)
    for tick in linear_ticks(0, largest):
        x = left + (right - left) * tick / largest
        canvas.line((x, top), (x, bottom), "grid", 0.7)
        canvas.text((x, bottom + 16), tick_text(tick), "middle")
    for i, row in enumerate(rows):
        canvas.text((left - 8, top + pitch * (i + 0.5) + 4), row[0], "end", clip=38)
        for (role, column), shift in zip(columns.items(), (3.0, 13.0), strict=True):
            canvas.rect((left, top + pitch * i + shift), ((right - left) * float(row[column]) / largest, 9), role)
    for i, role in enumerate(columns):
        canvas.rect((left + 120 * i, 8), (12, 12), role)
        canvas.text((left + 18 + 120 * i, 18), role)
    label = table.columns[columns["real"]].removeprefix("real").strip(" ,") or "count"
    canvas.text(((left + right) / 2, bottom + 36), label, "middle")
    return canvas.svg()


ROWS = 3
"""Rows of a page's table: the headline and the first others; `measured.json` has all."""


def summary(found: dict[str, Any]) -> str:
    """Say what was measured, in Markdown."""
    from momus.evidence import Wording
    from momus.report.words.findings import statistic_name
    from momus.report.words.format import number, p_value

    texts = ", ".join(f"{n:,} {name}" for name, n in found["documents"].items())
    rows = [
        f"Measured on {found['about']} ({texts}; {found['characters'] / 1e6:.1f} million characters).",
        "",
        "| statistic | real | generated | difference [95 %] | adjusted p |",
        "|---|---:|---:|---:|---:|",
    ]
    for v in sorted(found["verdicts"], key=lambda v: (not v["headline"], v["p_adjusted"] is None))[:ROWS]:
        wording = Wording(**{**v["wording"], "direction": tuple(v["wording"]["direction"])})
        name = statistic_name(v["statistic"], wording) + (f" ({wording.unit})" if wording.unit else "")
        name = f"**{name}**" if v["headline"] else name
        interval = f" [{number(v['low'])}, {number(v['high'])}]" if v["low"] is not None else ""
        rows.append(
            f"| {name} | {number(v['real_value'])} | {number(v['generated_value'])} "
            f"| {number(v['difference'])}{interval} | {p_value(v['p_adjusted'])} |"
        )
    first = found["verdicts"][0]
    left = first["unscored_real"] + first["unscored_generated"]
    unscored = f"{left} document{'s' * (left != 1)}"
    scored = f"n = {first['n_real']} real and {first['n_generated']} generated; {unscored} unscored. "
    cost = (
        f"{found['seconds']:.1f} s on one core, fitting {found['stages'].get('fitting', 0):.1f} s; "
        f"peak memory {found['megabytes'] / 1000:.2f} GB."
    )
    return "\n".join([*rows, "", scored + "**Cost:** " + cost])


def write_pages(measured: dict[str, Any]) -> None:
    """Put what was measured between the marks of the pages."""
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, measured), encoding="utf-8")


def filled(text: str, measured: dict[str, Any]) -> str:
    """Fill the ``<!-- measured: critic -->`` … ``<!-- end -->`` blocks of a page."""

    def block(match: re.Match[str]) -> str:
        critic = match.group(1)
        body = summary(measured[critic]) if critic in measured else "Not measured yet."
        return f"<!-- measured: {critic} -->\n{body}\n<!-- end -->"

    return re.sub(r"<!-- measured: ([a-z-]+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def main() -> None:
    """Measure the critics asked for, each in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("critics", nargs="*")
    parser.add_argument("--pages", action="store_true", help="write the pages only")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        (critic,) = options.critics
        print(json.dumps(measure(critic)))
        return
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    if not options.pages:
        sys.path.insert(0, str(HERE))
        from texts import TEXTS

        for critic in options.critics or TEXTS:
            print(critic, end=" ", flush=True)
            command = [sys.executable, __file__, "--one", critic]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                print("failed")
                continue
            measured[critic] = json.loads(done.stdout.splitlines()[-1])
            print(f"{measured[critic]['seconds']} s")
            ordered = dict(sorted(measured.items()))
            MEASURED.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_pages(measured)


if __name__ == "__main__":
    main()
