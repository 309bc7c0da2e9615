"""How far verdicts depend on the fit: critics fitted again, on resamples of the text or from other starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic.hooks import AdvancedMixin, device_of, moved, settled
from momus.critic.scores import Scores
from momus.critic.splitting import usable_documents
from momus.engine.measured import Measured
from momus.errors import FittingError
from momus.estimator import clone
from momus.progress import Timed
from momus.runs.result import CriticResult
from momus.text.corpus import Corpus
from momus.verdicts.judge import differences
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import finite

if TYPE_CHECKING:
    from momus.critic import Critic


def with_spread(result: CriticResult, measurement: Measured, settings: Settings, timed: Timed) -> CriticResult:
    """The result whose verdicts say the standard deviation of each difference over critics fitted again.

    A resample that a critic cannot be fitted on is left out; two are needed. Without resamples, over the critic and
    others that are fitted on the same text from other starts, which takes texts in memory.
    """
    critic = measurement.critic
    restarts = 0 if measurement.texts.in_parts or measurement.cross is not None else critic.reporting.restarts
    if not (settings.refits or restarts):
        return result
    spread: dict[tuple[str, str], list[float]] = {}

    def add(fitted: Critic[Any], sides: Sequence[Scores]) -> None:
        for side in sides[1:]:
            for name, value in differences(fitted, sides[0], side).items():
                spread.setdefault((side.corpus, name), []).append(value)

    if not settings.refits:
        # the fit of the run is one of the restarts; of resamples it is none, as it has all of the text
        add(critic, measurement.scored)
    corpora, usable = measurement.texts.in_memory, usable_documents(measurement.texts.fit)
    refits = settings.refits or restarts
    for k, (again, fitted_on) in enumerate(_to_fit(critic, usable, settings, refits), 1):
        moved(again, device_of(critic))
        with timed.stage("refitting", f"{k} of {refits}"):
            try:
                again.fit(fitted_on)
            except FittingError:
                continue
            settled(again, corpora)
            add(again, [again.score(corpus) for corpus in corpora])
    deviations = {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in spread.items()}
    spreads = [deviations.get((v.generated, v.statistic)) for v in result.verdicts]
    verdicts = [replace(v, refit_spread=s) for v, s in zip(result.verdicts, spreads, strict=True)]
    return replace(result, verdicts=verdicts)


def _to_fit(
    critic: Critic[Any], usable: Corpus, settings: Settings, refits: int
) -> Iterator[tuple[Critic[Any], Corpus]]:
    """Critics to fit, each with its text: bootstrap resamples, or the same text from other starts."""
    for k in range(refits):
        again = clone(critic)
        if settings.refits:
            rows = np.random.default_rng([settings.seed, 4, k]).integers(0, len(usable), len(usable))  # (n,)
            # sorted: a resample in canonical order, like the text itself
            yield again, usable.take(np.sort(rows))
        else:
            tried = critic.tried() if isinstance(critic, AdvancedMixin) else {}
            yield again.set_params(seed=critic.get_params()["seed"] + k + 1, **tried), usable
