"""The atlas of human bands: how far human authors, books and pages lie apart on every statistic, by register.

A register is a collection of human text with groups; half of the groups fit a critic where no other text does, and the
others are scored. Laws of running text are measured on two pieces of 60,000 tokens of each novel. What was measured is
kept in ``atlas.json`` beside this file; what it says of a register, and of text of any, is estimated from all
statistics of a kind (``registers.py``). ``--critics ""`` measures nothing, and estimates that again.

Run:  python benchmarks/validity/atlas.py [--critics a,b] [--out DIR] [--write core/momus/verdicts/atlas.json]
Data: ``litbank``, ``sectioned`` and ``code-mixing`` under MOMUS_DATA, else ../shared/data; the demo's texts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from registers import Registers
from studies import chapters, data

from momus import Corpus, read_corpus
from momus.critic import Critic, RunningTextCritic
from momus.critic.registry import make_critics
from momus.demo import demo_path
from momus.inference.intervals import hedges_factor
from momus.inference.spread import Spread, of_values
from momus.laws.law import shortened
from momus.text.running import RunningText
from momus.verdicts.band import LEAST_GROUPS, HumanBands, kind_of
from momus.verdicts.statistics import all_statistics

PASSAGES, WORDS, LEAST_WORDS = 16, 250, 60
TOKENS = 60_000
"""Tokens of each of the two pieces of a novel that a law is measured on."""
MEASURED = Path(__file__).with_name("atlas.json")
NO_UNIT = 3.0
"""Standard deviation of the logarithms of bands of statistics without a common unit."""
SECONDS = 1500
"""Longest time for a critic and a register."""
CRITICS = (
    *("length", "unigram", "type-token", "stopword-share", "symbol-share", "rank-frequency", "rhythm", "repetition"),
    *("discourse", "keyness", "topics", "mauve", "sections", "consistency"),
    *("marks", "layout", "edges", "names", "register", "path", "faults"),
)
LAWS = ("zipf-slope", "heaps", "productivity", "taylor", "ebeling", "long-range")
CUT = {"length": ("novels",)}
"""Critics of what the passages of a register were cut by."""
Groups = list[tuple[str, list[str]]]
SOURCES = {
    "novels": ("LitBank: 100 novels of Project Gutenberg", "novel", f"passages of {WORDS} words or more"),
    "proposals": ("Ethereum, Rust and Swift proposals", "proposal", f"sections of {LEAST_WORDS} words or more"),
    "manuals": ("English manual pages of Linux", "page", f"paragraphs in a row, {LEAST_WORDS} words or more"),
    "documentation": ("docstrings of Python packages (the demo)", "module", "docstrings"),
}


def novels() -> Groups:
    """Up to 16 passages of each novel, evenly spaced, without its first 2,000 words."""
    found = []
    for novel in read_corpus(data() / "litbank" / "novels.jsonl.gz"):
        cut = chapters(novel.text, WORDS)[2000 // WORDS :]
        places = np.unique(np.linspace(0, len(cut) - 1, min(PASSAGES, len(cut))).astype(int))
        found.append((novel.id, [cut[i] for i in places]))
    return found


def proposals() -> Groups:
    """Sections of each proposal."""
    found = []
    for name in ("eips", "rust-rfcs", "swift-proposals"):
        with gzip.open(data() / "sectioned" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        found += [(row["id"], [s for s in row["sections"] if len(s.split()) >= LEAST_WORDS]) for row in rows]
    return found


def manuals() -> Groups:
    """Paragraphs of each page, joined until they have enough words."""
    with gzip.open(data() / "code-mixing" / "manpages-aligned_en_de_fr_es.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pages: dict[str, list[str]] = {}
    for row in rows:
        pages.setdefault(row["page"], []).append(row["en"])
    return [(page, chapters("\n\n".join(parts), LEAST_WORDS)) for page, parts in pages.items()]


def texts(register: str) -> tuple[Corpus, Corpus]:
    """What critics are fitted on, and what is scored: groups with two documents or more."""
    if register == "documentation":
        return read_corpus(demo_path("real.jsonl.gz")), read_corpus(demo_path("fit.jsonl.gz"))
    groups = [g for g in {"novels": novels, "proposals": proposals, "manuals": manuals}[register]() if len(g[1]) > 1]
    order = np.random.default_rng(0).permutation(len(groups))
    cut = max(len(groups) // 3, 1)

    def corpus(part: Sequence[int], name: str) -> Corpus:
        rows = [(f"{groups[i][0]} {k}", groups[i][0], text) for i in part for k, text in enumerate(groups[i][1])]
        ids, names, found = zip(*rows, strict=True)
        return Corpus.from_texts(found, ids=ids, groups=names, name=name)

    return corpus(order[:cut].tolist(), "fit"), corpus(order[cut:].tolist(), register)


def of_critic(critic: Critic[Any], fit: Corpus, text: Corpus) -> Iterator[tuple[str, str, Spread]]:
    """The statistics of a critic, their kinds, and their spreads in units of the effect."""
    critic.fit(fit)
    scores = critic.score(text)
    rows, bands = scores.test_rows(), HumanBands(scores.scored_groups)
    for s in all_statistics(critic, list(scores.rows)):
        spread = bands.of(s, rows[s.rows])
        if spread is None:
            continue
        unit = 1.0
        if s.kind == "value" and s.effect == "hedges_g":
            table, ones = np.asarray(rows[s.rows]), np.ones(len(np.asarray(rows[s.rows])))
            unit = 1 / hedges_factor((table, table), (ones, ones))[0]
        if unit > 0:
            value, low, high = (x / unit for x in (spread.value, spread.low, spread.high))
            yield s.name, kind_of(s), replace(spread, value=value, low=low, high=high)


def of_laws(critic: RunningTextCritic[Any], fit: Corpus) -> Iterator[tuple[str, str, Spread]]:
    """The laws of a critic on two pieces of each long novel."""
    critic.fit(fit)
    values: dict[str, list[list[float]]] = {law.name: [] for law in critic.laws()}
    for novel in read_corpus(data() / "litbank" / "novels.jsonl.gz"):
        words = novel.text.split(" ")
        if len(words) < 2.5 * TOKENS:
            continue
        half = len(words) // 2
        pieces = [
            critic.score(Corpus.from_texts([" ".join(part)], name=novel.id)).summary
            for part in (words[:half], words[half:])
        ]
        for law in critic.laws():
            of_law: list[float] = []
            for piece in pieces:
                assert isinstance(piece, RunningText)
                try:
                    of_law.append(float(law.function(shortened(piece, TOKENS, 1, law.align))))
                except ValueError:
                    of_law.append(float("nan"))
            values[law.name].append(of_law)
    for name, found in values.items():
        spread = of_values(np.array(found)[None])
        if spread is not None and spread.value > 0 and spread.groups >= LEAST_GROUPS:
            yield name, "", spread


def measured(name: str, register: str, fit: Corpus, text: Corpus) -> list[dict[str, Any]]:
    """Rows of one critic on one register."""
    (critic,) = make_critics([name], {})
    spreads = of_laws(critic, fit) if isinstance(critic, RunningTextCritic) else of_critic(critic, fit, text)
    return [
        {
            "critic": name,
            "register": register,
            "statistic": s,
            "kind": kind,
            "band": _rounded((x.value, x.low, x.high), x.groups),
        }
        for s, kind, x in spreads
    ]


def with_limit(call: Callable[[], list[dict[str, Any]]], seconds: int) -> list[dict[str, Any]] | str:
    """The result of a call; or why there is none, such as that it took too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return call()
    except Exception as error:  # a critic may lack a package or a model
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)


