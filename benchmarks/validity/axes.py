"""Level and power of the test of an axis, a family of statistics, beside those of the critic's headline alone.

* ``level``: real text is split at random into two sides; how often p of the axis is at most .05. Passages of novels of
  150 words, or the texts of a study of ``studies.py``, named behind the critic (``sections:breaks``).
* ``power``: a share of the generated documents has a planted defect (of ``causes.py``, or of `momus.controls` at
  strength .4); how often p of the axis, and p of the headline alone, is at most .05 in the same splits. The share is
  one of `SHARES`, chosen by 24 other splits so that the better of both tests finds it in some .6 of them.
* ``bench``: the same of whole comparisons, from the results that ``causes.py`` has kept in --out.

A critic scores each text once, and a split selects rows. Each split is a line of JSON in --out, and a run resumes
behind the last one.

Run:  python benchmarks/validity/axes.py level|power|bench [--splits 1000] [--critics length,sections:breaks]
      [--out DIR] [--write benchmarks/validity/TABLES.md]
Data: as in ``studies.py`` and ``causes.py``.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import causes
import numpy as np
from bands import resumed
from more_defects import MORE, language_mixing
from null_and_power import level, merged, write_between
from studies import STUDIES, chapters, data
from texts_in_groups import kept

from momus import Corpus, read_corpus
from momus.calibration.cells import SplitJudge, judge_for
from momus.calibration.rates import Rate
from momus.controls import DEFECTS
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import settled
from momus.critic.powers import headline_of
from momus.critic.registry import make_critics
from momus.inference import Rows, axis_test
from momus.numeric.types import Ints
from momus.verdicts.judge import same_columns
from momus.verdicts.statistics import tested_statistics

LEVELS = (
    "length", "type-token", "stopword-share", "symbol-share", "layout", "marks", "rhythm", "repetition", "edges",
    "discourse", "names", "perplexity", "register", "path", "unigram", "rank-frequency", "keyness", "templates",
    "coreference", "topics", "mauve", "sections:sections", "sections:breaks", "passages:passages",
    "consistency:sections", "code-mixing:languages", "diversity:answers", "pcfg:grammar", "distortion:likelihoods",
    "zipf-slope:laws", "heaps:laws", "productivity:laws", "ebeling:ebeling", "long-range:long range",
    "taylor:long chapters",
)  # fmt: skip
PARAMS: dict[str, dict[str, Any]] = {"templates": {"tagger": "spacy"}}
SIZES = ((30, 30), (50, 50), (50, 100), (100, 100), (200, 200))
POOL, FITTED, WORDS, PERMUTATIONS, WIDE = 700, 200, 150, 399, 199
SHARES = (0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.45, 0.7, 1.0)
SIDE, PILOT, PILOT_SEED, WANTED, STRENGTH = 100, 24, 1_000_000, 0.6, 0.4


def silent(text: str, rng: np.random.Generator, others: list[str]) -> str:
    """The text without quotation marks."""
    return re.sub("[\"“”]|''|``", "", text)


def run_on(text: str, rng: np.random.Generator, others: list[str]) -> str:
    """The text with each second end of a sentence as a comma."""
    return re.sub(r"[.] (?=[A-Z])", lambda m: ", " if rng.random() < 0.5 else m.group(), text)


PLANTED = causes.DEFECTS | {
    "no speech": causes.Defect(silent, ("discourse",)),
    "longer sentences": causes.Defect(run_on, ("rhythm",)),
}
OTHERS = (
    "type-token", "stopword-share", "symbol-share", "unigram", "rank-frequency", "templates", "topics", "mauve",
    "sections:sections", "sections:breaks", "passages:passages", "consistency:sections", "code-mixing:languages",
)  # fmt: skip
"""Critics whose defects are those of `momus.controls` and of ``more_defects.py``."""


@dataclass(frozen=True)
class AxisTest:
    """The test of a critic's axis, and of its headline, between rows of two texts that are scored once."""

    statistics: Sequence[Any]
    headline: str
    real: dict[str, Rows]
    generated: dict[str, Rows]

    @classmethod
    def of(cls, critic: Critic[Any], real: Corpus, generated: Corpus | None = None) -> AxisTest:
        """Score a text, and another one whose second half is its first with a defect; without unscored documents."""
        settled(critic, [real] if generated is None else [real, generated])
        scores = critic.score(real)
        others = scores
        if generated is not None:
            others = critic.score(generated)
            others = others.take(np.flatnonzero(np.tile(others.scored.reshape(2, -1).all(axis=0), 2)))
        statistics = [s for s in tested_statistics(critic, list(scores.rows)) if s.decides]
        sides = same_columns(scores.test_rows(), others.test_rows())
        return cls(statistics, headline_of(critic), *({s.rows: side[s.rows] for s in statistics} for side in sides))

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of documents."""
        real, generated = (next(iter(rows.values())).shape[0] for rows in (self.real, self.generated))
        return real, generated

    def p(self, real: Ints, generated: Ints, seed: int, alone: bool = False) -> float | None:
        """p of the axis, or of its headline alone under the same relabellings, for chosen rows; None if undefined."""
        wide = any(rows.shape[1] > 64 for rows in self.real.values())
        p, _, _ = axis_test(
            [s for s in self.statistics if not alone or s.name == self.headline],
            {key: rows[real] for key, rows in self.real.items()},
            {key: rows[generated] for key, rows in self.generated.items()},
            headline=self.headline, permutations=WIDE if wide else PERMUTATIONS, wide=WIDE, seed=seed,
        )  # fmt: skip
        return p if np.isfinite(p) else None


@lru_cache(maxsize=1)
def passages() -> tuple[Corpus, Corpus]:
    """Passages of novels: some to fit on, and some to split."""
    found = [c for d in read_corpus(data() / "litbank" / "novels.jsonl.gz") for c in chapters(d.text, WORDS)]
    texts = [found[i] for i in np.random.default_rng(0).permutation(len(found))[: POOL + FITTED]]
    return Corpus.from_texts(texts[:FITTED], name="fit"), Corpus.from_texts(texts[FITTED:], name="real")


def prepared(label: str, folder: Path) -> tuple[Critic[Any], Corpus, Corpus | None]:
    """A fitted critic, a text to split, and a donor of pieces; of the study that the label names, or passages."""
    name, _, text = label.partition(":")
    params, donor = PARAMS.get(name, {}), None
    if text:
        study = next(s for s in STUDIES if s.name == text)
        texts = study.texts()
        fit, real, donor, params = texts.fit, texts.real, texts.donor, study.params.get(name, {})
        if study.prepare is not None:
            folder.mkdir(parents=True, exist_ok=True)
            params = study.prepare(texts, folder)
    else:
        fit, real = passages()
    (critic,) = make_critics([name], {name: params} if params else {})
    if not isinstance(critic, RunningTextCritic):  # a law is tested without a fit
        critic.fit(fit)
    return critic, real.take(range(min(len(real), POOL))), donor


def rows_of(label: str, folder: Path) -> AxisTest | SplitJudge:
    """What tests any documents of the text of a critic."""
    critic, real, _ = prepared(label, folder)
    if isinstance(critic, RunningTextCritic):
        return judge_for(critic, (real, None), (real, None), PERMUTATIONS, WIDE, 0)
    return AxisTest.of(critic, real)


def levels(label: str, options: Namespace) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """p of the axis in random splits of real text, by size."""
    folder = options.out / label.replace(":", "-").replace(" ", "-")
    missing = any(len(kept(folder / f"{n}-{m}.jsonl")) < options.splits for n, m in options.sizes)
    test = rows_of(label, folder) if missing else None

    def once(k: int, sizes: tuple[int, int]) -> dict[str, Any]:
        law = not isinstance(test, AxisTest)
        usable = np.flatnonzero(test.usable) if law else np.arange(test.sizes[0])
        order = usable[np.random.default_rng([5, k]).permutation(len(usable))]
        sides = order[: sizes[0]], order[sizes[0] : sum(sizes)]
        p = test.test(*sides)[0] if law else test.p(*sides, seed=k)
        return {"axis": p if p is not None and np.isfinite(p) else None}

    cells = {}
    for n, m in options.sizes:
        began = time.process_time()
        cells[n, m] = resumed(folder / f"{n}-{m}.jsonl", options.splits, lambda k, s=(n, m): once(k, s))
        print(label, n, m, level(found(cells[n, m], "axis")), f"{time.process_time() - began:.1f} s", flush=True)
    return cells


def planted(label: str, options: Namespace) -> Iterator[tuple[str, Critic[Any], Corpus, Corpus, Corpus]]:
    """Of each defect of a critic: its name, the fitted critic, a real text, another one, and that with the defect."""
    name = label.partition(":")[0]
    defects = {defect: d for defect, d in PLANTED.items() if name in d.own}
    if defects:
        texts = causes.sample(options.collection, Namespace(documents=options.documents, seed=0, data=data()))
        fit, real, other = (Corpus.from_texts(t, name=n) for t, n in zip(texts, ("fit", "real", "other"), strict=True))
        (critic,) = make_critics([name], {name: PARAMS[name]} if name in PARAMS else {})
        critic.fit(fit)
        for defect, d in defects.items():
            new = causes.planted(texts[2], d, 1.0, np.random.default_rng(0))
            if sum(a != b for a, b in zip(new, texts[2], strict=True)) >= causes.FEWEST:
                yield f"{defect} ({options.collection})", critic, real, other, Corpus.from_texts(new)
    if label in OTHERS:
        critic, whole, donor = prepared(label, options.out / "prepared")
        half = len(whole) // 2
        real, other = whole.take(range(half)), whole.take(range(half, len(whole)))
        controls = [*(DEFECTS | MORE).values(), *([] if donor is None else [language_mixing(donor)])]
        for defect in (d for d in controls if name in d.critics):
            yield f"{defect.name}", critic, real, other, defect.plant(other, STRENGTH, 0)


def powers(label: str, options: Namespace) -> dict[str, tuple[float, list[dict[str, Any]]]]:
    """p of the axis and of the headline under each defect of a critic, and the share of documents that have it."""
    results = {}
    for defect, critic, real, other, defective in planted(label, options):
        path = options.out / label.replace(":", "-") / f"{re.sub('[^a-z0-9]+', '-', defect)}.jsonl"
        test = None
        if len(kept(path)) < options.splits:
            both = [
                *other,
                *(replace(d, id=f"{d.id} planted", prompt=d.prompt and f"{d.prompt} planted") for d in defective),
            ]
            test = AxisTest.of(critic, real, Corpus.from_documents(both, "generated"))
        results[defect] = of_defect(path, test, options.splits)
        print(row(label, defect, *results[defect]), flush=True)
    return results


def of_defect(path: Path, test: AxisTest | None, splits: int) -> tuple[float, list[dict[str, Any]]]:
    """Choose the share of documents that have a defect, and split so often."""

    def once(k: int, share: float) -> dict[str, Any]:
        assert test is not None
        n, m = test.sizes[0], test.sizes[1] // 2
        rng = np.random.default_rng([7, k])
        a, b = rng.permutation(n)[:SIDE], rng.permutation(m)[:SIDE]
        b = np.where(rng.random(len(b)) < share, b + m, b)  # the planted documents stand behind the others
        return {"axis": test.p(a, b, k), "headline": test.p(a, b, k, alone=True), "share": share}

    done = kept(path)
    share = done[0]["share"] if done else None
    if share is None:
        low, high = 0, len(SHARES) - 1
        while low < high:  # the smallest share that is found
            middle = (low + high) // 2
            pilot = [once(PILOT_SEED + k, SHARES[middle]) for k in range(PILOT)]
            enough = max(sum((r[key] or 1.0) <= 0.05 for r in pilot) for key in ("axis", "headline")) >= WANTED * PILOT
            low, high = (low, middle) if enough else (middle + 1, high)
        share = SHARES[low]
    return share, resumed(path, splits, lambda k: once(k, share))


def found(rows: Sequence[dict[str, Any]], key: str) -> Rate:
    """How often p is at most .05."""
    known = [r[key] for r in rows if r[key] is not None]
    return Rate.of(sum(p <= 0.05 for p in known), len(known))


def row(label: str, defect: str, share: float, rows: Sequence[dict[str, Any]]) -> str:
    """One line of the table of power."""
    axis, headline = found(rows, "axis"), found(rows, "headline")
    rates = " | ".join(f"{r.share:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in (axis, headline))
    ratio = f"{axis.share / headline.share:.2f}" if headline.share else "–"
    return f"| {label.replace(':', ', ')}: {defect} | {share:g} | {len(rows):,} | {rates} | {ratio} |"


def of_bench(folder: Path) -> str:
    """How often axes and headlines are found in the kept runs of ``causes.py``, over collections and strengths."""
    counts: dict[str, list[int]] = {}
    for path in [p for strength in causes.STRENGTHS for p in sorted(folder.glob(f"*-{strength}-*.json"))]:
        for defect, run in json.loads(path.read_text(encoding="utf-8")).items():
            for critic in causes.DEFECTS[defect].own if defect in causes.DEFECTS else ():
                rows = run["critics"].get(critic, ())
                of_axis = [r["p_axis"] for r in rows if r["p_axis"] is not None]
                if of_axis:
                    axis = min(of_axis) <= 0.05
                    headline = any(r["headline"] and (r["p"] is not None and r["p"] <= 0.05) for r in rows)
                    new = (1, axis, headline, axis and not headline, headline and not axis)
                    counts[critic] = [a + b for a, b in zip(counts.get(critic, [0] * 5), new, strict=True)]
    counts |= {"**all**": [sum(column) for column in zip(*counts.values(), strict=True)]}
    lines = ["| critic | runs | axis found | headline found | axis alone | headline alone |", "|---|" + "---:|" * 5]
    return "\n".join([*lines, *(f"| {c} | {' | '.join(map(str, n))} |" for c, n in counts.items())])


def tables(options: Namespace) -> dict[str, str]:
    """Measure what is missing, and return the table of levels or of power by its mark."""
    if options.what == "bench":
        return {"axes in the bench": of_bench(options.out)}
    labels = options.critics.split(",") if options.critics else LEVELS
    if options.what == "level":
        lines = [
            "| critic (texts) | " + " | ".join(f"{n} \\| {m}" for n, m in SIZES) + " |",
            "|---|" + "---:|" * len(SIZES),
        ]
        for label in labels:
            name, _, text = label.partition(":")
            cells = levels(label, options)
            shown = [level(found(cells[s], "axis")) if s in cells else "not measured" for s in SIZES]
            lines.append(f"| {name} ({text or 'passages'}) | {' | '.join(shown)} |")
        return {"levels of axes": "\n".join(lines)}
    heads = "| critic: defect (texts) | share | splits | axis | headline alone | ratio |\n|---|" + "---:|" * 5
    lines = [row(label, defect, *r) for label in labels for defect, r in powers(label, options).items()]
    return {"power of axes": "\n".join([heads, *lines])}


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("level", "power", "bench"))
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--critics", help="comma-separated; default: all")
    parser.add_argument("--sizes", default=",".join(f"{n}x{m}" for n, m in SIZES))
    parser.add_argument("--collection", default="novels", choices=tuple(causes.COLLECTIONS))
    parser.add_argument("--documents", type=int, default=200, help="of each text in which defects are planted")
    parser.add_argument("--out", type=Path, default=Path("axes-study"))
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    options.sizes = [tuple(map(int, size.split("x"))) for size in options.sizes.split(",")]
    for name, table in tables(options).items():
        print(table)
        if options.write is not None:
            old = options.write.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")[2]
            write_between(options.write, name, merged(old.partition(f"\n<!-- end of {name} -->")[0], table))


if __name__ == "__main__":
    main()
