"""Mixed models with crossed random effects, fitted by the Laplace approximation of the marginal likelihood.

The linear predictors are ℓ = Xβ + Σ_j Z_j b_j with b_j ~ N(0, σ_j² I). For given standard deviations, the mode of all
coefficients is found by Newton's method; the σ_j maximise the Laplace approximation of the likelihood with β and b
integrated out (restricted likelihood), times a boundary-avoiding prior (Chung, Rabe-Hesketh, Dorie, Gelman & Liu 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, optimize, sparse
from scipy.sparse import linalg as sparse_linalg

from momus.errors import FittingError
from momus.numeric.types import Floats
from momus.study.likelihood import Likelihood

PRIOR_SD = 5.0
"""Standard deviation of the normal prior of the fixed effects that have one, in logits: it matters only where answers
leave an effect without bound, as when every reader prefers the same text."""
SHAPE, RATE = 1.4, 0.5
"""The prior of each σ, a gamma distribution, whose density is 0 at σ = 0."""
START, LOWEST, HIGHEST = 0.5, 0.01, 10.0
STEPS, TOLERANCE = 100, 1e-8
EPS = 1e-3
"""Step of the finite differences in log σ: well above the tolerance of the inner maximum."""
DENSE = 500
"""Up to so many coefficients, matrices are dense."""


@dataclass(frozen=True)
class Random:
    """One random effect: its name, and its design (n·q, levels), whose rows are those of the linear predictors."""

    name: str
    design: sparse.csr_array


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    fixed, covariance
        Fixed effects (p,) and their covariance (p, p), random effects integrated out and the σ averaged over.
    sds
        Standard deviation of each random effect, by name.
    effects
        Modes of the random effects, by name.
    log_likelihood
        Laplace approximation at the estimate.
    """

    fixed: Floats
    covariance: Floats
    sds: dict[str, float]
    effects: dict[str, Floats]
    log_likelihood: float


@dataclass
class Mixed:
    """A likelihood with the designs of its linear predictors.

    Attributes
    ----------
    fixed
        Design of the fixed effects, (n·q, p); the q rows of an answer are neighbours.
    start
        Fixed effects at which to begin, (p,), inside the support of the likelihood.
    shrunk
        bool (p,): which of them have the weak normal prior (`PRIOR_SD`).
    """

    likelihood: Likelihood
    fixed: Floats
    random: Sequence[Random]
    start: Floats
    shrunk: Floats

    @cached_property
    def _design(self) -> sparse.csr_array:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(self.fixed), *(r.design for r in self.random)]))

    @cached_property
    def _levels(self) -> list[int]:
        return [r.design.shape[1] for r in self.random]

    def _precision(self, log_sds: Floats) -> Floats:
        """Prior precision of every coefficient, (p + levels,)."""
        parts = [np.where(self.shrunk, PRIOR_SD**-2, 0.0)]
        parts += [np.full(n, np.exp(-2 * s)) for n, s in zip(self._levels, log_sds, strict=True)]
        return np.concatenate(parts)

    def _mode(self, log_sds: Floats, at: Floats) -> tuple[Floats, float, _Factor]:
        """Coefficients that maximise the penalised likelihood, its value there, and its negative second derivative."""
        precision = self._precision(log_sds)
        shape = (-1, self.likelihood.width)

        def value(x: Floats) -> float:
            return self.likelihood.value((self._design @ x).reshape(shape)) - 0.5 * float(precision @ (x * x))

        now = value(at)
        for _ in range(STEPS):
            gradient, weights = self.likelihood.derivatives((self._design @ at).reshape(shape))
            n = len(weights)
            blocks = sparse.bsr_array((weights, np.arange(n), np.arange(n + 1)), shape=(gradient.size,) * 2)
            factor = _factor(self._design.T @ (blocks @ self._design), precision)
            slope = self._design.T @ gradient.ravel() - precision * at
            step = factor.solve(slope)
            gain = float(slope @ step)  # twice the increase that a quadratic would have
            if gain < TOLERANCE:
                return at, now, factor
            size = 1.0
            while (after := value(at + size * step)) < now + 1e-4 * size * gain and size > 1e-10:
                size /= 2
            if size <= 1e-10:
                return at, now, factor
            at, now = at + size * step, after
        raise FittingError("the model of the answers did not converge", hint="look at the answers: are there enough?")

    def fit(self) -> Fit:
        """Estimate the standard deviations, then all coefficients.

        Raises
        ------
        FittingError
            Newton's method does not converge.
        """
        begin = np.concatenate([self.start, np.zeros(sum(self._levels))])
        last = [begin]

        def objective(log_sds: Floats) -> float:
            at, value, factor = self._mode(log_sds, last[0])
            last[0] = at
            sds = np.exp(log_sds)
            # −½ log|H| integrates fixed and random effects out; the normal densities bring −n log σ
            laplace = value - 0.5 * factor.log_det - float(np.dot(self._levels, log_sds))
            return -(laplace + float(((SHAPE - 1) * log_sds - RATE * sds).sum()))

        k = len(self.random)
        if k:
            bounds = [(np.log(LOWEST), np.log(HIGHEST))] * k
            first = np.full(k, np.log(START))
            found = optimize.minimize(
                objective, first, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-6, "eps": EPS}
            )
            log_sds = np.asarray(found.x, dtype=np.float64)
        else:
            log_sds = np.zeros(0)
        fixed, covariance, coefficients, value = self._integrated(log_sds, objective, last[0])
        p = len(self.start)
        parts = np.split(coefficients[p:], np.cumsum(self._levels)[:-1]) if k else []
        names = [r.name for r in self.random]
        sds = dict(zip(names, np.exp(log_sds).tolist(), strict=True))
        return Fit(fixed, covariance, sds, dict(zip(names, parts, strict=True)), -value)

    def _integrated(
        self, log_sds: Floats, objective: Callable[[Floats], float], at: Floats
    ) -> tuple[Floats, Floats, Floats, float]:
        """Fixed effects and covariance, averaged over the uncertainty of the σ; coefficients and value at the mode.

        The posterior of the log σ_j is approximated by a normal distribution with the curvature at its mode. The mean
        runs over the mode and 2k points at ±√(k + 1) standard deviations (the unscented rule), each with a weight that
        is corrected by the ratio of the posterior to that normal distribution, which is too wide above.
        """
        k, p = len(log_sds), len(self.start)
        value = objective(log_sds) if k else -self._mode(log_sds, at)[1]
        mode, _, factor = self._mode(log_sds, at)
        if not k:
            return mode[:p], factor.inverse(p), mode, value
        root = np.linalg.cholesky(_inverse_curvature(objective, log_sds, value) + 1e-10 * np.eye(k))
        reach = np.sqrt(k + 1)
        points = [log_sds + reach * sign * root[:, j] for j in range(k) for sign in (-1, 1)]
        points = [np.clip(point, np.log(LOWEST), np.log(HIGHEST)) for point in points]
        ratios = np.exp([min(value - objective(point) + reach**2 / 2, 50.0) for point in points])
        weights = np.append(ratios / (2 * (k + 1)), 1 / (k + 1))
        weights /= weights.sum()
        means, inside = [], np.zeros((p, p))
        for point, weight in zip([*points, log_sds], weights, strict=True):
            coefficients, _, bent = self._mode(point, mode)
            means.append(coefficients[:p])
            inside += weight * bent.inverse(p)
        spread = np.atleast_2d(np.cov(np.array(means).T, aweights=weights, bias=True))
        return mode[:p], inside + spread, mode, value


