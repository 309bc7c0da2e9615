"""Critics of running text: exponents of a whole text, with intervals, and tests of equality.

How the spread of an exponent is found depends on the law, see `momus.spreads` and ``ScalingLaw.errors``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.errors import MomusError
from momus.inference import Statistic, compare_rows, mean
from momus.scores import Scores
from momus.spreads import Dealt, Jackknifed, jackknife, joined, shortened, shuffled
from momus.streams import Stream
from momus.verdicts import Verdict, finite

if TYPE_CHECKING:
    from momus.critic import Critic

LEAST_GROUPS = 4
FEWEST_DOCUMENTS = 10
"""From so many documents on, none lies in two groups."""
RELABELLINGS = 199


@dataclass(frozen=True)
class LawStatistic:
    """A number that a whole text has.

    Attributes
    ----------
    name
        As in ``verdicts.jsonl``.
    function
        From a text to the number; raises ValueError where the text does not give it.
    dealt
        Where there is a faster way for pieces of text in many orders than to join them; the number may differ from that
        of ``function`` by much less than texts differ.
    """

    name: str
    function: Callable[[Stream], float]
    dealt: Dealt | None = None


def judge_blocks(
    critic: Critic[Any], real: Scores, generated: Scores, *, confidence: float, seed: int
) -> list[Verdict]:
    """Verdicts of a critic of blocks: its laws, and Latent NLL of blocks by permutation."""
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
    way: str


def compare_law(
    critic: Critic[Any],
    law: LawStatistic,
    real: Stream,
    generated: Stream,
    confidence: float,
    relabellings: int = RELABELLINGS,
) -> LawTest:
    """Test one law between two running texts.

    An exponent fitted on a finite text depends on its length, so the longer text is cut to the length of the shorter.

    Raises
    ------
    MomusError, ValueError
        A text is too short for the law, or does not give it.
    """
    align, how = int(getattr(critic, "align", 1)), getattr(critic, "errors", "jackknife")
    tokens = min(len(real), len(generated))
    groups = min(groups_for(critic, len(s), name) for s, name in ((real, "real"), (generated, "generated")))
    documents = min(1 if s.ends is None else len(s.ends) for s in (real, generated))
    if documents >= FEWEST_DOCUMENTS:
        groups = min(groups, documents)
    cut = [shortened(stream, tokens, groups, align) for stream in (real, generated)]
    tokens = min(map(len, cut))  # whole documents meet it nearly
    if how == "relabelled":
        return _relabelled(law.function, cut[0], cut[1], groups, confidence, relabellings)
    a, b = (standard_error(critic, law, stream, groups) for stream in cut)
    difference = b.value - a.value
    p, low, high, mde = _welch(difference, a, b, confidence)
    inner = _welch(difference, a, b, max(2 * confidence - 1, 0.0))[1:3]
    both = None if inner[0] is None or inner[1] is None else (inner[0], inner[1])
    way = "Welch t on jackknife standard errors" + (" over orders of groups" if how == "shuffled" else "")
    return LawTest(a, b, difference, low, high, p, mde, tokens, both, way)


def standard_error(critic: Critic[Any], law: LawStatistic, stream: Stream, groups: int) -> Jackknifed:
    """A law of one text with its standard error, found in the way that the critic asks for (`momus.spreads`).

    Raises
    ------
    ValueError
        The text does not give it.
    """
    if getattr(critic, "errors", "jackknife") == "shuffled":
        return shuffled(law.function, stream, groups, int(getattr(critic, "left_out", 2)), law.dealt)
    return jackknife(law.function, stream, groups, int(getattr(critic, "align", 1)))


def _relabelled(
    function: Callable[[Stream], float],
    real: Stream,
    generated: Stream,
    groups: int,
    confidence: float,
    relabellings: int,
) -> LawTest:
    """Deal out the pieces of both texts again: a permutation test, whose quantiles make the interval.

    For statistics that are neither smooth nor less noisy in longer texts, nor normally distributed. The spread is that
    of two texts of one source; where the texts differ much it is too large, never too small.

    Raises
    ------
    ValueError
        The statistic does not exist for a text, or for more than one in ten of the relabelled ones.
    """
    values = function(real), function(generated)
    both = real + generated
    parts = both.part(0, len(real)), both.part(len(real), len(both))
    pieces = [p for part in parts for p in part.cut(groups, whole=True)]
    rng = np.random.default_rng(groups)
    null: list[float] = []
    for _ in range(relabellings):
        order = rng.permutation(len(pieces))
        sides = (joined(both, [pieces[j] for j in side]) for side in (order[:groups], order[groups:]))
        with suppress(ValueError):  # no such law in this one
            one, other = map(function, sides)
            null.append(abs(other - one))
    missing = relabellings - len(null)
    if missing > relabellings / 10:
        raise ValueError("most texts made of pieces of both do not give the statistic")
    gaps = np.sort([*null, *[np.inf] * missing])
    difference = values[1] - values[0]

    def within(level: float) -> float:
        """The gap that a share ``level`` of relabellings does not exceed."""
        return float(gaps[min(int(np.ceil(level * (relabellings + 1))), relabellings) - 1])

    p = (int((gaps >= abs(difference)).sum()) + 1) / (relabellings + 1)
    error = float(np.sqrt(np.mean(np.square(null)) / 2))
    a, b = (Jackknifed(v, error, groups, groups - 1) for v in values)
    outer, inner = within(confidence), within(max(2 * confidence - 1, 0.0))
    mde = within(0.95) + within(0.6)  # a fifth of a symmetric distribution with 0.6 within the latter lies below
    low, high, tokens = difference - outer, difference + outer, min(len(real), len(generated))
    way = f"permutation test, {relabellings} random relabellings of groups, whose quantiles give the interval"
    return LawTest(a, b, difference, low, high, p, mde, tokens, (difference - inner, difference + inner), way)


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
        method=f"{found.way} ({a.groups} contiguous groups of each text), {found.tokens:,} tokens of each text",
        null="both texts have the same exponent; groups of text are independent of each other",
    )


def _welch(
    difference: float, a: Jackknifed, b: Jackknifed, confidence: float
) -> tuple[float | None, float | None, float | None, float | None]:
    from scipy.stats import t

    variance = a.error**2 + b.error**2
    if variance == 0:
        return (1.0 if difference == 0 else None), None, None, None
    freedom = variance**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)
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
