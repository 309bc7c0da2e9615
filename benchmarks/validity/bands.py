"""Human bands: the gap of one generator and the findings, against K = 8 … 256 human authors, through `judge`.

* ``simulated``: authors with normal or skewed effects, ten documents each, an intraclass correlation of 0.25. A
  generator of 200 documents whose mean is at gaps 0, 0.5, 1, 1.5 and 2 (its words and its distribution of values are at
  other ones, which ``distances`` gives for words); other human text: one new author, or 25 of eight documents.
* ``distances``: the total variation distance between K authors and a generator, in bands, beside the true one.
* ``novels``: K novels of ten passages; other human text: passages of one other novel or of 20; a generator: sections of
  20 proposals.
* ``families``: null splits of single chapters of different novels, tested by all statistics of four critics; how often
  any headline row, any other row, and any row at all differs after Holm's adjustment within its family.

Each replication is a line of JSON in --out, and a run resumes behind the last one.

Run:  python benchmarks/validity/bands.py [--studies simulated,distances,novels,families] [--replications 1000]
      [--out DIR] [--write benchmarks/validity/TABLES.md]
Data: ``litbank`` and ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from atlas import novels, proposals
from texts_in_groups import Row, kept

from momus import Corpus
from momus.calibration.rates import Rate
from momus.critic import Critic, LogPrior, Reporting, Statistic, StatisticsMixin
from momus.critic.powers import headline_of
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.critic.statistic import kolmogorov_smirnov, mean, total_variation
from momus.inference import Design
from momus.inference.influence import cross_fitted, tvd_witness
from momus.inference.samples import Samples
from momus.inference.spread import PAIR
from momus.numeric.types import Floats
from momus.verdicts.band import HumanBands
from momus.verdicts.judge import judge
from momus.verdicts.table import adjust, selected, speaking
from momus.verdicts.verdict import Verdict

SIZES = (8, 16, 32, 64, 128, 256)
STUDIED = {"normal": (8, 32, 64, 128, 256), "skewed": (8, 32, 128)}
GAPS = (0.0, 0.5, 1.0, 1.5, 2.0)
TILTS = (1.0, 1.5, 3.0)
EACH, CORRELATION, BINS, COLUMNS = 10, 0.25, 20, 300
GENERATED, LENGTH = 200, 100
PROSE = ("stopword-share", "symbol-share", "type-token", "rhythm", "unigram")
FAMILIES = ("length", "type-token", "stopword-share", "symbol-share")
LEADING = "the row that leads"
MARKERS = "<!-- bands-and-families -->", "<!-- end of bands-and-families -->"
SHORT = {"within human variation": "within", "beyond human variation": "beyond", "undecided": "undecided"}


class Simulated(Critic[Floats], StatisticsMixin):
    """Statistics of simulated rows; it reads no text."""

    name, axis = "simulated", "simulated"
    reporting = Reporting(headline="mean")

    def fit(self, real: Corpus) -> Simulated:
        """Learn nothing."""
        return self

    def project(self, batch: Corpus) -> Floats:
        """Read nothing."""
        return np.zeros(len(batch))

    def log_prior(self, latents: Floats) -> LogPrior:
        """Zero for all."""
        return LogPrior.of_vectors(latents)

    def sufficient_statistics(self, latents: Floats) -> dict[str, Any]:
        """None: rows are simulated."""
        return {}

    def statistics(self) -> Sequence[Statistic]:
        """A mean, a rate on the log scale, and two distances."""
        return (
            Statistic("mean", "value", "value", mean, effect="hedges_g"),
            Statistic.relative("rate", "rate", "rate"),
            Statistic("ks", "bins", "distance", kolmogorov_smirnov),
            Statistic("tvd", "words", "distance", total_variation),
        )


CRITIC = Simulated()
ZIPF = (1 / np.arange(1, COLUMNS + 1)) / (1 / np.arange(1, COLUMNS + 1)).sum()


def effects(rng: np.random.Generator, k: int, law: str) -> Floats:
    """Effects of authors with mean 0 and variance 1."""
    return np.asarray(rng.normal(size=k) if law == "normal" else rng.exponential(size=k) - 1)


def scores(rng: np.random.Generator, effect: Floats, shares: Floats, each: int, name: str, grouped: bool) -> Scores:
    """Rows of simulated documents of some authors; ``effect`` and ``shares`` (authors, COLUMNS) are theirs."""
    n, k = len(effect) * each, len(effect)
    author = np.repeat(np.arange(k), each)
    x = effect[author] + rng.normal(size=n) * np.sqrt(1 / CORRELATION - 1)
    weights = rng.integers(LENGTH // 2, 2 * LENGTH, n).astype(float)
    rate = rng.poisson(weights * 0.1 * np.exp(0.3 * x - 0.02))
    rows = {
        "value": np.column_stack([x, np.ones(n)]),
        "rate": np.column_stack([rate, weights]).astype(float),
        "bins": np.eye(BINS)[np.searchsorted(np.linspace(-5, 5, BINS - 1), x)],
        "words": rng.multinomial(LENGTH, shares[author]).astype(float),
        "latent_nll": np.column_stack([x**2, np.ones(n)]),
    }
    ids = [f"{name} {i}" for i in range(n)]
    groups = [f"{name} {a}" for a in author] if grouped else []
    ones = np.ones(n, dtype=np.int64)
    return Scores("simulated", name, ids, [None] * n, x**2, ones, [None] * n, rows, groups=groups)


def words(rng: np.random.Generator, k: int) -> Floats:
    """Shares of words of authors."""
    return np.asarray(rng.dirichlet(300 * ZIPF, k))


def simulated(k: int, law: str, replication: int) -> Row:
    """Gaps and findings of generators at all gaps, and of other human text, against the same K authors."""
    rng = np.random.default_rng([replication, k, len(law)])
    real = scores(rng, effects(rng, k, law), words(rng, k), EACH, "real", True)
    bands = HumanBands(real.groups, replication)
    others = {}
    for gap in GAPS:
        shares = np.tile(_tilted(gap), (GENERATED, 1))
        others[f"gap {gap:g}"] = scores(rng, effects(rng, GENERATED, law) + gap * PAIR, shares, 1, "g", False)
    others["one author"] = scores(rng, effects(rng, 1, law), words(rng, 1), GENERATED, "g", False)
    others["25 authors"] = scores(rng, effects(rng, 25, law), words(rng, 25), GENERATED // 25, "g", True)
    return {name: of_pair(CRITIC, real, other, bands, replication) for name, other in others.items()}


def _tilted(gap: float) -> Floats:
    tilted = ZIPF * np.exp(gap * np.linspace(-1, 1, COLUMNS))
    return np.asarray(tilted / tilted.sum())


def true_band() -> float:
    """The total variation distance that 95 % of pairs of simulated authors do not exceed."""
    rng = np.random.default_rng(0)
    shares = words(rng, 2000)
    one, other = rng.permutation(2000), rng.permutation(2000)
    distances = np.abs(shares[one] - shares[other]).sum(axis=1)[one != other] / 2
    return float(np.quantile(distances, 0.95))


def distance_gaps(k: int, replication: int) -> Row:
    """Gap of a generator at each tilt of the words, without a test."""
    rng = np.random.default_rng([replication, k])
    author = np.repeat(np.arange(k), EACH)
    real = rng.multinomial(LENGTH, words(rng, k)[author]).astype(float)
    statistic = CRITIC.statistics()[-1]
    band = HumanBands([str(a) for a in author], replication).of(statistic, real)
    design = Design.clusters(author, np.arange(GENERATED))
    row: Row = {}
    for tilt in TILTS:
        other = rng.multinomial(LENGTH, np.tile(_tilted(tilt), (GENERATED, 1))).astype(float)
        distance = cross_fitted(Samples.of(real, other, design), tvd_witness, replication)
        row[f"{tilt:g}"] = None if band is None else max(distance, 0.0) / band.value
    return row


def table_of_distances(rows: dict[int, list[Row]]) -> list[str]:
    """Median gap by number of authors, beside the true one."""
    lines = [f"| true gap (TVD) | {' | '.join(f'K = {k}' for k in rows)} |", "|---:|" + "---:|" * len(rows)]
    band = true_band()
    for tilt in TILTS:
        true = float(np.abs(_tilted(tilt) - ZIPF).sum()) / 2 / band
        medians = [np.median([r[f"{tilt:g}"] for r in found if r[f"{tilt:g}"] is not None]) for found in rows.values()]
        lines.append(f"| {true:.2f} | " + " | ".join(f"{m:.2f}" for m in medians) + " |")
    return [*lines, "", f"{min(map(len, rows.values())):,} replications."]


def of_pair(critic: Critic[Any], real: Scores, other: Scores, bands: HumanBands, seed: int) -> dict[str, Any]:
    """By statistic, and of the row that speaks: gap, finding, source of the band, intervals, and which row that is."""
    rows = selected(adjust(judge(critic, real, other, permutations=199, resamples=99, seed=seed, bands=bands), "none"))
    (led,) = speaking(rows)
    return {v.statistic: _kept(v) for v in rows} | {LEADING: [*_kept(led), led.statistic if led.is_finding else ""]}


def _kept(v: Verdict) -> list[Any]:
    """Gap, finding, source of the band; interval of the difference, of the gap, and that which decides *beyond*."""
    intervals = (v.low, v.high), v.gap_interval, v._gap_interval(v.selection)
    ends = [e if e is None or np.isfinite(e) else 1e300 for i in intervals for e in i or (None, None)]
    return [v.gap, _finding(v), v.band_source, *ends]


def _finding(v: Verdict) -> str:
    return SHORT.get(v.finding, "differs" if v.differs else "equal")


def pieces(groups: list[tuple[str, list[str]]], each: int) -> tuple[list[str], list[str]]:
    """Documents of some groups, and their groups."""
    rows = [(text, name) for name, texts in groups for text in texts[:each]]
    return [t for t, _ in rows], [g for _, g in rows]


def of_novels() -> tuple[list[Critic[Any]], list[tuple[Scores, Scores]]]:
    """Critics that are fitted on 20 novels; scores of the passages of 80 others, and of the sections of proposals."""
    groups = [g for g in novels() if len(g[1]) >= EACH]
    order = np.random.default_rng(0).permutation(len(groups))
    fit, rest = ([groups[i] for i in part] for part in (order[:20], order[20:]))
    other = [g for g in proposals() if len(g[1]) >= EACH][:60]
    corpora = []
    for name, part in (("fit", fit), ("real", rest), ("g", other)):
        found, names = pieces(part, EACH)
        corpora.append(Corpus.from_texts(found, [f"{name} {i}" for i in range(len(found))], None, name, names))
    critics = [c.fit(corpora[0]) for c in make_critics(PROSE, {})]
    return critics, [(c.score(corpora[1]), c.score(corpora[2])) for c in critics]


def real_novels(
    k: int, critics: Sequence[Critic[Any]], tables: Sequence[tuple[Scores, Scores]]
) -> Callable[[int], Row]:
    """Headlines of all critics between K novels and other text, by number of the replication."""
    codes = np.unique(np.asarray(tables[0][0].groups, dtype=object), return_inverse=True)[1]
    proposals_of = np.unique(np.asarray(tables[0][1].groups, dtype=object), return_inverse=True)[1]

    def once(replication: int) -> Row:
        rng = np.random.default_rng([replication, k])
        order = rng.permutation(int(codes.max()) + 1)
        drawn = rng.permutation(int(proposals_of.max()) + 1)[:20]
        row: Row = {}
        for critic, (novels_of, others) in zip(critics, tables, strict=True):
            real = novels_of.take(np.flatnonzero(np.isin(codes, order[:k])), "real")
            bands = HumanBands(real.scored_groups, replication)
            texts = {
                "one novel": _plain(novels_of.take(np.flatnonzero(codes == order[k]), "g")),
                "20 novels": novels_of.take(np.flatnonzero(np.isin(codes, order[k : k + 20])), "g"),
                "20 proposals": others.take(np.flatnonzero(np.isin(proposals_of, drawn)), "g"),
            }
            for name, other in texts.items():
                row.setdefault(name, {})[critic.name] = of_pair(critic, real, other, bands, replication)
        return row

    return once


def family_alarms(critics: Sequence[Critic[Any]], tables: Sequence[Scores]) -> Callable[[int], Row]:
    """Whether any headline row, any other row, or any row differs in a null split, by its number."""
    codes = np.unique(np.asarray(tables[0].groups, dtype=object), return_inverse=True)[1]

    def once(k: int) -> Row:
        rng = np.random.default_rng([k, 2])
        # one chapter of each novel: independent documents, half of them called generated
        chosen = np.array([rng.choice(np.flatnonzero(codes == n)) for n in rng.permutation(int(codes.max()) + 1)])
        half = len(chosen) // 2
        verdicts = []
        for critic, s in zip(critics, tables, strict=True):
            sides = [_plain(s.take(rows, name)) for rows, name in ((chosen[:half], "real"), (chosen[half:], "g"))]
            verdicts += judge(critic, *sides, permutations=1999, seed=k, family=len(critics))
        rows = adjust(verdicts)
        headline, other = (any(v.differs for v in rows if v.headline is kind) for kind in (True, False))
        return {"headline rows": headline, "other rows": other, "the whole table": headline or other}

    return once


def _plain(s: Scores) -> Scores:
    """Scores without groups."""
    return Scores(s.critic, s.corpus, s.ids, s.prompts, s.nll, s.steps, s.reasons, s.rows)


def resumed(path: Path, replications: int, once: Callable[[int], Row]) -> list[Row]:
    """Append the replications that a file lacks, and return all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for k in range(len(kept(path)), replications):
            file.write(json.dumps(once(k)) + "\n")
            file.flush()
    return kept(path)[:replications]


