"""What ranks the documents of a run as outliers, and why each one is listed, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from momus.evidence import MarkedDocument, Step
from momus.numeric.types import Floats
from momus.verdicts.statistics import PPL
from momus.verdicts.verdict import Verdict
from momus.visible import visible

if TYPE_CHECKING:
    import pandas as pd

    from momus.runs.result import CriticResult

SHOWN_STEPS = 3
"""Steps of a document that its reason names."""


DIGITS = 9
"""Values that agree in so many significant digits are equal: the rest is rounding."""


def is_sequence(verdicts: Iterable[Verdict], critic: str) -> bool:
    """Whether the latents of a critic are sequences: those have a Latent PPL."""
    return any(v.critic == critic and v.statistic == PPL.name for v in verdicts)


def values_of(frame: pd.DataFrame, sequence: bool) -> Floats:
    """`outlier_values` to nine significant digits, so that rounding breaks no ties."""
    return rounded(outlier_values(frame, sequence))


def rounded(values: Floats) -> Floats:
    """Values to nine significant digits.

    >>> rounded(np.array([0.1 + 0.2, 0.3, np.nan]))
    array([0.3, 0.3, nan])
    """
    return np.array([float(f"{v:.{DIGITS}g}") for v in values.tolist()])


def outlier_values(frame: pd.DataFrame, sequence: bool) -> Floats:
    """What ranks the documents of one critic, (n,): its own measure of oddity if it has one, else Latent NLL.

    Latent NLL is per step for sequences.
    """
    values = frame["nll"].to_numpy(dtype=np.float64)
    if "oddity" in frame and not frame["oddity"].isna().all():
        values = frame["oddity"].to_numpy(dtype=np.float64)
    elif sequence:
        values = values / np.maximum(frame["states"].to_numpy(), 1)
    return np.asarray(values, dtype=np.float64)


def outlier_unit(result: CriticResult) -> str:
    """Unit of the values that rank the documents (`values_of`)."""
    return unit_of(is_sequence(result.verdicts, result.name), result.oddity_unit)


def unit_of(sequence: bool, own: str) -> str:
    """Unit of what ranks outliers: that of the critic's own measure, else nats (per step for sequences)."""
    return own or ("nats per step" if sequence else "nats")


@dataclass(frozen=True)
class Standing:
    """Where a document stands among the real ones.

    Attributes
    ----------
    above
        Share of the real documents that are less odd; None if there are none.
    typical
        Median value of the real documents; None if there are none.
    noun
        What is ranked: ``document`` or ``block``.
    odder
        How the document differs from them: ``less likely``, or ``odder`` by a critic's own measure.
    """

    above: float | None
    typical: float | None
    noun: str = "document"
    odder: str = "less likely"


def reason_of(document: MarkedDocument | None, standing: Standing, z: str | None = None) -> str:
    """Say why a document is listed: its standing, what the critic notes of it, and its unlikely steps.

    Parameters
    ----------
    document
        As the critic sees it; None if the run does not keep it.
    z
        Its latents in words, which stand for the steps of a document that has none worth naming.

    >>> odd = MarkedDocument("g", "1", 2.0, "nats", (Step("Notes", "…", 4.0, True, "likeliest: Use"), Step("Use")))
    >>> reason_of(odd, Standing(0.99, 1.25))
    'less likely than 99 % of the human documents (median 1.25); unlikely: Notes (likeliest: Use)'
    >>> reason_of(None, Standing(1.0, 1.25, "block"), z="7 words")
    'less likely than all human blocks (median 1.25); z: 7 words'
    """
    parts = [] if standing.above is None or standing.typical is None else [_standing(standing)]
    if document is not None and document.note:
        parts.append(_clean(document.note).removesuffix("."))
    steps = named_steps(document)
    if steps:
        parts.append(steps)
    elif z:
        parts.append(f"z: {_clean(z)}")
    return "; ".join(parts) or "the oddest that are scored"


def _standing(standing: Standing) -> str:
    assert standing.above is not None
    share = "all" if standing.above == 1 else f"{math.floor(100 * standing.above)} % of the"
    return f"{standing.odder} than {share} human {standing.noun}s (median {standing.typical:.3g})"


def named_steps(document: MarkedDocument | None) -> str | None:
    """The unlikely steps of a document, the costliest first; if none is marked, its costliest step.

    None if its steps have no value, or there is only one.

    >>> steps = (Step("Use", "", 0.5), Step("Notes", "", 1.5, note="P = .2"))
    >>> named_steps(MarkedDocument("g", "1", 2.0, "nats", steps))
    'least likely step: Notes (P = .2)'
    """
    if document is None:
        return None
    marked = sorted((s for s in document.steps if s.marked), key=lambda s: -(s.value or 0.0))
    if marked:
        names = list(dict.fromkeys(map(_named, marked)))
        more = f" and {len(names) - SHOWN_STEPS:,} more" if len(names) > SHOWN_STEPS else ""
        return f"unlikely: {'; '.join(names[:SHOWN_STEPS])}{more}"
    valued = [s for s in document.steps if s.value is not None and s.label]
    if len(valued) < 2:
        return None
    return f"least likely step: {_named(max(valued, key=lambda s: s.value or 0.0))}"


def _named(step: Step) -> str:
    label, note = _clean(step.label), _clean(step.note)
    return f"{label} ({note})" if note else label


def _clean(text: str) -> str:
    """Text from a document or a critic, on one line and without control characters."""
    return visible(" ".join(text.split()))
