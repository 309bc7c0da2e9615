"""One critic in a comparison: fitted, scored, tested, and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from momus.against.bands import OwnBands
from momus.checks.notes import group_notes
from momus.critic import EvidenceMixin, Pooled
from momus.critic.base import notes_of
from momus.critic.hooks import AdvancedMixin, device_of, moved, settled, tokenizer_of
from momus.critic.rows import Summary, take_rows
from momus.critic.scores import Scores
from momus.critic.scoring import pools_rows
from momus.critic.source import source_change, source_digest
from momus.critic.splitting import icu_of, usable_documents
from momus.critic.statistic import Note
from momus.engine.crossfit import CrossScores, cross_scored, versions_of
from momus.errors import FittingError, StoreError
from momus.estimator import clone, json_params
from momus.joint.axes import axis_of
from momus.joint.distribution import distribution, shown_axis
from momus.numeric.types import Ints
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.rows.corpus import StoredCorpus
from momus.runs.examples import Example, compared_rows, find_examples, find_outliers, find_references
from momus.runs.folder import RunFolder
from momus.runs.kept import write_scores
from momus.runs.named_files import files_named
from momus.runs.orders import order_notes
from momus.runs.result import CriticResult, Outcome, count_unscored
from momus.runs.texts import Texts
from momus.verdicts.band import HumanBands
from momus.verdicts.decomposition import parts_of
from momus.verdicts.judge import MANY_PAIRS, USUAL, differences, judge
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict, finite

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.critic.fitted import FittedOn
    from momus.engine.reuse import Reuse
    from momus.evidence import Evidence, MarkedDocument
    from momus.joint.axes import Axis
    from momus.text.corpus import Corpus

RESULT_FORMAT = 9
"""Of the results that a run folder keeps; a result in another format is computed again."""
SUMMARIZED = 2_000
"""Documents of a text scored in parts that evidence is made of, where it needs their latents."""
WRITTEN = 50_000
"""Documents whose scores are written at a time."""
MANY = 100
"""Pairs of generated texts above which their tests are made at less cost."""
WITHOUT_EFFECT = ("device", "multiplicity", "control_for", "subgroups")
"""Settings that do not change what is kept of a critic: p-values are adjusted over the whole table later."""


def run_critic(
    critic: Critic[Any],
    texts: Texts,
    settings: Settings,
    timed: Timed,
    folder: RunFolder | None = None,
    resume: bool = False,
    family: int = 1,
    reuse: Reuse | None = None,
) -> Outcome:
    """Fit, score, test and show one critic, or reuse what an earlier run kept of it.

    Parameters
    ----------
    family
        Number of axes that are adjusted together.
    reuse
        An earlier run, to take the fitted critic and the scores of the real text from.

    Raises
    ------
    FittingError, MissingExtraError
        The critic cannot be fitted on this text, or lacks a package.
    """
    texts = texts.for_critic(critic)
    signature, warning = _critic_signature(critic, texts, settings, family), ""
    kept = None
    if folder is not None and resume:
        try:
            kept = folder.kept(critic.name)
        except StoreError as error:
            warning = f"Critic {critic.name!r} was computed again: {error.message}."
    if folder is not None and kept is not None and kept.signature == signature:
        axis = folder.kept_axis(critic)
        samples = dict(zip([texts.real.name, *(c.name for c in texts.generated)], texts.samples, strict=True))
        return Outcome(kept, axis=None if axis is None else axis.take(samples))
    if kept is not None:
        keys = {**kept.signature, **signature}.keys() - {"source"}
        differing = sorted(k for k in keys if kept.signature.get(k) != signature.get(k))
        why = [source_change(kept.signature.get("source"), signature["source"])]
        why += [f"the earlier run differs in {', '.join(differing)}"] if differing else []
        warning = f"Critic {critic.name!r} was computed again: {'; '.join(filter(None, why))}."
    cross = cross_scored(critic, texts, settings, timed, folder) if settings.against else None
    scored = _scored(critic, texts, timed, folder, reuse) if cross is None else cross.scored
    axis = axis_of(critic, _sampled(scored, texts))
    result = _result(critic, texts, scored, axis, settings, timed, signature, family, cross)
    if settings.refits or (critic.reporting.restarts and not texts.in_parts and cross is None):
        spread = _refitted(critic, texts, scored, settings, timed)
        result = replace(
            result,
            verdicts=[replace(v, refit_spread=spread.get((v.generated, v.statistic))) for v in result.verdicts],
        )
    in_order = list(zip(scored, (texts.real, *texts.generated), strict=True))
    if folder is not None:
        kept_axis = None if axis is None else _placed(axis, texts, scored)
        folder.keep(result, (s.table() for pair in in_order for s in _as_given(*pair, WRITTEN)), kept_axis)
    in_folder = folder is not None and texts.in_parts  # there may be millions
    return Outcome(result, () if in_folder else [next(_as_given(*pair)) for pair in in_order], warning, axis)


def _placed(axis: Axis, texts: Texts, scored: Sequence[Scores]) -> Axis:
    """The axis with a row for each document, scored in the sample only."""
    names = [s.corpus for s in scored]
    sizes = dict(zip(names, map(len, scored), strict=True))
    return axis.placed(dict(zip(names, texts.samples, strict=True)), sizes)


def _sampled(scored: Sequence[Scores], texts: Texts) -> list[Scores]:
    """The scores of the documents that all axes are analysed on together."""
    return [s if rows is None else s.take(rows) for s, rows in zip(scored, texts.samples, strict=True)]


def _as_given(scores: Scores, corpus: Corpus, size: int = 0) -> Iterator[Scores]:
    """Scores without their rows, in the order in which the documents were given; at most ``size`` at a time, if any."""
    plain, order = replace(scores, rows={}), corpus.given_rows
    if order is None or len(scores) != len(corpus):
        order = np.arange(len(scores))
    for start in range(0, max(len(order), 1), size or max(len(order), 1)):
        yield replace(plain.take(order[start : start + (size or len(order))]), summary=scores.summary)


def _scored(
    critic: Critic[Any], texts: Texts, timed: Timed, folder: RunFolder | None, reuse: Reuse | None
) -> list[Scores]:
    """Fit, keep the critic, and score the real and the generated texts."""
    if texts.in_parts:
        if critic.name in texts.failed:
            raise texts.failed[critic.name]
        if folder is not None:
            critic.save(folder.critic_folder(critic.name))
        corpora = [c for c in (texts.real, *texts.generated) if isinstance(c, StoredCorpus)]
        with timed.stage("reading", "scores"):
            read = [corpus.stored.scores(critic.name) for corpus in corpora]
        return_memory()
        return read
    kept: Scores | None = None
    reused = False
    if reuse is not None:
        with timed.stage("loading"):
            reused = reuse.fitted(critic, texts)
            kept = reuse.real(critic, texts) if reused else None
    if (tokenizer := tokenizer_of(critic)) is not None:
        ready = [texts.fit] * reused + [texts.real] * (kept is not None)
        needed = [c for c in (texts.fit, texts.real, *texts.generated) if not any(c is r for r in ready)]
        for corpus in needed:
            with timed.stage("tokenizing", corpus.name):
                corpus.tokens(tokenizer)
    if not reused:
        with reporting(timed.inner), timed.stage("fitting"):
            critic.fit(texts.fit)
    changed = settled(critic, (texts.real, *texts.generated))
    if changed:
        kept = None
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
    scored = [] if kept is None else [kept]
    for corpus in (*([texts.real] if kept is None else []), *texts.generated):
        with timed.stage("scoring", corpus.name, len(corpus)) as advance:
            scored.append(critic.score(corpus, progress=advance))
    if folder is not None:
        write_scores(scored[0], folder.critic_folder(critic.name))
    return scored


def _result(
    critic: Critic[Any],
    texts: Texts,
    scored: list[Scores],
    axis: Axis | None,
    settings: Settings,
    timed: Timed,
    signature: dict[str, Any],
    family: int,
    cross: CrossScores | None = None,
) -> CriticResult:
    real, others = scored[0], scored[1:]
    shown_scores = scored if cross is None else cross.shown
    sampled = _sampled(scored, texts)
    bands = HumanBands(real.scored_groups, settings.seed)
    if cross is not None:
        bands = OwnBands.of_scores(real, settings.seed)
    verdicts: list[Verdict] = []
    evidence: list[tuple[str, Sequence[Evidence]]] = []
    outliers: list[MarkedDocument] = []
    references: list[Example] = []
    examples: list[Example] = []
    shown = None if axis is None else shown_axis(critic, sampled, axis)
    for k, (scores, corpus) in enumerate(zip(others, texts.generated, strict=True), 1):
        with timed.stage("testing", corpus.name):
            rows = judge(critic, real, scores, settings, family=family, bands=bands)
            verdicts += rows
        with timed.stage("evidence", corpus.name):
            sides = texts.analysed[0], texts.analysed[k]
            if real.n_scored and scores.n_scored:
                tested = None if shown is None else compared_rows(real, scores, settings.paired)
                evidence.append(
                    (corpus.name, _evidence(critic, (texts.real, corpus), (shown_scores[0], shown_scores[k]), tested))
                )
                if axis is not None and shown is not None:
                    few = compared_rows(sampled[0], sampled[k], settings.paired)
                    leading = next((v for v in rows if v.leads and v.wording.direction), None)
                    # documents that show what the leading statistic says, where it is a value of documents
                    by = (
                        shown
                        if leading is None
                        else shown_axis(critic, [sampled[0], sampled[k]], axis, leading.statistic)
                    )
                    speaking = next((v for v in rows if v.statistic == by.statistic.name), None)
                    higher = speaking is None or (speaking.difference or 0.0) >= 0
                    values = by.values[real.corpus], by.values[scores.corpus]
                    examples += find_examples(critic, sides, (sampled[0], sampled[k]), few, values, higher)
            oddest = find_outliers(critic, corpus, scores, settings.top)
            references += find_references(critic, (sides[0], corpus), (sampled[0], scores), oddest)
            outliers += oddest
    pairs: list[Verdict] = []
    axes = family if settings.multiplicity.endswith("-table") else family * len(others)  # of all texts
    of_pairs = axes * (len(others) - 1) // 2
    two = list(combinations(others, 2)) if settings.pairwise else []
    economy = MANY_PAIRS if len(two) > MANY else USUAL
    for one, other in two:
        with timed.stage("testing", f"{one.corpus} and {other.corpus}"):
            pairs += judge(critic, one, other, settings, only_headline=True, economy=economy, family=of_pairs)
    return CriticResult(
        name=critic.name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=cast("FittedOn", critic.fitted_on_),
        params=json_params(critic),
        verdicts=verdicts,
        pairs=pairs,
        evidence=evidence,
        outliers=outliers,
        odd_real=find_outliers(critic, texts.real, real, settings.top),
        oddity_unit=critic.reporting.oddity_unit,
        references=references,
        examples=examples,
        distribution=None if shown is None else distribution(critic, shown, real.corpus),
        parts=parts_of(critic, sampled[0], sampled[1:], settings),
        limits=critic.reporting.limits,
        general=critic.reporting.general,
        leading=critic.reporting.leading,
        unscored=count_unscored(scored),
        notes=[
            *notes_of(critic),
            *_of_few(critic, texts, scored),
            *order_notes(texts, critic),
            *group_notes(critic, sampled, texts.checks, axes),
        ],
        versions=None if cross is None else versions_of(critic, texts, cross, settings),
        signature=signature,
    )


def _evidence(
    critic: Critic[Any],
    texts: tuple[Corpus, Corpus],
    scores: tuple[Scores, Scores],
    tested: tuple[Ints, Ints] | None,
) -> Sequence[Evidence]:
    """Evidence from the documents of the test; summaries of all scored documents serve where all take part."""
    if not isinstance(critic, EvidenceMixin):
        return []
    rows = (None, None) if tested is None else tested
    real, generated = (_summary(critic, c, s, r) for c, s, r in zip(texts, scores, rows, strict=True))
    return [] if real is None or generated is None else critic.evidence(real, generated)


def _of_few(critic: Critic[Any], texts: Texts, scored: Sequence[Scores]) -> list[Note]:
    """Say that evidence comes from some of the documents: of texts scored in parts, where it needs their latents."""
    if not (texts.in_parts and isinstance(critic, EvidenceMixin)) or pools_rows(critic):
        return []
    if not any(s.summary is None and s.n_scored > SUMMARIZED for s in scored):
        return []
    return [Note(f"Its evidence is made of at most {SUMMARIZED:,} documents of each text, drawn at random.")]


def _summary(critic: Critic[Any], corpus: Corpus, scores: Scores, rows: Ints | None) -> Summary | None:
    """The summary of the documents in these rows; None: of all.

    A summary that pools the rows of documents is made from these; others need the latents, and these another scoring.
    """
    if scores.summary is not None and (rows is None or len(rows) == scores.n_scored):
        return scores.summary
    rows = np.flatnonzero(scores.scored) if rows is None else rows
    if isinstance(critic, EvidenceMixin) and type(critic).summarize is EvidenceMixin.summarize:
        return Pooled.of_rows({key: take_rows(table, rows) for key, table in scores.rows.items()}, len(rows))
    # canonical order is that of hashes, so the first documents are drawn at random
    return critic.score(corpus.take(rows[:SUMMARIZED] if isinstance(corpus, StoredCorpus) else rows)).summary


def _refitted(
    critic: Critic[Any], texts: Texts, scored: Sequence[Scores], settings: Settings, timed: Timed
) -> dict[tuple[str, str], float | None]:
    """Standard deviation of each difference over critics fitted on bootstrap resamples of the fitted text.

    A resample that a critic cannot be fitted on is left out; two are needed. Without resamples, over the critic and
    others that are fitted on the same text from other starts.
    """
    usable = usable_documents(texts.fit)
    corpora = texts.in_memory
    spread: dict[tuple[str, str], list[float]] = {}

    def add(fitted: Critic[Any], sides: Sequence[Scores]) -> None:
        for side in sides[1:]:
            for name, value in differences(fitted, sides[0], side).items():
                spread.setdefault((side.corpus, name), []).append(value)

    refits = settings.refits or critic.reporting.restarts
    if not settings.refits:
        add(critic, scored)
    for k in range(refits):
        if settings.refits:
            rows = np.random.default_rng([settings.seed, 4, k]).integers(0, len(usable), len(usable))
            again, fitted_on = clone(critic), usable.take(np.sort(rows))
        else:
            again, fitted_on = clone(critic), usable
            tried = critic.tried() if isinstance(critic, AdvancedMixin) else {}
            again.set_params(seed=critic.get_params()["seed"] + k + 1, **tried)
        moved(again, device_of(critic))
        with timed.stage("refitting", f"{k + 1} of {refits}"):
            try:
                again.fit(fitted_on)
            except FittingError:
                continue
            settled(again, corpora)
            add(again, [again.score(corpus) for corpus in corpora])
    return {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in spread.items()}


def _critic_signature(critic: Critic[Any], texts: Texts, settings: Settings, family: int) -> dict[str, Any]:
    """Everything that the result of a critic depends on."""
    return {
        "family": family,
        "format": RESULT_FORMAT,
        "critic": critic.name,
        "source": source_digest(critic),
        "params": json_params(critic),
        "files": files_named(json_params(critic)),
        "fit": texts.fit.identity,
        "real": texts.real.identity,
        "generated": {c.name: c.identity for c in texts.generated},
        **icu_of([texts.fit, texts.real, *texts.generated]),
        **{name: value for name, value in asdict(settings).items() if name not in WITHOUT_EFFECT},
    }
