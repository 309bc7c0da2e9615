"""Predicting the judge's scores from latents by Gaussian processes: the fourth attempt, after ``latents.py``.

Ridge regression in ``latents.py`` gave every block of variables the same weight, and one penalty chosen by leaving out
*models*, even for predictions of other prompts. Here each block has separate weights of a linear and a nonlinear part,
and nothing is left out to choose them. Fixed before it was compared with the judge, except for the bounds (the first
run left the range of floats):

* Blocks and their coordinates are those of ``latents.py``: yardsticks, headlines, latents of five critics, each with a
  total variance of 1 over the training stories.
* A story's score, centred within its prompt, is a Gaussian process with covariance
  Σ_b (s_b² x·x' + c_b² exp(−|x − x'|² / 2 l_b²)) over blocks b, with noise σ² (Rasmussen & Williams 2006).
* s, c, l, σ maximise the marginal likelihood, each with a log-normal prior: medians √(½ / blocks) of the standard
  deviation of the scores for s and c, 1 for l, √½ for σ; a standard deviation of 1.5 on the log scale. One start, at
  the medians; L-BFGS within four of these of the medians.

Added after this had been seen: partial correlations, given the yardsticks, of the judge's scores with predictions from
latents alone, with model and prompt held out, or the whole family.

Run:  python benchmarks/validity/gaussian.py [--out DIR], after ranking.py and latents.py with the same DIR.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from latents import Blocks, known_again, line, prepared, scaled
from ranking import associations, closer, family, show, stories
from scipy.optimize import minimize
from yardsticks import HELD, Floats, held_out, some_prompts

SPREAD = 1.5


def covariance(parameters: torch.Tensor, products: torch.Tensor, squares: torch.Tensor) -> torch.Tensor:
    """Covariance (n, m) from inner products and squared distances (b, n, m), and log parameters s, c, l (3, b)."""
    s, c, length = (2 * parameters).exp()
    curved = torch.exp(-squares / (2 * length[:, None, None]))
    return (s[:, None, None] * products + c[:, None, None] * curved).sum(dim=0)


def between(one: Sequence[Floats], other: Sequence[Floats]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inner products and squared distances of the rows of each block, shapes (b, n, m)."""
    sides = [(torch.from_numpy(a), torch.from_numpy(b)) for a, b in zip(one, other, strict=True)]
    return torch.stack([a @ b.T for a, b in sides]), torch.stack([torch.cdist(a, b) ** 2 for a, b in sides])


def fitted(y: Floats, inside: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Return log s, log c, log l of each block, then log σ, at the maximum of the posterior."""
    blocks, n = inside[0].shape[:2]
    start = np.log(np.r_[np.full(2 * blocks, (0.5 / blocks) ** 0.5), np.ones(blocks), 0.5**0.5])
    middle, target = torch.from_numpy(start), torch.from_numpy(y)

    def objective(values: Floats) -> tuple[float, Floats]:
        parameters = torch.tensor(values, requires_grad=True)
        noisy = covariance(parameters[:-1].view(3, blocks), *inside)
        noisy = noisy + (2 * parameters[-1]).exp() * torch.eye(n, dtype=torch.float64)
        likely = torch.distributions.MultivariateNormal(torch.zeros(n, dtype=torch.float64), noisy).log_prob(target)
        loss = (((parameters - middle) / SPREAD) ** 2).sum() / 2 - likely
        loss.backward()  # type: ignore[no-untyped-call]
        assert parameters.grad is not None
        return float(loss.detach()), parameters.grad.numpy()

    near = [(m - 4 * SPREAD, m + 4 * SPREAD) for m in start]  # otherwise line searches overflow
    return torch.from_numpy(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=near).x)


def process(
    train: pd.DataFrame, test: pd.DataFrame, names: list[str], ranks: bool, *, blocks: Blocks, shares: list[Floats]
) -> Floats:
    """Posterior mean of the test stories; each block's share of the training variance is appended to ``shares``."""
    y = (train["judge"] - train.groupby("prompt")["judge"].transform("mean")).to_numpy()
    parts = [[n for n in names if blocks[n][0] == b] for b in dict.fromkeys(blocks[n][0] for n in names)]
    known, new = zip(*(scaled(train, test, part, blocks) for part in parts), strict=True)
    inside, across = between(known, known), between(new, known)
    scale = y.std()
    parameters = fitted(y / scale, inside)
    found = parameters[:-1].view(3, -1)
    noise = (2 * parameters[-1]).exp()
    solved = torch.linalg.solve(
        covariance(found, *inside) + noise * torch.eye(len(y), dtype=torch.float64), torch.from_numpy(y.copy())
    )
    shares.append((2 * found[:2]).exp().sum(dim=0).numpy() / float((2 * found[:2]).exp().sum() + noise))
    return np.asarray((covariance(found, *across) @ solved).numpy(), dtype=np.float64)


def main() -> None:
    """Compare the predictions with the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-scores"), help="folder of scores and latents")
    judged, sets, blocks = prepared(parser.parse_args().out)
    families = judged.assign(model=judged["model"].map(family))
    print("\n| predictors | held out | ρ of means | within a prompt | gain over yardsticks ", end="")
    print("| median share of variance |")
    print("|" + "---|" * 6)
    base: dict[str, Floats] = {}
    alone: dict[str, dict[str, Floats]] = {"both": {}, "families": {}}
    for label, names in sets.items():
        for kind in (*HELD, "families"):
            shares: list[Floats] = []
            predict = partial(process, blocks=blocks, shares=shares)
            table, same = (families, "models") if kind == "families" else (judged, kind)
            guess = held_out(table, names, True, (same,), predict)[same]
            base.setdefault(kind, guess)  # the yardsticks come first
            if kind in alone and "yardsticks" not in label:
                centred = guess - pd.Series(guess).groupby(judged["prompt"]).transform("mean").to_numpy()
                alone[kind][f"{label}, {kind}"] = centred
            of = zip(dict.fromkeys(blocks[n][0] for n in names), np.median(shares, axis=0).tolist(), strict=True)
            line(label, kind, judged, guess, base[kind], ", ".join(f"{b} {share:.2f}" for b, share in of))
    texts = stories()["text"].tolist()
    for kind, columns in alone.items():
        wider = judged.assign(**columns)
        show(f"Predictions beyond the yardsticks, held out: {kind}", associations(wider, [*columns]))
        closer(wider, texts, [*columns])
    print("\n| predictors | fitted on two prompts: ρ | smallest | largest | nearest model correct |\n|" + "---|" * 5)
    for label, names in sets.items():
        found = some_prompts(judged, names, True, partial(process, blocks=blocks, shares=[]))
        cells = " | ".join(f"{v:.3f}" for v in found)
        print(f"| {label} | {cells} | {known_again(judged, names, blocks)} |", flush=True)


if __name__ == "__main__":
    main()