def content(rows: Sequence[dict[str, Any]], registers: dict[str, Any]) -> dict[str, Any]:
    """The atlas: bands by critic, statistic and register, where any other register has no name; and by kind."""
    by: dict[str, dict[tuple[str, str], dict[str, list[float]]]] = {}
    for row in rows:
        by.setdefault(row["kind"], {}).setdefault((row["critic"], row["statistic"]), {})[row["register"]] = row["band"]
    bands: dict[str, dict[str, dict[str, list[float]]]] = {}
    kinds: dict[str, dict[str, list[float]]] = {}
    for kind, statistics in by.items():
        # statistics without a common unit say nothing of each other's size
        model = Registers.fitted([list(of.values()) for of in statistics.values()], None if kind else NO_UNIT)
        for (critic, statistic), of in statistics.items():
            measured, groups = list(of.values()), [int(m[3]) for m in of.values()]
            found = {"": _rounded(model.band(measured), sum(groups))}
            found |= {r: _rounded(model.band(measured, i), groups[i]) for i, r in enumerate(of)}
            bands.setdefault(critic, {})[statistic] = found
        if kind:
            kinds[kind] = {"": _rounded(model.band([]), max(r["groups"] for r in registers.values()))}
        print(f"{kind or 'without a unit'}: {len(statistics)} statistics, {model}", flush=True)
    about = "Human bands in units of the effect: [value, low, high, groups], by benchmarks/validity/atlas.py"
    return {"about": about, "registers": registers, "bands": bands, "kinds": kinds}


def _rounded(band: Sequence[float], groups: int) -> list[float]:
    return [*(float(f"{x:.4g}") for x in band), groups]


def main() -> None:
    """Measure what is missing, and write the atlas."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--critics", default=",".join((*CRITICS, *LAWS)), help="rows of others are left as they are")
    parser.add_argument("--out", type=Path, default=Path("runs/atlas"))
    parser.add_argument("--write", type=Path, help="write the atlas here: core/momus/verdicts/atlas.json")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    critics = [name for name in a.critics.split(",") if name]
    registers: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for register, (source, group, document) in SOURCES.items():
        fit, text = texts(register)
        names = [d.group for d in text]
        registers[register] = {
            "source": source,
            "group": group,
            "document": document,
            "groups": len(set(names)),
            "documents": len(names),
            "median_words": float(np.median([len(d.text.split()) for d in text])),
        }
        print(register, registers[register], flush=True)
        for critic in critics:
            if register in CUT.get(critic, ()) or (critic in LAWS and register != "novels"):
                continue
            path, began = a.out / f"{critic}.{register}.json", time.perf_counter()
            if not path.exists():
                found = with_limit(partial(measured, critic, register, fit, text), SECONDS)
                print(f"  {critic}: {found if isinstance(found, str) else len(found)}", end=" ")
                print(f"({time.perf_counter() - began:.0f} s)", flush=True)
                path.write_text(json.dumps(found))
            kept = json.loads(path.read_text())
            rows += [] if isinstance(kept, str) else kept
    # what was measured of others stays
    kept = [r for r in json.loads(MEASURED.read_text(encoding="utf-8")) if r["critic"] not in critics]
    rows = sorted([*kept, *rows], key=lambda r: (r["critic"], r["statistic"], r["register"]))
    if a.write:
        lines = ",\n".join(map(json.dumps, rows))
        MEASURED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        a.write.write_text(json.dumps(content(rows, registers), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