def shares_of(rows: Sequence[list[Any]], *findings: str) -> str:
    """Shares of findings, such as .02 / .91."""
    return " / ".join(f"{np.mean([r[1] == f for r in rows]):.3f}".lstrip("0") for f in findings)


@cache
def true_differences(law: str, gap: float) -> dict[str, float]:
    """Differences of the simulated populations by statistic."""
    rng, n = np.random.default_rng(0), 1 << 20
    x = effects(rng, n, law) + rng.normal(size=n) * np.sqrt(1 / CORRELATION - 1)
    edges = np.linspace(-5, 5, BINS - 1)
    one, other = (np.bincount(np.searchsorted(edges, v), minlength=BINS) / n for v in (x, x + gap * PAIR))
    rates = [0.1 * float(np.exp(0.3 * v - 0.02).mean()) for v in (x, x + gap * PAIR)]
    return {
        "mean": gap * PAIR,
        "rate": rates[1] - rates[0],
        "ks": float(np.abs(np.cumsum(other - one)).max()),
        "tvd": float(np.abs(_tilted(gap) - ZIPF).sum()) / 2,
    }


INTERVALS = {"difference": 3, "gap": 5, "*beyond*": 7}
"""Where the intervals lie in what is kept of a row: those of the difference, of the gap, and what decides *beyond*."""


