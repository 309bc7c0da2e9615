"""How a row was tested, as fields; `momus.report.words` puts them into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Test = Literal["permutation", "relabelled groups", "welch", "none"]
Unit = Literal["documents", "pairs", "prompts", "clusters", "one per prompt", "blocks", "groups"]
Family = Literal["value", "distance", "law"]


@dataclass(frozen=True)
class Method:
    """The test of one row.

    Attributes
    ----------
    test
        ``permutation`` of units; ``relabelled groups`` of running text; ``welch``: Welch's t on two standard errors;
        ``none``: not tested, see ``reason``.
    family
        What kind of number is compared: a ``value`` of each text, a ``distance`` between both, or a ``law`` of
        running text.
    design
        The units of the test: ``documents``, ``pairs``, ``prompts`` (documents relabelled within prompts),
        ``clusters``, ``one per prompt`` (one document of each prompt is tested, all are in the interval), ``blocks`` or
        contiguous ``groups`` of running text.
    units_real, units_generated
        Numbers of such units.
    exact
        Whether all relabellings were enumerated.
    permutations, resamples
        Relabellings of the test; resamples of the bootstrap interval (0: no bootstrap).
    error
        How the standard error of a law was estimated: ``jackknife``, ``shuffled``, ``relabelled``; empty otherwise.
    tokens
        Length at which two running texts were compared; 0 otherwise.
    reason
        Why the row was not tested; empty where it was.
    """

    test: Test = "none"
    family: Family = "value"
    design: Unit = "documents"
    units_real: int = 0
    units_generated: int = 0
    exact: bool = False
    permutations: int = 0
    resamples: int = 0
    error: str = ""
    tokens: int = 0
    reason: str = ""
