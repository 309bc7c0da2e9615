"""The beta-binomial distribution, by maximum likelihood."""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats, Ints


def fit_beta_binomial(hits: Ints, tokens: Ints) -> tuple[float, float]:
    """Maximum-likelihood α and β, both bounded to [1e-4, 1e5] (a constant share has no finite maximum).

    >>> rng = np.random.default_rng(0)
    >>> n = np.full(4000, 50)
    >>> a, b = fit_beta_binomial(rng.binomial(n, rng.beta(2, 6, 4000)), n)
    >>> round(a), round(b)
    (2, 6)
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    # equal (hits, tokens) are evaluated once, weighted by their number of documents, (pairs,)
    pairs, weight = np.unique(np.column_stack([hits, tokens]), axis=0, return_counts=True)
    k, n = pairs[:, 0], pairs[:, 1]
    share = (hits.sum() + 0.5) / (tokens.sum() + 1.0)

    def loss(log_parameters: Floats) -> float:
        a, b = np.exp(log_parameters)
        return float(-(weight @ (betaln(k + a, n - k + b) - betaln(a, b))) / weight.sum())

    start = np.log([10 * share, 10 * (1 - share)])
    bounds = [(np.log(1e-4), np.log(1e5))] * 2
    optimum = minimize(loss, np.clip(start, *bounds[0]), method="L-BFGS-B", bounds=bounds)
    a, b = np.exp(optimum.x)
    return float(a), float(b)
