"""Stages that `gpu.py` measures besides networks: topics, Gibbs sampling, chains, and relabelling of wide tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from scipy import sparse

from momus.inference.design import Design
from momus.inference.samples import Tables, pooled
from momus.inference.weights import CHUNK, random_labels
from momus_critics.chains.posterior import chained
from momus_critics.code_mixing import lda
from momus_critics.code_mixing.lda import Sampling, sample
from momus_critics.topics.fitting import Options, fit, infer

T = TypeVar("T")
HEAD = (
    "| stage | size | device, s | CPU, s | memory, GB | difference of | by | allowed |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Row:
    """One line of the table; what was not measured is None.

    >>> print(Row("topics", "9 texts", 0.5, 2.0, None, "bounds", 0.002, 0.001))
    | topics | 9 texts | 0.50 | 2.00 | – | bounds | **2.0e-03** | 1.0e-03 |
    """

    what: str
    size: str
    seconds: float | None
    cpu: float | None
    memory: float | None
    difference: str = ""
    by: float | None = None
    allowed: float = 0.0

    @classmethod
    def of(cls, what: str, size: str, seconds: float, cpu: float | None, device: str, *rest: str | float) -> Row:
        """A row with the most memory of the device since the last row."""
        most = None
        if device.startswith("cuda"):
            most = torch.cuda.max_memory_allocated(device) / 2**30
            torch.cuda.reset_peak_memory_stats(device)
        return cls(what, size, seconds, cpu, most, *rest)  # type: ignore[arg-type]

    @property
    def good(self) -> bool:
        """Whether the difference is allowed."""
        return self.by is None or self.by <= self.allowed

    def __str__(self) -> str:
        numbers = ["–" if x is None else f"{x:.2f}" for x in (self.seconds, self.cpu, self.memory)]
        by = "" if self.by is None else f"{self.by:.1e}" if self.good else f"**{self.by:.1e}**"
        allowed = "" if self.by is None else f"{self.allowed:.1e}"
        return f"| {' | '.join([self.what, self.size, *numbers, self.difference, by, allowed])} |"


Stage = Callable[[str, bool], list[Row]]
"""A stage takes a device, and whether sizes are small."""


def timed(function: Callable[[], T], device: str) -> tuple[T, float]:
    """The result and the seconds of the second call."""
    function()
    if device != "cpu":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    result = function()
    if device != "cpu":
        torch.cuda.synchronize()
    return result, time.perf_counter() - begin


def documents(n: int, words: int, topics: int, length: int) -> sparse.csr_array:
    """Counts (n, words) of documents whose words come from a mixture of topics."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(words, 0.05), size=topics)
    shares = rng.dirichlet(np.full(topics, 0.3), size=n)
    return sparse.csr_array(np.stack([rng.multinomial(length, row) for row in shares @ phi]).astype(np.float64))


def topics(device: str, small: bool) -> list[Row]:
    """Fit a correlated topic model on the device and on the CPU; infer topics by the model of the CPU on both."""
    n = 200 if small else 5000
    counts = documents(n, 500 if small else 5000, 20, 200)
    options = {where: Options(topics=20, steps=10, tolerance=0.0, device=where) for where in {device, "cpu"}}
    model, seconds = timed(lambda: fit(counts, options[device]), device)
    expected, cpu = timed(lambda: fit(counts, options["cpu"]), "cpu")
    off, size = abs(model.curve[-1] / expected.curve[-1] - 1), f"{n:,} documents of 200 words"
    rows = [Row.of("topics, 10 steps of EM", size, seconds, cpu, device, "bounds, relative", off, 1e-4)]
    model_of = expected.weights, expected.mean, expected.covariance
    found, seconds = timed(lambda: infer(counts, *model_of, options[device]), device)
    other, cpu = timed(lambda: infer(counts, *model_of, options["cpu"]), "cpu")
    off = float(np.abs(found[2] / other[2] - 1).max())
    return [*rows, Row.of("topics, inference", size, seconds, cpu, device, "bounds, relative", off, 1e-3)]


