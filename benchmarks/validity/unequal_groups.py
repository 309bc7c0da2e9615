"""Distances where groups hold unequal numbers of documents: levels and power of the tests with random signs.

``narrow``, ``words``, ``others`` and ``power`` draw documents in groups, with correlated values (for KS and the mean)
and bursts of words (for the total variation distance and the Higher Criticism of terms), and run the tests of
`momus.inference` with 199 draws at level 0.05. For comparison, whole groups are relabelled as if they were of one size.
``texts`` compares passages of novels through `momus.compare`: one source, of which the generated side has five passages
for each prompt that real text lacks; and 20 novels of ten passages with group ids against 200 passages without, 20
words shorter. ``independent``: where documents do not depend on their groups, power of the exact permutation test of
documents beside that of the test by groups.

Each cell is kept in --out as soon as it is measured, and not measured again there: an interrupted run resumes, and
tables are of one run. ``--quick`` has 20 replications. ``weights`` is the power of the squared differences under other
weights of the columns.

Run:  python benchmarks/validity/unequal_groups.py narrow words others power weights independent texts --out FOLDER
      [--quick] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from grouped_texts import Pool, passages, pool_of
from null_and_power import write_between
from scipy import sparse
from studies import data

from momus import Corpus, compare
from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, mean_gap, supremum, total_variation
from momus.inference import Design, Rows, multipliers
from momus.inference.contrast import contrast_of
from momus.inference.pvalues import Prepared, contrasts, p_value
from momus.inference.samples import Samples, Tables
from momus.inference.weights import random_labels, random_signs
from momus.numeric.types import Ints
from momus_critics.mauve import gap
from momus_critics.prose.examples import higher_criticism

DRAWS, ALPHA = 199, 0.05
BINS, WORDS, TERMS, REGIONS = 64, 100, 200, 30
"""Bins of the value of a document, words in a document, terms (columns) of Higher Criticism, regions of MAUVE."""
QUANTILES = 1 << 16
CRITICS = ("unigram", "length")
EXPONENTS = (0.0, 0.25, 0.5)
RARE = {0: 1, 50: 2, 300: 5}
"""Ranks beyond which words are swapped, and by how much more often than all of them."""
BURSTS = 0.3
"""Share of the words of a document that come from the topics of its group and its own."""
Groups = tuple[tuple[int, int], ...]
"""Numbers of groups and of documents in each, such as ((100, 1), (20, 5))."""


@dataclass(frozen=True)
class Cell:
    """Groups of both texts, and the part of the variance (of the bursts of words) that documents of a group share."""

    real: Groups
    generated: Groups
    icc: float

    @property
    def label(self) -> str:
        """As in the table: units × documents of both texts, and ICC."""
        real, generated = ("+".join(f"{k}×{n}" for k, n in side) for side in (self.real, self.generated))
        return f"{real} \\| {generated} | {self.icc:g}"


CELLS = (
    Cell(((100, 1),), ((100, 5),), 0.1),
    Cell(((40, 5),), ((40, 1),), 0.1),
    Cell(((20, 10),), ((20, 1),), 0.1),
    Cell(((20, 10),), ((100, 1),), 0.1),
    Cell(((100, 1),), ((100, 5),), 0.0),
    Cell(((20, 10),), ((200, 1),), 0.0),
    Cell(((20, 10),), ((200, 1),), 0.1),
    Cell(((20, 10),), ((200, 1),), 0.5),
    Cell(((30, 1), (10, 10)), ((40, 1),), 0.1),
    Cell(((50, 1), (50, 5)), ((50, 1), (50, 5)), 0.5),
    Cell(((15, 1), (5, 10)), ((20, 5),), 0.5),
    Cell(((100, 1), (20, 5)), ((30, 10),), 0.1),
    Cell(((20, 1),), ((100, 5),), 0.1),
    Cell(((100, 1), (100, 5)), ((200, 1),), 0.1),
)
SHIFTED = ((0, 0.3), (2, 0.8), (3, 0.4), (6, 0.4), (8, 0.6), (9, 0.4), (11, 0.4))
"""Cells whose power is measured, and the shift of the value in standard deviations."""
INDEPENDENT = {4: 0.06, 5: 0.08}
"""Cells whose documents are independent, and the share of generated words that become another one there."""
SWAPPED = {0: 0.06, 2: 0.12, 3: 0.08, 6: 0.08, 8: 0.1, 9: 0.06, 11: 0.06}
"""Share of generated words that become another one, by cell: an even word the odd one after it."""
STATISTICS = (
    Statistic("mean", "value", "value", mean),
    Statistic("KS", "bins", "distance", kolmogorov_smirnov, ties=mean_gap),
    Statistic("TVD, V = 50", "few words", "distance", total_variation),
    Statistic("TVD, V = 2,000", "words", "distance", total_variation),
    Statistic("supremum, V = 2,000", "words", "distance", supremum),
    Statistic("Higher Criticism", "terms", "distance", higher_criticism, uneven="itself"),
    Statistic("1 − MAUVE", "regions", "distance", gap),
    Statistic("mean of swapped words", "swapped", "value", mean),
)
NARROW, WORDY, OTHERS = STATISTICS[:2], STATISTICS[3:4], (STATISTICS[2], *STATISTICS[4:7])
"""Statistics that are cheap to draw and test; the distance of many words; others, whose level is that of some cells."""
RELABELLED = ("KS",)
"""Statistics that are also tested by relabelling whole groups."""


@dataclass(frozen=True)
class Drawn:
    """Rows of one text by key, and the group of each document."""

    rows: dict[str, Rows]
    groups: Ints


def draw(
    rng: np.random.Generator, sides: Groups, icc: float, shift: float = 0.0, swapped: float = 0.0, wide: bool = True
) -> Drawn:
    """Draw one text.

    Parameters
    ----------
    wide
        Whether to draw more rows than those of `NARROW`.
    shift
        Added to the values, whose variance is 1.
    swapped
        Share of the words that become another one.
    """
    sizes = np.concatenate([np.full(k, n) for k, n in sides])
    groups = np.repeat(np.arange(len(sizes)), sizes)
    n = len(groups)
    values = np.sqrt(icc) * rng.normal(size=len(sizes))[groups] + np.sqrt(1 - icc) * rng.normal(size=n) + shift
    at = np.clip(((values + 4) / 8 * BINS).astype(np.int64), 0, BINS - 1)
    rows: dict[str, Rows] = {
        "value": np.column_stack([values, np.ones(n)]),
        "bins": _counts(np.arange(n), at, n, BINS),
    }
    if not wide:
        return Drawn(rows, groups)
    # lengths are log-normal, with a mean of about `WORDS`
    owner = np.repeat(np.arange(n), np.maximum(rng.poisson(WORDS * np.exp(0.4 * rng.normal(size=n) - 0.08)), 5))
    for key, v in (("few words", 50), ("words", 2000)):
        words = _words(rng, owner, groups, v, icc)
        moved = (rng.random(len(words)) < swapped) & (words % 2 == 0)
        words = np.where(moved, words + 1, words)
        rows[key] = _counts(owner, words, n, v)
    rows["swapped"] = np.column_stack([np.bincount(owner, words % 2, n), np.bincount(owner, minlength=n)])
    few = np.asarray(rows["words"][:, :TERMS].toarray() > 0, dtype=np.float64)
    rows["terms"] = sparse.csr_array(np.column_stack([np.ones(n), few]))
    of_group = rng.integers(0, REGIONS, len(sizes))[groups]
    region = np.where(rng.random(n) < icc, of_group, rng.integers(0, REGIONS, n))
    region = np.where(rng.random(n) < 2 * swapped, region // 2, region)
    rows["regions"] = _counts(np.arange(n), region, n, REGIONS)
    return Drawn(rows, groups)


def _counts(rows: Ints, columns: Ints, n: int, v: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, v))


@lru_cache(maxsize=4)
def _zipfian(v: int) -> Ints:
    """Quantiles of a Zipf–Mandelbrot law of v words, int64 (QUANTILES,)."""
    p = np.cumsum(1 / (np.arange(v) + 5.0))
    return np.searchsorted(p / p[-1], (np.arange(QUANTILES) + 0.5) / QUANTILES)


def _words(rng: np.random.Generator, owner: Ints, groups: Ints, v: int, icc: float) -> Ints:
    """Zipfian words; a share of them is moved round by the topic of the document or of its group, (tokens,)."""
    words = _zipfian(v)[rng.integers(0, QUANTILES, len(owner))]
    of_group = rng.integers(0, v, groups.max() + 1)[groups][owner]
    of_document = rng.integers(0, v, len(groups))[owner]
    topic = np.where(rng.random(len(owner)) < icc, of_group, of_document)
    return np.asarray(np.where(rng.random(len(owner)) < BURSTS, (words + topic) % v, words), dtype=np.int64)


def p_values(
    cell: Cell, seed: int, statistics: Sequence[Statistic], shift: float = 0.0, swapped: float = 0.0
) -> dict[str, float]:
    """p-values of one pair of texts, by statistic; those of relabelled groups too."""
    rng, wide = np.random.default_rng([seed, CELLS.index(cell)]), any(s not in NARROW for s in statistics)
    real = draw(rng, cell.real, cell.icc, wide=wide)
    generated = draw(rng, cell.generated, cell.icc, shift, swapped, wide)
    design = Design.clusters(real.groups, generated.groups)
    p = {}
    for s in statistics:
        samples = Samples(Tables.of(real.rows[s.rows], generated.rows[s.rows]), design)
        contrast = contrast_of(s, samples)
        draws = random_signs if contrast.signed else random_labels
        null = contrast.under(draws(design, seed, 0, DRAWS), None)
        two_sided = s.kind == "value"
        here, null = (abs(contrast.here), np.abs(null)) if two_sided else (contrast.here, null)
        p[s.name] = p_value("distance", here, null, exact=False)
        if s.name in RELABELLED:
            p[f"{s.name}, relabelled"] = relabelled(s, samples)
    return p


def relabelled(s: Statistic, samples: Samples) -> float:
    """p-value of a distance if whole groups were relabelled, whatever their sizes."""
    null = contrasts(s, Prepared(*samples.pooled(random_labels(samples.design, 0, 0, DRAWS))))
    here = float(contrasts(s, Prepared(*samples.observed))[0])
    return p_value("distance", here, null, exact=False)


def rates(
    cell: Cell, replications: int, statistics: Sequence[Statistic], shift: float = 0.0, swapped: float = 0.0
) -> dict[str, float]:
    """Share of pairs of texts that each test rejects."""
    found = [p_values(cell, seed, statistics, shift, swapped) for seed in range(replications)]
    return {name: sum(p[name] <= ALPHA for p in found) / replications for name in found[0]}


@dataclass(frozen=True)
class Kept:
    """Results by name in a folder, which are computed where they are missing."""

    folder: Path
    part: str

    def __call__(self, name: str, compute: Callable[[], dict[str, float]]) -> dict[str, float]:
        """The result of a name."""
        path = self.folder / f"{self.part} {re.sub('[^0-9a-z.]+', '-', name.lower())}.json"
        if not path.exists():
            began, result = time.perf_counter(), compute()
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result), encoding="utf-8")
            print(f"{path.stem}: {time.perf_counter() - began:.0f} s", flush=True)
        kept: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
        return kept


def levels(kept: Kept, replications: int, statistics: Sequence[Statistic], cells: Sequence[Cell] = CELLS) -> str:
    """Level of each test."""
    found = {
        cell: kept(f"{cell.label} {replications}", lambda c=cell: rates(c, replications, statistics)) for cell in cells
    }
    names = list(found[cells[0]])
    return "\n".join(
        [
            f"Level at 0.05, R = {replications:,}:",
            "",
            f"| real \\| generated | ICC | {' | '.join(names)} |",
            "|---|---:|" + "---:|" * len(names),
            *(f"| {cell.label} | {' | '.join(f'{r[n]:.3f}' for n in names)} |" for cell, r in found.items()),
        ]
    )


def weights(kept: Kept, replications: int) -> str:
    """Power of the squared differences for weights of columns of share π in proportion to 1/π^exponent, (same draws).

    Words are swapped in proportion to their shares, or only those of a rank beyond some number, and more of these.
    """
    lines = []
    for number, swapped in SWAPPED.items():
        shares = []
        for first, times in RARE.items():
            name = f"{CELLS[number].label} beyond {first} {replications}"
            r = kept(name, lambda n=number, k=first, s=swapped * times: of_weights(CELLS[n], s, k, replications))
            shares.append(" / ".join(f"{x:.2f}" for x in r.values()))
        lines.append(f"| {CELLS[number].label} | {swapped:g} | {' | '.join(shares)} |")
    heads = " | ".join(f"words beyond the {k} most frequent" if k else "all words" for k in RARE)
    exponents = " / ".join(f"{e:g}" for e in EXPONENTS)
    return "\n".join(
        [
            f"Power of squared differences, V = 2,000, by exponent of the weights ({exponents}), R = {replications:,}:",
            "",
            f"| real \\| generated | ICC | swapped | {heads} |",
            "|---|---:|---:|" + "---:|" * len(RARE),
            *lines,
        ]
    )


def of_weights(cell: Cell, swapped: float, first: int, replications: int) -> dict[str, float]:
    """Share of pairs of texts that the squared differences reject under each exponent."""
    (tvd,) = WORDY
    usual, found = multipliers.EXPONENT, []
    for seed in range(replications):
        rng = np.random.default_rng([seed, CELLS.index(cell), 9])
        real, generated = draw(rng, cell.real, cell.icc), draw(rng, cell.generated, cell.icc)
        counts = generated.rows["words"].tocoo()
        owner, words = (np.repeat(at, counts.data.astype(int)) for at in (counts.row, counts.col))
        moved = (words % 2 == 0) & (rng.random(len(words)) < swapped) & (words >= first)
        tables = Tables.of(real.rows["words"], _counts(owner, np.where(moved, words + 1, words), *counts.shape))
        samples = Samples(tables, Design.clusters(real.groups, generated.groups))
        signs = random_signs(samples.design, seed, 0, DRAWS)
        p = []
        for multipliers.EXPONENT in EXPONENTS:
            squares = multipliers.Influences(tvd, samples)
            p.append(p_value("distance", squares.observed, squares.squares(signs), exact=False))
        found.append(np.array(p) <= ALPHA)
    multipliers.EXPONENT = usual
    return dict(zip(map(str, EXPONENTS), np.mean(found, axis=0).tolist(), strict=True))


def power(kept: Kept, replications: int) -> str:
    """Power of each test in some cells."""
    names = [s.name for s in STATISTICS]
    found = [
        f"Power, R = {replications:,}; values are shifted, words and regions are swapped:",
        "",
        f"| real \\| generated | ICC | shift | swapped | {' | '.join(names)} |",
        "|---|---:|---:|---:|" + "---:|" * len(names),
    ]
    for number, shift in SHIFTED:
        name = f"{CELLS[number].label} {replications}"
        r = kept(name, lambda n=number, d=shift: rates(CELLS[n], replications, STATISTICS, d, SWAPPED[n]))
        cells = " | ".join(f"{r[n]:.3f}" for n in names)
        found.append(f"| {CELLS[number].label} | {shift:g} | {SWAPPED[number]:g} | {cells} |")
    return "\n".join(found)


def independent(kept: Kept, replications: int) -> str:
    """Power of tests of the total variation distance where documents do not depend on their groups."""
    heads = "permutation of documents | squares of groups | squares of documents"
    lines = [f"Power, V = 2,000, R = {replications:,}:", "", f"| real \\| generated | ICC | swapped | {heads} |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for number, swapped in INDEPENDENT.items():
        name = f"{CELLS[number].label} {replications}"
        r = kept(name, lambda n=number, s=swapped: of_documents(CELLS[n], s, replications))
        lines.append(f"| {CELLS[number].label} | {swapped:g} | " + " | ".join(f"{x:.3f}" for x in r.values()) + " |")
    return "\n".join(lines)


def of_documents(cell: Cell, swapped: float, replications: int) -> dict[str, float]:
    """Share of pairs of texts that each of three tests rejects, of which the first and last ignore the groups."""
    (tvd,) = WORDY
    found = []
    for seed in range(replications):
        rng = np.random.default_rng([seed, CELLS.index(cell), 1])
        real, generated = draw(rng, cell.real, cell.icc), draw(rng, cell.generated, cell.icc, 0.0, swapped)
        tables = Tables.of(real.rows["words"], generated.rows["words"])
        sizes = len(real.groups), len(generated.groups)
        documents = Samples(tables, Design.documents(*sizes))
        labels = random_labels(documents.design, seed, 0, DRAWS)
        null = contrasts(tvd, Prepared(*documents.pooled(labels)))
        p = [p_value("distance", float(contrasts(tvd, Prepared(*documents.observed))[0]), null, exact=False)]
        for groups in ((real.groups, generated.groups), tuple(map(np.arange, sizes))):
            samples = Samples(tables, Design.clusters(*groups))
            squares = multipliers.Influences(tvd, samples)
            null = squares.squares(random_signs(samples.design, seed, 0, DRAWS))
            p.append(p_value("distance", squares.observed, null, exact=False))
        found.append(np.array(p) <= ALPHA)
    shares = np.mean(found, axis=0).tolist()
    return dict(zip(("permutation", "groups", "documents"), shares, strict=True))


def without_ids(pool: Pool, rng: np.random.Generator) -> tuple[Corpus, Corpus]:
    """One source: 100 passages, and 500 as five for each of 100 prompts that the others lack."""
    rows = rng.permutation(len(pool.pieces))[:600]
    texts = [pool.pieces[int(i)].text for i in rows]
    prompts = [f"prompt {k // 5}" for k in range(500)]
    return Corpus.from_texts(texts[:100], name="real"), Corpus.from_texts(texts[100:], name="new", prompts=prompts)


def authors(pool: Pool, rng: np.random.Generator, shorter: int) -> tuple[Corpus, Corpus]:
    """Ten passages each of 20 novels with group ids, and one each of 200 pieces without, which are cut."""
    rows = pool.rows(rng, 20, 10)
    others = rng.permutation(np.setdiff1d(np.arange(len(pool.pieces)), rows))[:200]
    cut = [" ".join(pool.pieces[int(i)].text.split()[:-shorter]) for i in others]
    groups = [f"novel {k // 10}" for k in range(200)]
    real = Corpus.from_texts([pool.pieces[int(i)].text for i in rows], name="real", groups=groups)
    return real, Corpus.from_texts(cut, name="new")


def texts(kept: Kept, runs: int) -> str:
    """Alarms of `momus.compare` on real texts."""
    pool = pool_of(passages)
    rows = []
    for label, kind in (
        ("one source, five per prompt", 0),
        ("20 novels × 10 with ids, 200 without, 20 words shorter", 20),
    ):
        p: dict[str, list[float]] = {critic: [] for critic in CRITICS}
        for seed in range(runs):
            one = kept(f"{label} {seed}", lambda s=seed, k=kind: compared(pool, s, k))
            for critic, value in one.items():
                p[critic].append(value)
        rows.append(f"| {label} | {' | '.join(f'{sum(q <= ALPHA for q in p[c])} of {len(p[c])}' for c in p)} |")
    head = ["| texts | unigram (TVD) | length (KS) |", "|---|---:|---:|"]
    return "\n".join([f"Pairs of texts with p ≤ 0.05 of {runs} runs of `momus.compare`:", "", *head, *rows])


def compared(pool: Pool, seed: int, shorter: int) -> dict[str, float]:
    """p-values of one comparison of passages of novels, by critic."""
    rng = np.random.default_rng([seed, shorter])
    real, generated = authors(pool, rng, shorter) if shorter else without_ids(pool, rng)
    fit = Corpus.from_texts([pool.pieces[int(i)].text for i in rng.permutation(len(pool.pieces))[:200]], name="fit")
    verdicts = compare(real, {"new": generated}, critics=list(CRITICS), fit=fit, permutations=999, resamples=9).verdicts
    return {v.critic: v.p for v in verdicts if v.headline and v.p is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="+", choices=("narrow", "words", "others", "power", "weights", "independent", "texts")
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the results of cells")
    parser.add_argument("--quick", action="store_true", help="20 replications of everything")
    parser.add_argument("--replications", type=int, default=1000, help="of the levels of means and KS")
    parser.add_argument("--wide", type=int, default=100, help="replications of other levels and of power")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args(arguments)
    many, some, runs = (20, 20, 4) if a.quick else (a.replications, a.wide, a.runs)
    measured: dict[str, Callable[[Kept], str]] = {
        "narrow": lambda kept: levels(kept, many, NARROW),
        "words": lambda kept: levels(kept, some, WORDY),
        "others": lambda kept: levels(kept, some, OTHERS, CELLS[:4]),
        "power": lambda kept: power(kept, some),
        "weights": lambda kept: weights(kept, some),
        "independent": lambda kept: independent(kept, some),
        "texts": lambda kept: texts(kept, runs),
    }
    for part in a.parts:
        if part == "texts" and not (data() / "litbank").exists():
            print(
                f"texts: left out, since {data() / 'litbank'} does not exist; set MOMUS_DATA to the folder of real data"
            )
            continue
        table = measured[part](Kept(a.out, part))
        print(table, flush=True)
        if a.write:
            write_between(a.write, f"unequal groups, {part}", table)


if __name__ == "__main__":
    main()
