"""Plain yardsticks of a text, and how well variables rank models: full, partial and held-out rank correlations.

Shared by the benchmarks of this folder; not a program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from momus.numeric.types import Floats, Ints
from momus_people.axis import within
from momus_people.excerpts import YARDSTICKS as YARDSTICKS
from momus_people.excerpts import yardsticks as yardsticks


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def spearman(x: Floats, y: Floats) -> float:
    """Rank correlation (ties get mean ranks); NaN where either is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 9.0]))
    1.0
    """
    return pearson(stats.rankdata(x), stats.rankdata(y))


def pearson(x: Floats, y: Floats) -> float:
    """Correlation of products of moments; NaN where either is constant."""
    dx, dy = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((dx @ dx) * (dy @ dy)))
    return float(dx @ dy) / scale if scale > 1e-9 else float("nan")


def partial_spearman(x: Floats, y: Floats, controls: Floats, strata: Ints | None = None) -> float:
    """Correlation of the residuals of the ranks of x and y after linear regression on the ranks of the controls.

    Parameters
    ----------
    x, y
        (n,)
    controls
        (n, k)
    strata
        (n,). Numbers from 0; ranks are centred within each stratum first, so that only differences within strata count.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> x, y = z + rng.normal(size=400), z + rng.normal(size=400)
    >>> spearman(x, y) > 0.4, abs(partial_spearman(x, y, z[:, None])) < 0.1
    (True, True)
    """
    ranks = stats.rankdata(np.column_stack([x, y, controls]), axis=0)
    if strata is None:
        left = residuals(ranks[:, :2], np.column_stack([np.ones(len(x)), ranks[:, 2:]]))
    else:
        centred = within(ranks, strata, np.ones(len(x)))
        left = residuals(centred[:, :2], centred[:, 2:])
    return pearson(left[:, 0], left[:, 1])


def residuals(values: Floats, design: Floats) -> Floats:
    """Residuals of the least-squares regression of each column on a design (n, p), which may be rank-deficient."""
    if not design.shape[1]:
        return values
    u, s, _ = np.linalg.svd(design, full_matrices=False)
    basis = u[:, s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)]
    return np.asarray(values - basis @ (basis.T @ values))


def partial_p(r: float, n: int, controls: int) -> float:
    """Two-sided p of a partial rank correlation: t with n − 2 − k degrees of freedom (Fisher 1924; approximate).

    >>> round(partial_p(0.5, 20, 2), 4)
    0.0346
    """
    freedom = n - 2 - controls
    if not np.isfinite(r) or freedom < 1:
        return float("nan")
    return float(2 * stats.t.sf(abs(r) * np.sqrt(freedom / max(1 - r * r, 1e-12)), freedom))


def over_models(
    statistic: Callable[..., float], *arrays: Floats, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval (95 %) of a statistic of rows, one row per model."""
    return _over(np.arange(len(arrays[0]))[:, None], statistic, arrays, resamples, seed)


