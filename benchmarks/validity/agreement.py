"""Random comparisons: do the answer and its first sentence say what the rows of the documents hold?

A run compares one or two random texts, with random defects or none, with random human text: some critics of a few,
with groups, prompts or neither. Then all that is said of an axis is computed again from the rows of the documents, by
code of this file alone: the values of both texts by the statistic that speaks for it, the difference, its standard
error, the size of the effect, its interval, the human band (from groups: Paule & Mandel; otherwise the atlas), the gap
and its interval, the finding, which statistic leads and which axis is the largest gap. Only p-values and the critical
values of permutations are taken as they are. The first screen is read as a reader does, and its numbers compared.

Every disagreement is a line of JSON in --out, and a run resumes behind the last seed.

Run:  python benchmarks/validity/agreement.py [--runs 500] [--out runs/agreement.jsonl]
"""

from __future__ import annotations

import argparse
import json
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm

import momus
from momus.comparison import Comparison
from momus.critic import Counted
from momus.critic.registry import make_critics
from momus.critic.statistic import Statistic
from momus.numeric.types import Floats
from momus.reading import read_corpus
from momus.runs.answer import Cell, answer_of
from momus.verdicts.band import kind_of
from momus.verdicts.statistics import all_statistics
from momus.verdicts.verdict import Verdict

CRITICS = (
    "length",
    "unigram",
    "type-token",
    "symbol-share",
    "stopword-share",
    "rhythm",
    "repetition",
    "marks",
    "edges",
)
DEFECTS = ("words", "sentence", "common", "loops", "commas", "capitals", "breaks")
WORDS = (
    *("the", "of", "and", "to", "a", "in", "that", "it", "was", "he", "his", "for", "with", "as", "had", "you", "not"),
    *(
        "but",
        "at",
        "on",
        "they",
        "she",
        "her",
        "which",
        "there",
        "from",
        "one",
        "all",
        "were",
        "river",
        "stone",
        "letter",
    ),
    *("winter", "garden", "market", "castle", "sailor", "candle", "forest", "mirror", "window", "village", "soldier"),
    *("orchard", "harbour", "teacher", "bottle", "silver", "thunder", "ladder", "copper", "blanket", "kitchen"),
)
NORMAL = 1.959963984540054
PAIR = NORMAL * math.sqrt(2)
Record = dict[str, str]


def document(rng: np.random.Generator, defects: dict[str, float], author: float) -> str:
    """About sixty words in sentences of about eight."""
    p = 1 / np.arange(1, len(WORDS) + 1) ** (0.8 + defects.get("common", 0.0) + 0.2 * author)
    size = max(int(rng.normal(60 + 25 * defects.get("words", 0.0) + 8 * author, 12)), 8)
    drawn = rng.choice(WORDS, size, p=p / p.sum()).tolist()
    cuts = np.cumsum(1 + rng.poisson(8 + 4 * defects.get("sentence", 0.0), size))
    parts = [list(x) for x in np.split(np.array(drawn), cuts[cuts < size]) if len(x)]
    if rng.random() < defects.get("loops", 0.0):
        parts += [parts[-1]] * 5
    told = []
    for x in parts:
        sentence = (", " if rng.random() < 0.1 + defects.get("commas", 0.0) else " ").join(x)
        told.append(sentence if rng.random() < defects.get("capitals", 0.0) else sentence.capitalize())
    return (".\n" if rng.random() < defects.get("breaks", 0.0) else ". ").join(told) + "."


def text(
    rng: np.random.Generator, name: str, n: int, defects: dict[str, float], kind: str, grouped: bool
) -> list[Record]:
    """Documents with prompts, or by authors that differ, or neither."""
    authors = rng.normal(size=n)
    groups = np.arange(n) % int(rng.integers(8, 13))
    records = []
    for i in range(n):
        author = float(authors[groups[i]]) if grouped else 0.0
        record = {"id": f"{name}{i}", "text": document(rng, defects, author)}
        if kind == "prompts":
            record["prompt_id"] = f"p{i}"
        if grouped:
            record["group_id"] = f"{name} author {groups[i]}"
        records.append(record)
    return records


