"""Stages that `gpu.py` measures besides networks: topics, Gibbs sampling, chains, and relabelling of wide tables.

Each prints its time on the device and on the CPU, and how far the results differ, with the tolerance that is allowed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from scipy import sparse

from momus.inference.design import Design
from momus.inference.pooling import Tables, pooled
from momus.inference.weights import CHUNK, random_labels
from momus_critics.chains.posterior import chained
from momus_critics.code_mixing import lda
from momus_critics.code_mixing.lda import Sampling, sample
from momus_critics.topics.fitting import Options, fit, infer

T = TypeVar("T")


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


def peak(device: str) -> str:
    """Most memory of the device so far in this stage, in words; starts the next stage at 0."""
    if device == "cpu":
        return "memory of the device not measured on a CPU"
    most = torch.cuda.max_memory_allocated(device) / 2**30
    torch.cuda.reset_peak_memory_stats(device)
    return f"{most:.2f} GB of the device"


def agrees(what: str, apart: float, tolerance: float) -> str:
    """How far results differ, and whether that is allowed.

    >>> agrees("bounds", 0.002, 0.001)
    'bounds differ by 2.0e-03 (allowed: 1.0e-03) — TOO MUCH'
    """
    return f"{what} differ by {apart:.1e} (allowed: {tolerance:.1e})" + ("" if apart <= tolerance else " — TOO MUCH")


def documents(n: int, words: int, topics: int, length: int) -> sparse.csr_array:
    """Counts (n, words) of documents whose words come from a mixture of topics."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(words, 0.05), size=topics)
    shares = rng.dirichlet(np.full(topics, 0.3), size=n)
    return sparse.csr_array(np.stack([rng.multinomial(length, row) for row in shares @ phi]).astype(np.float64))


def topics(device: str, n: int) -> None:
    """Fit a correlated topic model on the device and on the CPU; infer topics by the model of the CPU on both."""
    counts = documents(n, 5000, 20, 200)
    options = {where: Options(topics=20, steps=10, tolerance=0.0, device=where) for where in {device, "cpu"}}
    model, seconds = timed(lambda: fit(counts, options[device]), device)
    expected, cpu = timed(lambda: fit(counts, options["cpu"]), "cpu")
    apart = abs(model.curve[-1] / expected.curve[-1] - 1)
    print(f"topics, {n:,} documents of 200 words: 10 steps of EM {seconds:.2f} s, CPU {cpu:.2f} s; {peak(device)};")
    print(f"  {agrees('bounds (relative)', apart, 1e-4)}")
    model_of = expected.weights, expected.mean, expected.covariance
    found, seconds = timed(lambda: infer(counts, *model_of, options[device]), device)
    other, cpu = timed(lambda: infer(counts, *model_of, options["cpu"]), "cpu")
    apart = float(np.abs(found[2] / other[2] - 1).max())
    print(f"  inference {seconds:.2f} s, CPU {cpu:.2f} s; {peak(device)}; {agrees('bounds (relative)', apart, 1e-3)}")


def gibbs(device: str, n: int) -> None:
    """Fit and posterior of the mixture by Gibbs sampling; the fit draws other numbers on another device."""
    counts = documents(n, 2000, 8, 200)
    offsets = np.arange(n + 1) * 200
    tokens = lda.Tokens(np.repeat(counts.indices, counts.data.astype(np.int64)).astype(np.int64), offsets)
    begin = np.random.default_rng(1).dirichlet(np.full(2000, 0.5), size=8)
    model, seconds = timed(lambda: lda.fit(tokens, begin, 0.05, 40, 0, device), device)
    expected, cpu = timed(lambda: lda.fit(tokens, begin, 0.05, 40, 0, "cpu"), "cpu")
    apart = abs(float(np.mean(model.curve[-10:]) - np.mean(expected.curve[-10:])))
    print(f"Gibbs sampler, {n * 200:,} tokens, 8 topics: 40 sweeps {seconds:.2f} s, CPU {cpu:.2f} s; {peak(device)};")
    print(f"  {agrees('log-likelihoods per token of two random chains', apart, 0.1)}")
    sampling = Sampling(chains=2, burn_in=5, sweeps=20)
    drawn, seconds = timed(lambda: sample(tokens, expected.phi, expected.alpha, sampling, device), device)
    other, cpu = timed(lambda: sample(tokens, expected.phi, expected.alpha, sampling, "cpu"), "cpu")
    moved = float((drawn != other).any(axis=(1, 2, 3)).mean())
    print(f"  posterior, 50 sweeps {seconds:.2f} s, CPU {cpu:.2f} s; {peak(device)};")
    print(f"  {agrees('draws (share of documents with any other draw)', moved, 0.01)}")


def chains(n: int) -> None:
    """Forward and backward passes of chains of sections, which run on the CPU on every machine."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 12, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    marginals = rng.dirichlet(np.full(8, 0.5), size=int(offsets[-1]))
    transitions = rng.dirichlet(np.ones(9), size=9)
    _, seconds = timed(lambda: chained(marginals, offsets, np.full(8, 1 / 8), transitions), "cpu")
    print(f"chains of 8 section types, {n:,} documents: both passes {seconds:.2f} s on the CPU (always there)")


def relabelling(device: str, units: int, words: int, chunks: int) -> None:
    """Sums of wide tables under relabelling: blocks of documents, which are full, and documents, which are sparse."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, words + 1)
    blocks = rng.poisson(20_000 * frequency / frequency.sum(), (units, words)).astype(np.float64)
    papers = rng.poisson(300 * frequency / frequency.sum(), (units, words)).astype(np.float64)
    for name, table in (("blocks", blocks), ("documents", papers)):
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
        apart = max(float(np.abs(a.cpu().numpy().T - b).max()) for a, b in zip(found, expected, strict=True))
        kind = "sparse" if sparse.issparse(rows) else "full"
        print(f"relabelling {kind} rows of {units:,} {name} × {rows.shape[1]:,} words, {chunks * CHUNK:,} times:")
        print(f"  sums {seconds:.3f} s, CPU {cpu:.3f} s; {peak(device)}; {agrees('counts', apart, 0.0)}")
