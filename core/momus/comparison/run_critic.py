"""One critic in a comparison: fitted, scored, tested, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.comparison.axes import axis_of
from momus.comparison.band import HumanBands
from momus.comparison.folder import RunFolder
from momus.comparison.judge import differences, judge
from momus.comparison.result import CriticResult, Outcome, count_unscored, find_outliers
from momus.comparison.settings import Settings
from momus.comparison.texts import Texts
from momus.comparison.verdict import Verdict, finite
from momus.critic import EvidenceMixin, Scores, usable_documents
from momus.critic.base import notes_of
from momus.errors import FittingError, StoreError
from momus.progress import Timed, reporting
from momus.version import __version__

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.evidence import Evidence, MarkedDocument

RESULT_FORMAT = 3
"""Of the results that a run folder keeps; a result in another format is computed again."""
WITHOUT_EFFECT = ("device", "adjustment", "adjust", "subgroups")
"""Settings that do not change what is kept of a critic: p-values are adjusted over the whole table later."""


def run_critic(
    critic: Critic[Any],
    texts: Texts,
    settings: Settings,
    timed: Timed,
    folder: RunFolder | None = None,
    resume: bool = False,
    family: int = 1,
) -> Outcome:
    """Fit, score, test and show one critic, or reuse what an earlier run kept of it.

    Parameters
    ----------
    family
        Number of headline rows of the run, which are adjusted together.

    Raises
    ------
    FittingError, MissingExtraError
        The critic cannot be fitted on this text, or lacks a package.
    """
    signature, warning = _critic_signature(critic, texts, settings, family), ""
    kept = None
    if folder is not None and resume:
        try:
            kept = folder.kept(critic.name)
        except StoreError as error:
            warning = f"Critic {critic.name!r} was computed again: {error.message}."
    if folder is not None and kept is not None and kept.signature == signature:
        return Outcome(kept, axis=folder.kept_axis(critic))
    if kept is not None:
        differing = sorted(k for k in {**kept.signature, **signature} if kept.signature.get(k) != signature.get(k))
        warning = f"Critic {critic.name!r} was computed again: the earlier run differs in {', '.join(differing)}."
    scored = _scored(critic, texts, timed, folder)
    result = _result(critic, texts, scored, settings, timed, signature, family)
    axis = axis_of(critic, scored)
    if settings.refits:
        spread = _refitted(critic, texts, settings, timed)
        result = replace(
            result,
            verdicts=[replace(v, refit_spread=spread.get((v.generated, v.statistic))) for v in result.verdicts],
        )
    if folder is not None:
        import pyarrow as pa

        folder.keep(result, pa.concat_tables([s.table() for s in scored]), axis)
    return Outcome(result, [replace(s, rows={}) for s in scored], warning, axis)


def _scored(critic: Critic[Any], texts: Texts, timed: Timed, folder: RunFolder | None) -> list[Scores]:
    """Fit, keep the critic, and score the real and the generated texts."""
    if critic.tokenizer is not None:
        for corpus in (texts.fit, texts.real, *texts.generated):
            with timed.stage("tokenizing", corpus.name):
                corpus.tokens(critic.tokenizer)
    with reporting(timed.inner), timed.stage("fitting", critic.name):
        critic.fit(texts.fit)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
    scored = []
    for corpus in (texts.real, *texts.generated):
        with timed.stage("scoring", f"{corpus.name} with {critic.name}", len(corpus)) as advance:
            scored.append(critic.score(corpus, progress=advance))
    return scored


def _result(
    critic: Critic[Any],
    texts: Texts,
    scored: list[Scores],
    settings: Settings,
    timed: Timed,
    signature: dict[str, Any],
    family: int,
) -> CriticResult:
    real, others = scored[0], scored[1:]
    bands = HumanBands(real.scored_groups, settings.seed)
    verdicts: list[Verdict] = []
    evidence: list[tuple[str, Sequence[Evidence]]] = []
    outliers: list[MarkedDocument] = []
    for scores, corpus in zip(others, texts.generated, strict=True):
        label = f"{corpus.name} with {critic.name}"
        with timed.stage("testing", label):
            verdicts += judge(critic, real, scores, settings, family=family, bands=bands)
        with timed.stage("evidence", label):
            if isinstance(critic, EvidenceMixin) and real.summary is not None and scores.summary is not None:
                evidence.append((corpus.name, critic.evidence(real.summary, scores.summary)))
            outliers += find_outliers(critic, corpus, scores, settings.top)
    pairs: list[Verdict] = []
    of_pairs = family * (len(others) - 1) // 2
    for one, other in combinations(others, 2) if settings.pairwise else ():
        with timed.stage("testing", f"{one.corpus} and {other.corpus} with {critic.name}"):
            pairs += judge(critic, one, other, settings, only_headline=True, family=of_pairs)
    return CriticResult(
        name=critic.name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=critic.fitted_on_,
        params=critic.json_params(),
        verdicts=verdicts,
        pairs=pairs,
        evidence=evidence,
        outliers=outliers,
        unscored=count_unscored(scored),
        notes=notes_of(critic),
        signature=signature,
    )


def _refitted(
    critic: Critic[Any], texts: Texts, settings: Settings, timed: Timed
) -> dict[tuple[str, str], float | None]:
    """Standard deviation of each difference over critics fitted on bootstrap resamples of the fitted text.

    A resample that a critic cannot be fitted on is left out; two are needed.
    """
    usable = usable_documents(texts.fit)
    spread: dict[tuple[str, str], list[float]] = {}
    for k in range(settings.refits):
        rows = np.random.default_rng([settings.seed, 4, k]).integers(0, len(usable), len(usable))
        with timed.stage("refitting", f"{critic.name} {k + 1} of {settings.refits}"):
            try:
                again = critic.clone().to(critic.device).fit(usable.take(np.sort(rows)))
            except FittingError:
                continue
            real = again.score(texts.real)
            for corpus in texts.generated:
                for name, value in differences(again, real, again.score(corpus)).items():
                    spread.setdefault((corpus.name, name), []).append(value)
    return {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in spread.items()}


def _critic_signature(critic: Critic[Any], texts: Texts, settings: Settings, family: int) -> dict[str, Any]:
    """Everything that the result of a critic depends on."""
    return {
        "family": family,
        "version": __version__,
        "format": RESULT_FORMAT,
        "critic": critic.name,
        "params": critic.json_params(),
        "fit": texts.fit.fingerprint,
        "real": texts.real.fingerprint,
        "generated": {c.name: c.fingerprint for c in texts.generated},
        **{name: value for name, value in asdict(settings).items() if name not in WITHOUT_EFFECT},
    }