def run(seed: int) -> tuple[Comparison, list[Any], dict[str, list[Record]], str]:
    """A random comparison, its fitted critics, its texts, and the register of its default bands."""
    rng = np.random.default_rng([8, seed])
    kind = str(rng.choice(["documents", "prompts", "groups"]))
    n = int(rng.integers(30, 60))
    texts = {"real": text(rng, "real", n, {}, kind, kind == "groups")}
    for name in ("a", "b")[: int(rng.integers(1, 3))]:
        chosen = rng.permutation(DEFECTS)[: rng.integers(0, 3)]
        defects = {
            str(d): float(rng.uniform(-0.5, 1) if d in ("words", "sentence") else rng.uniform(0, 0.7)) for d in chosen
        }
        size = int(n * rng.uniform(0.6, 1.5))
        texts[name] = text(rng, name, size, defects, kind, kind == "groups" and rng.random() < 0.5)
    fit = text(rng, "fit", 40, {}, "documents", False)
    critics = make_critics(sorted(rng.permutation(CRITICS)[: rng.integers(2, 5)].tolist()), {})
    options = {"multiplicity": str(rng.choice(["holm", "bh"])), "register": str(rng.choice(["", "", "novels"]))}
    comparison = momus.compare(
        texts["real"],
        {name: rows for name, rows in texts.items() if name != "real"},
        fit=fit,
        critics=critics,
        permutations=199,
        resamples=49,
        seed=seed,
        **options,
    )
    return comparison, critics, texts, options["register"]


def labels_of(table: Counted) -> list[Any]:
    """The labels of counts, as values that can be sorted."""
    return [y.item() if isinstance(y, np.generic) else y for y in table.labels]


def dense(table: Any, labels: list[Any]) -> Floats:
    """Rows of documents, counts with a column for each label of either text: (n, V)."""
    if not isinstance(table, Counted):
        return np.asarray(table, dtype=float)
    place = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((table.matrix.shape[0], len(labels)))
    counts[:, [place[y] for y in labels_of(table)]] = table.matrix.todense()
    return counts


