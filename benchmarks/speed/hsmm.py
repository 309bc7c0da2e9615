"""Speed of the HSMM's dynamic programs, compared with ``torch-struct``'s semi-Markov model on equal inputs.

Both get the same scores. At sizes that the peer can hold, each side runs in a separate subprocess with its own peak
memory; log-partitions must agree to 1e-4. At the size of the synthetic study (800 states, length 400, duration 11),
ours runs; for the peer, the attempted allocation is reported.

Run:  python benchmarks/speed/hsmm.py [--device cuda]      (needs: pip install --no-deps torch-struct)
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import torch

from momus_critics.hsmm import Parameters, forward, posterior
from momus_critics.hsmm.passes import SegmentScores

SIZES = ((4, 64, 11, 4), (8, 64, 11, 4), (16, 64, 11, 2), (24, 64, 11, 1))
GOAL = (800, 400, 11, 8)


def inputs(states: int, length: int, longest: int, batch: int) -> tuple[Parameters, torch.Tensor]:
    """Random parameters, and log densities of single observations, shape (B, T, K)."""
    g = torch.Generator().manual_seed(0)
    leaving = torch.randn(states, states + 1, generator=g).log_softmax(dim=1)
    duration = torch.randn(states, longest, generator=g).log_softmax(dim=1)
    initial = torch.randn(states, generator=g).log_softmax(dim=0)
    each = torch.randn(batch, length, states, generator=g)
    return Parameters(initial, leaving[:, :-1].contiguous(), duration, leaving[:, -1].contiguous()), each


def scorer(each: torch.Tensor) -> SegmentScores:
    """Segment scores as sums of the log densities (B, T, K) of their observations."""
    total = torch.cat([torch.zeros_like(each[:, :1]), each.cumsum(dim=1)], dim=1)
    return lambda t, n: total[:, t, None] - total[:, t - n : t].flip(1)


def peer_potentials(p: Parameters, each: torch.Tensor) -> torch.Tensor:
    """The same model as edge potentials of the peer, shape (B, T, D + 1, next state, state)."""
    b, t_max, k = each.shape
    edges = torch.full((b, t_max, p.longest + 1, k, k), -1e5)
    scores = scorer(each)
    for t in range(1, t_max + 1):
        n = min(t, p.longest)
        segments = scores(t, n) + p.duration.T[:n]
        for d in range(1, n + 1):
            value = segments[:, d - 1, None, :].expand(b, k, k)
            if t < t_max:
                value = value + p.transition.T
            else:
                value = torch.full_like(value, -1e5)
                value[:, 0] = segments[:, d - 1] + p.final
            if t == d:
                value = value + p.initial
            edges[:, t - d, d] = value
    return edges


def measure(side: str, size: tuple[int, int, int, int], device: str) -> dict[str, object]:
    """Run one side in this process."""
    p, each = inputs(*size)
    lengths = torch.full((size[3],), size[1])
    p, each, lengths = p.to(device), each.to(device), lengths.to(device)
    if side == "peer":
        from torch_struct.semimarkov import SemiMarkov  # type: ignore[import-not-found]

        edges = peer_potentials(p, each).to(device)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    with torch.set_grad_enabled(side == "peer"):
        for _ in range(3):
            if device != "cpu":
                torch.cuda.synchronize()
            start = time.perf_counter()
            if side == "peer":
                value = SemiMarkov().logpartition(edges)[0].detach().flatten()
            elif side == "ours":
                value = forward(p, scorer(each), lengths).log_likelihood
            else:
                value = posterior(p, scorer(each), lengths).log_likelihood
            if device != "cpu":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - start)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if device != "cpu":
        before, after = 0, torch.cuda.max_memory_allocated() // 1024
    return {"value": value.double().tolist(), "seconds": min(seconds), "mb": (after - before) / 1024}


def run(side: str, size: tuple[int, int, int, int], device: str) -> dict[str, object]:
    """Run one side in a separate process."""
    command = [sys.executable, __file__, "--side", side, "--size", *map(str, size), "--device", device]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"killed ({done.returncode})"])[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Compare sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, nargs=4, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.side:
        print(json.dumps(measure(a.side, tuple(a.size), a.device)))
        return
    print("states × length × duration × batch: log-partition, forward pass; best of three, memory beyond the inputs")
    for size in (*SIZES, GOAL):
        ours, peer = run("ours", size, a.device), run("peer", size, a.device)
        label = " × ".join(map(str, size))
        if "error" in ours:
            print(f"  {label}: ours failed: {ours['error']}")
            continue
        mine = f"ours {ours['seconds']:.3f} s, {ours['mb']:.0f} MB"
        if "error" in peer:
            print(f"  {label}: {mine}; torch-struct: {peer['error']}")
            continue
        pairs = zip(ours["value"], peer["value"], strict=True)  # type: ignore[call-overload]
        apart = max(abs(x - y) / abs(y) for x, y in pairs)
        print(
            f"  {label}: {mine}; torch-struct {peer['seconds']:.3f} s, {peer['mb']:.0f} MB; "
            f"relative difference {apart:.1e}"
        )
    states, length, longest, batch = GOAL
    cells = 2 ** (length - 1).bit_length() * (longest + 1 - 1) ** 2 * states**2 * batch
    print(f"  torch-struct's first chart at {states} states would hold {4 * cells / 2**30:,.0f} GB")
    both = run("both", GOAL, a.device)
    print(
        f"  expectations (both passes) at {' × '.join(map(str, GOAL))}: {both.get('seconds', 0):.2f} s, "
        f"{both.get('mb', 0):.0f} MB"
    )


if __name__ == "__main__":
    main()
