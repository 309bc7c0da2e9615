"""Statistics of critics: functions of pooled per-document rows.

A critic gives each document a row of sufficient statistics. Pooled rows are float arrays (B, V): B weighted sums of
rows, one per resample. A *value* statistic maps (B, V) to (B,), one number per resample of a text; a *distance* maps
two such arrays to (B,), zero where the texts agree. Bootstrap, permutation, pairing and clustering then differ only in
their weights. Columns that are empty in both texts are dropped before a function is called; the others keep their
order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from momus.errors import UsageError
from momus.evidence import Direction, Wording, either
from momus.numeric.types import Floats
from momus.parameters import check_values

Function = Callable[..., Floats]
UNWORDED = Wording()
CHOICES = ("kind", "scale", "effect", "uneven")
"""Attributes of a statistic that are one of a few words."""


@dataclass(frozen=True)
class Statistic:
    """A statistic that is compared between two texts.

    Attributes
    ----------
    name
        As in ``verdicts.jsonl``.
    rows
        Key of the per-document rows that are pooled.
    kind
        ``value`` or ``distance``.
    function
        Maps pooled rows to numbers.
    scale
        ``log`` if differences are tested on the log scale (perplexities); differences are reported on the original
        scale.
    effect
        ``hedges_g`` (of rows of two columns), ``log_ratio``, or ``difference``.
    prepare
        Applied to pooled rows first, once for all statistics that name the same function (for example sorting).
    ties
        For a distance that takes few values (a KS distance of small samples): a second distance, in [0, 1], that orders
        relabellings of equal distance. Without it, a test at level 5 % may reject in only 3 % of cases.
    uneven
        How a distance is tested where groups of documents that belong together are of unequal size: by the ``squares``
        of the differences in share, a test of equal shares; or by the distance ``itself``, which needs columns that
        many documents have (`momus.inference.multipliers`).
    band
        Whether how far human authors lie apart is a unit of the effect (`momus.verdicts.band`): not of a test
        statistic, which grows with the number of documents.
    decides
        Whether it is in the family by which the axis of its critic is tested (`momus.inference.multiplicity`), as the
        critic's headline always is. Others are reported beside it, and no finding is made of them.
    level
        Least share of the level of its family that it has as the headline; 0: `momus.inference.multiplicity.HEADLINE`.
    needs
        What a document must have for the statistic to have a value, such as ``several paragraphs``; if no document of
        a text has it, the row says so and is not tested (`momus.inference.contrast`).
    wording
        How readers are told of it; its parts are arguments of the functions that make statistics, such as `value`.

    Raises
    ------
    UsageError
        ``kind``, ``scale``, ``effect`` or ``uneven`` is not one of its choices.

    >>> Statistic.value("mean_length", "tokens", mean, "mean length", "shorter|longer", unit="words").wording.unit
    'words'
    """

    name: str
    rows: str
    kind: Literal["value", "distance"]
    function: Function
    scale: Literal["identity", "log"] = "identity"
    effect: Literal["hedges_g", "log_ratio", "difference"] = "difference"
    prepare: Callable[[Floats], Floats] | None = None
    ties: Function | None = None
    band: bool = True
    decides: bool = True
    level: float = 0.0
    wording: Wording = UNWORDED
    needs: str = ""
    uneven: Literal["squares", "itself"] = "squares"

    @classmethod
    def value(
        cls, name: str, rows: str, function: Function, label: str, direction: Direction | str = (), **others: Any
    ) -> Statistic:
        """A number of each text; its effect on the log scale is a log ratio, unless another one is given.

        Parameters
        ----------
        direction
            A pair, or both in one, such as ``"shorter|longer in its sentences"``, see `momus.evidence.either`.
        others
            Further attributes, by name, and further parts of the wording, such as ``unit``.

        Raises
        ------
        UsageError
            The wording is wrong, see `Wording`, or an attribute is.
        """
        others.setdefault("effect", "log_ratio" if others.get("scale") == "log" else "difference")
        return cls(name, rows, "value", function, wording=_worded(name, label, direction, others), **others)

    @classmethod
    def distance(cls, name: str, rows: str, function: Function, label: str, **others: Any) -> Statistic:
        """A distance between two texts."""
        return cls(name, rows, "distance", function, wording=_worded(name, label, (), others), **others)

    @classmethod
    def ratio(cls, name: str, rows: str, label: str, direction: Direction | str = (), **others: Any) -> Statistic:
        """A ratio of two totals, see `mean`: rows are [numerator, denominator], or [value, 1] for a mean.

        Its effect is Hedges' g, unless another one is given.
        """
        return cls.value(name, rows, mean, label, direction, **{"effect": "hedges_g", **others})

    @classmethod
    def share(cls, name: str, rows: str, label: str, direction: Direction | str = (), **others: Any) -> Statistic:
        """A ratio of two totals that is a share, told in percent."""
        return cls.ratio(name, rows, label, direction, format="share", **others)

    @classmethod
    def having(cls, name: str, rows: str, what: str) -> Statistic:
        """The share of documents with something; rows are [whether a document has it, 1]."""
        direction, clause = f"less often|more often with {what}", f"{{}} of documents have {what}"
        return cls.share(name, rows, f"documents with {what}", direction, clause=clause)

    @classmethod
    def relative(cls, name: str, rows: str, label: str, direction: Direction | str = (), **others: Any) -> Statistic:
        """A ratio of two totals that is compared on the log scale, by what factor it differs."""
        return cls.value(name, rows, mean, label, direction, scale="log", **others)

    @classmethod
    def ks(cls, rows: str, label: str) -> Statistic:
        """The Kolmogorov–Smirnov distance ``ks`` of rows of counts by number."""
        return cls.distance("ks", rows, kolmogorov_smirnov, label, ties=mean_gap)

    def __post_init__(self) -> None:
        """Check the choices."""
        check_values(Statistic, {name: getattr(self, name) for name in CHOICES}, f"statistic {self.name!r}")


def _worded(name: str, label: str, direction: Direction | str, others: dict[str, Any]) -> Wording:
    """The wording of a statistic; its parts are taken out of ``others``."""
    parts = {f.name: others.pop(f.name) for f in fields(Wording) if f.name in others}
    try:
        return Wording(label, either(direction), **parts)
    except UsageError as error:
        raise UsageError(f"statistic {name!r}: {error.message}", hint=error.hint) from None


def mean(pooled: Floats) -> Floats:
    """Ratio of the totals in columns 0 and 1: the mean, if rows are [value, 1].

    >>> mean(np.array([[6.0, 4.0]]))
    array([1.5])
    """
    ratio: Floats = pooled[:, 0] / pooled[:, 1]
    return ratio


def spread(pooled: Floats) -> Floats:
    """Standard deviation of numbers, of pooled rows [x, x², 1]: (B,).

    >>> spread(np.array([[4.0, 10.0, 2.0]]))
    array([1.])
    """
    first, second = (pooled[:, i] / pooled[:, 2] for i in (0, 1))
    return np.sqrt(np.maximum(second - first**2, 0.0))


def perplexity(pooled: Floats) -> Floats:
    """Exponential of the ratio of totals, if rows are [nats, steps]."""
    return np.exp(mean(pooled))


def shares(pooled: Floats) -> Floats:
    """Divide rows by their sums; a row of zeros stays zero."""
    total = pooled.sum(axis=1, keepdims=True)
    # dividing all and masking none is several times faster; x/∞ is 0
    return np.asarray(pooled / np.where(total > 0, total, np.inf))


def entropy(pooled: Floats) -> Floats:
    """Shannon entropy of the shares, in nats (plug-in estimate).

    >>> float(np.round(entropy(np.array([[1.0, 1.0, 0.0]]))[0], 4))
    0.6931
    """
    return entropy_of(shares(pooled))


def entropy_of(p: Floats) -> Floats:
    """`entropy` of rows that are shares."""
    # 0 · log 0 is 0; a logarithm of all entries is several times faster than a masked one
    h: Floats = -np.einsum("ij,ij->i", p, np.log(np.maximum(p, np.finfo(np.float64).tiny)))
    return h


def total_variation(p: Floats, q: Floats) -> Floats:
    """Total variation distance ½ Σ |p − q| of the shares.

    >>> total_variation(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]))
    array([0.25])
    """
    return OF_GAPS[total_variation](shares(p) - shares(q))


def supremum(p: Floats, q: Floats) -> Floats:
    """Supremum distance: the largest |p − q| over single outcomes."""
    return OF_GAPS[supremum](shares(p) - shares(q))


def kolmogorov_smirnov(p: Floats, q: Floats) -> Floats:
    """Kolmogorov–Smirnov distance: the largest gap between the cumulative distributions over ordered columns.

    >>> kolmogorov_smirnov(np.array([[1.0, 0.0, 1.0]]), np.array([[1.0, 1.0, 0.0]]))
    array([0.5])
    """
    return OF_GAPS[kolmogorov_smirnov](shares(p) - shares(q))


OF_GAPS: dict[Function, Callable[[Floats], Floats]] = {
    total_variation: lambda gaps: np.asarray(0.5 * np.abs(gaps).sum(axis=1)),
    supremum: lambda gaps: np.asarray(np.abs(gaps).max(axis=1)),
    kolmogorov_smirnov: lambda gaps: np.asarray(np.abs(np.cumsum(gaps, axis=1)).max(axis=1)),
}
"""Distances as functions of the differences of shares, (B, V), which several of one table have in common."""


def mean_gap(p: Floats, q: Floats) -> Floats:
    """Mean gap between the cumulative distributions over ordered columns.

    >>> mean_gap(np.array([[1.0, 0.0, 1.0]]), np.array([[1.0, 1.0, 0.0]])).round(4)
    array([0.1667])
    """
    distance: Floats = np.abs(np.cumsum(shares(p) - shares(q), axis=1)).mean(axis=1)
    return distance


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Jensen–Shannon divergence in nats, from 0 to log 2 (Lin 1991).

    >>> float(jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))[0] / np.log(2))
    1.0
    """
    return jensen_shannon_of((shares(p), shares(q)), (entropy(p), entropy(q)))


def jensen_shannon_of(of_both: tuple[Floats, Floats], entropies: tuple[Floats, Floats]) -> Floats:
    """`jensen_shannon` from the shares and the entropies of both texts."""
    divergence: Floats = entropy((of_both[0] + of_both[1]) / 2) - (entropies[0] + entropies[1]) / 2
    return np.maximum(divergence, 0.0)