class Recomputed:
    """What the rows of the documents of two texts say of one statistic, and how it lies with the verdict.

    Attributes
    ----------
    faults
        What disagrees.
    """

    def __init__(self, v: Verdict, s: Statistic, sides: list[Any], register: str) -> None:
        self.v, self.s, self.register, self.faults = v, s, register, list[str]()
        self.rows, self.units = [], []
        matched = v.method.design in ("prompts", "pairs")
        shared = set.intersection(*({p for p, ok in zip(x.prompts, x.scored, strict=True) if ok} for x in sides))
        counted = [x.test_rows()[s.rows] for x in sides]
        labels = sorted({y for table in counted if isinstance(table, Counted) for y in labels_of(table)})
        for x in sides:
            prompts, groups = (
                [y for y, ok in zip(z, x.scored, strict=True) if ok] for z in (x.prompts, x.groups or x.ids)
            )
            kept = np.array([p in shared for p in prompts]) if matched else np.ones(len(prompts), dtype=bool)
            order = np.flatnonzero(kept)
            if matched:
                order = order[np.argsort([prompts[i] for i in order])]
            self.rows.append(dense(x.test_rows()[s.rows], labels)[order])
            self.units.append(np.unique([groups[i] for i in order], return_inverse=True)[1])
        self.pairs = matched

    def same(self, what: str, one: float | None, other: float | None, tolerance: float = 1e-6) -> None:
        """Note a disagreement of two numbers."""
        if one is None or other is None or not math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9):
            self.faults.append(f"{what}: said {one}, recomputed {other}")

    def check(self, what: str, holds: bool) -> None:
        """Note a disagreement."""
        if not holds:
            self.faults.append(what)

    def value(self, pooled: Floats) -> float:
        """The statistic of one text, from the sum of its rows."""
        s = self.s
        if s.prepare is None and s.function.__name__ in ("mean", "perplexity"):
            ratio = pooled[0] / pooled[1]
            return math.exp(ratio) if s.function.__name__ == "perplexity" else float(ratio)
        table = pooled[None] if s.prepare is None else s.prepare(pooled[None])
        return float(s.function(table)[0])

    def distance(self) -> float:
        """The distance of both texts."""
        p, q = (r.sum(axis=0) for r in self.rows)
        name = self.s.function.__name__
        if self.s.prepare is None and name in ("total_variation", "supremum", "kolmogorov_smirnov"):
            gaps = p / p.sum() - q / q.sum()
            if name == "total_variation":
                return float(np.abs(gaps).sum() / 2)
            return float(np.abs(gaps if name == "supremum" else np.cumsum(gaps)).max())
        sides = [x[None] if self.s.prepare is None else self.s.prepare(x[None]) for x in (p, q)]
        return float(self.s.function(*sides)[0])

    def error(self, log: bool) -> float:
        """Standard error of the difference (of logarithms): one unit is left out at a time."""
        scale = math.log if log else float
        left = []
        for rows, units in zip(self.rows, self.units, strict=True):
            each = np.arange(len(rows)) if self.pairs else units
            left.append(np.array([scale(self.value(rows[each != u].sum(axis=0))) for u in range(each.max() + 1)]))
        samples = [left[1] - left[0]] if self.pairs else left
        return math.sqrt(sum((len(x) - 1) / len(x) * ((x - x.mean()) ** 2).sum() for x in samples))

    def hedges(self) -> tuple[float, float]:
        """What a difference is multiplied by to give Hedges' g, and its degrees of freedom."""
        squares, freedom = 0.0, sum(map(len, self.rows)) - 2
        for rows in self.rows:
            x, w = rows.T
            squares += float((((x - x.sum() / w.sum() * w) * len(x) / w.sum()) ** 2).sum())
        return (1 - 3 / (4 * freedom - 1)) / math.sqrt(squares / freedom), freedom

    def of_groups(self) -> float | None:
        """The band of groups of real text, by Paule & Mandel; None for rows that are no ratios."""
        if (
            self.s.kind == "distance"
            or self.s.prepare is not None
            or self.s.function.__name__ not in ("mean", "perplexity")
        ):
            return None
        (x, w), units = self.rows[0].T, self.units[0]
        of = [(x[units == u], w[units == u]) for u in range(units.max() + 1)]
        ratios = np.array([a.sum() / b.sum() for a, b in of])
        expected = [(b**2).sum() - 2 * (b**3).sum() / b.sum() + (b**2).sum() ** 2 / b.sum() ** 2 for _, b in of]
        residuals = [((a - r * b) ** 2).sum() for (a, b), r in zip(of, ratios, strict=True)]
        parts, mean = np.array([(b**2).sum() / b.sum() ** 2 for _, b in of]), x.sum() / w.sum()
        values, errors = ratios, sum(residuals) / sum(expected) * parts
        logs = self.s.function.__name__ == "mean" and self.s.effect == "log_ratio"
        known = logs and min(ratios) > 0 and max(errors / (mean * ratios)) <= 0.25
        if known:  # logarithms of groups, each known to within one half
            relative = sum(r / q**2 for r, q in zip(residuals, ratios, strict=True))
            values, errors = np.log(ratios), relative / sum(expected) * parts

        def excess(tau2: float) -> float:
            weights = 1 / (tau2 + errors)
            return float(weights @ (values - weights @ values / weights.sum()) ** 2) - float(chi2.median(len(of) - 1))

        band = PAIR * math.sqrt(brentq(excess, 0, 1e3 * float(np.ptp(values)) ** 2, xtol=1e-18, rtol=1e-12))
        if self.s.effect == "hedges_g":
            return band * self.hedges()[0]
        if logs and not known:
            return PAIR * math.sqrt(math.log1p((band / PAIR / mean) ** 2))
        return band

    def compare(self) -> None:
        """Compare all numbers of the verdict."""
        v, s = self.v, self.s
        if s.kind == "distance":
            self.same("distance", v.generated_value, self.distance())
            self.check("effect of a distance", v.effect is None or v.effect == v.difference)
        else:
            real, generated = (self.value(r.sum(axis=0)) for r in self.rows)
            self.same("value of real text", v.real_value, real)
            self.same("value of generated text", v.generated_value, generated)
            self.same("difference", v.difference, generated - real)
            if v.standard_error:
                self.of_value(real, generated)
        if v.low is not None and v.high is not None and v.difference is not None:
            self.check("interval holds the difference", v.low <= v.difference <= v.high)
            self.check("interval excludes 0 where p is at most 0.05", (v.low > 0 or v.high < 0) == (v.p <= 0.05))
        self.of_band()

    def of_value(self, real: float, generated: float) -> None:
        """Compare the error, the effect, and the ends of the intervals of a value."""
        v, log = self.v, self.s.scale == "log"
        plain = self.error(log=False)
        # where units weigh alike; otherwise the product also counts how far a heavy unit moves the value
        of_units = [np.bincount(u, r[:, -1]) for r, u in zip(self.rows, self.units, strict=True)]
        simple = self.s.function.__name__ not in ("mean", "perplexity") or all(np.ptp(w) == 0 for w in of_units)
        paired = log and self.pairs  # the error of a difference of paired perplexities is approximate
        if not paired:
            self.same("standard error", v.standard_error, plain, 1e-4 if simple else 0.15)
        if v.effect is None or v.effect_low is None or v.effect_high is None:
            return
        if self.s.effect == "log_ratio":
            self.same("log ratio", v.effect, math.log(generated / real))
            error = self.error(log=True)
            weight = 0.5 if paired else min(max((plain / error - real) / (generated - real), 0.0), 1.0)
            for end, shown in ((v.effect_low, v.low), (v.effect_high, v.high)):
                moved = end - v.effect
                expected = generated * math.exp(weight * moved) - real * math.exp((weight - 1) * moved)
                if not paired:
                    self.same("end of the interval of a ratio", shown, expected, 1e-4 if simple else 0.1)
        elif self.s.effect == "hedges_g":
            factor, freedom = self.hedges()
            self.same("Hedges' g", v.effect, factor * (generated - real))
            for end, shown in ((v.effect_low, v.low), (v.effect_high, v.high)):
                reach = (shown - v.difference) / v.standard_error
                root = math.sqrt((factor * v.standard_error) ** 2 + end**2 / (2 * freedom))
                self.same("end of the interval of g", end - v.effect, reach * root, 1e-4)

    def of_band(self) -> None:
        """Compare the band, the gap, its interval and the finding."""
        v = self.v
        if v.band is None:
            self.check("gap without a band", v.gap is None)
            return
        if v.band_source == "default":
            content = json.loads(files("momus.verdicts").joinpath("atlas.json").read_text(encoding="utf-8"))
            rows = content["bands"].get(v.critic, {}).get(v.statistic) or content["kinds"][kind_of(self.s)]
            expected = rows[self.register if self.register in rows else ""]
            self.check("default band", [v.band, v.band_low, v.band_high] == expected[:3])
        elif (band := self.of_groups()) is not None:
            self.same("band of groups", v.band, band, 1e-5)
        if v.effect is None:
            return
        size = max(v.effect, 0.0) if self.s.kind == "distance" else abs(v.effect)
        self.same("gap", v.gap, size / v.band)
        if v.gap_interval is None:
            return
        ends = self.gap_interval(1.0)
        for name, one, other in zip(("lower", "upper"), v.gap_interval, ends, strict=True):
            if math.isfinite(one) or math.isfinite(other):
                self.same(f"{name} end of the gap", one, other, 1e-5)
        # a row that does not differ is not told apart, or within
        beyond = v.differs and self.gap_interval(v.selection)[0] > 1
        finding = "within human variation" if ends[1] <= 1 else "beyond human variation" if beyond else "undecided"
        if not v.differs and finding != "within human variation":
            finding = "not told apart"
        self.check(f"finding: said {v.finding}, recomputed {finding}", v.p_adjusted is None or v.finding == finding)

    def gap_interval(self, wider: float) -> tuple[float, float]:
        """The ratios r for which size − r · band has an interval that ends at 0, found by search."""
        v = self.v
        size = max(v.effect, 0.0) if self.s.kind == "distance" else abs(v.effect)
        low, high = (end + (wider - 1) * (end - v.effect) for end in (v.effect_low, v.effect_high))
        inner, outer = 0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))
        power = wider if v.band_source == "groups" else 1.0
        least, most = (v.band * (b / v.band) ** power for b in (v.band_low, v.band_high))
        size = min(max(size, inner), outer)
        against = min(v.band_correlation, 0.0)

        def end(r: float, margin: float, spread: float, side: float) -> float:
            error = math.sqrt(margin**2 + (r * spread) ** 2 - 2 * against * r * margin * spread)
            return size - r * v.band + side * error

        least_gap = 0.0
        if end(0.0, size - inner, most - v.band, -1.0) > 0:
            least_gap = brentq(end, 0, size / v.band, args=(size - inner, most - v.band, -1.0), xtol=1e-12)
        if end(1e9, outer - size, v.band - least, 1.0) > 0:
            return least_gap, math.inf
        return least_gap, brentq(end, size / v.band, 1e9, args=(outer - size, v.band - least, 1.0), xtol=1e-12)


