"""Checks of score rows, aggregates, invariances, posteriors and summaries, and of the scripts that a critic claims."""

from __future__ import annotations

import copy
import unicodedata
from itertools import pairwise

import numpy as np

from momus.conformance import corpora
from momus.conformance.subject import Skip, Subject, assert_same, bare_rows, not_used, same_scores, same_values
from momus.critic import (
    Critic,
    Draws,
    EvidenceMixin,
    Gaussians,
    Pooled,
    RunningTextCritic,
    SimplexDraws,
    StateSequences,
    StatisticsMixin,
)
from momus.critic.hooks import claimed_scripts, row_unit, scored_units, tokenizer_of
from momus.critic.powers import DecompositionMixin, fields_read
from momus.critic.rows import Summary
from momus.critic.scoring import score
from momus.critic.splitting import lacking
from momus.errors import CriticError, FittingError, MomusError
from momus.text.corpus import Corpus, Document
from momus.text.words import has_icu


def _documents_only(s: Subject) -> None:
    if row_unit(s.critic) != "document":
        raise Skip(f"rows are {row_unit(s.critic)}s, which depend on several documents or on each other")


def one_row_for_each_id(s: Subject) -> None:
    """Every id has one row, in order, with a finite score and scored steps, or a reason."""
    scores, ids = s.scores, scored_units(s.fitted, s.held_out).ids
    assert list(scores.ids) == ids, "the ids of the rows are not the ids of the corpus, in order"
    for i, reason in enumerate(scores.reasons):
        if reason is None:
            assert np.isfinite(scores.nll[i]), f"document {ids[i]!r} has neither a score nor a reason"
            assert scores.steps[i] >= 1, f"document {ids[i]!r} has {scores.steps[i]} scored steps"
        else:
            assert not np.isfinite(scores.nll[i]), f"document {ids[i]!r} has both a score and a reason"
    assert scores.n_scored > 0, "no held-out document is scored"
    assert s.fitted.sequence or (scores.steps[scores.scored] == 1).all(), "M > 1, but `sequence` is not set"


def order_of_documents_changes_nothing(s: Subject) -> None:
    """A shuffled corpus gives the same scores."""
    _documents_only(s)
    order = np.random.default_rng(0).permutation(len(s.held_out))
    mixed = s.fitted.score(Corpus(s.held_out.table.take(order), "mixed"))
    assert_same(bare_rows(s.scores, order), mixed, "in another order of documents")


def batch_size_changes_nothing(s: Subject) -> None:
    """Batches of 1, 7 and all documents give the same scores."""
    for size in (1, 7, len(s.held_out) + 1):
        if isinstance(s.critic, RunningTextCritic) and size == 1:
            continue
        fresh = Corpus(s.held_out.table, s.held_out.name)
        assert_same(s.scores, s.fitted.score(fresh, batch_size=size), f"in batches of {size}")


