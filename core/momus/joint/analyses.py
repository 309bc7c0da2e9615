"""Analyses of all axes of a run at once: global tests, ranks, attribution, adjustment, subgroups, components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from momus.inference.matching import design_of
from momus.joint.adjusted import AdjustedRow, adjusted_verdicts
from momus.joint.attribution import Attribution, alarms_of, attribution
from momus.joint.axes import Axis
from momus.joint.components import PromptComponents, prompt_components
from momus.joint.global_test import GlobalTest, global_test
from momus.joint.ranks import Ranking, ranks
from momus.joint.subgroups import Subgroups, subgroup_effects
from momus.progress import Timed
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Joint:
    """Results of the analyses of all axes at once; critics of running text take no part.

    Attributes
    ----------
    overall
        For each generated corpus, the test that it differs on no axis.
    ranking
        Ranks of the generated corpora by their distance from real text; None with fewer than two.
    attributions
        For each generated corpus, which alarms the values of other axes account for.
    adjusted
        Headline rows within bins of the covariates that were asked for (``adjust``).
    subgroups
        Headline rows by subgroup (``subgroups``).
    components
        Variance between prompts, models and documents on each axis where corpora share prompts, or the reason why not.
    """

    overall: tuple[GlobalTest, ...] = ()
    ranking: Ranking | None = None
    attributions: tuple[Attribution, ...] = ()
    adjusted: tuple[AdjustedRow, ...] = ()
    subgroups: tuple[Subgroups, ...] = field(default=())
    components: tuple[PromptComponents, ...] = ()


def analyse(
    axes: Sequence[Axis],
    verdicts: Sequence[Verdict],
    real: Corpus,
    generated: Sequence[Corpus],
    settings: Settings,
    timed: Timed,
) -> Joint:
    """Analyse the headline rows of all critics of documents together.

    Raises
    ------
    UsageError
        A covariate or subgroup is neither a critic of the run nor a metadata field.
    """
    if not axes:
        return Joint()
    with timed.stage("all axes", "covariates"):
        adjusted = adjusted_verdicts(axes, settings.adjust, real, generated, settings) if settings.adjust else []
        subgroups = [
            s for by in settings.subgroups for c in generated for s in subgroup_effects(axes, by, real, c, settings)
        ]
    with timed.stage("all axes", "global tests"):
        overall = [_global(axes, real, corpus, settings) for corpus in generated]
    attributions = []
    for corpus in generated:
        alarms = alarms_of(verdicts, corpus.name)
        if len(alarms) > 1:
            with timed.stage("all axes", f"attribution of {corpus.name}"):
                attributions.append(attribution(axes, real, corpus, alarms, settings))
    ranking, components = None, []
    if len(generated) > 1:
        with timed.stage("all axes", "ranks"):
            ranking = _ranking(axes, verdicts, real, generated, settings)
        with timed.stage("all axes", "components"):
            components = _components(axes, real, generated, settings)
    return Joint(tuple(overall), ranking, tuple(attributions), tuple(adjusted), tuple(subgroups), tuple(components))


def _global(axes: Sequence[Axis], real: Corpus, corpus: Corpus, settings: Settings) -> GlobalTest:
    names, groups = (real.name, corpus.name), (real.groups, corpus.groups)
    design = design_of(real.prompts, corpus.prompts, settings.paired, names, groups=groups)
    return global_test(axes, real.name, corpus.name, design, min(settings.permutations, 999), settings.seed)


def _ranking(
    axes: Sequence[Axis], verdicts: Sequence[Verdict], real: Corpus, generated: Sequence[Corpus], settings: Settings
) -> Ranking:
    corpora = [real, *generated]
    bands = {v.critic: v.band for v in verdicts if v.headline and v.band}
    return ranks(
        axes,
        real.name,
        [c.name for c in generated],
        {c.name: c.prompts for c in corpora},
        {c.name: c.groups for c in corpora},
        bands,
        settings.confidence,
        seed=settings.seed,
    )


def _components(
    axes: Sequence[Axis], real: Corpus, generated: Sequence[Corpus], settings: Settings
) -> list[PromptComponents]:
    prompts = {c.name: c.prompts for c in (real, *generated)}
    models = [c.name for c in generated]
    return [prompt_components(a, real.name, models, prompts, settings.confidence, settings.seed) for a in axes]
