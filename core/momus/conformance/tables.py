"""Checks of rows, aggregates, invariances, posteriors, summaries."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np

from momus.conformance import corpora
from momus.conformance.records import Skip
from momus.conformance.subject import Subject, same_scores, same_values, worst
from momus.critic import (
    Counted,
    Draws,
    EvidenceMixin,
    Gaussians,
    Pooled,
    Rows,
    RunningTextCritic,
    Scores,
    SimplexDraws,
    StateSequences,
    Summary,
)
from momus.critic.scoring import score
from momus.errors import MomusError
from momus.text.corpus import Corpus


def _documents_only(s: Subject) -> None:
    if isinstance(s.given, RunningTextCritic):
        raise Skip(f"rows stand for {s.given.unit}s of running text, which hang together")


def one_row_for_each_id(s: Subject) -> None:
    """Every id has a row, in order, with a finite score or a reason, and scored steps."""
    scores, ids = s.scores, s.fitted.units(s.held_out).ids
    assert list(scores.ids) == ids, "rows are not those of the ids, in order"
    for i, reason in enumerate(scores.reasons):
        if reason is None:
            assert np.isfinite(scores.nll[i]), f"document {ids[i]!r} has neither score nor reason"
            assert scores.steps[i] >= 1, f"document {ids[i]!r} has {scores.steps[i]} scored steps"
        else:
            assert not np.isfinite(scores.nll[i]), f"document {ids[i]!r} has a score and a reason"
    assert scores.n_scored > 0, "not one held-out document is scored"
    assert s.given.sequence or (scores.steps[scores.scored] == 1).all(), "M > 1, but `sequence` is not set"


def corpus_value_is_the_aggregate_of_rows(s: Subject) -> None:
    """Latent NLL is the mean of rows; Latent PPL the exponential of a ratio of totals."""
    scores = s.scores
    mask = scores.scored
    assert np.isclose(scores.latent_nll, scores.nll[mask].mean())
    assert np.isclose(np.log(scores.latent_ppl), scores.nll[mask].sum() / scores.steps[mask].sum())


def order_of_documents_changes_nothing(s: Subject) -> None:
    """A shuffled corpus gives the same scores."""
    _documents_only(s)
    order = np.random.default_rng(0).permutation(len(s.held_out))
    mixed = s.fitted.score(Corpus(s.held_out.table.take(order), "mixed"))
    _same(_take(s.scores, order), mixed, "another order of documents")


def batch_size_changes_nothing(s: Subject) -> None:
    """Batches of 1, 7 and all documents give the same scores."""
    for size in (1, 7, len(s.held_out) + 1):
        if isinstance(s.given, RunningTextCritic) and size == 1:
            continue
        fresh = Corpus(s.held_out.table, s.held_out.name)
        _same(s.scores, s.fitted.score(fresh, batch_size=size), f"batches of {size}")


def other_documents_change_nothing(s: Subject) -> None:
    """A document scores alone as it does in company."""
    _documents_only(s)
    for i in range(0, len(s.held_out), max(1, len(s.held_out) // 5)):
        alone = s.fitted.score(Corpus(s.held_out.table.slice(i, 1), "alone"))
        _same(_take(s.scores, np.array([i])), alone, "company")


def posterior_is_proper(s: Subject) -> None:
    """Probabilities of the posterior are non-negative and sum to 1; variances are positive."""
    z = s.latents
    if isinstance(z, StateSequences) and z.marginals is not None:
        assert len(z.marginals) == len(z.states), "marginals and states differ in length"
        assert (z.marginals >= -1e-9).all(), "a marginal is negative"
        assert np.allclose(z.marginals.sum(axis=1), 1, atol=1e-5), "marginals do not sum to 1"
    elif isinstance(z, StateSequences):
        assert z.offsets[0] == 0 and z.offsets[-1] == len(z.states), "offsets do not cover the states"  # noqa: PT018
        assert (z.states >= 0).all(), "a state is negative"
    elif isinstance(z, SimplexDraws):
        assert (z.draws >= -1e-9).all(), "a share is negative"
        assert np.allclose(z.draws.sum(axis=-1), 1, atol=1e-5), "shares do not sum to 1"
    elif isinstance(z, Gaussians):
        assert (z.variance > 0).all(), "a variance is not positive"
    elif isinstance(z, Draws):
        assert np.isfinite(z.draws).all(), "a draw is not finite"
    else:
        raise Skip(f"{type(z).__name__} holds single values")


def rows_belong_to_documents(s: Subject) -> None:
    """There is a row of each kind for each document, zero where it is unscored."""
    for key, rows in s.scores.rows.items():
        length = len(rows)
        assert length == len(s.scores), f"rows {key!r}: {length} for {len(s.scores)} documents"
    if not s.scores.rows:
        raise Skip("the critic has no sufficient statistics")


def summaries_merge(s: Subject) -> None:
    """The summary of a text is the sum over any cut of it, in any grouping."""
    if not isinstance(s.fitted, EvidenceMixin):
        raise Skip("the critic has no summaries")
    texts = s.fitted.units(s.held_out)
    whole = s.scores.summary
    assert isinstance(whole, Summary), "summarize() gives nothing that adds"
    for cuts in ((1 / 3,), (0.2, 0.5, 0.9)):
        edges = [0, *(int(c * len(texts)) for c in cuts), len(texts)]
        found = [score(s.fitted, texts.slice(a, b)).summary for a, b in pairwise(edges)]
        parts = [p for p in found if p is not None]
        kept = copy.deepcopy(parts)
        left, right = _sum(parts), (parts[0] + _sum(parts[1:]) if len(parts) > 1 else parts[0])
        assert same_summary(left, whole), f"the sum over {len(parts)} parts is not the summary of the whole"
        assert same_summary(right, whole), "summaries do not add in another grouping"
        assert all(same_summary(a, b) for a, b in zip(parts, kept, strict=True)), "adding changes a summand"


def _sum(parts: list[Summary]) -> Summary:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def same_summary(a: object, b: object) -> bool:
    """Whether two summaries agree."""
    if isinstance(a, Pooled) and isinstance(b, Pooled):
        return same_values(
            {"n": a.documents, "a": dict(a.arrays), "c": {k: dict(v) for k, v in a.counts.items()}},
            {"n": b.documents, "a": dict(b.arrays), "c": {k: dict(v) for k, v in b.counts.items()}},
        )
    return type(a) is type(b) and same_values(getattr(a, "__dict__", {"": a}), getattr(b, "__dict__", {"": b}))


def edge_texts_get_a_score_or_a_reason(s: Subject) -> None:
    """Empty, tiny, huge, foreign and broken texts are scored or excluded by name."""
    found = s.fitted.score(corpora.edges())
    assert all(r is not None or np.isfinite(x) for r, x in zip(found.reasons, found.nll, strict=True))
    if not isinstance(s.given, RunningTextCritic):
        assert found.reasons[0] is not None, "an empty document got a score"
        for i in range(len(corpora.edges())):
            one = s.fitted.score(corpora.edges().slice(i, i + 1))
            assert same_scores(one, _take(found, np.array([i]))), f"alone: {worst(one, _take(found, np.array([i])))}"


def errors_of_one_document_do_not_spread(s: Subject) -> None:
    """A record that could not be read keeps its row, with its reason."""
    _documents_only(s)
    from momus.text.corpus import Document

    mixed = Corpus.from_documents([Document("broken", (), problem="text is null"), *s.held_out])
    try:
        found = s.fitted.score(mixed)
    except MomusError as error:
        raise AssertionError(f"an unreadable record ends scoring: {error}") from error
    assert found.reasons[0] == "text is null"
    _same(s.scores, _take(found, np.arange(1, len(found))), "an unreadable record")


def _take(scores: Scores, rows: np.ndarray) -> Scores:
    return Scores(
        scores.critic,
        scores.corpus,
        [scores.ids[i] for i in rows],
        [scores.prompts[i] for i in rows],
        scores.nll[rows],
        scores.steps[rows],
        [scores.reasons[i] for i in rows],
    )


def _same(expected: Scores, found: Scores, cause: str) -> None:
    assert same_scores(expected, found), f"{cause} changes scores: {worst(expected, found)}"


def dense(rows: Rows) -> np.ndarray:
    """Rows as a dense array."""
    return rows.matrix.toarray() if isinstance(rows, Counted) else np.asarray(rows)


CHECKS = (
    one_row_for_each_id,
    corpus_value_is_the_aggregate_of_rows,
    order_of_documents_changes_nothing,
    batch_size_changes_nothing,
    other_documents_change_nothing,
    posterior_is_proper,
    rows_belong_to_documents,
    summaries_merge,
    edge_texts_get_a_score_or_a_reason,
    errors_of_one_document_do_not_spread,
)
