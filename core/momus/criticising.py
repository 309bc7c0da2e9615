"""One critic in a comparison: fitted, scored, tested, and shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import usable_documents
from momus.errors import FittingError
from momus.judging import differences, judge
from momus.progress import Timed, reporting
from momus.results import CriticResult, count_unscored, find_outliers
from momus.scores import Scores
from momus.settings import Settings
from momus.sources import Texts
from momus.store.runs import RunFolder
from momus.verdicts import Verdict, finite
from momus.version import __version__

if TYPE_CHECKING:
    from momus.critic import Critic


@dataclass(frozen=True)
class Criticised:
    """What became of one critic.

    Attributes
    ----------
    result
        Verdicts, evidence, outliers.
    scores
        Per-document rows of each corpus; none where an earlier run had the result.
    warning
        Why an earlier result was not taken; empty where there was none, or it was.
    """

    result: CriticResult
    scores: list[Scores]
    warning: str = ""


def criticise(
    critic: Critic[Any],
    texts: Texts,
    settings: Settings,
    timed: Timed,
    folder: RunFolder | None = None,
    resume: bool = False,
) -> Criticised:
    """Fit, score, test and show one critic, or take what an earlier run kept of it.

    Raises
    ------
    FittingError, MissingExtraError
        The critic cannot be fitted on this text, or lacks a package.
    """
    signature, warning = _critic_signature(critic, texts, settings), ""
    kept = folder.kept(critic.name) if folder is not None and resume else None
    if kept is not None and kept.signature == signature:
        return Criticised(kept, [])
    if kept is not None:
        other = [k for k in {**kept.signature, **signature} if kept.signature.get(k) != signature.get(k)]
        warning = f"Critic {critic.name!r} was computed again: the earlier run differs in {', '.join(sorted(other))}."
    scored = _scored(critic, texts, timed, folder)
    result = _result(critic, texts, scored, settings, timed, signature)
    if settings.refits:
        spread = _refitted(critic, texts, settings, timed)
        result = replace(
            result,
            verdicts=[replace(v, refit_spread=spread.get((v.generated, v.statistic))) for v in result.verdicts],
        )
    if folder is not None:
        import pyarrow as pa

        folder.keep(result, pa.concat_tables([s.table() for s in scored]))
    return Criticised(result, [replace(s, rows={}) for s in scored], warning)


def _scored(critic: Critic[Any], texts: Texts, timed: Timed, folder: RunFolder | None) -> list[Scores]:
    """Fit, keep the critic, and score the real and the generated texts."""
    if critic.tokenizer is not None:
        for corpus in (texts.fit, texts.real, *texts.generated):
            with timed.stage(f"tokenizing {corpus.name}"):
                corpus.tokens(critic.tokenizer)
    with reporting(timed.inner), timed.stage(f"fitting {critic.name}"):
        critic.fit(texts.fit)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
    scored = []
    for corpus in (texts.real, *texts.generated):
        with timed.stage(f"scoring {corpus.name} with {critic.name}", len(corpus)) as advance:
            scored.append(critic.score(corpus, progress=advance))
    return scored


def _result(
    critic: Critic[Any],
    texts: Texts,
    scored: list[Scores],
    settings: Settings,
    timed: Timed,
    signature: dict[str, Any],
) -> CriticResult:
    real, others = scored[0], scored[1:]
    options: dict[str, Any] = {
        "paired": settings.paired,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "seed": settings.seed,
        "equivalence": settings.equivalence,
    }
    verdicts: list[Verdict] = []
    evidence, outliers = [], []
    for scores, corpus in zip(others, texts.generated, strict=True):
        with timed.stage(f"testing {corpus.name} with {critic.name}"):
            verdicts += judge(critic, real, scores, **options)
        with timed.stage(f"evidence {corpus.name} with {critic.name}"):
            if real.summary is not None and scores.summary is not None:
                evidence.append((corpus.name, critic.evidence(real.summary, scores.summary)))
            outliers += find_outliers(critic, corpus, scores, settings.top)
    pairs: list[Verdict] = []
    for one, other in combinations(others, 2) if settings.pairwise else ():
        with timed.stage(f"testing {one.corpus} and {other.corpus} with {critic.name}"):
            pairs += judge(critic, one, other, only_headline=True, **options)
    return CriticResult(
        name=critic.name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=critic.fitted_on_,
        params=critic.plain_params(),
        verdicts=verdicts,
        pairs=pairs,
        evidence=evidence,
        outliers=outliers,
        unscored=count_unscored(scored),
        notes=critic.notes(),
        cautions=critic.cautions(),
        signature=signature,
    )


def _refitted(
    critic: Critic[Any], texts: Texts, settings: Settings, timed: Timed
) -> dict[tuple[str, str], float | None]:
    """Standard deviation of each difference over critics fitted on bootstrap resamples of the fitted text.

    A resample that a critic cannot be fitted on is left out; two are needed.
    """
    usable = usable_documents(texts.fit)
    found: dict[tuple[str, str], list[float]] = {}
    for k in range(settings.refits):
        rows = np.random.default_rng([settings.seed, 4, k]).integers(0, len(usable), len(usable))
        with timed.stage(f"refitting {critic.name} {k + 1} of {settings.refits}"):
            try:
                again = critic.clone().to(critic.device).fit(usable.take(np.sort(rows)))
            except FittingError:
                continue
            real = again.score(texts.real)
            for corpus in texts.generated:
                for name, value in differences(again, real, again.score(corpus)).items():
                    found.setdefault((corpus.name, name), []).append(value)
    return {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in found.items()}


def _critic_signature(critic: Critic[Any], texts: Texts, settings: Settings) -> dict[str, Any]:
    return {
        "version": __version__,
        "critic": critic.name,
        "params": critic.plain_params(),
        "fit": texts.fit.fingerprint,
        "real": texts.real.fingerprint,
        "generated": {c.name: c.fingerprint for c in texts.generated},
        "seed": settings.seed,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "paired": settings.paired,
        "top": settings.top,
        "equivalence": settings.equivalence,
        "pairwise": settings.pairwise,
        "refits": settings.refits,
    }