def gibbs(device: str, small: bool) -> list[Row]:
    """Fit and posterior of the mixture by Gibbs sampling; the fit draws other numbers on another device."""
    n = 100 if small else 5000
    counts = documents(n, 2000, 8, 200)
    offsets = np.arange(n + 1) * 200
    tokens = lda.Tokens(np.repeat(counts.indices, counts.data.astype(np.int64)).astype(np.int64), offsets)
    begin = np.random.default_rng(1).dirichlet(np.full(2000, 0.5), size=8)
    model, seconds = timed(lambda: lda.fit(tokens, begin, 0.05, 40, 0, device), device)
    expected, cpu = timed(lambda: lda.fit(tokens, begin, 0.05, 40, 0, "cpu"), "cpu")
    off = abs(float(np.mean(model.curve[-10:]) - np.mean(expected.curve[-10:])))
    size = f"{n * 200:,} tokens, 8 topics"
    rows = [Row.of("Gibbs sampler, 40 sweeps", size, seconds, cpu, device, "nats per token of two chains", off, 0.1)]
    sampling = Sampling(chains=2, burn_in=5, sweeps=20)
    drawn, seconds = timed(lambda: sample(tokens, expected.phi, expected.alpha, sampling, device), device)
    other, cpu = timed(lambda: sample(tokens, expected.phi, expected.alpha, sampling, "cpu"), "cpu")
    off = float((drawn != other).any(axis=(1, 2, 3)).mean())
    return [*rows, Row.of("Gibbs posterior, 50 sweeps", size, seconds, cpu, device, "share of other draws", off, 0.01)]


def chains(device: str, small: bool) -> list[Row]:
    """Forward and backward passes of chains of sections, which run on the CPU on every machine."""
    n = 2000 if small else 20_000
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(3, 12, n))])
    marginals = rng.dirichlet(np.full(8, 0.5), size=int(offsets[-1]))
    transitions = rng.dirichlet(np.ones(9), size=9)
    _, seconds = timed(lambda: chained(marginals, offsets, np.full(8, 1 / 8), transitions), "cpu")
    return [Row("chains of 8 section types", f"{n:,} documents", None, seconds, None)]


def relabelling(device: str, small: bool) -> list[Row]:
    """Sums of wide tables under relabelling: blocks of documents, which are full, and documents, which are sparse."""
    units, words, chunks = (100, 3000, 2) if small else (1000, 30_000, 32)
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, words + 1)
    found_rows = []
    for name, length in (("blocks", 20_000), ("documents", 300)):
        table = rng.poisson(length * frequency / frequency.sum(), (units, words)).astype(np.float64)
        rows = Tables.of(sparse.csr_array(table[: units // 2]), sparse.csr_array(table[units // 2 :])).both()
        design = Design.documents(units // 2, units - units // 2)
        labels = [random_labels(design, 0, number, CHUNK) for number in range(chunks)]
        if sparse.issparse(rows):
            # the product takes the table as (words, units)
            turned = sparse.csr_array(rows.T)
            ends, columns, values = (torch.from_numpy(x) for x in (turned.indptr, turned.indices, turned.data))
            there = torch.sparse_csr_tensor(ends, columns, values, size=turned.shape).to(device)
        else:
            there = torch.from_numpy(rows).to(device).T

        def on_device(there: torch.Tensor = there, labels: list[np.ndarray] = labels) -> list[torch.Tensor]:
            return [there @ torch.from_numpy(some).to(device, there.dtype) for some in labels]

        def on_cpu(rows: np.ndarray | sparse.csr_array = rows, labels: list[np.ndarray] = labels) -> list[np.ndarray]:
            return [pooled(rows, some) for some in labels]

        found, seconds = timed(on_device, device)
        expected, cpu = timed(on_cpu, "cpu")
        off = max(float(np.abs(a.cpu().numpy().T - b).max()) for a, b in zip(found, expected, strict=True))
        size = f"{units:,} {name} × {rows.shape[1]:,} words, {chunks * CHUNK:,} times"
        kind = "sparse" if sparse.issparse(rows) else "full"
        found_rows.append(Row.of(f"relabelling, {kind} rows", size, seconds, cpu, device, "counts", off, 0.0))
    return found_rows