def leads(family: list[Verdict]) -> Verdict:
    """The row that leads: of what can be counted in the text, else of all, what surely touches most documents."""

    def sure(v: Verdict) -> float:
        low = min(abs(v.effect_low or 0.0), abs(v.effect_high or 0.0))
        if not v.effect or v.effect_low * v.effect_high <= 0 or v.wording.format == "score":
            return 0.0
        if v.method.family == "distance":
            return min(low, 1.0)
        p, q = v.real_value, v.generated_value
        within = math.sqrt(max((p * (1 - p) + q * (1 - q)) / 2, 0.0))
        if v.wording.format == "share" and abs(abs(v.difference / v.effect) - within) <= 0.05 * within:
            return abs(p - q) * low / abs(v.effect)
        g = abs(v.effect)
        if v.effect_kind != "hedges_g":
            g = abs(v.difference / v.standard_error) * math.sqrt(1 / v.n_real + 1 / v.n_generated) / 2
        return 2 * float(norm.cdf(g * low / abs(v.effect) / 2)) - 1

    differing = [v for v in family if v.p_adjusted <= 0.05]
    counted = [v for v in differing if v.wording.format == "share" or v.wording.item or COUNTS.match(v.wording.unit)]
    return max(counted or differing, key=lambda v: (sure(v), v.method.family != "distance"))


