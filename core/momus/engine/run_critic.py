"""One critic in a comparison.

kept by an earlier run, or: measured ─▶ judged ─▶ refitted ─▶ shown ─▶ written
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np

from momus.against.units import OwnBands
from momus.critic import Critic
from momus.critic.base import notes_of
from momus.critic.fitted import FittedOn
from momus.critic.hooks import AdvancedMixin, device_of, moved, settled
from momus.critic.scores import Scores
from momus.critic.splitting import usable_documents
from momus.engine.crossfit import in_reverse, versions_of
from momus.engine.large import scored_by_parts
from momus.engine.measured import Measured, few_notes, measured, with_shown
from momus.engine.reuse import Reuse, critic_signature, kept_outcome
from momus.errors import FittingError
from momus.estimator import clone, json_params
from momus.joint.axes import AxisRows, axis_of
from momus.joint.partners import wins_of
from momus.joint.slice_tests import slices_of
from momus.joint.slices import codes_of
from momus.processes import return_memory
from momus.progress import Timed
from momus.runs.folder import RunFolder
from momus.runs.result import Again, CriticResult, Outcome, count_unscored
from momus.runs.text_checks import order_notes
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.verdicts.band import HumanBands
from momus.verdicts.decomposition import parts_of
from momus.verdicts.judge import MANY_PAIRS, USUAL, differences, judge
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict, finite

WRITTEN = 50_000
"""Documents whose scores are written at a time."""
MANY = 100
"""Pairs of generated texts above which their tests are made at less cost."""


@dataclass(frozen=True)
class Work:
    """What all critics of a comparison share.

    Attributes
    ----------
    plain
        The texts in memory, for critics that must see a text as a whole, where ``texts`` are scored in parts.
    resume
        Whether results that the folder keeps serve.
    family
        Number of axes that are adjusted together.
    reuse
        An earlier run, to take the fitted critic and the scores of the real text from.
    """

    texts: Texts
    plain: Texts | None
    settings: Settings
    folder: RunFolder | None = None
    resume: bool = False
    family: int = 1
    reuse: Reuse | None = None

    def texts_of(self, critic: Critic[Any]) -> Texts:
        """The texts as a critic needs them."""
        texts = self.texts if self.plain is None or scored_by_parts(critic) else self.plain
        return texts.for_critic(critic)

    @property
    def axes(self) -> int:
        """Axes that are adjusted together, those of all generated texts counted."""
        whole_table = self.settings.multiplicity.endswith("-table")
        return self.family if whole_table else self.family * len(self.texts.generated)

    def run(self, critic: Critic[Any], timed: Timed) -> Outcome:
        """Run one critic where it computes; what it read of texts in their files is not kept."""
        moved(critic, self.settings.device)
        try:
            return run_critic(critic, self, timed)
        finally:
            if self.texts.in_parts:
                return_memory()


def run_critic(critic: Critic[Any], work: Work, timed: Timed) -> Outcome:
    """Fit, score, test and show one critic, or reuse what an earlier run kept of it.

    Raises
    ------
    FittingError, MissingExtraError
        The critic cannot be fitted on this text, or lacks a package.
    """
    texts, settings, folder = work.texts_of(critic), work.settings, work.folder
    # taken before the fit, which must not change it
    signature = critic_signature(critic, texts, settings, work.family)
    again: tuple[Again, ...] = ()
    if folder is not None and work.resume:
        kept, again = kept_outcome(critic, folder, texts, signature)
        if kept is not None:
            return kept
    measurement = measured(critic, texts, settings, folder, work.reuse, timed)
    result = replace(described(measurement, settings), signature=signature)
    with timed.stage("testing", "slices"):
        codes = codes_of(settings.by, measurement.texts.analysed) if settings.by else []
        result = replace(
            result,
            slices=slices_of(measurement.critic, measurement.sampled, codes, settings),
            wins=wins_of(measurement.critic, measurement.sampled, settings),
        )
    result = replace(result, verdicts=verdicts_of(measurement, work, timed), pairs=pairs_of(measurement, work, timed))
    if settings.against:
        # no direction is told of an axis that does not differ
        differing = {v.generated for v in result.verdicts if v.p is not None and v.p <= 1 - settings.confidence}
        reverse = in_reverse(measurement.critic, texts, settings, timed, differing)
        result = replace(result, versions=versions_of(measurement.critic, texts, measurement.scored, reverse, settings))
    # verdicts first: the spread is written into them, and examples follow the one that leads
    result = with_spread(result, measurement, settings, timed)
    result = with_shown(result, measurement, settings, timed)
    outcome = written(result, measurement, folder)
    return replace(outcome, again=(*again, *measurement.again), behind=rows_behind(measurement, result.verdicts))


def rows_behind(measurement: Measured, verdicts: Sequence[Verdict]) -> list[AxisRows]:
    """Rows of documents of what may differ beside the headline, and of faults; none where rows are of no documents."""
    faulty = measurement.critic.reporting.faulty
    behind = [v for v in verdicts if not v.headline and v.p_in_axis is not None and (v.p_in_axis <= v.alpha or faulty)]
    axes = (
        axis_of(measurement.critic, measurement.sampled, name) for name in dict.fromkeys(v.statistic for v in behind)
    )
    return [a for a in axes if a is not None]


def verdicts_of(measurement: Measured, work: Work, timed: Timed) -> list[Verdict]:
    """Test each generated text against the reference."""
    real, *others = measurement.scored  # the reference first
    # one object for all generated texts, as each spread is estimated once
    bands = HumanBands(real.scored_groups, work.settings.seed)
    if work.settings.against:
        bands = OwnBands(real.scored_groups, work.settings.seed, prompts=real.scored_prompts)
    verdicts = []
    for scores in others:
        with timed.stage("testing", scores.corpus):
            verdicts += judge(measurement.critic, real, scores, work.settings, family=work.family, bands=bands)
    return verdicts


def pairs_of(measurement: Measured, work: Work, timed: Timed) -> list[Verdict]:
    """Test the generated texts against each other, where that is asked for; many pairs at less cost."""
    others = measurement.scored[1:]
    pairs = list(combinations(others, 2)) if work.settings.pairwise else []
    economy = MANY_PAIRS if len(pairs) > MANY else USUAL
    # work.axes counts the axes of K texts: axes · K(K − 1)/2 are those of all pairs
    family = work.axes * (len(others) - 1) // 2
    verdicts = []
    for one, other in pairs:
        with timed.stage("testing", f"{one.corpus} and {other.corpus}"):
            verdicts += judge(
                measurement.critic, one, other, work.settings, only_headline=True, economy=economy, family=family
            )
    return verdicts


def described(measurement: Measured, settings: Settings) -> CriticResult:
    """The result before anything is tested: the fitted critic, what it could not score, and what is to be known."""
    critic, texts, sampled = measurement.critic, measurement.texts, measurement.sampled
    return CriticResult(
        name=critic.name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=cast("FittedOn", critic.fitted_on_),
        params=json_params(critic),
        verdicts=[],
        oddity_unit=critic.reporting.oddity_unit,
        parts=parts_of(critic, sampled[0], sampled[1:], settings),
        limits=critic.reporting.limits,
        general=critic.reporting.general,
        leading=critic.reporting.leading,
        unscored=count_unscored(measurement.scored),
        notes=[
            *notes_of(critic),
            *few_notes(measurement),
            *order_notes(texts, critic),
        ],
    )


def with_spread(result: CriticResult, measurement: Measured, settings: Settings, timed: Timed) -> CriticResult:
    """The result whose verdicts say the standard deviation of each difference over the critic and restarts of its fit.

    Restarts are fitted on the same text with other seeds, where something differs; they take texts in memory.
    """
    critic, texts = measurement.critic, measurement.texts
    restarts = critic.reporting.restarts
    differs = any(v.p_axis is not None and v.p_axis <= v.alpha for v in result.verdicts)
    if not restarts or not differs or texts.in_parts or settings.against:
        return result
    spread: dict[tuple[str, str], list[float]] = {}

    def add(fitted: Critic[Any], sides: Sequence[Scores]) -> None:
        for side in sides[1:]:
            for name, value in differences(fitted, sides[0], side).items():
                spread.setdefault((side.corpus, name), []).append(value)

    add(critic, measurement.scored)
    corpora, usable = [texts.real, *texts.generated], usable_documents(texts.fit)
    tried = critic.tried() if isinstance(critic, AdvancedMixin) else {}
    for k in range(1, restarts + 1):
        again = moved(clone(critic).set_params(seed=critic.get_params()["seed"] + k, **tried), device_of(critic))
        with timed.stage("refitting", f"{k} of {restarts}"):
            try:
                again.fit(usable)
            except FittingError:
                continue
            settled(again, corpora)
            add(again, [again.score(corpus) for corpus in corpora])
    deviations = {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in spread.items()}
    spreads = [deviations.get((v.generated, v.statistic)) for v in result.verdicts]
    verdicts = [replace(v, refit_spread=s) for v, s in zip(result.verdicts, spreads, strict=True)]
    return replace(result, verdicts=verdicts)


def written(result: CriticResult, measurement: Measured, folder: RunFolder | None) -> Outcome:
    """Keep the result in the run folder, and return it with the scores of all documents.

    Scores of texts in their files may be millions: they are in the folder only, if there is one.
    """
    in_order = list(zip(measurement.scored, (measurement.texts.real, *measurement.texts.generated), strict=True))
    if folder is not None:
        tables = (s.table() for scores, corpus in in_order for s in as_given(scores, corpus, WRITTEN))
        axis, sizes = measurement.axis, {s.corpus: len(s) for s in measurement.scored}
        # of all documents, scored in the sample only
        folder.keep(result, tables, None if axis is None else axis.placed(measurement.texts.samples_by_name, sizes))
        if measurement.texts.in_parts:
            return Outcome(result, axis=measurement.axis)
    return Outcome(result, [next(as_given(*pair)) for pair in in_order], axis=measurement.axis)


def as_given(scores: Scores, corpus: Corpus, size: int = 0) -> Iterator[Scores]:
    """Scores without their rows, in the order in which the documents were given; at most ``size`` at a time, if any."""
    plain, order = replace(scores, rows={}), corpus.given_rows
    # scores of prompts or blocks are not rows of the corpus: they stay as they are
    if order is None or len(scores) != len(corpus):
        order = np.arange(len(scores))
    for start in range(0, max(len(order), 1), size or max(len(order), 1)):  # one empty table of an empty text
        yield replace(plain.take(order[start : start + (size or len(order))]), summary=scores.summary)
