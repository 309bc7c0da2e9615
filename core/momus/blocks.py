"""Critics of running text: exponents of a whole text, their intervals by the jackknife, and tests of equality.

A block bootstrap would draw blocks twice, and a text with doubled blocks has too few types: growth, rank and burst
curves all bend. Leaving one contiguous group of text out at a time bends nothing (Quenouille 1956; Miller 1974).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momus.errors import MomusError
from momus.inference import Statistic, compare_rows, mean
from momus.scores import Scores
from momus.streams import Stream
from momus.verdicts import Verdict, finite

if TYPE_CHECKING:
    from momus.critic import Critic

LEAST_GROUPS = 4


@dataclass(frozen=True)
class LawStatistic:
    """A number that a whole text has; ``function`` raises ValueError where the text does not give it."""

    name: str
    function: Callable[[Stream], float]


@dataclass(frozen=True)
class Jackknifed:
    """A value with its delete-one-group jackknife standard error and degrees of freedom."""

    value: float
    error: float
    groups: int


def jackknife(
    function: Callable[[Stream], float], stream: Stream, groups: int, align: int = 1, share: float = 0.0
) -> Jackknifed:
    """Leave out one of ``groups`` contiguous pieces at a time, or several.

    The variance is (g − 1)/g Σ (θ_i − θ̄)², for pieces that depend on each other little. A statistic that is not smooth
    in the text needs a share of the pieces left out, d of g, drawn g times by a fixed seed (Shao & Wu 1989); the
    variance then is (g − d)/d · Σ (θ_i − θ̄)² / (g − 1).

    Parameters
    ----------
    align
        Pieces are cut at multiples of so many tokens.
    share
        d/g; 0 leaves out one piece.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text.
    """
    value = function(stream)
    pieces = stream.cut(groups, align)
    d = max(1, round(share * groups))
    rng = np.random.default_rng(groups)
    outs = [{i} if d == 1 else set(rng.permutation(groups)[:d].tolist()) for i in range(groups)]
    left: list[float] = []
    for out in outs:
        ids = np.concatenate([p.ids for j, p in enumerate(pieces) if j not in out])
        left.append(function(Stream(ids, stream.vocabulary)))
    found: NDArray[np.float64] = np.array(left)
    factor = (groups - 1) / groups if d == 1 else (groups - d) / d / (groups - 1)
    error = float(np.sqrt(factor * ((found - found.mean()) ** 2).sum()))
    return Jackknifed(value, error, groups)


def shortened(stream: Stream, tokens: int, pieces: int, align: int = 1) -> Stream:
    """Cut a text to a number of tokens: the beginning of each of some contiguous pieces.

    >>> shortened(Stream(np.arange(12, dtype=np.int32), [str(i) for i in range(12)]), 6, 3).ids.tolist()
    [0, 1, 4, 5, 8, 9]
    """
    if len(stream) // align <= tokens // align:
        return stream
    edges = np.linspace(0, tokens // align, pieces + 1).astype(np.int64) * align
    parts = [p.ids[:n] for p, n in zip(stream.cut(pieces, align), np.diff(edges).tolist(), strict=True)]
    return Stream(np.concatenate(parts), stream.vocabulary)


def judge_blocks(
    critic: Critic[Any], real: Scores, generated: Scores, *, confidence: float, seed: int
) -> list[Verdict]:
    """Verdicts of a critic of blocks: its laws by the jackknife, and Latent NLL of blocks by permutation."""
    rows = [_law_verdict(critic, law, real, generated, confidence) for law in critic.laws()]
    return [*rows, _nll_verdict(critic, real, generated, confidence, seed)]


@dataclass(frozen=True)
class LawTest:
    """Two texts under one law: values with their jackknife errors, and the Welch test of their difference."""

    real: Jackknifed
    generated: Jackknifed
    difference: float
    low: float | None
    high: float | None
    p: float | None
    mde: float | None
    tokens: int
    inner: tuple[float, float] | None
    """The interval at level 1 − 2α, for tests of equivalence."""


def compare_law(critic: Critic[Any], law: LawStatistic, real: Stream, generated: Stream, confidence: float) -> LawTest:
    """Test one law between two running texts.

    An exponent fitted on a finite text depends on its length, so the longer text is cut to the length of the shorter.

    Raises
    ------
    MomusError, ValueError
        A text is too short for the law, or does not give it.
    """
    align, share = int(getattr(critic, "align", 1)), float(getattr(critic, "left_out", 0.0))
    tokens = min(len(real), len(generated))
    groups = min(groups_for(critic, len(s), name) for s, name in ((real, "real"), (generated, "generated")))
    cut = [shortened(stream, tokens, groups, align) for stream in (real, generated)]
    a, b = (jackknife(law.function, stream, groups, align, share) for stream in cut)
    difference = b.value - a.value
    p, low, high, mde = _welch(difference, a, b, confidence)
    inner = _welch(difference, a, b, max(2 * confidence - 1, 0.0))[1:3]
    both = None if inner[0] is None or inner[1] is None else (inner[0], inner[1])
    return LawTest(a, b, difference, low, high, p, mde, tokens, both)


def _law_verdict(critic: Critic[Any], law: LawStatistic, real: Scores, generated: Scores, confidence: float) -> Verdict:
    try:
        found = compare_law(critic, law, _stream(real), _stream(generated), confidence)
    except (MomusError, ValueError) as error:
        return _row(critic, law.name, real, generated, method="not tested", null=f"not tested: {error}")
    a, b = found.real, found.generated
    return _row(
        critic,
        law.name,
        real,
        generated,
        real_value=a.value,
        generated_value=b.value,
        difference=found.difference,
        low=found.low,
        high=found.high,
        effect=found.difference,
        inner=found.inner,
        p=found.p,
        mde=found.mde,
        n=(a.groups, b.groups),
        method=f"Welch t on jackknife standard errors ({a.groups} contiguous groups of each text), "
        f"{found.tokens:,} tokens of each text",
        null="both texts have the same exponent; groups of text are independent of each other",
    )


def _welch(
    difference: float, a: Jackknifed, b: Jackknifed, confidence: float
) -> tuple[float | None, float | None, float | None, float | None]:
    from scipy.stats import t

    variance = a.error**2 + b.error**2
    if variance == 0:
        return (1.0 if difference == 0 else None), None, None, None
    freedom = variance**2 / (a.error**4 / (a.groups - 1) + b.error**4 / (b.groups - 1))
    error = float(np.sqrt(variance))
    p = float(2 * t.sf(abs(difference) / error, freedom))
    reach = float(t.ppf((1 + confidence) / 2, freedom)) * error
    return p, difference - reach, difference + reach, float(t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * error


def _stream(scores: Scores) -> Stream:
    if not isinstance(scores.summary, Stream):
        raise MomusError(f"{scores.corpus!r} has no scored block" + _why(scores))
    return scores.summary


def _why(scores: Scores) -> str:
    return "".join(f"; {reason} ({n})" for reason, n in scores.unscored.items())


def groups_for(critic: Critic[Any], tokens: int, name: str) -> int:
    """How many groups a text is cut into: as many as asked for, if what is left is still long enough.

    Raises
    ------
    MomusError
        The text is too short for the law, or for its jackknife.
    """
    least = int(getattr(critic, "minimum", 1))
    groups = int(getattr(critic, "groups", 20))
    if tokens < least:
        raise MomusError(f"{name!r} has {tokens:,} tokens of running text, the law needs {least:,}")
    if tokens * (1 - 1 / LEAST_GROUPS) < least:
        raise MomusError(
            f"{name!r} has {tokens:,} tokens; for an interval the law needs "
            f"{int(least * LEAST_GROUPS / (LEAST_GROUPS - 1)) + 1:,}"
        )
    while groups > LEAST_GROUPS and tokens * (1 - 1 / groups) < least:
        groups -= 1
    return groups


def _nll_verdict(critic: Critic[Any], real: Scores, generated: Scores, confidence: float, seed: int) -> Verdict:
    fewest = min(real.n_scored, generated.n_scored)
    if fewest < LEAST_GROUPS:
        null = f"not tested: {fewest} scored blocks on a side, at least {LEAST_GROUPS} are needed"
        return _row(critic, "latent_nll", real, generated, method="not tested", null=null)
    (found,) = compare_rows(
        [Statistic("latent_nll", "latent_nll", "value", mean, effect="hedges_g")],
        {"latent_nll": real.test_rows()["latent_nll"]},
        {"latent_nll": generated.test_rows()["latent_nll"]},
        confidence=confidence,
        seed=seed,
    )
    return _row(
        critic,
        "latent_nll",
        real,
        generated,
        real_value=found.real_value,
        generated_value=found.generated_value,
        difference=found.difference,
        low=found.low,
        high=found.high,
        effect=found.effect,
        inner=(found.equivalence_low, found.equivalence_high),
        p=found.p,
        mde=found.mde,
        n=(found.n_real, found.n_generated),
        effect_kind=found.effect_kind,
        method=found.method.replace("relabellings", "relabellings of blocks"),
        null="blocks of both texts are exchangeable (blocks of one long text hang together more than that)",
    )


def _row(
    critic: Critic[Any],
    statistic: str,
    real: Scores,
    generated: Scores,
    *,
    method: str,
    null: str,
    real_value: float | None = None,
    generated_value: float | None = None,
    difference: float | None = None,
    low: float | None = None,
    high: float | None = None,
    effect: float | None = None,
    inner: tuple[float, float] | None = None,
    p: float | None = None,
    mde: float | None = None,
    n: tuple[int, int] = (0, 0),
    effect_kind: str = "difference",
) -> Verdict:
    return Verdict(
        critic=critic.name,
        axis=critic.axis,
        statistic=statistic,
        unit=critic.unit,
        generated=generated.corpus,
        real_value=finite(real_value),
        generated_value=finite(generated_value),
        difference=finite(difference),
        low=finite(low),
        high=finite(high),
        effect=finite(effect),
        effect_kind=effect_kind,
        p=finite(p),
        p_adjusted=None,
        q=None,
        mde=finite(mde),
        n_real=n[0],
        n_generated=n[1],
        unscored_real=len(real) - real.n_scored,
        unscored_generated=len(generated) - generated.n_scored,
        headline=statistic == critic.headline_statistic,
        method=method,
        null=null,
        reference=real.corpus,
        effect_low=None if inner is None else finite(inner[0]),
        effect_high=None if inner is None else finite(inner[1]),
    )
