"""Mixed models of prompts and models: closed forms for balanced data, REML by statsmodels otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Floats, Ints

RESAMPLES = 499


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


def reml_components(c: Cells, models: Sequence[str], confidence: float) -> Found | str:
    """Fit the mixed model by REML; a sentence if that fails."""
    from scipy.stats import norm
    from statsmodels.regression.mixed_linear_model import MixedLM

    scale = float(c.y.std())
    design = np.column_stack([np.ones(len(c.y)), *(c.corpus == k for k in range(1, c.corpora))]).astype(np.float64)
    repeats = bool((c.counts > 1).any())
    components = None
    if repeats:
        from statsmodels.regression.mixed_linear_model import VCSpec

        members = [np.flatnonzero(c.prompt == p) for p in range(c.prompts)]
        matrices = [np.eye(c.corpora)[c.corpus[m]][:, np.unique(c.corpus[m])] for m in members]
        names = [[f"c{k}" for k in np.unique(c.corpus[m])] for m in members]
        components = VCSpec(["prompt × model"], [names], [matrices])
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            fitted = MixedLM(c.y / scale, design, c.prompt, np.ones((len(c.y), 1)), components).fit(reml=True)
            errors, random_errors = np.asarray(fitted.bse_fe) * scale, np.asarray(fitted.cov_params())
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return f"REML failed: {error}"
    if not fitted.converged or not np.isfinite(errors).all():
        return "REML did not converge"
    reach = float(norm.ppf((1 + confidence) / 2))
    effects = tuple(
        ModelEffect(m, float(d), float(d - reach * e), float(d + reach * e), int((c.corpus == k).sum()))
        for k, (m, d, e) in enumerate(zip(models, np.asarray(fitted.fe_params)[1:] * scale, errors[1:], strict=True), 1)
    )
    # variances in units of the residual variance; statsmodels gives their covariance in the same units
    ratios = np.array([float(np.asarray(fitted.cov_re)[0, 0]), *(np.asarray(fitted.vcomp) if repeats else ())])
    ratios = ratios / float(fitted.scale)
    shares = _with_intervals(ratios, random_errors[c.corpora :, c.corpora :], reach)
    levels = (c.prompts, int((c.counts > 0).sum()), len(c.y))
    parts = [Share(*s, n) for s, n in zip(shares, levels if repeats else levels[::2], strict=True)]
    return effects, (parts[0], parts[1] if repeats else None, parts[-1])


def _with_intervals(ratios: Floats, covariance: Floats, reach: float) -> list[tuple[float, float | None, float | None]]:
    """Shares γ/(1 + Σγ) and 1/(1 + Σγ) with delta-method intervals; none where a variance is at its bound of 0."""
    whole = 1 + ratios.sum()
    shares = np.append(ratios, 1.0) / whole
    if (ratios < 1e-6).any() or not np.isfinite(covariance).all():
        return [(float(s), None, None) for s in shares]
    k = len(ratios)
    gradient = np.vstack([np.eye(k), np.zeros((1, k))]) / whole - shares[:, None] / whole  # (k + 1, k)
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, covariance, gradient), 0.0))
    return [
        (float(s), max(float(s - reach * e), 0.0), min(float(s + reach * e), 1.0))
        for s, e in zip(shares, errors, strict=True)
    ]