def covered(rows: Sequence[list[Any]], truths: dict[str, float], interval: str, name: str = "") -> str:
    """Share of the intervals of a statistic, or of the row that leads, that hold the true value, and their number."""
    first = INTERVALS[interval]
    led = [(truths.get(name or r[-1]), r[first], r[first + 1]) for r in rows if name or r[-1]]
    held = [low <= truth <= high for truth, low, high in led if truth is not None and low is not None]
    return f"{np.mean(held):.3f} of {len(held):,}" if held else "–"


def tables_of_simulations(rows: dict[tuple[str, int], list[Row]]) -> list[str]:
    """Gaps of one generator; findings by true gap, and of other human text; replications in the last row."""
    lines: list[str] = []
    statistics = [s.name for s in CRITIC.statistics()]
    for law in dict.fromkeys(law for law, _ in rows):
        of_size = {k: found for (of_law, k), found in rows.items() if of_law == law}
        rule = "|---|" + "---:|" * len(of_size)
        heads = " | ".join(f"K = {k}" for k in of_size)

        def table(head: str, cells: dict[str, Callable[[list[Row]], str]]) -> None:
            lines.extend(["", f"| {law} authors: {head} | {heads} |", rule])  # noqa: B023
            for name, cell in cells.items():
                lines.append(f"| {name} | " + " | ".join(cell(found) for found in of_size.values()) + " |")  # noqa: B023

        def of_gaps(found: list[Row], gap: str, s: str) -> str:
            return f"{np.median([r[gap][s][0] for r in found if r[gap][s][0] is not None]):.2f}"

        def findings(found: list[Row], text: str, s: str) -> str:
            rows = [r[text][s] for r in found]
            if s != LEADING:  # of an axis with this statistic alone, which no other could lead
                low = INTERVALS["gap"]
                rows = [[r[0], "beyond" if r[1] == "undecided" and r[low] > 1 else r[1]] for r in rows]
            return shares_of(rows, "within", "beyond")

        def held(found: list[Row], gap: float, interval: str, s: str) -> str:
            truths = true_differences(law, gap)  # noqa: B023
            if interval != "difference":  # a mean, and a rate of log-normal values, lie at the gap itself
                truths = dict.fromkeys(("mean", "rate") if law == "normal" else ("mean",), gap)  # noqa: B023
            return covered([r[f"gap {gap:g}"][s or LEADING] for r in found], truths, interval, s)

        here = [f"gap {gap:g}" for gap in GAPS]
        table(
            "median gap of one generator",
            {f"{s}, {g}": partial(of_gaps, gap=g, s=s) for s in statistics for g in here[2:4]},
        )
        table("*within* / *beyond*, of the mean", {g: partial(findings, text=g, s="mean") for g in here})
        table(
            "intervals that hold the truth",
            {
                f"{s or LEADING}: {interval}, gap {gap:g}": partial(held, gap=gap, interval=interval, s=s)
                for s in ("", *statistics)
                for interval in (INTERVALS if not s else ("difference",))
                for gap in GAPS[1:]
            },
        )
        table(
            "other human text, *within* / *beyond*",
            {
                f"{name}, {s}": partial(findings, text=name, s=s)
                for name in ("one author", "25 authors")
                for s in (*statistics, LEADING)
            }
            | {"replications": lambda found: f"{len(found):,}"},
        )
    return lines[1:]