COUNTS = re.compile(r"(?!nats|log|sd)\w")
"""Units of what can be counted in a text."""
NUMBER = r"[<−\-]?\d[\d,]*\.?\d*(?:e-?\d+)?"


def read(number: str) -> float:
    """A number as sentences have it."""
    return float(number.replace(",", "").replace("−", "-").lstrip("<"))


def near(said: str, value: float) -> bool:
    """Whether a number is a value with two significant digits, or whole from ten on."""
    return abs(read(said) - value) <= max(0.051 * abs(value), 0.51 if abs(value) >= 10 else 0.0) + 1e-12


def faults_of_values(told: str, v: Verdict) -> list[str]:
    """What a sentence says otherwise of the values of both texts: behind the direction, if there is one."""
    faults, words = [], v.wording
    if words.format == "score" or "“" in told:
        return []
    if v.method.family == "distance":
        found = re.search(rf"({NUMBER})(?: %)? \(({NUMBER}) to ({NUMBER})\)", told)
        for number, value in zip(found.groups() if found else (), (v.difference, v.low, v.high), strict=False):
            if not near(number, value):
                faults.append(f"distance {number} for {value}")
        return faults
    percent = 100 if words.format == "share" else 1
    human = re.search(rf"\(human: ({NUMBER})", told)
    # in a clause such as "81 % of documents loop" the number comes first, elsewhere behind the name
    named = f"{words.label} " in told and not words.clause
    number = re.findall(NUMBER, told.split(f"{words.label} ", 1)[1] if named else told)[0]
    if human is None or not near(human.group(1), percent * v.real_value):
        faults.append(f"human value for {percent * v.real_value}")
    if not near(number, percent * v.generated_value):
        faults.append(f"value {number} for {percent * v.generated_value}")
    relative = re.search(r"\(human: [^)]*, ([+−][\d,.]+) %\)", told)
    if relative and not near(relative.group(1), 100 * (v.generated_value / v.real_value - 1)):
        faults.append(f"relative difference {relative.group(1)}")
    word = words.direction[v.generated_value > v.real_value] if words.direction else ""
    if word and not words.clause and not re.search(rf"(^|: ){re.escape(word)}:", told):
        faults.append(f"direction is not {word!r}")
    return faults


def faults_of_sentence(said: str, cell: Cell, axis: str) -> list[str]:
    """Where a sentence on a cell disagrees with its row."""
    v, faults = cell.row, []
    if axis not in said or not re.search(rf"\b{cell.generated}\b", said):
        return [f"axis or text is missing: {said}"]
    told = re.split(rf"{re.escape(axis)}(?: – {cell.generated})?: ", said, maxsplit=1)[1]
    if cell.beside is not None:  # the direction beside a distance
        told, _, beside = told.rpartition("; ")
        told, faults = f"{told}.", faults_of_values(beside, cell.beside.row)
    faults += faults_of_values(told, v)
    gap = re.search(rf"({NUMBER})(?:±[\d.]+)? human bands", told)
    if (gap is None) != (v.gap is None):
        faults.append("human bands")
    if gap and abs(read(gap.group(1)) - v.gap) > 0.051 and not (gap.group(1) == "<0.1" and v.gap < 0.05):
        faults.append(f"gap {gap.group(1)} for {v.gap}")
    undecided, small = "undecided whether beyond human variation" in told, told.startswith("a small change: ")
    if (undecided, small) != (v.finding == "undecided", v.finding == "within human variation"):
        faults.append(f"undecided {undecided}, small {small} for {v.finding}")
    return [f"{fault}: {said}" for fault in faults]


