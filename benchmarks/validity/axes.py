"""Level and power of the test of an axis, a family of statistics, beside those of the critic's headline alone.

* Level: passages of novels of 150 words are split at random into two sides; how often p of the axis, and p of the
  headline, is at most .05.
* Power: one side has a planted defect; how often each p is at most .05.

A critic scores each text once, and a split selects rows. Each split is a line of JSON in --out, and a run resumes
behind the last one.

``--cells level`` measures the sizes alone, ``--cells power`` the defects alone; the table then keeps the other rows.

Run:  python benchmarks/validity/axes.py [--splits 200] [--critics length,rhythm] [--cells level,power] [--out DIR]
      [--write benchmarks/validity/TABLES.md]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import causes
import numpy as np
from bands import resumed
from studies import chapters, data

from momus import Corpus, read_corpus
from momus.calibration.rates import Rate
from momus.controls import DEFECTS
from momus.critic import Critic
from momus.critic.hooks import SettlingMixin
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.verdicts.judge import judge

CRITICS = (
    "length", "type-token", "stopword-share", "symbol-share", "layout", "marks", "rhythm", "repetition", "edges",
    "discourse", "names", "perplexity", "register", "path", "zipf-slope", "productivity", "heaps", "rank-frequency",
    "unigram", "keyness", "templates",
)  # fmt: skip
"""From fast to slow."""
PARAMS: dict[str, dict[str, Any]] = {"templates": {"tagger": "spacy"}}
SIZES = ((30, 30), (50, 50), (50, 100), (100, 100), (200, 200))
POOL, FITTED, WORDS, PERMUTATIONS = 700, 200, 150, 999
MARKERS = "<!-- axes -->", "<!-- end of axes -->"


def looped(text: str, rng: np.random.Generator) -> str:
    """The text with one of its sentences six times."""
    sentences = re.split(r"(?<=[.!?]) ", text)
    at = int(rng.integers(len(sentences)))
    return " ".join([*sentences[:at], *[sentences[at]] * 6, *sentences[at:]])


def joined(text: str, rng: np.random.Generator) -> str:
    """The text with each second end of a sentence as a comma."""
    return re.sub(r"[.] (?=[A-Z])", lambda m: ", " if rng.random() < 0.5 else m.group(), text)


def silent(text: str, rng: np.random.Generator) -> str:
    """The text without quotation marks."""
    return re.sub("[\"“”]|''|``", "", text)


def headed(text: str, rng: np.random.Generator) -> str:
    """The text behind a heading."""
    return f"# The {text}"


OWN: dict[str, Callable[[str, np.random.Generator], str]] = {
    "six copies of a sentence": looped, "longer sentences": joined, "no speech": silent, "a heading": headed,
}  # fmt: skip
PLANTED: dict[str, Sequence[tuple[str, float]]] = {
    "length": (("length-truncation", 0.02), ("stopword-inflation", 0.03)),
    "type-token": (("vocabulary-truncation", 0.4), ("stopword-inflation", 0.05)),
    "stopword-share": (("stopword-inflation", 0.03),),
    "symbol-share": (("symbol-inflation", 0.05),),
    "unigram": (("stopword-inflation", 0.02), ("vocabulary-truncation", 0.5)),
    "repetition": (("repetition-loop", 0.01), ("six copies of a sentence", 0.05)),
    "rhythm": (("rhythm-flattening", 0.25), ("longer sentences", 0.3)),
    "discourse": (("connective-inflation", 0.05), ("no speech", 0.3)),
    "keyness": (("stock-phrases", 0.003), ("a heading", 0.15)),
    "perplexity": (("word-shuffle", 0.03),),
    "edges": (("a heading", 0.12), ("moral at the end", 0.2)),
    "layout": (("a heading", 0.12), ("a list", 0.08)),
    "marks": (("em dashes", 0.2), ("quotation marks removed", 0.3)),
    "names": (("the same five names", 0.1), ("the same five names", 0.2)),
    "register": (("present tense for past", 0.2), ("hedges inserted", 0.4)),
    "path": (("sentences shuffled", 0.5), ("second half from another text", 0.3)),
}
"""Defects of each critic's axis, and the share of documents (for `OWN` and those of `causes.py`), or the strength, that
neither always finds."""


def planted(corpus: Corpus, defect: str, strength: float) -> Corpus:
    """Plant a defect; `OWN` ones in a random share of the documents."""
    rng = np.random.default_rng(1)
    if defect in causes.DEFECTS:
        texts = causes.planted([d.text for d in corpus], causes.DEFECTS[defect], strength, rng)
        return Corpus.from_texts(texts, [d.id for d in corpus], name="planted")
    if defect not in OWN:
        return DEFECTS[defect].plant(corpus, strength).corpus
    chosen = rng.random(len(corpus)) < strength
    texts = [OWN[defect](d.text, rng) if c else d.text for d, c in zip(corpus, chosen, strict=True)]
    return Corpus.from_texts(texts, [d.id for d in corpus], name="planted")


def split(critic: Critic[Any], scores: tuple[Scores, Scores], sizes: tuple[int, int], k: int) -> dict[str, Any]:
    """One split: p of the axis and of the headline, and whether the leading row agrees with its own interval."""
    order = np.random.default_rng([5, k]).permutation(len(scores[0]))
    a, b = scores[0].take(order[: sizes[0]]), scores[1].take(order[sizes[0] : sum(sizes)])
    rows = judge(critic, a, b, paired=False, permutations=PERMUTATIONS, resamples=0, seed=k)
    headline, leading = (next((v for v in rows if getattr(v, name)), None) for name in ("headline", "leads"))
    return {
        "axis": None if leading is None else leading.p_axis,
        "headline": None if headline is None else headline.p,
        "leads": None if leading is None else leading.statistic,
    }


def rate(rows: Sequence[dict[str, Any]], key: str) -> str:
    """How often p is at most .05, with its 95 % interval."""
    known = [r[key] for r in rows if r[key] is not None]
    found = Rate.of(sum(p <= 0.05 for p in known), len(known))
    return f"{found.share:.3f} [{found.low:.3f}, {found.high:.3f}]" if known else "–"


def merged(table: str, lines: Sequence[str]) -> str:
    """A table with new rows in the place of those of the same critic and texts; its others stand behind them."""
    head, old = table.strip().split("\n")[:2], table.strip().split("\n")[2:]
    measured = {_key(line) for line in lines}
    rows = [*lines, *(line for line in old if _key(line) not in measured)]
    critics = list(dict.fromkeys(_key(line)[0] for line in rows))
    return "\n".join(["", *head, *sorted(rows, key=lambda line: critics.index(_key(line)[0])), ""])


def _key(line: str) -> tuple[str, str]:
    """Critic and texts of a row."""
    critic, texts = line.split(" | ")[:2]
    return critic.strip("| "), texts


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--critics", default=",".join(CRITICS))
    parser.add_argument("--cells", default="level,power", help="level, power, or both")
    parser.add_argument("--out", type=Path, default=Path("axes-study"))
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    found = [c for d in read_corpus(data() / "litbank" / "novels.jsonl.gz") for c in chapters(d.text, WORDS)]
    order = np.random.default_rng(0).permutation(len(found))[: POOL + FITTED]
    texts = [found[i] for i in order]
    fit, pool = Corpus.from_texts(texts[:FITTED]), Corpus.from_texts(texts[FITTED:], name="real")
    lines: list[str] = []
    for name in options.critics.split(","):
        (critic,) = make_critics([name], PARAMS)
        critic.fit(fit)
        cells: list[tuple[str, Corpus, tuple[int, int]]] = []
        if "level" in options.cells:
            cells += [(f"{n} | {m}", pool, (n, m)) for n, m in SIZES]
        if "power" in options.cells:
            cells += [(f"{d}, {s:g}", planted(pool, d, s), (100, 100)) for d, s in PLANTED.get(name, ())]
        for what, other, sizes in cells:
            if isinstance(critic, SettlingMixin):
                critic.settle([pool, other])
            scores = critic.score(pool), critic.score(other)

            def once(k: int, critic: Any = critic, scores: Any = scores, sizes: Any = sizes) -> dict[str, Any]:
                return split(critic, scores, sizes, k)

            path = options.out / name / f"{re.sub('[^a-z0-9]+', '-', what)}.jsonl"
            rows = resumed(path, options.splits, once)
            texts_of = what.replace("|", "\\|")
            rates = f"{rate(rows, 'axis')} | {rate(rows, 'headline')}"
            lines.append(f"| {name} | {texts_of} | {len(rows):,} | {rates} | – |")
            print(lines[-1], flush=True)
    if options.write is not None:
        page = options.write.read_text(encoding="utf-8")
        head, rest = page.split(MARKERS[0])
        table, tail = rest.split(MARKERS[1])
        options.write.write_text(f"{head}{MARKERS[0]}{merged(table, lines)}{MARKERS[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