def table_of_novels(rows: dict[int, list[Row]], critics: Sequence[Critic[Any]]) -> list[str]:
    """Median gap, and findings, of the headlines on novels."""
    heads = " | ".join(f"K = {k}" for k in rows)
    lines = ["", f"| novels: within / beyond (median gap) | {heads} |", "|---|" + "---:|" * len(rows)]
    for name in ("one novel", "20 novels", "20 proposals"):
        for critic in critics:
            cells = []
            for of_size in rows.values():
                found = [r[name][critic.name][headline_of(critic)] for r in of_size]
                gaps = [f[0] for f in found if f[0] is not None]
                cells.append(f"{shares_of(found, 'within', 'beyond')} ({np.median(gaps):.2f})")
            lines.append(f"| {name}, {critic.name} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Measure all, print the tables, and write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", default="simulated,distances,novels,families")
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--real", type=int, default=200, help="replications on novels")
    parser.add_argument("--sizes", type=lambda x: [int(k) for k in x.split(",")], help="numbers of authors")
    parser.add_argument("--out", type=Path, default=Path("runs/bands"))
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    studies, lines = a.studies.split(","), []
    if "simulated" in studies:
        found = {
            (law, k): resumed(a.out / f"{law}-{k}.jsonl", a.replications, partial(simulated, k, law))
            for law, sizes in STUDIED.items()
            for k in sizes
            if k in (a.sizes or sizes)
        }
        lines += tables_of_simulations(found)
    if "distances" in studies:
        sizes = {
            k: resumed(a.out / f"distances-{k}.jsonl", a.replications, lambda i, k=k: distance_gaps(k, i))
            for k in SIZES
        }
        lines += ["", *table_of_distances(sizes)]
    if "novels" in studies:
        critics, tables = of_novels()
        of_size = {
            k: resumed(a.out / f"novels-{k}.jsonl", a.real, real_novels(k, critics, tables)) for k in (8, 16, 32, 48)
        }
        lines += [*table_of_novels(of_size, critics), "", f"{a.real:,} replications each."]
    if "families" in studies:
        groups = [g for g in novels() if len(g[1]) >= EACH]
        corpora = []
        for name, part in (("fit", groups[:20]), ("real", groups[20:])):
            texts, names = pieces(part, EACH)
            corpora.append(Corpus.from_texts(texts, [f"{name} {i}" for i in range(len(texts))], None, name, names))
        critics = [c.fit(corpora[0]) for c in make_critics(FAMILIES, {})]
        rows = resumed(
            a.out / "families.jsonl", a.replications, family_alarms(critics, [c.score(corpora[1]) for c in critics])
        )
        lines += ["", "| family | any row differs (null splits) |", "|---|---:|"]
        for name in ("headline rows", "other rows", "the whole table"):
            r = Rate.of(sum(row[name] for row in rows), len(rows))
            lines.append(f"| {name} | {r.share:.3f} [{r.low:.3f}, {r.high:.3f}] |")
        lines += ["", f"{len(rows):,} replications."]
    text = "\n".join(lines).strip()
    print(text)
    if a.write:
        page = a.write.read_text(encoding="utf-8")
        before, rest = page.split(MARKERS[0], 1)
        after = rest.split(MARKERS[1], 1)[1]
        a.write.write_text(f"{before}{MARKERS[0]}\n{text}\n{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
