"""Mixed models of prompts and models: closed forms for balanced data, REML otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Floats, Ints

RESAMPLES, RESAMPLES_REML = 499, 99


@dataclass(frozen=True)
class ModelEffect:
    """Mean of a model less that of the real text, in units of the value, with its interval and documents."""

    model: str
    difference: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Share:
    """A share of the variance within corpora, with its interval; None where it cannot be estimated."""

    share: float
    low: float | None
    high: float | None
    levels: int


@dataclass(frozen=True)
class Cells:
    """Values (N,) of the documents that take part, with the numbers of their prompt and corpus (0 is the real one)."""

    y: Floats
    prompt: Ints
    corpus: Ints
    prompts: int
    corpora: int

    @property
    def counts(self) -> Ints:
        """Documents by prompt and corpus, (P, C)."""
        cells = self.prompt * self.corpora + self.corpus
        return np.bincount(cells, minlength=self.prompts * self.corpora).reshape(self.prompts, self.corpora)


Found = tuple[tuple[ModelEffect, ...], tuple[Share, Share | None, Share]]


def balanced_components(c: Cells, models: Sequence[str], confidence: float, seed: int) -> Found:
    """Closed forms for r documents in each cell."""
    from scipy.stats import t

    r = int(c.counts[0, 0])
    order = np.lexsort((c.corpus, c.prompt))
    values = c.y[order].reshape(c.prompts, c.corpora, r)
    means = values.mean(axis=2)  # (P, C)
    within = ((values - means[:, :, None]) ** 2).sum(axis=(1, 2))  # sums of squares by prompt, (P,)
    shares, interaction, freedom = _mean_squares(means[None], within[None], r)
    # a difference of two means of P·r documents: the prompts cancel
    error = float(np.sqrt(2 * interaction[0] / (c.prompts * r)))
    reach = float(t.ppf((1 + confidence) / 2, freedom[0])) * error
    difference = means.mean(axis=0)[1:] - means.mean(axis=0)[0]
    effects = tuple(
        ModelEffect(m, float(d), float(d - reach), float(d + reach), c.prompts * r)
        for m, d in zip(models, difference, strict=True)
    )
    rng = np.random.default_rng([seed, 9])
    drawn = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, c.prompts, c.prompts)
        drawn.append(_mean_squares(means[None, rows], within[None, rows], r)[0][0])
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    levels = (c.prompts, c.prompts * c.corpora, len(c.y))
    parts = [Share(float(s), float(a), float(b), n) for s, a, b, n in zip(shares[0], low, high, levels, strict=True)]
    return effects, (parts[0], parts[1] if r > 1 else None, parts[2])


def _mean_squares(means: Floats, within: Floats, r: int) -> tuple[Floats, Floats, Floats]:
    """Shares of prompt, prompt × model and residual, (B, 3), from cell means (B, P, C) and squares within (B, P).

    Also the mean square of prompt × model and its degrees of freedom, (B,) each. Mean squares must grow from residual
    to prompt × model to prompt; neighbours that do not are pooled, which gives the REML estimates with variances of 0
    (Thompson 1962).
    """
    p, c = means.shape[1:]
    by_prompt = means.mean(axis=2, keepdims=True)
    by_corpus = means.mean(axis=1, keepdims=True)
    whole = means.mean(axis=(1, 2), keepdims=True)
    squares = np.column_stack(
        [
            within.sum(axis=1),
            r * ((means - by_prompt - by_corpus + whole) ** 2).sum(axis=(1, 2)),
            r * c * ((by_prompt - whole) ** 2).sum(axis=(1, 2)),
        ]
    )
    freedom = np.broadcast_to(np.array([p * c * (r - 1), (p - 1) * (c - 1), p - 1], dtype=np.float64), squares.shape)
    shares, interaction, degrees = np.zeros_like(squares), np.zeros(len(squares)), np.zeros(len(squares))
    for b, (s, f) in enumerate(zip(squares, freedom, strict=True)):
        e, pm, pr, degrees[b] = _pooled_up(s, f)
        parts = np.array([(pr - pm) / (r * c), (pm - e) / r, e]) if r > 1 else np.array([(pr - pm) / c, 0.0, pm])
        shares[b], interaction[b] = parts / max(parts.sum(), 1e-300), pm
    return shares, interaction, degrees


def _pooled_up(squares: Floats, freedom: Floats) -> tuple[float, float, float, float]:
    """Isotonic mean squares of residual, prompt × model and prompt, and the degrees of freedom of the second."""
    blocks: list[tuple[float, float, int]] = []
    for s, f in zip(squares, freedom, strict=True):
        blocks.append((float(s), float(f), 1))
        # a level without degrees of freedom joins the next one
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            (s0, f0, n0), (s1, f1, n1) = blocks[-2:]
            blocks[-2:] = [(s0 + s1, f0 + f1, n0 + n1)]
    values = [s / f for s, f, n in blocks for _ in range(n)]
    degrees = [f for _, f, n in blocks for _ in range(n)]
    return values[0], values[1], values[2], degrees[1]


def reml_components(c: Cells, models: Sequence[str], confidence: float, seed: int = 0) -> Found | str:
    """Fit the mixed model to any numbers of documents per cell by REML; a sentence if that fails."""
    from scipy.stats import norm

    likelihood = Reml.of(c)
    ratios = likelihood.fit(np.ones(c.prompts), np.array([1.0, 1.0]))
    if ratios is None:
        return "REML did not converge"
    means, covariance = likelihood.means(ratios)
    reach = float(norm.ppf((1 + confidence) / 2))
    effects = []
    for k, model in enumerate(models, 1):
        d = float(means[k] - means[0])
        error = float(np.sqrt(covariance[k, k] + covariance[0, 0] - 2 * covariance[0, k]))
        effects.append(ModelEffect(model, d, d - reach * error, d + reach * error, int((c.corpus == k).sum())))
    rng, drawn = np.random.default_rng([seed, 9]), []
    for _ in range(RESAMPLES_REML):
        times = np.bincount(rng.integers(0, c.prompts, c.prompts), minlength=c.prompts).astype(np.float64)
        again = likelihood.fit(times, ratios, tolerance=1e-3)
        if again is not None:
            drawn.append(_shares(again))
    if len(drawn) < 0.9 * RESAMPLES_REML:
        return "REML did not converge for more than a tenth of the resamples"
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    levels = (c.prompts, int((c.counts > 0).sum()), len(c.y))
    prompt, interaction, residual = (
        Share(float(s), float(a), float(b), n) for s, a, b, n in zip(_shares(ratios), low, high, levels, strict=True)
    )
    return tuple(effects), (prompt, interaction if likelihood.repeats else None, residual)


def _shares(ratios: Floats) -> Floats:
    """Shares of prompt, prompt × model and residual, (3,), from variances in units of the residual one, (2,)."""
    return np.asarray(np.append(ratios, 1.0) / (1 + ratios.sum()))


@dataclass(frozen=True)
class Reml:
    """The restricted likelihood of the mixed model, from counts and means of cells.

    With γ₁ and γ₂ the variances of prompt and of prompt × model in units of the residual variance, and n documents in a
    cell, the covariance of a prompt has closed forms: w = n/(1 + γ₂n) by cell and W = Σw give the determinant
    ∏(1 + γ₂n) · (1 + γ₁W) and the inverse diag(w) − γ₁ww'/(1 + γ₁W) on the means of the cells
    (Searle, Casella & McCulloch 1992, chapter 6).

    Attributes
    ----------
    n, y
        Numbers of documents and their mean by prompt and corpus, (P, C); means of empty cells are 0.
    within
        Sum of squares within cells, by prompt, (P,).
    repeats
        Whether a cell has several documents; otherwise γ₂ is 0.
    """

    n: Floats
    y: Floats
    within: Floats
    repeats: bool

    @classmethod
    def of(cls, c: Cells) -> Reml:
        """Sum up documents by cell."""
        cells, n = c.prompt * c.corpora + c.corpus, c.counts.astype(np.float64)
        sums = np.bincount(cells, c.y, minlength=n.size).reshape(n.shape)
        y = sums / np.maximum(n, 1)
        within = np.bincount(c.prompt, (c.y - y[c.prompt, c.corpus]) ** 2, minlength=c.prompts)
        return cls(n, y, np.asarray(within, dtype=np.float64), bool((n > 1).any()))

    def _normal(self, ratios: Floats, times: Floats) -> tuple[Floats, Floats, float, float]:
        """X'V⁻¹X (C, C), X'V⁻¹y (C,), y'V⁻¹y and log|V|, where prompt p counts ``times[p]`` times."""
        one, two = ratios
        w = self.n / (1 + two * self.n)
        whole = w.sum(axis=1)
        pull = times * one / (1 + one * whole)  # (P,)
        wy = (w * self.y).sum(axis=1)
        a = np.diag(times @ w) - (w * pull[:, None]).T @ w
        b = times @ (w * self.y) - (pull * wy) @ w
        q = float(times @ (self.within + (w * self.y**2).sum(axis=1)) - pull @ wy**2)
        log = float(times @ (np.log1p(two * self.n).sum(axis=1) + np.log1p(one * whole)))
        return a, b, q, log

    def fit(self, times: Floats, start: Floats, tolerance: float = 1e-5) -> Floats | None:
        """Variances in units of the residual one, (2,); None without convergence."""
        from scipy.optimize import minimize

        freedom = float(times @ self.n.sum(axis=1)) - self.n.shape[1]
        size = 2 if self.repeats else 1

        def criterion(roots: Floats) -> float:
            a, b, q, log = self._normal(np.append(roots**2, 0.0)[:2], times)
            sign, log_a = np.linalg.slogdet(a)
            if sign <= 0:
                return math.inf
            squares = max(q - float(b @ np.linalg.solve(a, b)), 1e-300)
            value: float = (freedom * math.log(squares / freedom) + log + float(log_a)) / freedom
            return value

        # square roots keep variances above 0; a start of 0 could not leave it
        options = {"xatol": tolerance, "fatol": tolerance**2}
        found = minimize(criterion, np.sqrt(np.maximum(start[:size], 1e-4)), method="Nelder-Mead", options=options)
        return np.append(found.x**2, 0.0)[:2] if found.success and math.isfinite(found.fun) else None

    def means(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Means of the corpora, (C,), and their covariance."""
        a, b, q, _ = self._normal(ratios, np.ones(len(self.n)))
        inverse = np.linalg.inv(a)
        variance = (q - float(b @ inverse @ b)) / (self.n.sum() - len(b))
        return inverse @ b, inverse * variance
