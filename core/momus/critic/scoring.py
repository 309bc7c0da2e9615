"""From a corpus to scores: documents go through a critic in batches, and every id gets its row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic.latents import StateSequences, aggregated
from momus.critic.powers import AggregatedPosteriorMixin, EvidenceMixin, StatisticsMixin
from momus.critic.rows import Rows, place, stack, take_rows
from momus.critic.scores import AGGREGATED, Scores
from momus.critic.summary import Summary
from momus.errors import MomusError
from momus.text.corpus import Corpus

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.critic.scores import LogPrior

BATCH_DOCUMENTS = 2048
BATCH_CHARACTERS = 1 << 25
"""A batch ends at so many documents or characters, whichever comes first."""


def score(
    critic: Critic[Any],
    corpus: Corpus,
    *,
    batch_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Scores:
    """Score a corpus under a fitted critic; see `Critic.score`."""
    critic.check_fitted()
    if critic.tokenizer is not None:
        corpus.tokens(critic.tokenizer)
    parts = []
    for start, stop in batches(corpus, batch_size):
        parts.append(_score_batch(critic, corpus.slice(start, stop)))
        if progress is not None:
            progress(stop)
    return _joined(critic, corpus, parts)


def batches(corpus: Corpus, batch_size: int | None = None) -> list[tuple[int, int]]:
    """Cut a corpus into consecutive batches, as (start, stop) pairs.

    >>> batches(Corpus.from_texts("abcde"), 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    size = batch_size or BATCH_DOCUMENTS
    ends = np.cumsum(corpus.characters) if batch_size is None else np.arange(len(corpus))
    cuts, start = [], 0
    while start < len(corpus):
        stop = min(start + size, len(corpus))
        if batch_size is None:
            budget = (ends[start - 1] if start else 0) + BATCH_CHARACTERS
            stop = max(start + 1, min(stop, int(np.searchsorted(ends, budget, side="right"))))
        cuts.append((start, stop))
        start = stop
    return cuts


class _Part:
    """The rows of one batch."""

    def __init__(self, n: int) -> None:
        self.nll = np.full(n, np.nan)
        self.steps = np.zeros(n, dtype=np.int64)
        self.errors = np.full(n, np.nan)
        self.reasons: list[str | None] = [None] * n
        self.rows: dict[str, Rows] = {}
        self.summary: Summary | None = None


def _score_batch(critic: Critic[Any], batch: Corpus) -> _Part:
    part = _Part(len(batch))
    part.reasons = _reasons(critic, batch)
    kept = np.flatnonzero([r is None for r in part.reasons])
    if not len(kept):
        return part
    scorable = batch if len(kept) == len(batch) else batch.take(kept)
    latents = critic.project(scorable)
    prior = critic.log_prior(latents)
    _check_shape(critic, len(kept), len(latents), prior)
    part.nll[kept] = -np.asarray(prior.values, dtype=np.float64)
    part.steps[kept] = prior.steps
    if prior.errors is not None:
        part.errors[kept] = prior.errors
    for row in kept[np.asarray(prior.steps) < 1]:
        part.reasons[row], part.nll[row], part.steps[row] = critic.no_steps, np.nan, 0
    _check_finite(critic, batch, part)
    part.rows = {key: place(rows, kept, len(batch)) for key, rows in _rows_of(critic, latents).items()}
    if isinstance(critic, EvidenceMixin):
        part.summary = critic.summarize(latents)
    return part


def _rows_of(critic: Critic[Any], latents: Any) -> dict[str, Rows]:
    """The critic's sufficient statistics, and the rows of the aggregated posterior where it has one."""
    rows = dict(critic.sufficient_statistics(latents)) if isinstance(critic, StatisticsMixin) else {}
    if isinstance(critic, AggregatedPosteriorMixin):
        rows[AGGREGATED] = critic.aggregated_posterior(latents)
    elif critic.guard and isinstance(latents, StateSequences):
        rows[AGGREGATED] = aggregated(latents)
    return rows


def _reasons(critic: Critic[Any], batch: Corpus) -> list[str | None]:
    """Why documents cannot be projected: those without text first, then the critic's own reasons for the others."""
    reasons = [p or ("empty" if b else None) for p, b in zip(batch.problems, batch.blank, strict=True)]
    rest = np.flatnonzero([r is None for r in reasons])
    if len(rest):
        own = critic.unscored(batch if len(rest) == len(batch) else batch.take(rest))
        for row, reason in zip(rest, own, strict=True):
            reasons[row] = reason
    return reasons


def _check_shape(critic: Critic[Any], expected: int, latents: int, prior: LogPrior) -> None:
    found = {"project": latents, "log_prior values": len(prior.values), "log_prior steps": len(prior.steps)}
    for place_, length in found.items():
        if length != expected:
            raise MomusError(
                f"critic {critic.name!r}: {place_} gave {length} rows for {expected} documents",
                hint="return one element for each document of the batch, in order; "
                "name documents without a score in unscored()",
            )


def _check_finite(critic: Critic[Any], batch: Corpus, part: _Part) -> None:
    bad = [i for i, r in enumerate(part.reasons) if r is None and not np.isfinite(part.nll[i])]
    if bad:
        raise MomusError(
            f"critic {critic.name!r}: log_prior is {-part.nll[bad[0]]} for document {batch.ids[bad[0]]!r} "
            f"({len(bad)} such in this batch)",
            hint="give every latent a positive probability (smooth P_c), or a reason why there is no score",
        )


def _joined(critic: Critic[Any], corpus: Corpus, parts: list[_Part]) -> Scores:
    summary: Summary | None = None
    for part in parts:
        if part.summary is not None:
            summary = part.summary if summary is None else summary + part.summary
    keys = next((list(p.rows) for p in parts if p.rows), [])
    lengths = [len(p.nll) for p in parts]
    errors = np.concatenate([p.errors for p in parts]) if parts else np.zeros(0)
    return Scores(
        critic=critic.name,
        corpus=corpus.name,
        ids=corpus.ids,
        prompts=corpus.prompts,
        nll=np.concatenate([p.nll for p in parts]) if parts else np.zeros(0),
        steps=np.concatenate([p.steps for p in parts]) if parts else np.zeros(0, np.int64),
        reasons=[r for p in parts for r in p.reasons],
        rows={key: _stacked(key, parts, lengths) for key in keys},
        summary=summary,
        errors=errors if np.isfinite(errors).any() else None,
    )


def _stacked(key: str, parts: list[_Part], lengths: list[int]) -> Rows:
    """Stack one kind of rows; a batch without any scored document gets zeros."""
    some = next(p.rows[key] for p in parts if key in p.rows)
    nothing = np.zeros(0, dtype=np.int64)
    return stack(
        [
            p.rows[key] if key in p.rows else place(take_rows(some, nothing), nothing, n)
            for p, n in zip(parts, lengths, strict=True)
        ]
    )
