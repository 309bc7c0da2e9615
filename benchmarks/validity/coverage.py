"""Coverage of 95 % intervals on simulated processes: Latent NLL, Latent PPL, means by prompt, exponents of laws.

Each replication draws new real and generated documents from two processes. The true values:

* ``latent-nll`` (critic ``length``): lengths are negative binomial; −Σ p(k) log P_c(k) is summed exactly.
* ``latent-ppl`` (critic ``unigram``): the word distribution of each document is a Dirichlet draw around a Zipf law, so
  documents differ as real ones do; the difference of exp(cross-entropy) under the mean distribution is exact.
* ``paired`` and ``clustered``: means with a normal effect per prompt, one document per side or one to five of them.
* exponents: words are drawn from a Zipf law, and a share of them from 50 words specific to the document. For
  correlations of rare words, each document has its own Zipf exponent, and the exponents vary so much that the
  correlations are as strong as in chapters of novels (0.1). The expected exponent at a given length of text has no
  closed form; the mean over all replications stands in for it, with an error of 1/√R of the exponent's standard
  deviation.

Run:  python benchmarks/validity/coverage.py [latent-nll latent-ppl paired clustered zipf-slope …] [--replications 1000]
      [--out runs/coverage]   Existing replications are kept. No data needed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from momus import Corpus
from momus.calibration.rates import Rate
from momus.critic import Critic, Statistic
from momus.critic.registry import critic_class
from momus.critic.statistic import mean
from momus.inference import Design, compare_rows
from momus.text.running import RunningText
from momus.verdicts.judge import judge
from momus.verdicts.running_text import compare_law

LAWS = ("zipf-slope", "heaps", "productivity", "taylor", "long-range", "ebeling")
CASES = ("latent-nll", "latent-ppl", "paired", "clustered", *LAWS)
VOCABULARY = 20_000
DOCUMENTS = {"taylor": 100, "ebeling": 40}
Found = tuple[float, float, float, float | None]
"""Difference, low, high, and the true difference where it is known exactly."""
_KEPT: dict[str, Any] = {}


def once(name: str, make: Callable[[], Any]) -> Any:
    """Return the cached object of this name; make it on the first call in this process."""
    if name not in _KEPT:
        _KEPT[name] = make()
    return _KEPT[name]


def verdict(critic: Critic[Any], real: Corpus, generated: Corpus, statistic: str, seed: int) -> tuple[float, ...]:
    """Return the difference and its interval as `momus compare` computes them."""
    found = judge(critic, critic.score(real), critic.score(generated), permutations=99, seed=seed)
    v = next(v for v in found if v.statistic == statistic)
    assert v.difference is not None
    assert v.low is not None
    assert v.high is not None
    return v.difference, v.low, v.high


def of_lengths(lengths: np.ndarray, name: str) -> Corpus:
    """Return documents with the given numbers of words."""
    return Corpus.from_texts(["a " * n for n in lengths.tolist()], name=name)


def latent_nll(seed: int, n: int = 60, m: int = 60) -> Found:
    """Difference of Latent NLL of the critic ``length``."""
    laws = stats.nbinom(2, 0.05), stats.nbinom(2, 0.04)

    def fitted() -> tuple[Critic[Any], float]:
        from momus.critic import Values

        lengths = laws[0].rvs(500, random_state=np.random.default_rng(10**6)) + 1
        critic = critic_class("length")().fit(of_lengths(lengths, "fit"))
        k = np.arange(1, 3000)
        nll = -critic.log_prior(Values(k.astype(float))).values
        return critic, float((laws[1].pmf(k - 1) - laws[0].pmf(k - 1)) @ nll)

    critic, truth = once("length", fitted)
    rng = np.random.default_rng(seed)
    sides = [of_lengths(law.rvs(size, random_state=rng) + 1, "x") for law, size in zip(laws, (n, m), strict=True)]
    return *verdict(critic, *sides, "latent_nll", seed), truth  # type: ignore[return-value]


def zipf(s: float, types: int) -> np.ndarray:
    """Probabilities of a Zipf law with exponent s, shape (types,)."""
    mass = np.arange(1, types + 1) ** -s
    return np.asarray(mass / mass.sum())


def latent_ppl(seed: int, n: int = 60, m: int = 60) -> Found:
    """Difference of Latent PPL of the critic ``unigram``."""
    laws = zipf(1.0, 60), zipf(0.9, 60)
    words = [f"w{i}" for i in range(60)]

    def documents(law: np.ndarray, size: int, rng: np.random.Generator) -> Corpus:
        lengths = rng.integers(20, 120, size)
        shares = rng.dirichlet(30 * law, size)
        texts = [" ".join(rng.choice(words, k, p=p)) for k, p in zip(lengths.tolist(), shares, strict=True)]
        return Corpus.from_texts(texts)

    def fitted() -> tuple[Critic[Any], float]:
        critic = critic_class("unigram")().fit(documents(laws[0], 500, np.random.default_rng(10**6)))
        known = dict(zip(critic.vocabulary_, critic.log_probabilities_, strict=False))
        nll = np.array([-known.get(w, critic.log_probabilities_[-1]) for w in words])
        return critic, float(np.exp(laws[1] @ nll) - np.exp(laws[0] @ nll))

    critic, truth = once("unigram", fitted)
    rng = np.random.default_rng(seed)
    sides = [documents(law, size, rng) for law, size in zip(laws, (n, m), strict=True)]
    return *verdict(critic, *sides, "latent_ppl", seed), truth  # type: ignore[return-value]


MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def paired(seed: int, n: int = 40) -> Found:
    """Means over n prompts, one document per side."""
    rng = np.random.default_rng(seed)
    prompt = rng.normal(size=n)
    a, b = (np.column_stack([prompt + rng.exponential(size=n) + d, np.ones(n)]) for d in (0.0, 0.5))
    pairs = np.column_stack([np.arange(n)] * 2)
    (r,) = compare_rows([MEAN], {"x": a}, {"x": b}, design=Design.pairs(pairs), permutations=99, seed=seed)
    return r.difference, r.low, r.high, 0.5


def clustered(seed: int, n: int = 40) -> Found:
    """Means over n prompts: one real document per prompt, and one to five generated ones."""
    rng = np.random.default_rng(seed)
    prompt = rng.normal(size=n)
    owners = np.repeat(np.arange(n), rng.integers(1, 6, n))
    a = np.column_stack([prompt + rng.normal(size=n), np.ones(n)])
    b = np.column_stack([prompt[owners] + 0.5 + rng.normal(size=len(owners)), np.ones(len(owners))])
    design = Design.prompts(np.arange(n), owners)
    (r,) = compare_rows([MEAN], {"x": a}, {"x": b}, design=design, permutations=99, seed=seed)
    return r.difference, r.low, r.high, 0.5


def correlated(documents: int, rng: np.random.Generator, spread: float) -> RunningText:
    """Documents of 1,000 words with different Zipf exponents, so rare words are concentrated in some of them."""
    parts = []
    for s in rng.normal(1.0, spread, documents).tolist():
        cumulated = np.cumsum(np.arange(1, VOCABULARY + 1) ** -s)
        parts.append(np.searchsorted(cumulated, rng.random(1000) * cumulated[-1], side="right"))
    words = once("words", lambda: _words(np.random.default_rng(5)))
    ends = np.cumsum([len(part) for part in parts])
    return RunningText(np.concatenate(parts).clip(0, VOCABULARY - 1).astype(np.int32), words, ends)


def running(law: np.ndarray, own: float, documents: int, rng: np.random.Generator) -> RunningText:
    """Documents of about 1,000 words, of which the share ``own`` comes from 50 words specific to the document."""
    lengths = rng.integers(700, 1300, documents)
    cumulated = np.cumsum(law)
    parts = []
    for n in lengths.tolist():
        ids = np.searchsorted(cumulated, rng.random(n) * cumulated[-1], side="right")
        mine = np.searchsorted(cumulated, rng.random(50) * cumulated[-1], side="right")
        taken = rng.random(n) < own
        ids[taken] = mine[rng.integers(0, 50, int(taken.sum()))]
        parts.append(ids)
    words = once("words", lambda: _words(np.random.default_rng(5)))
    ends = np.cumsum([len(part) for part in parts])
    return RunningText(np.concatenate(parts).clip(0, VOCABULARY - 1).astype(np.int32), words, ends)


def _words(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    return [
        "".join(letters[(26 * rng.random(rng.integers(2, 9)) ** 2).astype(int)]) + f"{i}" for i in range(VOCABULARY)
    ]


def exponent(name: str) -> Callable[[int], Found]:
    """Return the replication of a law: the difference of its statistic between two simulated texts."""

    def replicate(seed: int) -> Found:
        critic = once(name, critic_class(name))
        rng = np.random.default_rng([seed, 7])
        n = DOCUMENTS.get(name, 60)
        if name == "long-range":
            a, b = (correlated(100, rng, spread) for spread in (0.07, 0.09))
        else:
            a, b = (running(zipf(s, VOCABULARY), own, n, rng) for s, own in ((1.0, 0.3), (1.1, 0.2)))
        found = compare_law(critic.laws()[0], a, b, 0.95)
        return found.difference, found.low, found.high, None

    return replicate


REPLICATES: dict[str, Callable[[int], Found]] = {
    "latent-nll": latent_nll,
    "latent-ppl": latent_ppl,
    "paired": paired,
    "clustered": clustered,
    **{name: exponent(name) for name in LAWS},
}


def coverage(found: list[Found]) -> tuple[Rate, Rate, Rate, float]:
    """Rates of intervals that cover the truth, lie above it, lie below it; their mean width in standard deviations."""
    d, low, high = (np.array([f[i] for f in found], dtype=float) for i in range(3))
    truth = d.mean() if found[0][3] is None else float(found[0][3])
    n = len(found)
    inside = Rate.of(int(((low <= truth) & (truth <= high)).sum()), n)
    above, below = Rate.of(int((low > truth).sum()), n), Rate.of(int((high < truth).sum()), n)
    return inside, above, below, float((high - low).mean() / d.std(ddof=1))


def table(cases: list[str], out: Path) -> str:
    """Return the coverage of each case as a Markdown table."""
    lines = ["| case | coverage of 95 % intervals | above the truth | below the truth | width / s.d. | replications |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for case in cases:
        path = out / f"{case}.jsonl"
        rows = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        if len(rows) < 40:
            lines.append(f"| {case} | not measured | | | | {len(rows)} |")
            continue
        inside, above, below, width = coverage([tuple(json.loads(row)) for row in rows])
        shown = f"{inside.share:.3f} [{inside.low:.3f}, {inside.high:.3f}]"
        lines.append(f"| {case} | {shown} | {above.share:.3f} | {below.share:.3f} | {width:.2f} | {inside.n:,} |")
    return "\n".join(lines)


def main() -> None:
    """Run the replications and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"any of {', '.join(CASES)}")
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/coverage"))
    parser.add_argument("--table", action="store_true", help="only print the results that exist")
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    for case in a.cases if not a.table else ():
        path = a.out / f"{case}.jsonl"
        done = len(path.read_text(encoding="ascii").splitlines()) if path.exists() else 0
        begun = time.perf_counter()
        with path.open("a", encoding="ascii", buffering=1) as file:
            for seed in range(done, a.replications):
                file.write(json.dumps(REPLICATES[case](seed)) + "\n")
                if (seed + 1) % 100 == 0:
                    print(f"{case}: {seed + 1:,}, {time.perf_counter() - begun:.0f} s", flush=True)
    text = table(a.cases, a.out)
    print(text)
    if a.write:
        from null_and_power import write_between

        write_between(a.write, "coverage", text)


if __name__ == "__main__":
    main()
