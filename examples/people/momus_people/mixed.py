"""Mixed models with crossed random effects, by nested Laplace approximations (Rue, Martino & Chopin 2009).

The linear predictors are ℓ = Xβ + Σ_j Z_j b_j with b_j ~ N(0, σ_j² I). For given standard deviations, the mode of all
coefficients is found by Newton's method, and β and b are integrated out of the likelihood by the Laplace approximation.
Estimates are averages over the posterior of the σ_j, each of which has a half-t prior (Gelman 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, optimize, sparse, stats
from scipy.sparse import linalg as sparse_linalg

from momus.errors import FittingError
from momus.numeric.types import Floats
from momus_people.likelihood import Ordered

PRIOR_SD = 5.0
"""Standard deviation of the normal prior of the fixed effects that have one, in logits: it matters only where answers
leave an effect without bound, as when every reader prefers the same text."""
FREEDOM = 3.0
"""The prior of each σ, in logits, is a half-t distribution with so many degrees of freedom and scale 1."""
POINTS, TAILS, WIDER = 32, 5.0, 1.2
"""Points at which the posterior of the σ is averaged; degrees of freedom and widening of the t distribution of log σ
that they are drawn from."""
START, LOWEST, HIGHEST = 0.5, 0.01, 10.0
STEPS, TOLERANCE = 100, 1e-8
EPS = 1e-3
"""Step of the finite differences in log σ: well above the tolerance of the inner maximum."""
MOVE = 0.05
"""Step of the differences of log|H| in the fixed effects, in logits."""
DENSE, DENSE_ENTRIES = 500, 400_000
"""Up to so many coefficients, matrices of them are dense; up to so many entries, the design is, too."""


@dataclass(frozen=True)
class Random:
    """One random effect: its name, and its design (2n, levels), whose rows are those of the linear predictors."""

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
        Standard deviation of each random effect, by name: mean over its posterior.
    effects
        Modes of the random effects, by name.
    log_likelihood
        At the mode, less half the squares of the random effects divided by their variances.
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
        Design of the fixed effects, (2n, p); the two rows of an answer are neighbours.
    start
        Fixed effects at which to begin, (p,), inside the support of the likelihood.
    shrunk
        bool (p,): which of them have the weak normal prior (`PRIOR_SD`).
    """

    likelihood: Ordered
    fixed: Floats
    random: Sequence[Random]
    start: Floats
    shrunk: Floats

    @cached_property
    def _design(self) -> sparse.csr_array | Floats:
        """All designs side by side, (2n, d): dense where that is small, since sparse products cost more then."""
        design = sparse.csr_array(sparse.hstack([sparse.csr_array(self.fixed), *(r.design for r in self.random)]))
        return design.toarray() if design.shape[1] <= DENSE and np.prod(design.shape) <= DENSE_ENTRIES else design

    @cached_property
    def _levels(self) -> list[int]:
        return [r.design.shape[1] for r in self.random]

    def _precision(self, log_sds: Floats) -> Floats:
        """Prior precision of every coefficient, (p + levels,)."""
        parts = [np.where(self.shrunk, PRIOR_SD**-2, 0.0)]
        parts += [np.full(n, np.exp(-2 * s)) for n, s in zip(self._levels, log_sds, strict=True)]
        return np.concatenate(parts)

    def _derivatives(self, at: Floats) -> tuple[Floats, sparse.csr_array | Floats]:
        """Gradient of the log-likelihood (d,), and its negative second derivatives XᵀWX (d, d)."""
        design = self._design
        gradient, weights = self.likelihood.derivatives((design @ at).reshape(-1, 2))
        n = len(weights)  # W is block-diagonal: one (2, 2) block per answer
        slope = np.asarray(design.T @ gradient.ravel())
        if isinstance(design, np.ndarray):
            return slope, np.asarray(design.T @ (weights @ design.reshape(n, 2, -1)).reshape(2 * n, -1))
        blocks = sparse.bsr_array((weights, np.arange(n), np.arange(n + 1)), shape=(2 * n,) * 2)
        return slope, sparse.csr_array(design.T @ (blocks @ design))

    def _mode(self, log_sds: Floats, at: Floats) -> tuple[Floats, float, _Factor]:
        """Coefficients that maximise the penalised likelihood, its value there, and its negative second derivative."""
        precision = self._precision(log_sds)

        def value(x: Floats) -> float:
            predictors = (self._design @ x).reshape(-1, 2)
            return self.likelihood.value(predictors) - 0.5 * float(precision @ (x * x))

        now = value(at)
        for _ in range(STEPS):
            gradient, information = self._derivatives(at)
            factor = _factor(information, precision)
            slope = gradient - precision * at
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

    def _given(self, log_sds: Floats, at: Floats) -> _Given:
        """What follows from given log σ (k,), by Newton's method from coefficients (d,)."""
        mode, value, factor = self._mode(log_sds, at)
        # −½ log|H| integrates fixed and random effects out; the normal densities bring −n log σ
        laplace = value - 0.5 * factor.log_det - float(np.dot(self._levels, log_sds))
        # the half-t density of σ, and log σ since the density is that of log σ
        prior = log_sds - (FREEDOM + 1) / 2 * np.log1p(np.exp(2 * log_sds) / FREEDOM)
        return _Given(log_sds, mode, value, laplace + float(prior.sum()), factor)

    def fit(self) -> Fit:
        """Estimate the standard deviations, then all coefficients.

        Raises
        ------
        FittingError
            Newton's method does not converge.
        """
        k, p = len(self.random), len(self.start)
        last = np.concatenate([self.start, np.zeros(sum(self._levels))])
        log_sds = np.zeros(k)
        if k:

            def objective(at: Floats) -> float:
                nonlocal last
                given = self._given(at, last)
                last = given.mode
                return -given.log_posterior

            bounds = [(np.log(LOWEST), np.log(HIGHEST))] * k
            options = {"ftol": 1e-6, "eps": EPS}
            first = np.full(k, np.log(START))
            found = optimize.minimize(objective, first, method="L-BFGS-B", bounds=bounds, options=options)
            log_sds = np.asarray(found.x, dtype=np.float64)
        best = self._given(log_sds, last)
        points, weights = self._posterior(best) if k else ([best], np.ones(1))
        fixed = np.array([g.mode[:p] for g in points])
        spread = np.atleast_2d(np.cov(fixed.T, aweights=weights, bias=True)) if k else 0.0
        covariance = np.einsum("m,mij->ij", weights, [g.factor.inverse(p) for g in points]) + spread
        parts = np.split(best.mode[p:], np.cumsum(self._levels)[:-1]) if k else []
        sds = weights @ np.exp([g.log_sds for g in points])
        names = [r.name for r in self.random]
        return Fit(
            weights @ fixed + self._shift(best),
            covariance,
            dict(zip(names, sds.tolist(), strict=True)),
            dict(zip(names, parts, strict=True)),
            best.value,
        )

    def _posterior(self, best: _Given) -> tuple[list[_Given], Floats]:
        """Points of the posterior of the log σ and their weights, (`POINTS`,), by importance sampling.

        Points are quasi-random draws of a t distribution about the mode with its curvature.
        """
        k = len(best.log_sds)
        curvature = _inverse_curvature(lambda x: -self._given(x, best.mode).log_posterior, best.log_sds)
        root = np.linalg.cholesky(curvature + 1e-10 * np.eye(k))
        t = stats.t(TAILS)
        draws = t.ppf(stats.qmc.Sobol(k, rng=np.random.default_rng(0)).random(POINTS))
        places = best.log_sds + WIDER * draws @ root.T
        # the prior ends at these limits: points beyond them have no weight
        inside = ((places >= np.log(LOWEST)) & (places <= np.log(HIGHEST))).all(axis=1)
        points = [self._given(x, best.mode) for x in places[inside]]
        ratios = np.array([g.log_posterior for g in points]) - t.logpdf(draws[inside]).sum(axis=1)
        weights = np.exp(ratios - ratios.max())
        return points, weights / weights.sum()

    def _shift(self, given: _Given) -> Floats:
        """From the joint mode of fixed and random effects to the mode of the fixed effects with b integrated out, (p,).

        One Newton step: −½ C ∂ log|H_bb| / ∂β, with b at its best for each β, and C the covariance of β. The joint mode
        alone is biased towards equal corpora (Breslow & Lin 1995).
        """
        p = len(self.start)
        if not self.random:
            return np.zeros(p)
        columns = given.factor.solve(np.eye(given.factor.size, p))
        covariance = columns[:p]
        lines = columns @ np.linalg.inv(covariance)  # (d, p): how all coefficients follow each fixed effect
        precision = self._precision(given.log_sds)

        def log_det(at: Floats) -> float:
            return _factor(self._derivatives(at)[1][p:, p:], precision[p:]).log_det

        slopes = [
            (log_det(given.mode + MOVE * line) - log_det(given.mode - MOVE * line)) / (2 * MOVE) for line in lines.T
        ]
        return np.asarray(-0.5 * covariance @ np.array(slopes))


