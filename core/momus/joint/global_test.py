"""The global test: one p-value for the hypothesis that a generated corpus differs from the real one on no axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.contrast import Contrast, RatioContrast, contrast_of
from momus.inference.design import Design
from momus.inference.multiplicity import maximum_test, strength_of_contrasts, strength_of_t
from momus.inference.pooling import Tables
from momus.inference.samples import Samples, taken
from momus.inference.weights import chunks
from momus.joint.axes import Axis
from momus.joint.shared_labels import Restricted, SharedLabels, restricted
from momus.numeric.types import Floats


@dataclass(frozen=True)
class GlobalTest:
    """The global test of one generated corpus.

    Attributes
    ----------
    generated
        Name of the corpus.
    p
        p of the null hypothesis that no axis differs; None if no axis can be tested.
    floor
        The smallest p that so many relabellings allow.
    axes
        Critics whose axes take part.
    strengths
        By critic, the statistic whose maximum is tested: −log₁₀ of a nominal p, which puts all axes on one scale.
    single, adjusted
        By critic, p of the axis from these relabellings, and the same adjusted over axes (step-down max-T).
    excluded
        By critic, why its axis does not take part.
    documents
        By critic, numbers of real and of generated documents that take part.
    design, units
        Kind of the design of all documents, and its numbers of units.
    permutations, exact
        Number of relabellings, and whether they are all there are.
    """

    generated: str
    p: float | None
    floor: float
    axes: tuple[str, ...]
    strengths: Mapping[str, float]
    single: Mapping[str, float]
    adjusted: Mapping[str, float]
    excluded: Mapping[str, str]
    documents: Mapping[str, tuple[int, int]]
    design: str
    units: tuple[int, int]
    permutations: int
    exact: bool


def global_test(
    axes: Sequence[Axis],
    real: str,
    generated: str,
    design: Design,
    permutations: int = 1999,
    seed: int = 0,
) -> GlobalTest:
    """Test all axes at once by the largest of their statistics under shared relabellings (max-T).

    The statistic of an axis is the strength −log₁₀ p of a nominal p: of Student's t where its contrast is studentised
    (means and ratios of totals), otherwise from the moments of the contrast under the same relabellings, one-sided for
    distances. On unequal scales, such as |T| beside standard deviations from chance, axes with long tails would hide
    the others. Distances of units that are not exchangeable have random signs of units in place of relabellings, which
    follow from the same random keys.

    Parameters
    ----------
    axes
        Axes of critics with one row per document; those without usable rows are left out with a reason.
    real, generated
        Names of the corpora, as in the axes.
    design
        The design of *all* documents of both corpora (`momus.inference.design_of` of their prompts and groups); each
        axis uses its scored documents.
    permutations
        Number of relabellings. 1,999 allow p = 0.0005; rows with many columns take most of the time.

    >>> from momus.critic.statistic import Statistic, mean
    >>> rng, ones = np.random.default_rng(0), np.ones(20, dtype=bool)
    >>> def axis(name, shift):
    ...     x = {"real": rng.normal(size=20), "g": rng.normal(size=20) + shift}
    ...     rows = {k: np.column_stack([v, ones]) for k, v in x.items()}
    ...     return Axis(name, name, Statistic("mean", "x", "value", mean), rows, {k: ones for k in x}, x)
    >>> found = global_test([axis("a", 0), axis("b", 3)], "real", "g", Design.documents(20, 20))
    >>> found.p, found.adjusted["b"], found.adjusted["a"] > 0.05
    (0.0005, 0.0005, True)
    """
    prepared: dict[str, tuple[Restricted, Contrast]] = {}
    excluded: dict[str, str] = {}
    for axis in axes:
        part = _prepared(axis, real, generated, design)
        if isinstance(part, str):
            excluded[axis.critic] = part
        else:
            prepared[axis.critic] = part
    names = tuple(prepared)
    contrasts = [contrast for _, contrast in prepared.values()]
    signed = [contrast.signed for contrast in contrasts]
    labels = SharedLabels(design, [part for part, _ in prepared.values()], permutations, seed, signed)
    null = _null(contrasts, labels) if names else np.zeros((0, 0))
    scaled = [_strength(c, column, labels.exact) for c, column in zip(contrasts, null.T, strict=True)]
    found = None
    if names:
        found = maximum_test(np.array([h for h, _ in scaled]), np.column_stack([n for _, n in scaled]), labels.exact)
    return GlobalTest(
        generated=generated,
        p=found.p if found else None,
        floor=found.floor if found else 0.0,
        axes=names,
        strengths={k: h for k, (h, _) in zip(names, scaled, strict=True)},
        single=dict(zip(names, found.single.tolist(), strict=True)) if found else {},
        adjusted=dict(zip(names, found.adjusted.tolist(), strict=True)) if found else {},
        excluded=excluded,
        documents={k: (p.design.n_real, p.design.n_generated) for k, (p, _) in prepared.items()},
        design=design.kind,
        units=design.units,
        permutations=labels.permutations if names else 0,
        exact=labels.exact,
    )


def _prepared(axis: Axis, real: str, generated: str, design: Design) -> tuple[Restricted, Contrast] | str:
    """The restricted design and the contrast of an axis, or why it has none."""
    for name in (real, generated):
        if name not in axis.rows:
            return f"it has no rows of {name!r}"
    part = restricted(design, axis.scored[real], axis.scored[generated])
    d = part.design
    if not (d.n_real and d.n_generated):
        return "no scored documents take part on one side"
    if min(d.units) < 2:
        return f"{d.units[0]} real and {d.units[1]} generated {d.kind} take part; two of each are needed"
    assert d.rows is not None
    tables = Tables.of(taken(axis.rows[real], d.rows[0]), taken(axis.rows[generated], d.rows[1]))
    try:
        contrast = contrast_of(axis.statistic, Samples(tables, d))
    except ValueError as error:
        return str(error)
    return contrast.reason or (part, contrast)


def _null(contrasts: Sequence[Contrast], labels: SharedLabels) -> Floats:
    """Contrasts under relabelling, (B, A)."""
    blocks = [
        np.column_stack([c.alone(own) for c, own in zip(contrasts, labels.chunk(number, size), strict=True)])
        for number, size in chunks(0, labels.permutations)
    ]
    return np.concatenate(blocks)


def _strength(contrast: Contrast, null: Floats, exact: bool) -> tuple[float, Floats]:
    """The strength of an axis, observed and under relabelling, (B,)."""
    if isinstance(contrast, RatioContrast):
        units = contrast.samples.design.units
        freedom = float(units[0] - 1 if contrast.samples.design.together else sum(units) - 2)
        strength = strength_of_t(np.append(null, contrast.here), max(freedom, 1.0))
        return float(strength[-1]), strength[:-1]
    return strength_of_contrasts(contrast.here, null, two_sided=contrast.statistic.kind == "value", exact=exact)