def other_documents_change_nothing(s: Subject) -> None:
    """A document gets the same score alone as with other documents."""
    _documents_only(s)
    for i in range(0, len(s.held_out), max(1, len(s.held_out) // 5)):
        alone = s.fitted.score(Corpus(s.held_out.table.slice(i, 1), "alone"))
        assert_same(bare_rows(s.scores, [i]), alone, "when a document is scored alone")


def posterior_is_proper(s: Subject) -> None:
    """Probabilities of the posterior are non-negative and sum to 1; variances are positive."""
    z = s.latents
    if isinstance(z, StateSequences) and z.marginals is not None:
        assert len(z.marginals) == len(z.states), "marginals and states differ in number"
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
        raise Skip(f"{type(z).__name__} are point values")


def parts_add_up_to_the_evidence(s: Subject) -> None:
    """The parts of log P(x) are those of the scores, and no more than log P(x); states have an entropy from 0 to log K.

    What is left of log P(x) is a Kullback–Leibler divergence, 0 or more; of a bound, 0. Scores of a
    critic that does not decompose log P(x) have no parts.
    """
    critic = s.fitted
    if not isinstance(critic, DecompositionMixin):
        assert s.scores.parts is None, "scores have parts of log P(x), but the critic does not decompose it"
        return
    if s.scores.parts is None:
        raise Skip("the posterior is read as a point")
    parts = s.scores.parts[s.scores.scored]
    assert np.isfinite(parts).all(), "a part of log P(x) is not finite"
    prior, likelihood, entropy, evidence = parts.T
    assert np.allclose(prior, -s.scores.nll[s.scores.scored], rtol=1e-9, atol=1e-9), "the first part is not −Latent NLL"
    scale = 1 + np.abs(prior) + np.abs(likelihood)
    gap = (evidence - (prior + likelihood + entropy)) / scale
    assert gap.min() >= -1e-9, f"the parts sum to more than log P(x), by {-gap.min():.2g} of their size"
    if critic.evidence_kind != "exact":
        assert gap.max() <= 1e-9, f"the parts of the {critic.evidence_kind} do not sum to it"
    z = s.latents
    if isinstance(z, StateSequences):
        assert entropy.min() >= -1e-9, f"the entropy of states is {entropy.min()}"
        states = 1 + int(z.states.max()) if z.marginals is None else z.marginals.shape[1]
        most = s.scores.steps[s.scores.scored] * np.log(max(states, 1))
        assert (entropy <= most + 1e-9).all(), "an entropy is larger than that of independent, equally likely states"


def rows_belong_to_documents(s: Subject) -> None:
    """Sufficient statistics of each kind have one row per document."""
    for key, rows in s.scores.rows.items():
        n = len(rows)
        assert n == len(s.scores), f"sufficient statistics {key!r}: {n} rows for {len(s.scores)} documents"
    if not s.scores.rows:
        raise Skip(f"the critic has no sufficient statistics{not_used(s.critic, StatisticsMixin)}")


def summaries_merge(s: Subject) -> None:
    """The summary of a text is the sum of the summaries of its chunks, in any grouping."""
    if not isinstance(s.fitted, EvidenceMixin):
        raise Skip(f"the critic has no summaries{not_used(s.critic, EvidenceMixin)}")
    texts = scored_units(s.fitted, s.held_out)
    whole = s.scores.summary
    assert isinstance(whole, Summary), "summarize() returns no Summary"
    for cuts in ((1 / 3,), (0.2, 0.5, 0.9)):
        edges = [0, *(int(c * len(texts)) for c in cuts), len(texts)]
        maybe = [score(s.fitted, texts.slice(a, b)).summary for a, b in pairwise(edges)]
        summaries = [x for x in maybe if x is not None]
        copies = copy.deepcopy(summaries)
        # ((a + b) + c) + d and a + ((b + c) + d)
        left = _sum(summaries)
        right = summaries[0] + _sum(summaries[1:]) if len(summaries) > 1 else summaries[0]
        assert same_summary(left, whole), f"the sum over {len(summaries)} chunks is not the summary of the whole text"
        assert same_summary(right, whole), "the sum of summaries depends on their grouping"
        assert all(same_summary(a, b) for a, b in zip(summaries, copies, strict=True)), "addition changes a summand"


def _sum(summaries: list[Summary]) -> Summary:
    total = summaries[0]
    for summary in summaries[1:]:
        total = total + summary
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
    """Empty, tiny, huge, foreign and malformed texts get a finite score or a reason."""
    edges = s.beside(corpora.edges())
    scores = s.fitted.score(edges)
    assert all(r is not None or np.isfinite(x) for r, x in zip(scores.reasons, scores.nll, strict=True))
    if row_unit(s.critic) == "document":
        assert scores.reasons[0] is not None or s.critic._textless, "an empty document got a score"
        for i in range(len(edges)):
            alone = s.fitted.score(edges.slice(i, i + 1))
            assert_same(alone, bare_rows(scores, [i]), "when a document is scored alone")


def errors_of_one_document_do_not_spread(s: Subject) -> None:
    """An unreadable record keeps its row, with its reason, and does not change other scores."""
    _documents_only(s)
    mixed = Corpus.from_documents([Document("broken", (), problem="text is null"), *s.held_out])
    try:
        scores = s.fitted.score(mixed)
    except CriticError:
        raise
    except MomusError as error:
        raise AssertionError(f"an unreadable record stops scoring: {error}") from error
    assert scores.reasons[0] == "text is null"
    assert_same(s.scores, bare_rows(scores, np.arange(1, len(scores))), "beside an unreadable record")


LONGEST = 20
"""Characters of a word of the samples, at most; the longest has 14."""


FEW = 4
"""Documents of each script that a critic scores which was fitted on other text."""


def claimed_scripts_are_read(s: Subject) -> None:
    """Texts in each of ten scripts that the critic claims are split into words, and score alike in any batch."""
    claimed = _claimed(s)
    words_are_found(s.critic, corpora.together(claimed))
    batches_agree(s.fitted, s.beside(corpora.together(claimed, FEW)))


def claimed_scripts_can_be_fitted(s: Subject) -> None:
    """Fitted on text in each of ten scripts that it claims, the critic scores it alike in any batch."""
    if isinstance(s.critic, RunningTextCritic):
        raise Skip(f"the samples are shorter than a {row_unit(s.critic)}")
    fits = 0
    for name in _claimed(s):
        text = s.beside(corpora.in_script(name))
        try:
            fitted = s.fit(text)
        except FittingError:  # the samples lack what the critic needs
            continue
        fits += 1
        try:
            batches_agree(fitted, text)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    if not fits:
        raise Skip("the samples are too short for the critic to be fitted on")


def _claimed(s: Subject) -> list[str]:
    """The scripts of the samples that the critic claims."""
    scripts = claimed_scripts(s.critic)
    claimed = [name for name, sample in corpora.SAMPLES.items() if all(code in scripts for code in sample.codes)]
    if not claimed:
        raise Skip(f"the critic reads {scripts.words()}, which the samples do not have")
    return claimed


def words_are_found(critic: Critic[object], text: Corpus) -> None:
    """No token of the critic's tokenizer is a whole clause or a mark torn from its letter.

    Raises
    ------
    AssertionError
        One is.
    """
    tokenizer = tokenizer_of(critic)
    if tokenizer is None or not tokenizer.dictionaries:
        return
    table = text.tokens(tokenizer)
    for word in table.vocabulary:
        assert len(word) <= LONGEST, f"{word!r} is one token of tokenizer {tokenizer.name!r}"
        torn = unicodedata.category(word[0])[0] == "M" and not "\ufe00" <= word[0] <= "\ufe0f"
        assert not torn, f"token {word!r} of tokenizer {tokenizer.name!r} begins with a mark of the letter before it"


def batches_agree(fitted: Critic[object], text: Corpus) -> None:
    """Documents get the same scores all at once, in batches of three, and each alone.

    Raises
    ------
    AssertionError
        Some do not.
    """
    units = scored_units(fitted, text)
    whole = score(fitted, units)
    small = score(fitted, units, batch_size=3)
    assert_same(whole, small, "with batches of 3")
    for row in np.linspace(0, len(units) - 1, min(len(units), 10)).astype(int).tolist():
        alone = score(fitted, Corpus(units.table.slice(row, 1), units.name))
        assert_same(bare_rows(whole, [row]), alone, "alone")
    if not has_icu():
        return
    assert all(r is not None or np.isfinite(x) for r, x in zip(whole.reasons, whole.nll, strict=True))


def needed_fields_are_read(s: Subject) -> None:
    """A document without a field in `needs` is unscored for that reason, and what the field holds moves some score."""
    names = fields_read(s.critic)
    assert names, "`needs` is empty: name the fields that the critic reads, such as needs = ('prompt_text',)"
    fields = s.held_out.table.column_names.index("fields")
    bare = Corpus(s.held_out.table.set_column(fields, "fields", _fields(s.held_out, 0, leave_out=names)), "bare")
    reasons = set(s.fitted.score(bare).reasons)
    assert reasons == {lacking(names[0])}, f"documents without {names[0]!r} have the reasons {reasons}"
    turned = Corpus(s.held_out.table.set_column(fields, "fields", _fields(s.held_out, 1)), "turned")
    exchanged = bare_rows(s.fitted.score(turned), np.arange(len(turned)))
    assert not same_scores(s.scores, exchanged), (
        f"the scores are the same with {' and '.join(names)} of other documents: they do not depend on `needs`"
    )


def _fields(corpus: Corpus, shift: int, leave_out: tuple[str, ...] = ()) -> object:
    """The fields of each document ``shift`` rows further on, without some of them."""
    import pyarrow as pa

    column = corpus.table["fields"]
    rows = column.to_pylist()
    kept = [[(key, value) for key, value in rows[i - shift] or () if key not in leave_out] for i in range(len(rows))]
    return pa.chunked_array([pa.array(kept, column.type)])
