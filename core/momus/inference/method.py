"""How a row was tested, as fields; `momus.report.words` puts them into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Test = Literal["permutation", "multipliers", "squares", "relabelled groups", "welch", "none"]
Unit = Literal["documents", "pairs", "prompts", "clusters", "bins", "blocks", "groups"]
Family = Literal["value", "distance", "law"]
Flat = Literal["", "share", "none"]


@dataclass(frozen=True)
class Method:
    """The test of one row.

    Attributes
    ----------
    test
        ``permutation`` of units; ``multipliers``: random signs of units that are not exchangeable, for a distance
        itself, or for the ``squares`` of its differences (`momus.inference.multipliers`); ``relabelled groups`` of
        running text; ``welch``: Welch's t on two standard errors;
        ``none``: not tested, see ``reason``.
    family
        What kind of number is compared: a ``value`` of each text, a ``distance`` between both, or a ``law`` of
        running text.
    design
        The units of the test: ``documents``, ``pairs``, ``prompts`` (documents relabelled within prompts),
        whole ``clusters``, ``bins`` of a covariate (documents relabelled within bins), ``blocks`` or contiguous
        ``groups`` of running text.
    grouped
        Whether the units are groups that documents were given as belonging to.
    studentised
        Whether contrasts were divided by their standard error under each relabelling.
    units_real, units_generated
        Numbers of such units, or of the random blocks that they were put into.
    block
        Units per random block (`momus.inference.blocks`); 1 without blocks.
    exact
        Whether all relabellings were enumerated.
    permutations, resamples
        Relabellings of the test, or draws of random signs; resamples of the bootstrap standard error (0: no bootstrap).
    rows
        Rows in the table of which this is one, for the level of the minimum detectable difference.
    error
        How the standard error of a law was estimated: ``jackknife``, ``shuffled``, ``relabelled``; empty otherwise.
    tokens
        Length at which two running texts were compared; 0 otherwise.
    reason
        Why the row was not tested; empty where it was.
    skewness
        Standardised third cumulant of the difference, where T is transformed for it (`momus.inference.studentised`);
        0 elsewhere.
    flat
        Where texts differ although the documents of neither vary: ``share``, the interval of two shares of 0 and 1
        (`momus.inference.without_variance`), or ``none``, no interval. Empty where documents vary.
    critical
        The value that a distance exceeds by chance with probability α/rows: where it is the largest of many sizes, each
        of these that exceeds it is significant by itself. None for other statistics.
    """

    test: Test = "none"
    family: Family = "value"
    design: Unit = "documents"
    units_real: int = 0
    units_generated: int = 0
    grouped: bool = False
    studentised: bool = False
    exact: bool = False
    permutations: int = 0
    resamples: int = 0
    rows: int = 1
    error: str = ""
    tokens: int = 0
    reason: str = ""
    flat: Flat = ""
    block: int = 1
    critical: float | None = None
    skewness: float = 0.0

    @property
    def floor(self) -> float:
        """The smallest p-value that so many relabellings allow; 0 where p does not come from relabellings.

        Among all relabellings of texts with as many units each, every one has its opposite, which is as extreme.

        >>> Method(units_real=3, units_generated=3, exact=True, permutations=20).floor
        0.1
        """
        if not self.permutations:
            return 0.0
        opposites = self.exact and self.family != "law" and self.units_real == self.units_generated
        return (2 if opposites else 1) / (self.permutations + (0 if self.exact else 1))
