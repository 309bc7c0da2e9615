"""Tests of what vanished, what came, how two texts predict each other, and of trends over versions.

Texts are compared prompt by prompt: each prompt counts once, by the mean of its documents, and each group of prompts or
of documents where there are groups (`momus.against.units`). Without prompts in common, units are independent.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from momus.against.units import Pairs, of_units, units_of
from momus.against.versions import TOPICS, Direction, Item, Path
from momus.critic import Counted, Statistic
from momus.critic.rows import aligned
from momus.critic.scores import Scores
from momus.inference.multiplicity import benjamini_hochberg
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Bools, Floats
from momus.text.corpus import Corpus

LEAST = 6
"""Smallest number of prompts that differ in an item for it to be tested: 2 · 2⁻⁶ = .03, fewer cannot be significant."""
FEWEST_BLOCKS = 10
"""Smallest number of units of a test of a trend."""
SHOWN = 12
"""Items of a kind and direction that are kept."""
AROUND = 60
"""Characters of context on each side of an item in a passage, and half of those of a beginning."""
ALIKE = 0.8
"""A phrase stands for a shorter one within it if it changed at least this share as much."""


def changed_items(
    kind: str,
    scores: tuple[Scores, Scores],
    tables: tuple[Counted, Counted],
    texts: tuple[Corpus, Corpus],
    alpha: float = 0.05,
) -> list[Item]:
    """Test every item of a kind, and keep those whose false discovery rate is at most ``alpha``; all topics.

    By the exact sign test over the prompts whose documents differ in the item; of items that all documents have in some
    measure (topics), by a t-test; without prompts in common, by Fisher's exact test. Where groups of prompts or of
    documents are the units, by a t-test of their means.

    Parameters
    ----------
    tables
        Items of all documents of the old and of the new text.
    """
    pairs = Pairs.of(*scores)
    old, new = aligned(list(tables))
    labels = [str(x) for x in old.labels]
    # (rows, items): the mean of each item over the documents of a prompt; by column, as items are tested one by one
    means = [sparse.csc_array(m @ t.matrix) for m, t in zip(pairs.means, (old, new), strict=True)]
    by_unit = [sparse.csc_array(x) for x in pairs.averaged(means)]  # (units, items)
    shares = [np.asarray(m.sum(axis=0)).ravel() / max(m.shape[0], 1) for m in by_unit]
    test = _paired if pairs.paired else _unpaired
    p, low, high, enough = test(by_unit[0], by_unit[1], alpha, pairs.units is not None)
    # items that could never be significant must not raise the q of the others
    chosen = np.flatnonzero(enough & np.array([bool(x) for x in labels]))
    # of each item: both shares, the change with its interval, p and q
    columns = [x[chosen] for x in (*shares, shares[1] - shares[0], low, high, p)]
    table = np.column_stack([*columns, benjamini_hochberg(columns[-1])])
    column = {labels[j]: j for j in chosen.tolist()}
    items = [
        Item(scores[1].corpus, kind, text, a, b, change, least, most, p_, q, len(chosen))
        for text, (a, b, change, least, most, p_, q) in zip(column, table.tolist(), strict=True)
    ]
    tested = sorted(items, key=lambda i: -abs(i.effect))
    kept = tested if kind == TOPICS else [x for came in (True, False) for x in _listed(tested, came, alpha)]
    return [_with_examples(i, column[i.text], pairs, means, (old, new), texts) for i in kept]


def _paired(
    a: sparse.csc_array, b: sparse.csc_array, alpha: float, grouped: bool
) -> tuple[Floats, Floats, Floats, Bools]:
    from scipy import stats

    n = a.shape[0]
    d = sparse.csc_array(b - a)
    # means of unequal numbers of documents, such as 1/3 and 2/6, differ by rounding: the sign test would count that
    d.data[np.abs(d.data) < 1e-12] = 0
    d.eliminate_zeros()
    mean = np.asarray(d.sum(axis=0)).ravel() / n
    squares = np.asarray(d.multiply(d).sum(axis=0)).ravel()
    error = np.sqrt(np.maximum(squares / n - mean**2, 0.0) / max(n - 1, 1))
    up, down = (np.asarray((s * d > 0).sum(axis=0)).ravel() for s in (1, -1))
    # twice the smaller tail; prompts without a difference say nothing (Dixon & Mood 1946)
    p = np.minimum(2 * stats.binom.cdf(np.minimum(up, down), np.maximum(up + down, 1), 0.5), 1.0)
    dense = np.diff(a.indptr) + np.diff(b.indptr) >= 2 * n  # stored in every unit of both, (items,)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, mean / error, 0.0)
    # a sign test of the few groups that there are could reject nothing of many items
    p = np.where(dense | grouped, np.where(error > 0, 2 * stats.t.sf(np.abs(t), n - 1), 1.0), p)
    reach = stats.t.ppf(1 - alpha / 2, n - 1) * error
    return p, mean - reach, mean + reach, (up + down >= LEAST) | dense


def _unpaired(
    a: sparse.csc_array, b: sparse.csc_array, alpha: float, grouped: bool
) -> tuple[Floats, Floats, Floats, Bools]:
    from scipy import stats

    n, m = a.shape[0], b.shape[0]
    sides = []
    for x, k in ((a, n), (b, m)):
        mean = np.asarray(x.sum(axis=0)).ravel() / k
        squares = np.asarray(x.multiply(x).sum(axis=0)).ravel() / k
        sides.append((np.diff(x.indptr), mean, np.maximum(squares - mean**2, 0.0) / max(k - 1, 1)))
    (with_a, mean_a, var_a), (with_b, mean_b, var_b) = sides
    total = with_a + with_b
    # Fisher's exact test: given how many documents have the item, how many of those are new
    tails = stats.hypergeom.cdf(with_b, n + m, total, m), stats.hypergeom.sf(with_b - 1, n + m, total, m)
    error = np.sqrt(var_a + var_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, (mean_b - mean_a) / error, 0.0)
    # all documents have it in some measure: presence tells nothing, so the means are compared
    dense = total >= n + m
    if grouped:
        # Welch's test of the means of groups, of which there may be few
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = (var_a + var_b) ** 2 / (var_a**2 / max(n - 1, 1) + var_b**2 / max(m - 1, 1))
        freedom = np.where(np.isfinite(freedom), freedom, 1.0)
        p = np.where(error > 0, 2 * stats.t.sf(np.abs(z), freedom), 1.0)
        reach = stats.t.ppf(1 - alpha / 2, freedom) * error
    else:
        p = np.where(dense, 2 * stats.norm.sf(np.abs(z)), np.minimum(2 * np.minimum(*tails), 1.0))
        reach = stats.norm.ppf(1 - alpha / 2) * error
    return p, mean_b - mean_a - reach, mean_b - mean_a + reach, total >= LEAST


def _listed(items: Sequence[Item], came: bool, alpha: float) -> list[Item]:
    """Significant items of one sign, the largest first; of nested phrases, the longest that changed alike.

    Their intervals exclude 0 too: of a phrase of which some documents have more, a sign test may find a change of which
    the mean tells nothing.
    """
    chosen: list[Item] = []
    for item in items:
        if item.q > alpha or not (item.low > 0 if came else item.high < 0):
            continue
        inside = [k for k, c in enumerate(chosen) if f" {c.text} " in f" {item.text} "]
        if any(f" {item.text} " in f" {c.text} " and abs(c.change) >= ALIKE * abs(item.change) for c in chosen):
            continue
        if inside and abs(item.change) >= ALIKE * abs(chosen[inside[0]].change):
            chosen[inside[0]] = item
        elif not inside:
            chosen.append(item)
        if len(chosen) == SHOWN:
            break
    return chosen


def _with_examples(
    item: Item,
    column: int,
    pairs: Pairs,
    means: Sequence[sparse.csc_array],
    tables: tuple[Counted, Counted],
    texts: tuple[Corpus, Corpus],
) -> Item:
    """The item with a passage of each text: of the prompt whose documents differ most in it, with the right sign."""
    sign = 1.0 if item.change >= 0 else -1.0
    values = [np.asarray(t.matrix[:, [column]].toarray()).ravel() for t in tables]
    if not pairs.prompts:  # documents, whether or not these are in groups
        rows = [int(np.argmax(sign * v if k else -sign * v)) for k, v in enumerate(values)]
        return _shown(item, rows, texts)
    d = sign * np.asarray((means[1][:, [column]] - means[0][:, [column]]).toarray()).ravel()  # (units,)
    unit = int(np.argmax(d))
    rows = []
    for k in (0, 1):
        of_unit = pairs.means[k][[unit], :].indices
        toward = values[k][of_unit] * (sign if k else -sign)
        rows.append(int(of_unit[int(np.argmax(toward))]))
    return replace(_shown(item, rows, texts), prompt=pairs.prompts[unit])


def _shown(item: Item, rows: Sequence[int], texts: tuple[Corpus, Corpus]) -> Item:
    """The item with a passage of a document of either text: of a topic, one with the most of its words."""
    of = densest if item.kind == TOPICS else passage
    old, new = (of(text[row].text, item.text) for text, row in zip(texts, rows, strict=True))
    return replace(item, old_example=old, new_example=new)


def densest(text: str, words: str) -> str:
    """The first of the sentences of a text that have the most of some words.

    >>> densest("It rained. The cat sat on a mat. I left.", "cat mat dog")
    'The cat sat on a mat.'
    """
    wanted = set(words.lower().split())
    sentences = re.split(r"(?<=[.!?])\s+", text)
    most = max(sentences, key=lambda s: len(wanted & set(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", s.lower()))))
    return passage(most, "")


def passage(text: str, item: str) -> str:
    """The passage of a text that has an item, between « and »; its beginning where it has none.

    >>> passage("It was a bright day. I'm sorry, but I cannot.", "i ' m sorry")
    "It was a bright day. «I'm sorry», but I cannot."
    >>> passage("Sure! Here it is.", "i ' m sorry")
    'Sure! Here it is.'
    """
    pattern = r"\s*".join(re.escape(token) for token in item.split())
    match = re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) if pattern else None
    if match is None:
        start = " ".join(text[: 3 * AROUND].split())
        return start if len(start) <= 2 * AROUND else start[: 2 * AROUND].rsplit(" ", 1)[0] + " …"
    a, b = match.span()
    before, after = text[max(a - AROUND, 0) : a], text[b : b + AROUND]
    before = before if a <= AROUND else "… " + before.split(" ", 1)[-1]
    after = after if b + AROUND >= len(text) else after.rsplit(" ", 1)[0] + " …"
    return " ".join(f"{before}«{text[a:b]}»{after}".split())


def direction_of(
    critic: str, axis: str, per_step: bool, new_under_old: Scores, old_under_new: Scores, alpha: float = 0.05
) -> Direction | None:
    """How predictable each text is under the other; None without documents that both sides have scored."""
    from scipy import stats

    sides = new_under_old, old_under_new
    if min(s.n_scored for s in sides) < 3:
        return None
    values = [np.where(s.scored, s.per_step if per_step else s.nll, 0.0) for s in sides]
    pairs = Pairs.of(*sides)
    rows = [np.asarray(m @ v).ravel() for m, v in zip(pairs.means, values, strict=True)]
    x, y = (np.asarray(v).ravel() for v in pairs.averaged(rows))  # means by unit
    if min(len(x), len(y)) < 2:
        return None
    # of a critic that finds all documents of a text alike, differences are rounding, or nothing to test them by
    varying = max(np.ptp(v) for v in ((x - y,) if pairs.paired else (x, y)))
    if varying <= ROUNDING * max(np.abs(x).max(), np.abs(y).max()):
        return None
    with warnings.catch_warnings():
        # of a text whose documents are alike: the spread of the other counts
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        test = stats.ttest_rel(x, y) if pairs.paired else stats.ttest_ind(x, y, equal_var=False)
    p = float(test.pvalue)
    if not np.isfinite(p):
        return None
    low, high = test.confidence_interval(1 - alpha)
    unit = "nats per step" if per_step else "nats per document"
    means = float(x.mean()), float(y.mean())
    return Direction(critic, axis, new_under_old.corpus, unit, *means, means[0] - means[1], float(low), float(high), p)


def path_of(critic: str, axis: str, s: Statistic, scored: Sequence[Scores], rows: Sequence[Floats]) -> Path:
    """The path of a ratio of pooled rows [x, w] over versions.

    Parameters
    ----------
    rows
        Of all documents of each version, (n, 2).
    """
    from scipy import stats

    values, errors = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for side, table in zip(scored, rows, strict=True):
            x, w = (table[side.scored, k] for k in (0, 1))  # (scored,) each
            ratio = float(x.sum() / w.sum())
            residuals = of_units(units_of([side])[0][side.scored], x - ratio * w)
            errors.append(float(np.sqrt(np.sum(residuals**2)) / w.sum()))
            values.append(ratio)
        documents = [np.where(side.scored, t[:, 0] / t[:, 1], np.nan) for side, t in zip(scored, rows, strict=True)]
    z = _trend(scored, documents)
    steps = np.abs(np.diff(values))
    reach = 1.959963984540054
    return Path(
        critic, axis, s.name, s.wording.label or s.name, s.wording.unit, s.wording.format == "share",
        tuple(values),
        tuple(v - reach * e for v, e in zip(values, errors, strict=True)),
        tuple(v + reach * e for v, e in zip(values, errors, strict=True)),
        values[-1] >= values[0] if z is None else z > 0,
        int(np.argmax(steps)) + 1,
        None if z is None else 2 * float(stats.norm.sf(abs(z))),
    )  # fmt: skip


def _trend(scored: Sequence[Scores], values: Sequence[Floats]) -> float | None:
    """z of Page's test: ranks of the versions within each unit that all answer; None with fewer than `FEWEST_BLOCKS`.

    Units are prompts, or groups of prompts: ranks within prompts of one group depend on each other.
    """
    means: list[dict[str, float]] = []
    unit_of: dict[str, int] = {}
    for side, x, units in zip(scored, values, units_of(scored), strict=True):
        by: dict[str, list[float]] = {}
        for prompt, value, unit in zip(side.prompts, x.tolist(), units.tolist(), strict=True):
            if prompt is not None and np.isfinite(value):
                by.setdefault(prompt, []).append(value)
                unit_of[prompt] = unit
        means.append({p: float(np.mean(v)) for p, v in by.items()})
    # blocks must be complete: Page's ranks need every version
    common = sorted(set.intersection(*(set(m) for m in means)))
    table = np.array([[m[p] for m in means] for p in common])  # (prompts, versions)
    blocks = np.unique([unit_of[p] for p in common], return_inverse=True)[1]
    sizes = np.bincount(blocks)
    if len(sizes) < FEWEST_BLOCKS:
        return None
    return page_z(np.column_stack([np.bincount(blocks, weights=column) for column in table.T]) / sizes[:, None])


def page_z(values: Floats) -> float:
    """z of Page's (1963) test of a trend over columns, from (blocks, versions), with the variance under ties.

    >>> rng = np.random.default_rng(0)
    >>> abs(page_z(rng.normal(size=(200, 3)))) < 3, page_z(rng.normal(size=(200, 3)) + np.arange(3)) > 10
    (True, True)
    """
    from scipy import stats

    k = values.shape[1]
    ranks = stats.rankdata(values, axis=1) - (k + 1) / 2  # centred, (blocks, versions)
    places = np.arange(k) - (k - 1) / 2
    # of each block's Σ rank · place under random order, summed; ties shrink Σ rank²
    variance = float((places**2).sum() * (ranks**2).sum()) / (k - 1)
    return float((ranks @ places).sum() / np.sqrt(variance)) if variance > 0 else 0.0
