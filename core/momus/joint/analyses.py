"""Analyses of all axes of a run at once: global tests, ranks, attribution, adjustment, subgroups, components.

Components of variance: how much of the variation of an axis lies between prompts, and between models within prompts.
The mixed model of the value of a document is y = μ_model + prompt + prompt × model + residual, with random prompts; the
real text is one of the models. Several documents of one prompt and model (other seeds) differ by the residual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from momus.inference.matching import Names, design_of
from momus.joint.adjusted import AdjustedRow, adjusted_verdicts
from momus.joint.attribution import Attribution, alarms_of, attribution
from momus.joint.axes import Axis
from momus.joint.global_test import GlobalTest, global_test
from momus.joint.mixed import Cells, ModelEffect, Share, balanced_components, reml_components
from momus.joint.ranks import Ranking, ranks
from momus.joint.subgroups import Subgroups, subgroup_effects
from momus.joint.versions import Nearer
from momus.progress import Timed
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

FEWEST = 3
"""Fewest prompts that all corpora answer."""


@dataclass(frozen=True)
class PromptComponents:
    """Variance components of one axis.

    Attributes
    ----------
    reason
        Why there are none; empty where there are.
    effects
        The fixed effect of each model.
    prompt, prompt_model, residual
        Shares of the variance: of prompts, of models within prompts, of documents within both. Without several
        documents of one prompt and model, ``prompt_model`` is None and the residual contains it. ``levels`` counts
        prompts, cells of prompt and model, documents.
    prompts, documents, n_real
        Numbers of prompts, of all documents, and of real ones.
    method
        ``closed form`` for balanced data (as many documents in each cell of prompt and model), where it equals REML;
        ``REML`` otherwise.
    """

    critic: str
    name: str
    reason: str = ""
    effects: tuple[ModelEffect, ...] = ()
    prompt: Share | None = None
    prompt_model: Share | None = None
    residual: Share | None = None
    prompts: int = 0
    documents: int = 0
    n_real: int = 0
    method: str = ""


def prompt_components(
    axis: Axis,
    real: str,
    models: Sequence[str],
    prompts: Mapping[str, Names],
    confidence: float = 0.95,
    seed: int = 0,
) -> PromptComponents:
    """Estimate the effect of each model, and the shares of variance of prompts and of models within prompts.

    Balanced data have closed forms: REML estimates are mean squares, pooled where they would give a negative variance
    (Thompson 1962). Otherwise the restricted likelihood is maximised (`momus.joint.mixed.Reml`). Intervals of
    shares come from resamples of prompts: 499, and 99 for REML.

    Parameters
    ----------
    axis
        Its ``values`` are analysed; unscored documents are left out.
    prompts
        By corpus, the prompt of each document, or None. Prompts take part if the real text and a model answer them.

    >>> rng = np.random.default_rng(0)
    >>> from momus.critic.statistic import Statistic, mean
    >>> ids, level = [str(i) for i in range(100)], rng.normal(size=100)
    >>> x = {name: level + shift + rng.normal(size=100) for name, shift in {"real": 0, "g": 1}.items()}
    >>> axis = Axis("a", "axis", Statistic("mean", "x", "value", mean), {}, {}, x)
    >>> found = prompt_components(axis, "real", ["g"], {name: ids for name in x})
    >>> found.method, found.effects[0].low < 1 < found.effects[0].high, 0.3 < found.prompt.share < 0.7
    ('closed form', True, True)
    """
    cells = _cells(axis, [real, *models], prompts)
    if isinstance(cells, str):
        return PromptComponents(axis.critic, axis.name, reason=cells)
    counts = cells.counts
    balanced = bool((counts == counts[0, 0]).all())
    found = (
        balanced_components(cells, models, confidence, seed)
        if balanced
        else reml_components(cells, models, confidence, seed)
    )
    if isinstance(found, str):
        return PromptComponents(axis.critic, axis.name, reason=found)
    effects, (prompt, prompt_model, residual) = found
    return PromptComponents(
        axis.critic,
        axis.name,
        "",
        effects,
        prompt,
        prompt_model,
        residual,
        cells.prompts,
        len(cells.y),
        int((cells.corpus == 0).sum()),
        "closed form" if balanced else "REML",
    )


def _cells(axis: Axis, corpora: Sequence[str], prompts: Mapping[str, Names]) -> Cells | str:
    missing = [c for c in corpora if c not in axis.values or not np.isfinite(axis.values[c]).any()]
    if missing:
        return f"no scored documents of {', '.join(map(repr, missing))}"
    codes: dict[str, int] = {}
    columns = []
    for number, corpus in enumerate(corpora):
        y = np.asarray(axis.values[corpus], dtype=np.float64)
        asked = np.array(
            [-1 if p is None else codes.setdefault(p, len(codes)) for p in prompts[corpus]], dtype=np.int64
        )
        kept = np.isfinite(y) & (asked >= 0)
        columns.append((y[kept], asked[kept], np.full(int(kept.sum()), number)))
    y, prompt, corpus_number = (np.concatenate(c) for c in zip(*columns, strict=True))
    answered = np.zeros((len(codes), len(corpora)), dtype=bool)
    answered[prompt, corpus_number] = True
    shared = np.flatnonzero(answered[:, 0] & answered[:, 1:].any(axis=1))
    alone = [c for c, a in zip(corpora[1:], answered[shared, 1:].sum(axis=0), strict=True) if a < FEWEST]
    if alone:
        return f"{', '.join(map(repr, alone))} shares fewer than {FEWEST} prompts with {corpora[0]!r}"
    kept = np.isin(prompt, shared)
    y = y[kept]
    if np.ptp(y) <= 1e-12 * max(float(np.abs(y).max()), 1e-300):
        return "all documents have the same value"
    return Cells(y, np.searchsorted(shared, prompt[kept]), corpus_number[kept], len(shared), len(corpora))


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
        For each generated corpus, which alarms go with the values of other axes.
    adjusted
        Headline rows within bins of the covariates that were asked for (``control_for``).
    subgroups
        Headline rows by subgroup (``subgroups``).
    components
        Variance between prompts, models and documents on each axis where corpora share prompts, or the reason why not.
    nearer
        Which of two models is nearer to real text, where one is the reference and real text is given too.
    """

    overall: tuple[GlobalTest, ...] = ()
    ranking: Ranking | None = None
    attributions: tuple[Attribution, ...] = ()
    adjusted: tuple[AdjustedRow, ...] = ()
    subgroups: tuple[Subgroups, ...] = field(default=())
    components: tuple[PromptComponents, ...] = ()
    nearer: tuple[Nearer, ...] = ()


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
        adjusted = (
            adjusted_verdicts(axes, settings.control_for, real, generated, settings) if settings.control_for else []
        )
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
    of_row = {(v.critic, v.generated): v.band or 0.0 for v in verdicts if v.headline}
    bands = {axis.critic: [of_row.get((axis.critic, c.name), 0.0) for c in generated] for axis in axes}
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