@dataclass(frozen=True)
class _Given:
    """What follows from log σ (k,): mode of the coefficients (d,), penalised log-likelihood there, log posterior
    density of the log σ up to a constant, and factor of H.
    """  # noqa: D205

    log_sds: Floats
    mode: Floats
    value: float
    log_posterior: float
    factor: _Factor


def _inverse_curvature(function: Callable[[Floats], float], at: Floats, step: float = 0.1) -> Floats:
    """Inverse of the second derivatives by central differences, (k, k); no variance exceeds 1."""
    k, value = len(at), function(at)
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


def _factor(matrix: sparse.csr_array | Floats, precision: Floats) -> _Factor:
    size = matrix.shape[0]
    if size <= DENSE:
        dense = matrix.copy() if isinstance(matrix, np.ndarray) else matrix.toarray()
        # a trace of the diagonal keeps categories that nobody chose from making the matrix singular
        dense[np.diag_indices(size)] += precision + 1e-9
        root = linalg.cho_factor(dense, lower=True)
        return _Factor(lambda x: np.asarray(linalg.cho_solve(root, x)), 2 * float(np.log(np.diag(root[0])).sum()), size)
    lu = sparse_linalg.splu(
        sparse.csc_array(matrix + sparse.diags_array(precision + 1e-9)), options={"SymmetricMode": True}
    )
    return _Factor(lambda x: np.asarray(lu.solve(x)), float(np.log(np.abs(lu.U.diagonal())).sum()), size)
