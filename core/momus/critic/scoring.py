"""Scoring: run a critic over a corpus in batches; every id gets one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from momus.critic.hooks import OddityMixin, check_fitted, state_names_of, tokenizer_of
from momus.critic.latents import StateSequences, aggregated, shown_latents
from momus.critic.powers import PARTS, AggregatedPosteriorMixin, DecompositionMixin, EvidenceMixin, StatisticsMixin
from momus.critic.rows import Pooled, Rows, Summary, place, stack, take_rows
from momus.critic.scores import AGGREGATED, Scores
from momus.critic.splitting import UNSPLIT, unsplit
from momus.errors import MomusError
from momus.text.corpus import Corpus

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.critic.scores import LogPrior

BATCH_DOCUMENTS = 2048
BATCH_CHARACTERS = 1 << 25
"""Largest numbers of documents and of characters in a batch, whichever is reached first."""


def score(
    critic: Critic[Any],
    corpus: Corpus,
    *,
    batch_size: int | None = None,
    progress: Callable[[int], None] | None = None,
    summarize: bool = True,
) -> Scores:
    """Score a corpus under a fitted critic; see `Critic.score`.

    Without ``summarize``, the scores have no summary where that is the sum of their rows.
    """
    check_fitted(critic)
    if (tokenizer := tokenizer_of(critic)) is not None:
        corpus.tokens(tokenizer)  # tokenise once; slices share the tokens
    scored = []
    for start, stop in batches(corpus, batch_size):
        scored.append(_score_batch(critic, corpus.slice(start, stop)))
        if progress is not None:
            progress(stop)
    return _concatenated(critic, corpus, scored, summarize)


def batches(corpus: Corpus, batch_size: int | None = None) -> list[tuple[int, int]]:
    """Cut a corpus into consecutive batches: (start, stop) pairs.

    >>> batches(Corpus.from_texts("abcde"), 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    size = batch_size or BATCH_DOCUMENTS
    # ends[i]: characters of documents 0 … i together; not needed for batches of a fixed size
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


class _BatchScores:
    """The rows of one batch, all unscored at first."""

    def __init__(self, n: int) -> None:
        self.nll = np.full(n, np.nan)
        self.steps = np.zeros(n, dtype=np.int64)
        self.errors = np.full(n, np.nan)
        self.oddity = np.full(n, np.nan)
        self.parts = np.full((n, len(PARTS)), np.nan)
        self.reasons: list[str | None] = [None] * n
        self.rows: dict[str, Rows] = {}
        self.summary: Summary | None = None
        self.declared: list[str] | None = None
        """Keys of the rows that the critic declares; None without a document that has latents."""
        self.z: list[str | None] = [None] * n


def _score_batch(critic: Critic[Any], batch: Corpus) -> _BatchScores:
    scores = _BatchScores(len(batch))
    scores.reasons = _reasons(critic, batch)
    # row numbers of the documents that can be projected; latents and priors have one element for each of these
    scorable = np.flatnonzero([r is None for r in scores.reasons])
    if not len(scorable):
        return scores
    projected = batch if len(scorable) == len(batch) else batch.take(scorable)
    latents = critic.project(projected)
    prior = critic.log_prior(latents)
    _check_shape(critic, len(scorable), len(latents), prior)
    scores.nll[scorable] = -np.asarray(prior.values, dtype=np.float64)
    scores.steps[scorable] = prior.steps
    if prior.errors is not None:
        scores.errors[scorable] = prior.errors
    oddity = critic.oddity(latents) if isinstance(critic, OddityMixin) else None
    if oddity is not None:
        scores.oddity[scorable] = np.where(np.asarray(prior.steps) < 1, np.nan, oddity)
    decomposed = critic.decompose(projected, latents) if isinstance(critic, DecompositionMixin) else None
    if decomposed is not None:
        scores.parts[scorable] = np.where(np.asarray(prior.steps)[:, None] < 1, np.nan, decomposed.columns)
    for row in scorable[np.asarray(prior.steps) < 1]:
        scores.reasons[row], scores.nll[row], scores.steps[row] = critic.reporting.stepless, np.nan, 0
    _check_finite(critic, batch, scores)
    words = shown_latents(latents, state_names_of(critic))
    for row, z in zip(scorable, words if words is not None else [None] * len(scorable), strict=True):
        scores.z[row] = z if scores.reasons[row] is None else None
    rows = dict(critic.sufficient_statistics(latents)) if isinstance(critic, StatisticsMixin) else {}
    if isinstance(critic, EvidenceMixin) and not pools_rows(critic):
        scores.summary = critic.summarize(latents)
    scores.declared = list(rows)
    if isinstance(critic, AggregatedPosteriorMixin):
        rows[AGGREGATED] = critic.aggregated_posterior(latents)
    elif critic.reporting.aggregated and isinstance(latents, StateSequences):
        rows[AGGREGATED] = aggregated(latents)
    scores.rows = {key: place(table, scorable, len(batch)) for key, table in rows.items()}
    return scores


def _reasons(critic: Critic[Any], batch: Corpus) -> list[str | None]:
    """Why each document cannot be projected (None if it can); the critic is asked only about documents with text."""
    reasons = [
        p or ("empty" if b else UNSPLIT if u else None)
        for p, b, u in zip(batch.problems, batch.blank, unsplit(tokenizer_of(critic), batch), strict=True)
    ]
    readable = np.flatnonzero([r is None for r in reasons])
    if len(readable):
        unscored = critic.unscored(batch if len(readable) == len(batch) else batch.take(readable))
        for row, reason in zip(readable, unscored, strict=True):
            reasons[row] = reason
    return reasons


def _check_shape(critic: Critic[Any], expected: int, latents: int, prior: LogPrior) -> None:
    lengths = {"project": latents, "log_prior values": len(prior.values), "log_prior steps": len(prior.steps)}
    for source, length in lengths.items():
        if length != expected:
            raise MomusError(
                f"critic {critic.name!r}: {source} returned {length} rows for {expected} documents",
                hint="return one element per document of the batch, in order; "
                "declare documents that cannot be scored in unscored()",
            )


def _check_finite(critic: Critic[Any], batch: Corpus, scores: _BatchScores) -> None:
    bad = [i for i, r in enumerate(scores.reasons) if r is None and not np.isfinite(scores.nll[i])]
    if bad:
        raise MomusError(
            f"critic {critic.name!r}: log_prior is {-scores.nll[bad[0]]} for document {batch.ids[bad[0]]!r} "
            f"({len(bad)} such documents in this batch)",
            hint="give every latent a positive probability (smooth P_c), or return a reason from unscored()",
        )


def pools_rows(critic: Critic[Any]) -> bool:
    """Whether the summary of a critic is the sum of its rows, which are then not summed up batch by batch."""
    return isinstance(critic, EvidenceMixin) and type(critic).summarize is EvidenceMixin.summarize


def projected(critic: Critic[Any], reasons: Sequence[str | None]) -> int:
    """Number of documents that have latents: those that are scored, and those without a scored step."""
    return sum(reason is None or reason == critic.reporting.stepless for reason in reasons)


def _concatenated(critic: Critic[Any], corpus: Corpus, scored: list[_BatchScores], summarize: bool) -> Scores:
    """Concatenate the rows of all batches, and add their summaries."""
    summary: Summary | None = None
    for batch in scored:
        if batch.summary is not None:
            summary = batch.summary if summary is None else summary + batch.summary
    keys = next((list(b.rows) for b in scored if b.rows), [])
    rows = {key: _stacked(key, scored) for key in keys}
    declared = next((b.declared for b in scored if b.declared is not None), None)
    if summarize and declared is not None and pools_rows(critic):
        n = projected(critic, [r for b in scored for r in b.reasons])
        summary = Pooled.of_rows({key: rows[key] for key in declared}, n)
    scored = scored or [_BatchScores(0)]  # of an empty corpus
    names = ("nll", "steps", "errors", "oddity", "parts")
    columns = {name: np.concatenate([getattr(b, name) for b in scored]) for name in names}
    known = {n: columns[n] if np.isfinite(columns[n]).any() else None for n in ("errors", "oddity", "parts")}
    return Scores(
        critic=critic.name,
        corpus=corpus.name,
        ids=corpus.ids,
        prompts=corpus.prompts,
        nll=columns["nll"],
        steps=columns["steps"],
        reasons=[r for b in scored for r in b.reasons],
        rows=rows,
        summary=summary,
        groups=corpus.groups if any(g is not None for g in corpus.groups) else (),
        z=_words(scored),
        **known,
    )


def _words(scored: list[_BatchScores]) -> pa.Array | None:
    """Latents of all rows in a few words; None if no row has any."""
    words = pa.array([z for b in scored for z in b.z], pa.string())
    return words if words.null_count < len(words) else None


def _stacked(key: str, scored: list[_BatchScores]) -> Rows:
    """Concatenate the rows of one key; a batch without any scored document gets rows of zeros."""
    none = np.zeros(0, dtype=np.int64)
    # no rows, with the columns of a batch that has some
    columns = take_rows(next(b.rows[key] for b in scored if key in b.rows), none)
    return stack([b.rows[key] if key in b.rows else place(columns, none, len(b.nll)) for b in scored])
