"""What only readers of the results see of a critic: headline, directions, limits, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reporting:
    """What readers are told of a critic; a subclass changes fields of its base's with `dataclasses.replace`.

    Attributes
    ----------
    headline
        Name of the statistic that is always in the family by which the axis is tested (`Statistic.decides`), speaks
        for an axis that does not differ, and is ranked and tracked over versions; default: ``latent_ppl`` of
        sequences, otherwise ``latent_nll``.
    directions
        What generated text is if its Latent NLL, Latent PPL or posterior entropy is lower, and if it is higher, by the
        name of the statistic, where ``("more predictable", "less predictable")`` would mislead.
    limits
        What the critic cannot see, in one line.
    layout
        What of the layout of texts the critic reads, of ``breaks`` and ``spacing`` (`momus.checks.layout`): where texts
        differ in it, the answer names the axis.
    general
        Whether it reads all words or characters, so that what a narrower axis finds moves it too: the answer then
        places it behind narrower axes that differ (`momus.report.answer`).
    leading
        Whether what it finds moves other axes: a shorter document has shorter paragraphs and ends elsewhere. The answer
        then places it before axes with somewhat larger gaps.
    stepless
        The reason given for documents whose latents have no scored step (M = 0).
    aggregated
        Whether entropy and divergence of the aggregated posterior are reported beside Latent NLL of state sequences;
        turn it off only where the critic's own statistics say the same.
    """

    headline: str = ""
    directions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    limits: str = ""
    layout: tuple[str, ...] = ()
    general: bool = False
    leading: bool = False
    stepless: str = "no scored step"
    aggregated: bool = True


@dataclass(frozen=True)
class Note:
    """A sentence for readers of the results of a fitted critic.

    Attributes
    ----------
    text
        An accuracy, a constant that was chosen, …
    warning
        Whether it makes the verdicts doubtful; a comparison then prints it beside them.
    """

    text: str
    warning: bool = False