def _inverse_curvature(function: Callable[[Floats], float], at: Floats, value: float, step: float = 0.1) -> Floats:
    """Inverse of the second derivatives by central differences, (k, k); no variance exceeds 1."""
    k = len(at)
    moves = step * np.eye(k)
    matrix = np.empty((k, k))
    ahead = [function(at + m) for m in moves]
    behind = [function(at - m) for m in moves]
    for i in range(k):
        matrix[i, i] = (ahead[i] + behind[i] - 2 * value) / step**2
        for j in range(i):
            both = function(at + moves[i] + moves[j])
            matrix[i, j] = matrix[j, i] = (both - ahead[i] - ahead[j] + value) / step**2
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors / np.maximum(values, 1.0)) @ vectors.T)


@dataclass(frozen=True)
class _Factor:
    """A factorised positive definite matrix (d, d)."""

    solve: Callable[[Floats], Floats]
    log_det: float
    size: int

    def inverse(self, p: int) -> Floats:
        """The first p rows and columns of the inverse."""
        return np.asarray(self.solve(np.eye(self.size, p))[:p])


def _factor(matrix: sparse.csr_array, precision: Floats) -> _Factor:
    size = matrix.shape[0]
    if size <= DENSE:
        dense = matrix.toarray()
        # a trace of the diagonal keeps categories that nobody chose from making the matrix singular
        dense[np.diag_indices(size)] += precision + 1e-9
        root = linalg.cho_factor(dense, lower=True)
        return _Factor(lambda x: np.asarray(linalg.cho_solve(root, x)), 2 * float(np.log(np.diag(root[0])).sum()), size)
    lu = sparse_linalg.splu(
        sparse.csc_array(matrix + sparse.diags_array(precision + 1e-9)), options={"SymmetricMode": True}
    )
    return _Factor(lambda x: np.asarray(lu.solve(x)), float(np.log(np.abs(lu.U.diagonal())).sum()), size)
