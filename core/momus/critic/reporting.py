"""What a critic declares for its readers and for runs, beside its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from momus.evidence import Direction, either


@dataclass(frozen=True)
class Reporting:
    """What a critic declares for its readers and for runs; a subclass may `dataclasses.replace` fields of its base's.

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
        What of the layout of texts the critic reads, of ``breaks`` and ``spacing`` (`momus.checks.languages`): where
        texts differ in it, the answer names the axis.
    general
        Whether it reads all words or characters, so that what a narrower axis finds moves it too: the answer then
        places it behind narrower axes that differ (`momus.runs.answer`).
    leading
        Whether what it finds moves other axes: a shorter document has shorter paragraphs and ends elsewhere. The answer
        then places it before axes with somewhat larger gaps.
    stepless
        The reason given for documents whose latents have no scored step (M = 0).
    restarts
        Further fits with other seeds that each comparison makes, to tell how much the numbers depend on the start of
        the fit; the critic has a parameter ``seed``.
    oddity_unit
        Unit of the critic's own measure of oddity (`AdvancedMixin.oddity`), such as ``nats by the best repair``.
    oddities
        Names of further measures of oddity, by which `momus filter` ranks documents: the columns of rows ``oddities``.
    faulty
        Whether its latents are the faults of a document, by name: `momus review` tells of them in any case.
    required
        Parameters without which the critic cannot run; a run of all critics leaves it out unless they are given.
    fitting
        Parameters with paths or addresses that a fitted critic does not use again.
    together
        How the critic is fitted in a comparison of models, if not on all texts for evidence, and on folds of the
        reference for scores. ``once`` or ``folds``: on all texts without their labels. ``once`` serves latents that
        mean something else in every fit, such as topic 3. ``folds``, where each fold is scored by a critic of the other
        folds of all texts, serves statistics of what few documents share: two of the reference with a rare name, in two
        folds, would make it known to each other, which no relabelling of documents accounts for. ``summaries``: on the
        reference alone, and evidence is made of the sums of summaries of folds, whose parts mean the same in every fit.
    aggregated
        Whether entropy and divergence of the aggregated posterior are reported beside Latent NLL of state sequences;
        turn it off only where the critic's own statistics say the same.
    """

    headline: str = ""
    directions: Mapping[str, Direction] = field(default_factory=dict)
    limits: str = ""
    layout: tuple[str, ...] = ()
    general: bool = False
    leading: bool = False
    stepless: str = "no scored step"
    restarts: int = 0
    aggregated: bool = True
    oddity_unit: str = ""
    oddities: tuple[str, ...] = ()
    faulty: bool = False
    required: tuple[str, ...] = ()
    fitting: tuple[str, ...] = ()
    together: Literal["", "once", "folds", "summaries"] = ""


def directions(latent_nll: str, latent_ppl: str = "", posterior_entropy: str = "") -> dict[str, Direction]:
    """What generated text is if the numbers that all critics share are lower, and if they are higher.

    >>> directions("more|less usual in length")
    {'latent_nll': ('more usual in length', 'less usual in length')}
    """
    words = {"latent_nll": latent_nll, "latent_ppl": latent_ppl, "posterior_entropy": posterior_entropy}
    return {name: either(of) for name, of in words.items() if of}


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