def over_groups(
    statistic: Callable[..., float], groups: Sequence[str], *arrays: Floats, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """As `over_models`, with whole groups of rows resampled: models of one family are not independent."""
    names, owner = np.unique(np.asarray(groups), return_inverse=True)
    members = [np.flatnonzero(owner == k) for k in range(len(names))]
    return _over(members, statistic, arrays, resamples, seed, least=len(arrays) + 9)


def _over(
    members: Sequence[np.ndarray] | np.ndarray,
    statistic: Callable[..., float],
    arrays: Sequence[Floats],
    resamples: int,
    seed: int,
    least: int = 1,
) -> tuple[float, float]:
    """Resample groups of rows; draws with fewer than ``least`` rows are ignored."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(resamples):
        rows = np.concatenate([members[k] for k in rng.integers(len(members), size=len(members))])
        found.append(statistic(*(a[rows] for a in arrays)) if len(rows) >= least else float("nan"))
    return _quantiles(found)


def over_stories(
    x: Floats, y: Floats, models: Sequence[str], resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Interval of Spearman's ρ of model means: models are resampled, and stories within each of them."""
    rng = np.random.default_rng(seed)
    names, owner = np.unique(np.asarray(models), return_inverse=True)
    groups = [np.flatnonzero(owner == k) for k in range(len(names))]
    found = []
    for _ in range(resamples):
        drawn = [groups[k] for k in rng.integers(len(groups), size=len(groups))]
        rows = [g[rng.integers(len(g), size=len(g))] for g in drawn]
        means = np.array([(x[r].mean(), y[r].mean()) for r in rows])
        found.append(spearman(means[:, 0], means[:, 1]))
    return _quantiles(found)


def wilson(hits: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson interval (95 %) of a share (Wilson 1927).

    >>> tuple(round(x, 4) for x in wilson(7, 10))
    (0.3968, 0.8922)
    """
    share, scale = hits / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return float(middle - half), float(middle + half)


# How well variables predict the judge's scores of held-out stories
# Tables have one row per story: model, prompt, judge, and the variables.


def predicted(train: pd.DataFrame, test: pd.DataFrame, names: list[str], ranks: bool) -> Floats:
    """Ridge regression of a story's score on variables, standardised or as ranks among the training stories.

    The penalty is chosen by leaving out models of the training stories.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    scale = [QuantileTransformer(n_quantiles=50)] if ranks else []
    path = make_pipeline(SimpleImputer(keep_empty_features=True), *scale, StandardScaler(), Ridge())
    grid = {"ridge__alpha": np.geomspace(1, 3000, 8)}
    search = GridSearchCV(path, grid, cv=GroupKFold(5), scoring="neg_mean_squared_error")
    centred = train["judge"] - train.groupby("prompt")["judge"].transform("mean")
    search.fit(train[names].to_numpy(), centred.to_numpy(), groups=train["model"])
    return np.asarray(search.predict(test[names].to_numpy()), dtype=np.float64)


def folds_of(judged: pd.DataFrame, seed: int = 0, folds: int = 10) -> np.ndarray:
    """Assign a fold to each story, the same for all stories of a model."""
    names, owner = np.unique(judged["model"].to_numpy(dtype=str), return_inverse=True)
    return np.asarray((np.random.default_rng(seed).permutation(len(names)) % folds)[owner])


HELD = ("prompts", "models", "both")
Predict = Callable[[pd.DataFrame, pd.DataFrame, list[str], bool], Floats]


def held_out(
    judged: pd.DataFrame, names: list[str], ranks: bool, kinds: tuple[str, ...] = HELD, predict: Predict = predicted
) -> dict[str, Floats]:
    """Predict every story by fits without its prompt, without its model, or without both."""
    prompt, fold = judged["prompt"].to_numpy(), folds_of(judged)
    parts = {
        "prompts": [(prompt != p, prompt == p) for p in np.unique(prompt)],
        "models": [(fold != f, fold == f) for f in np.unique(fold)],
        "both": [
            ((fold != f) & (prompt != p), (fold == f) & (prompt == p))
            for f in np.unique(fold)
            for p in np.unique(prompt)
        ],
    }
    found = {k: np.full(len(judged), np.nan) for k in kinds}
    for kind in kinds:
        for train, test in parts[kind]:
            if test.any():
                found[kind][test] = predict(judged[train], judged[test], names, ranks)
    return found


def agreement(judged: pd.DataFrame, prediction: Floats) -> tuple[float, tuple[float, float], float]:
    """Return ρ of model means over all prompts, its interval over models, and the mean ρ within one prompt."""
    frame = judged.assign(prediction=prediction)
    centred = frame["prediction"] - frame.groupby("prompt")["prediction"].transform("mean")
    means = frame.assign(prediction=centred).groupby("model")[["prediction", "judge"]].mean().to_numpy()
    each = [spearman(g["prediction"].to_numpy(), g["judge"].to_numpy()) for _, g in frame.groupby("prompt")]
    x, y = means[:, 0], means[:, 1]
    return spearman(x, y), over_models(spearman, x, y), float(np.mean(each))


def some_prompts(
    judged: pd.DataFrame, names: list[str], ranks: bool, predict: Predict = predicted
) -> tuple[float, float, float]:
    """Fit on two prompts; return ρ of model means over the three others: mean, min and max of the ten choices."""
    found = []
    for pair in combinations(sorted(judged["prompt"].unique()), 2):
        inside = judged["prompt"].isin(pair)
        test = judged[~inside].copy()
        test["prediction"] = predict(judged[inside], test, names, ranks)
        test["prediction"] -= test.groupby("prompt")["prediction"].transform("mean")
        means = test.groupby("model")[["prediction", "judge"]].mean().to_numpy()
        found.append(spearman(means[:, 0], means[:, 1]))
    return float(np.mean(found)), min(found), max(found)


def reliability(judged: pd.DataFrame) -> dict[str, float]:
    """Reliability of the judge: between prompts, two prompts with three, and by the Spearman–Brown formula."""
    table = judged.pivot_table(index="model", columns="prompt", values="judge").dropna()
    x = table.to_numpy()
    k = x.shape[1]
    one = float(np.mean([spearman(x[:, i], x[:, j]) for i, j in combinations(range(k), 2)]))
    halves = []
    for pair in combinations(range(k), 2):
        rest = [j for j in range(k) if j not in pair]
        halves.append(spearman(x[:, list(pair)].mean(axis=1), x[:, rest].mean(axis=1)))
    others = [spearman(x[:, j], np.delete(x, j, axis=1).mean(axis=1)) for j in range(k)]
    whole_ = k * one / (1 + (k - 1) * one)
    return {
        "one prompt with another": one,
        "one prompt with the four others": float(np.mean(others)),
        "two prompts with three": float(np.mean(halves)),
        "all prompts (Spearman–Brown)": whole_,
        "ceiling of a perfect measure (square root of that)": whole_**0.5,
    }


def gain(judged: pd.DataFrame, one: Floats, other: Floats) -> tuple[float, float, float]:
    """Difference of ρ, ``other`` minus ``one``, with its interval over models."""
    frame = judged.assign(a=one, b=other)
    for c in ("a", "b"):
        frame[c] -= frame.groupby("prompt")[c].transform("mean")
    a, b, y = frame.groupby("model")[["a", "b", "judge"]].mean().to_numpy().T
    return (_difference(a, b, y), *over_models(_difference, a, b, y))


def _difference(a: Floats, b: Floats, y: Floats) -> float:
    return spearman(b, y) - spearman(a, y)


def _quantiles(found: Sequence[float]) -> tuple[float, float]:
    values = np.asarray(found, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
