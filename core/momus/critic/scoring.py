"""Scoring: run a critic over a corpus in batches; every id gets one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from momus.critic.guard import Returned
from momus.critic.hooks import AdvancedMixin, check_fitted, tokenizer_of
from momus.critic.latents import StateSequences, aggregated, shown_latents
from momus.critic.powers import PARTS, DecompositionMixin, EvidenceMixin, StatisticsMixin, fields_read
from momus.critic.rows import Pooled, place
from momus.critic.scores import AGGREGATED, Scores, joined
from momus.critic.splitting import UNSPLIT, lacking, unsplit
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus

if TYPE_CHECKING:
    from momus.critic.base import Critic

EMPTY = "empty"
"""Why a document without text has no score."""
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
    pool: bool = True,
) -> Scores:
    """Score a corpus under a fitted critic; see `Critic.score`.

    Without ``summarize``, the scores have no summary; without ``pool``, none where that is the sum of their rows.
    """
    check_fitted(critic)
    if (tokenizer := tokenizer_of(critic)) is not None:
        corpus.tokens(tokenizer)  # tokenise once; slices share the tokens
    scored = []
    for start, stop in batches(corpus, batch_size) or [(0, 0)]:
        scored.append(_score_batch(critic, corpus.slice(start, stop), summarize))
        if progress is not None:
            progress(stop)
    groups = corpus.groups if any(g is not None for g in corpus.groups) else ()
    scores = replace(joined(scored), corpus=corpus.name, ids=corpus.ids, prompts=corpus.prompts, groups=groups)
    n = projected(critic, scores.reasons)
    if not (summarize and pool and n and pools_rows(critic)):
        return scores
    return replace(scores, summary=Pooled.of_rows({k: r for k, r in scores.rows.items() if k != AGGREGATED}, n))


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


def _score_batch(critic: Critic[Any], batch: Corpus, summarize: bool) -> Scores:
    n = len(batch)
    nll, steps, reasons = np.full(n, np.nan), np.zeros(n, dtype=np.int64), _reasons(critic, batch)
    unscored = Scores(critic.name, batch.name, batch.ids, batch.prompts, nll, steps, reasons, groups=batch.groups)
    # row numbers of the documents that can be projected; latents and priors have one element for each of these
    scorable = np.flatnonzero([r is None for r in reasons])
    if not len(scorable):
        return unscored
    projected = batch if len(scorable) == n else batch.take(scorable)
    latents = critic.project(projected)
    returned = Returned(critic)
    returned.latents(latents, len(scorable))
    prior = critic.log_prior(latents)
    values, counted = returned.prior(prior, projected.ids)
    nll[scorable], steps[scorable] = -values, counted
    stepless = counted < 1
    oddity = critic.oddity(latents) if isinstance(critic, AdvancedMixin) else None
    oddity = returned.vector("oddity", oddity, len(scorable))
    parts = _parts(critic, projected, latents)
    for row in scorable[stepless]:
        reasons[row], nll[row], steps[row] = critic.reporting.stepless, np.nan, 0
    words = shown_latents(latents, critic.state_names if isinstance(critic, EvidenceMixin) else ())
    z: list[str | None] = [None] * n
    for row, word in zip(scorable, words if words is not None else [None] * len(scorable), strict=True):
        z[row] = word if reasons[row] is None else None
    rows = dict(critic.sufficient_statistics(latents)) if isinstance(critic, StatisticsMixin) else {}
    visits = critic.aggregated_posterior(latents) if isinstance(critic, AdvancedMixin) else None
    if visits is not None:
        rows[AGGREGATED] = visits
    elif critic.reporting.aggregated and isinstance(latents, StateSequences):
        rows[AGGREGATED] = aggregated(latents)
    tables = {key: returned.rows(key, table, len(scorable)) for key, table in rows.items()}
    summary = None
    if summarize and isinstance(critic, EvidenceMixin) and not pools_rows(critic):
        summary = critic.summarize(latents)
    return replace(
        unscored,
        rows={key: place(table, scorable, n) for key, table in tables.items()},
        summary=summary,
        errors=_placed(prior.errors, scorable, n),
        z=pa.array(z, pa.string()) if any(word is not None for word in z) else None,
        oddity=_placed(None if oddity is None else np.where(stepless, np.nan, oddity), scorable, n),
        parts=_placed(None if parts is None else np.where(stepless[:, None], np.nan, parts), scorable, n),
    )


def _parts(critic: Critic[Any], batch: Corpus, latents: Any) -> Floats | None:
    """The parts of log P(x) side by side, (n, 4); None if the critic does not decompose it."""
    decomposed = critic.decompose(batch, latents) if isinstance(critic, DecompositionMixin) else None
    if decomposed is None:
        return None
    for term in PARTS:
        Returned(critic).vector(term, getattr(decomposed, term, None), len(batch))
    return decomposed.columns


def _placed(values: Any, rows: Ints, n: int) -> Floats | None:
    """Values of some rows among n, with NaN for the others; None if none is finite."""
    if values is None or not np.isfinite(values).any():
        return None
    column = np.full((n, *np.shape(values)[1:]), np.nan)
    column[rows] = values
    return column


def _reasons(critic: Critic[Any], batch: Corpus) -> list[str | None]:
    """Why each document cannot be projected (None if it can); the critic is asked only about documents with text."""
    reasons = [
        p or (EMPTY if b and not critic._textless else UNSPLIT if u else None)
        for p, b, u in zip(batch.problems, batch.blank, unsplit(tokenizer_of(critic), batch), strict=True)
    ]
    for name in fields_read(critic):
        values = batch.field(name)
        reasons = [r or (lacking(name) if v is None else None) for r, v in zip(reasons, values, strict=True)]
    readable = np.flatnonzero([r is None for r in reasons])
    if len(readable):
        unscored = critic.unscored(batch if len(readable) == len(batch) else batch.take(readable))
        for row, reason in zip(readable, Returned(critic).reasons(unscored, len(readable)), strict=True):
            reasons[row] = reason
    return reasons


def pools_rows(critic: Critic[Any]) -> bool:
    """Whether the summary of a critic is the sum of its rows, which are then not summed up batch by batch."""
    return isinstance(critic, EvidenceMixin) and type(critic).summarize is EvidenceMixin.summarize


def projected(critic: Critic[Any], reasons: Sequence[str | None]) -> int:
    """Number of documents that have latents: those that are scored, and those without a scored step."""
    return sum(reason is None or reason == critic.reporting.stepless for reason in reasons)
