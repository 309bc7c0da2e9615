"""What the checks of texts found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from momus.checks.dependence import HiddenGroups, OrderCorrelation, SharedGroups
from momus.text.counting import counted
from momus.text.duplicates import Duplicates
from momus.text.openings import Openings

if TYPE_CHECKING:
    from momus.checks.texts import TrustCheck

SAME = 0.99
"""From this share of copied documents on, both sides are the same text."""


def sentence(check: TrustCheck) -> str:
    """Say what a check found, what that does to the results, and what to do."""
    count = f"{check.documents:,} of {counted(check.total, 'document')} of {check.corpus!r}"
    found = check.found
    if isinstance(found, Openings):
        return _of_openings(check, found)
    if isinstance(found, HiddenGroups):
        return _of_groups(check.corpus, found)
    if isinstance(found, OrderCorrelation):
        return (
            f"Documents of {check.corpus!r} resemble their neighbours in {found.covariate} (correlation "
            f"{found.correlation:.2f}, p = {found.p:.2g}, n = {found.documents:,}). If the text is ordered by "
            "source (author, book, site), give each source a group_id: else intervals are too narrow."
        )
    if isinstance(found, Duplicates):
        return (
            f"{count} repeat another one ({found.exact:,} word for word, {found.near:,} nearly"
            f"{_example(found.examples)}). Copies are not independent: remove them, or give copies one group_id."
        )
    if isinstance(found, SharedGroups):
        return (
            f"{count} belong to groups that critics are fitted on ({found.groups:,} groups, such as "
            f"{found.examples[0]!r}), so their scores are too good: give a --fit of other groups, or leave --fit "
            "out to have the real text split by groups."
        )
    exact = int(found.exact[0].sum())
    how = f" ({exact:,} word for word{_example(found.examples)})" if exact < check.documents else ""
    if check.kind in ("fitted", "memorised"):
        memory = " A generator that was trained on that text may have memorised it." * (check.kind == "memorised")
        return f"{count} are also in the text that critics are fitted on{how}, so its scores are too good.{memory}"
    if check.share >= SAME:
        return (
            f"{count} are also in {check.other!r}{how}: both sides are the same text, and no verdict says anything "
            "about a generator. Check the paths."
        )
    return f"{count} are also in {check.other!r}{how}: copies of real text hide how the generator differs."


def _of_openings(check: TrustCheck, found: Openings) -> str:
    whose = "shares its" if check.documents == 1 else "share their"
    shared = (
        f"{check.documents:,} of {counted(check.total, 'document')} of {check.corpus!r} {whose} first "
        f"{found.length:,} characters (median) with a document of {check.other!r}"
    )
    example = f" (such as {found.examples[0][0]!r} and {found.examples[0][1]!r})" if found.examples else ""
    if check.other == "fit":
        return (
            f"{shared}, which critics are fitted on, and then go on differently: both were cut from the same "
            f"documents, or begin with the same prompt{example}. Give a --fit of other documents, or remove what is "
            "shared."
        )
    # what to do comes early: the terminal cuts long notes
    return (
        f"{shared}: a prompt left in the generated text, or both cut from the same documents. Remove it on both sides; "
        f"--unpaired does not help. The texts go on differently{example}, but what is shared hides how the generator "
        "differs, and may turn the sign of a difference in Latent PPL."
    )


def _of_groups(name: str, found: HiddenGroups) -> str:
    names = " and ".join(map(repr, found.examples))
    interval = f", 95 % interval {found.low:.2f} to {found.high:.2f}" if np.isfinite(found.low) else ""
    wider = np.sqrt(found.design_effect)
    return (
        f"The ids of {name!r} suggest {found.groups:,} groups, such as {names}, and documents of one group resemble "
        f"each other in {found.covariate} (intraclass correlation {found.icc:.2f}{interval}, p = {found.p:.2g}, "
        f"n = {found.documents:,}; a standard error that ignores this is too small by a factor of {wider:.1f}). Give "
        "the documents a group_id: then whole groups are split, resampled and permuted."
    )


def _example(pairs: Sequence[tuple[str, str]]) -> str:
    return f"; for example {pairs[0][0]!r} and {pairs[0][1]!r}" if pairs else ""
