"""What is tested of a critic: the statistics of the protocol, the guard, and the critic's own.

A statistic of which a text has no value, or has it in very few documents, is not tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from momus.critic import Critic, RunningTextCritic, Statistic, StatisticsMixin
from momus.critic.hooks import row_unit
from momus.critic.powers import has_latents, headline_of
from momus.critic.scores import AGGREGATED, LATENT_NLL, LATENT_PPL
from momus.critic.statistic import entropy, jensen_shannon, mean, perplexity, spread
from momus.evidence import Wording
from momus.inference import Method, TestResult
from momus.inference import Rows as TestRows
from momus.numeric.types import Floats
from momus.text.counting import counted, documents_of, percentage

NLL = Statistic.ratio(
    "latent_nll",
    LATENT_NLL,
    "Latent NLL",
    "more|less predictable",
    unit="nats per document",
    decides=False,
)
PPL = Statistic.value(
    "latent_ppl", LATENT_PPL, perplexity, "Latent PPL", "more|less predictable", scale="log", decides=False
)
ENTROPY = Statistic.value(
    "posterior_entropy",
    AGGREGATED,
    entropy,
    "entropy of the aggregated posterior",
    "less|more varied",
    unit="nats",
    decides=False,
)
DIVERGENCE = Statistic.distance(
    "posterior_divergence",
    AGGREGATED,
    jensen_shannon,
    "divergence of the aggregated posteriors",
    unit="nats",
    decides=False,
)


def unscored_share(pooled: Floats) -> Floats:
    """Share of unscored documents, from pooled rows [unscored, 1].

    Not ``mean`` itself, which would be studentised: with one unscored document |T| is about 1 under every relabelling,
    and sizes of clusters alone would decide. A share without an effect has equal variances too, so its permutation test
    needs no studentising.
    """
    return mean(pooled)


UNSCORED = Statistic.value(
    "unscored_share",
    "unscored",
    unscored_share,
    "share of unscored documents",
    ("scored more often", "scored less often"),
    format="share",
    decides=False,
)


def all_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """List what is tested of a critic: Latent NLL, Latent PPL of sequences, the mode-seeking guard, and its own.

    The guard is reported beside Latent NLL because Latent NLL alone can be lower than that of real text when a model
    collapses onto likely z. It consists of the entropy of the aggregated posterior, and the Jensen–Shannon divergence
    between the aggregated posteriors of both texts, which is zero only where they agree.
    """
    statistics = [NLL] if has_latents(critic) else []
    if critic.sequence:
        statistics.append(PPL)
    if critic.reporting.aggregated and AGGREGATED in rows:
        statistics += [ENTROPY, DIVERGENCE]
    statistics = [replace(s, wording=_shared_wording(s, critic)) for s in statistics]
    return statistics + (list(critic.statistics()) if isinstance(critic, StatisticsMixin) else [])


def _shared_wording(statistic: Statistic, critic: Critic[Any]) -> Wording:
    """What readers are told of a statistic that all critics share."""
    wording = statistic.wording
    unit = f"nats per {row_unit(critic)}" if statistic is NLL else wording.unit
    return replace(wording, unit=unit, direction=critic.reporting.directions.get(statistic.name, wording.direction))


def wordings(critic: Critic[Any], rows: Sequence[str]) -> dict[str, Wording]:
    """What readers are told of each statistic and law of a critic, by name."""
    if isinstance(critic, RunningTextCritic):
        return {NLL.name: _shared_wording(NLL, critic), **{law.name: law.wording for law in critic.laws()}}
    return {s.name: s.wording for s in all_statistics(critic, rows)}


def tested_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """`all_statistics`, of which those that ``decides`` marks are the family by which the axis is tested.

    These are the headline and those of the critic's own statistics that say so; of the statistics of the protocol only
    one that is the headline.
    """
    headline = headline_of(critic)
    return [replace(s, decides=s.decides or s.name == headline) for s in all_statistics(critic, rows)]


def shown_statistic(critic: Critic[Any], rows: Sequence[str]) -> str:
    """Name the statistic by whose values the documents of a critic are shown, in histograms and examples.

    Its headline if that has a direction, else the first statistic of its family that has one. Empty if none has.
    """
    if isinstance(critic, RunningTextCritic):
        return headline_of(critic)
    family = [s for s in tested_statistics(critic, rows) if s.decides and s.wording.direction]
    return min((s.name for s in family), key=lambda name: name != headline_of(critic), default="")


FEW = 5
"""Documents of a text that must have what a statistic needs."""
Sides = tuple[Mapping[str, TestRows], Mapping[str, TestRows]]


def having(statistic: Statistic, rows: Sides) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """How many documents of each text have what a statistic needs, and of how many; None where it needs nothing.

    Parameters
    ----------
    rows
        Rows of the documents of both texts by key; those of such a statistic are [value, weight], (n, 2), or of a
        `spread` [x, x², weight], (n, 3).
    """
    one, other = (side[statistic.rows] for side in rows)
    columns = 3 if statistic.function is spread else 2
    if not statistic.needs or any(not isinstance(t, np.ndarray) or t.shape[1] != columns for t in (one, other)):
        return None
    real, generated = (int(np.count_nonzero(t[:, -1] > 0)) for t in (one, other))
    return (real, generated), (len(one), len(other))


def scarce(statistic: Statistic, rows: Sides, names: tuple[str, str]) -> TestResult | None:
    """The result of a statistic that fewer than `FEW` documents of one text have, but not none; None elsewhere."""
    counts, sizes = having(statistic, rows) or ((0, 0), (0, 0))
    if not 0 < min(counts) < min(FEW, *sizes):
        return None
    few = counts.index(min(counts))
    verb = "has" if counts[few] == 1 else "have"
    reason = f"only {counted(counts[few], 'document')} of {names[few]!r} {verb} {statistic.needs}"
    reason += _share_of(names[1 - few], counts[1 - few], sizes[1 - few])
    method = Method(family=statistic.kind, reason=reason)
    n_real, n_generated = sizes
    return TestResult(
        statistic.name, effect_kind=statistic.effect, n_real=n_real, n_generated=n_generated, method=method
    )


def explained(statistic: Statistic, result: TestResult, rows: Sides, names: tuple[str, str]) -> TestResult:
    """The result of a statistic that a text lacks, with the reason by the names of the texts."""
    lacks = result.method.lacks
    if not lacks:
        return result
    chosen = {"real": names[:1], "generated": names[1:], "both": names}[lacks]
    what = statistic.needs or f"a value of {statistic.wording.label or statistic.name}"
    reason = " and ".join(f"no {documents_of(n, noun='document')} has {what}" for n in chosen)
    if lacks != "both" and (known := having(statistic, rows)) is not None:
        other = int(lacks == "real")
        reason += _share_of(names[other], known[0][other], known[1][other])
    return replace(result, method=replace(result.method, reason=reason))


def _share_of(name: str, count: int, size: int) -> str:
    return f"; {percentage(count / max(size, 1), 0)} of {name!r} have"