def first_gap(comparison: Comparison) -> str:
    """The first sentence on a gap, as printed; empty if there is none."""
    told = " ".join(str(comparison).split("\ndocuments: ")[0].split())
    found = re.search(r"\w+(?: \w+)? differs? from human text (?:most )?in .*?\.(?= It is |$)", told)
    return found.group() if found else ""


def faults_of_means(comparison: Comparison) -> list[str]:
    """Where the row of means disagrees with the ranks, and the first sentence with that row."""
    means = [line for line in str(comparison).splitlines() if line.startswith("mean over ")]
    answer = answer_of(comparison)
    if not means:
        return []
    said = np.array([float(x) for x in re.findall(r"\d+\.\d", means[0])])
    ranks = np.array([c.rank.distance for c in answer.corpora if c.rank is not None])
    faults = [] if (np.abs(ranks - said) <= 0.0501).all() else [f"means {said} of {ranks.tolist()}"]
    if (np.diff(said) < 0).any():
        faults.append(f"nearest first: {said}")
    return faults


def disagreements(seed: int) -> tuple[int, int, list[str]]:
    """Axes that were compared, axes that differ, and all that disagrees in one random run."""
    comparison, critics, texts, register = run(seed)
    fitted = {c.name: c for c in critics}
    corpora = {name: read_corpus(records, name) for name, records in texts.items()}
    scored = {(c, name): fitted[c].score(corpus) for c in fitted for name, corpus in corpora.items()}
    answer, count, differing, faults = answer_of(comparison), 0, 0, list[str]()
    statistics = {(c.name, s.name): s for c in critics for s in all_statistics(c, list(scored[c.name, "real"].rows))}
    for axis in answer.axes:
        for cell in axis.cells:
            v, key = cell.row, f"{axis.critic} of {cell.generated}"
            if v.p_adjusted is None or (v.critic, v.statistic) not in statistics:
                continue
            count, s = count + 1, statistics[v.critic, v.statistic]
            sides = [scored[v.critic, "real"], scored[v.critic, cell.generated]]
            again = Recomputed(v, s, sides, register)
            again.compare()
            if cell.beside is not None:
                other = cell.beside.row
                beside = Recomputed(other, statistics[other.critic, other.statistic], sides, register)
                beside.compare()
                again.faults += beside.faults
            family = [r for r in comparison.verdicts if (r.critic, r.generated) == (v.critic, v.generated)]
            family = [r for r in family if r.p_in_axis is not None]
            again.check("differs", cell.differs == any(r.p_adjusted <= 0.05 for r in family))
            if cell.differs:
                differing += 1
                first = leads(family)
                again.check(f"{v.statistic} speaks where {first.statistic} leads", first.statistic == v.statistic)
                up = v.difference > 0
                if cell.thing is None:
                    again.check("sign", cell.sign == (0 if s.kind == "distance" or v.low is None else 1 if up else -1))
            faults += [f"{key}, {v.statistic}: {fault}" for fault in again.faults]
    sentence = first_gap(comparison)
    largest = answer.largest
    faults += faults_of_means(comparison)
    if sentence and largest is not None:
        faults += faults_of_sentence(sentence, largest, answer.axis(largest.row.critic).axis)
    elif bool(sentence) != bool(largest):
        faults.append(f"a gap is told, or none: {sentence}")
    return count, differing, faults


def main() -> None:
    """Run, keep what disagrees, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("runs/agreement.jsonl"))
    a = parser.parse_args()
    a.out.parent.mkdir(parents=True, exist_ok=True)
    with a.out.open("a+", encoding="utf-8") as file:
        file.seek(0)
        for seed in range(len(file.readlines()), a.runs):
            file.write(json.dumps(disagreements(seed)) + "\n")
            file.flush()
        file.seek(0)
        rows = [json.loads(line) for line in file.readlines()[: a.runs]]
    for seed, (_, _, faults) in enumerate(rows):
        for fault in faults:
            print(f"seed {seed}: {fault}")
    axes, differing = (sum(r[i] for r in rows) for i in (0, 1))
    wrong = sum(bool(r[2]) for r in rows)
    print(f"{len(rows):,} runs, {axes:,} axes, {differing:,} that differ: disagreement in {wrong:,} runs")


if __name__ == "__main__":
    main()
