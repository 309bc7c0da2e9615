"""Components of variance: how much of the variation of an axis lies between prompts, and between models within prompts.

The mixed model of the value of a document is y = μ_model + prompt + prompt × model + residual, with random prompts; the
real text is one of the models. Several documents of one prompt and model (other seeds) differ by the residual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.matching import Names
from momus.joint.axes import AxisRows
from momus.numeric.types import Floats, Ints

RESAMPLES = 99
FEWEST = 3
"""Fewest prompts that all corpora answer."""


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


def reml_components(c: Cells, models: Sequence[str], confidence: float, seed: int = 0) -> Found | str:
    """Fit the mixed model to any numbers of documents per cell by REML; a sentence if that fails."""
    from scipy.stats import t

    likelihood = Reml.of(c)
    ratios = likelihood.fit(np.ones(c.prompts), np.array([1.0, 1.0]))
    if ratios is None:
        return "REML did not converge"
    means, covariance = likelihood.means(ratios)
    # degrees of freedom of prompt × model, the error of differences of models
    freedom = max(int((c.counts > 0).sum()) - c.prompts - c.corpora + 1, 1)
    reach = float(t.ppf((1 + confidence) / 2, freedom))
    effects = []
    for k, model in enumerate(models, 1):
        d = float(means[k] - means[0])
        error = float(np.sqrt(covariance[k, k] + covariance[0, 0] - 2 * covariance[0, k]))
        effects.append(ModelEffect(model, d, d - reach * error, d + reach * error, int((c.corpus == k).sum())))
    rng, drawn = np.random.default_rng([seed, 9]), []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, c.prompts, c.prompts), minlength=c.prompts).astype(np.float64)
        again = likelihood.fit(times, ratios, tolerance=1e-3)
        if again is not None:
            drawn.append(_shares(again))
    if len(drawn) < 0.9 * RESAMPLES:
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


@dataclass(frozen=True)
class PromptComponents:
    """Variance components of one axis.

    Attributes
    ----------
    reason
        Why there are none; empty where there are.
    effects
        The fixed effect of each model.
    prompt, prompt_model, residual
        Shares of the variance: of prompts, of models within prompts, of documents within both. Without several
        documents of one prompt and model, ``prompt_model`` is None and the residual contains it. ``levels`` counts
        prompts, cells of prompt and model, documents.
    prompts, documents, n_real
        Numbers of prompts, of all documents, and of real ones.
    """

    critic: str
    name: str
    reason: str = ""
    effects: tuple[ModelEffect, ...] = ()
    prompt: Share | None = None
    prompt_model: Share | None = None
    residual: Share | None = None
    prompts: int = 0
    documents: int = 0
    n_real: int = 0


def prompt_components(
    axis: AxisRows,
    real: str,
    models: Sequence[str],
    prompts: Mapping[str, Names],
    confidence: float = 0.95,
    seed: int = 0,
) -> PromptComponents:
    """Estimate the effect of each model, and the shares of variance of prompts and of models within prompts.

    The restricted likelihood is maximised (`Reml`). Intervals of shares come from 99 resamples of prompts.

    Parameters
    ----------
    axis
        Its ``values`` are analysed; unscored documents are left out.
    prompts
        By corpus, the prompt of each document, or None. Prompts take part if the real text and a model answer them.

    >>> rng = np.random.default_rng(0)
    >>> from momus.critic.statistic import Statistic, mean
    >>> ids, level = [str(i) for i in range(100)], rng.normal(size=100)
    >>> x = {name: level + shift + rng.normal(size=100) for name, shift in {"real": 0, "g": 1}.items()}
    >>> axis = AxisRows("a", "axis", Statistic("mean", "x", "value", mean), {}, {}, x)
    >>> found = prompt_components(axis, "real", ["g"], {name: ids for name in x})
    >>> found.effects[0].low < 1 < found.effects[0].high, 0.3 < found.prompt.share < 0.7
    (True, True)
    """
    cells = _cells(axis, [real, *models], prompts)
    if isinstance(cells, str):
        return PromptComponents(axis.critic, axis.name, reason=cells)
    found = reml_components(cells, models, confidence, seed)
    if isinstance(found, str):
        return PromptComponents(axis.critic, axis.name, reason=found)
    effects, (prompt, prompt_model, residual) = found
    return PromptComponents(
        axis.critic,
        axis.name,
        "",
        effects,
        prompt,
        prompt_model,
        residual,
        cells.prompts,
        len(cells.y),
        int((cells.corpus == 0).sum()),
    )


def _cells(axis: AxisRows, corpora: Sequence[str], prompts: Mapping[str, Names]) -> Cells | str:
    missing = [c for c in corpora if c not in axis.values or not np.isfinite(axis.values[c]).any()]
    if missing:
        return f"no scored documents of {', '.join(map(repr, missing))}"
    codes: dict[str, int] = {}
    columns = []
    for number, corpus in enumerate(corpora):
        y = np.asarray(axis.values[corpus], dtype=np.float64)
        asked = np.array(
            [-1 if p is None else codes.setdefault(p, len(codes)) for p in prompts[corpus]], dtype=np.int64
        )
        kept = np.isfinite(y) & (asked >= 0)
        columns.append((y[kept], asked[kept], np.full(int(kept.sum()), number)))
    y, prompt, corpus_number = (np.concatenate(c) for c in zip(*columns, strict=True))
    answered = np.zeros((len(codes), len(corpora)), dtype=bool)
    answered[prompt, corpus_number] = True
    shared = np.flatnonzero(answered[:, 0] & answered[:, 1:].any(axis=1))
    alone = [c for c, a in zip(corpora[1:], answered[shared, 1:].sum(axis=0), strict=True) if a < FEWEST]
    if alone:
        return f"{', '.join(map(repr, alone))} shares fewer than {FEWEST} prompts with {corpora[0]!r}"
    kept = np.isin(prompt, shared)
    y = y[kept]
    if np.ptp(y) <= 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return "all documents have the same value"
    return Cells(y, np.searchsorted(shared, prompt[kept]), corpus_number[kept], len(shared), len(corpora))
