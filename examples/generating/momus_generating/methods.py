"""Decoding methods and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from momus.errors import UsageError

Method = Literal["ancestral", "temperature", "nucleus", "beam-sampling"]
USED: Mapping[Method, tuple[str, ...]] = {
    "ancestral": (),
    "temperature": ("temperature",),
    "nucleus": ("temperature", "top_p"),
    "beam-sampling": ("temperature", "beams"),
}
"""The parameters that each method uses, but for ``longest``."""


@dataclass(frozen=True)
class Decoding:
    """A decoding method and its parameters.

    Attributes
    ----------
    method
        ``ancestral`` samples from the model's distribution; ``temperature`` from the softmax of logits / T;
        ``nucleus`` from the smallest set of tokens with at least ``top_p`` of the mass (Holtzman et al. 2020);
        ``beam-sampling`` draws ``beams`` extensions of each of ``beams`` hypotheses and keeps the ``beams`` most
        probable of them (Meister & Cotterell 2021, section 5).
    temperature
        T, above 0; used by all methods but ``ancestral``.
    top_p
        In (0, 1]; used by ``nucleus`` only.
    beams
        k, at least 1; used by ``beam-sampling`` only.
    longest
        Largest number of tokens per document.

    Raises
    ------
    UsageError
        A value is out of range, or the method does not use it.

    >>> Decoding("nucleus", top_p=0.9).longest
    1024
    """

    method: Method = "ancestral"
    temperature: float = 1.0
    top_p: float = 1.0
    beams: int = 1
    longest: int = 1024

    def __post_init__(self) -> None:
        if self.method not in USED:
            raise UsageError(f"there is no decoding method {self.method!r}", hint=f"choose one of {', '.join(USED)}")
        if not 0 < self.temperature < float("inf"):
            raise UsageError(f"temperature is {self.temperature}", hint="give a number above 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p is {self.top_p}", hint="give a share of the mass, above 0 and at most 1")
        if self.beams < 1 or self.longest < 1:
            raise UsageError(
                f"beams is {self.beams} and longest is {self.longest}", hint="give whole numbers of at least 1"
            )
        changed = {"temperature": self.temperature != 1.0, "top_p": self.top_p != 1.0, "beams": self.beams != 1}
        unused = [name for name, is_changed in changed.items() if is_changed and name not in USED[self.method]]
        if unused:
            raise UsageError(f"{self.method} decoding does not use {unused[0]}", hint="leave it out")
