"""Checks of the texts of a comparison, and what they found in sentences.

Copies within and between texts, and documents that are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc

from momus.arguments import arg
from momus.checks.covariates import groups_of_texts, order_of_texts
from momus.checks.dependence import LEVEL, HiddenGroups, OrderCorrelation, SharedGroups
from momus.text.counting import counted, joined, text_of
from momus.text.digests import is_among
from momus.text.duplicates import EXAMPLES, Duplicates, Shared, near_duplicates, shared_texts
from momus.text.openings import Openings, shared_openings
from momus.text.sketches import TextSketch

SAME = 0.99
"""From this share of copied documents on, both sides are the same text."""


def sentence(check: TrustCheck) -> str:
    """Say what a check found, what that does to the results, and what to do."""
    count = f"{check.documents:,} of {counted(check.total, 'document')} of {check.corpus!r}"
    measured = check.measured
    if isinstance(measured, Openings):
        return _of_openings(check)
    if isinstance(measured, HiddenGroups):
        return _of_groups(check.corpus, measured)
    if isinstance(measured, OrderCorrelation):
        return (
            f"Documents of {check.corpus!r} resemble their neighbours in {measured.covariate} (correlation "
            f"{measured.correlation:.2f}, p = {measured.p:.2g}, n = {measured.documents:,}). If the text is ordered by "
            "source (author, book, site), give each source a group_id: else intervals are too narrow."
        )
    if isinstance(measured, Duplicates):
        return (
            f"{count} repeat another one ({measured.exact:,} word for word, {measured.near:,} nearly"
            f"{_example(measured.examples)}). Copies are not independent: remove them, or give copies one group_id."
        )
    if isinstance(measured, SharedGroups):
        return (
            f"{count} belong to groups that critics are fitted on ({measured.groups:,} groups, such as "
            f"{measured.examples[0]!r}), so their scores are too good: give {arg('fit')} of other groups, or leave it "
            "out to have the real text split by groups."
        )
    exact = int(measured.exact[0].sum())
    how = f" ({exact:,} word for word{_example(measured.examples)})" if exact < check.documents else ""
    if check.kind in ("fitted", "memorised"):
        memory = " A generator that was trained on that text may have memorised it." * (check.kind == "memorised")
        return f"{count} are also in the text that critics are fitted on{how}, so its scores are too good.{memory}"
    if check.share >= SAME:
        return (
            f"{count} are also in {check.other!r}{how}: both sides are the same text, and no verdict says anything "
            "about a generator. Check the paths."
        )
    reference = text_of(check.other or "real")
    return f"{count} are also in {check.other!r}{how}: copies of {reference} hide how the generator differs."


def sentences(checks: Sequence[TrustCheck]) -> list[str]:
    """What the checks found that a reader should know; openings that several texts share with one are told once."""
    told: list[str] = []
    shared = [c for c in checks if c.warns and c.kind == "opening" and c.other != "fit"]
    for check in (c for c in checks if c.warns):
        if check not in shared:
            told.append(sentence(check))
        elif check is shared[0]:
            told.append(_of_openings(max(shared, key=lambda c: c.share), shared))
    return told


def _of_openings(check: TrustCheck, alike: Sequence[TrustCheck] = ()) -> str:
    """What is shared with one text; of several texts ``alike``, this is the one that shares most."""
    openings = check.measured
    assert isinstance(openings, Openings)
    whose = "shares its" if check.documents == 1 else "share their"
    also = f" ({joined([repr(c.corpus) for c in alike if c is not check])} too)" if len(alike) > 1 else ""
    shared = (
        f"{check.documents:,} of {counted(check.total, 'document')} of {check.corpus!r}{also} {whose} first "
        f"{openings.length:,} characters (median) with a document of {check.other!r}"
    )
    example = f" (such as {openings.examples[0][0]!r} and {openings.examples[0][1]!r})" if openings.examples else ""
    if check.other == "fit":
        return (
            f"{shared}, which critics are fitted on, and then go on differently: both were cut from the same "
            f"documents, or begin with the same prompt{example}. Give {arg('fit')} of other documents, or remove what "
            "is shared."
        )
    # what to do comes early: the terminal cuts long notes
    return (
        f"{shared}: a prompt left in the generated text, or both cut from the same documents. Remove it on both sides; "
        f"{arg('paired', False)} does not help. The texts go on differently{example}, but what is shared hides how "
        "the generator differs, and may turn the sign of a difference in Latent PPL."
    )


def _of_groups(name: str, groups: HiddenGroups) -> str:
    names = " and ".join(map(repr, groups.examples))
    interval = f", 95 % interval {groups.low:.2f} to {groups.high:.2f}" if np.isfinite(groups.low) else ""
    wider = np.sqrt(groups.design_effect)
    return (
        f"The ids of {name!r} suggest {groups.groups:,} groups, such as {names}, and documents of one group resemble "
        f"each other in {groups.covariate} (intraclass correlation {groups.icc:.2f}{interval}, p = {groups.p:.2g}, "
        f"n = {groups.documents:,}; a standard error that ignores this is too small by a factor of {wider:.1f}). Give "
        "the documents a group_id: then whole groups are split, resampled and permuted."
    )


def _example(pairs: Sequence[tuple[str, str]]) -> str:
    return f"; for example {pairs[0][0]!r} and {pairs[0][1]!r}" if pairs else ""


SHARE, FEWEST = 0.01, 2
"""Copies are worth a warning if they are at least this share of the documents, and at least so many."""

OPENINGS = 0.05
"""Shared openings are worth a warning from this share on: in documents of one series (proposals, forms) about two in a
hundred open like another one by chance, where a prompt is left in nearly all do."""
Kind = Literal["repeated", "fitted", "memorised", "copied", "opening", "leaked", "groups", "order"]


@dataclass(frozen=True)
class TrustCheck:
    """The outcome of one check.

    Attributes
    ----------
    kind
        ``repeated``: documents that repeat others of the same corpus; ``fitted`` and ``memorised``: real and generated
        documents that are also in the text that critics are fitted on; ``copied``: generated documents that are also
        in the real text; ``opening``: documents that begin like one of another corpus and go on differently;
        ``leaked``: real documents of groups that critics are fitted on; ``groups``: ids betray groups of documents that
        resemble each other; ``order``: neighbouring documents resemble each other.
    corpus, other
        Names of the corpus that is checked, and of the one it is compared with, if any.
    documents, total
        Number of documents that the check found, and of the documents of the corpus.
    warns
        Whether a reader should know.
    measured
        What the check measured.
    """

    kind: Kind
    corpus: str
    other: str | None
    documents: int
    total: int
    warns: bool
    measured: Duplicates | Shared | Openings | HiddenGroups | OrderCorrelation | SharedGroups

    @property
    def share(self) -> float:
        """Share of the documents of the corpus that the check found."""
        return self.documents / self.total if self.total else 0.0

    def summary(self) -> dict[str, Any]:
        """What a run keeps of the check."""
        kept = ("kind", "corpus", "other", "documents", "total", "warns")
        return {name: getattr(self, name) for name in kept}


def check_texts(
    fitting: TextSketch, real: TextSketch, generated: Sequence[TextSketch], whole: TextSketch | None = None
) -> list[TrustCheck]:
    """Check the texts of a comparison for copies and for dependent documents.

    Documents are read again by the sketches' ``fetch`` only where their wording decides: candidates for near copies, up
    to `momus.text.openings.MEASURED` shared openings, and at most twice `momus.checks.covariates.MOST_DOCUMENTS` whose
    use of words is compared.

    Parameters
    ----------
    whole
        The real text before it was split into ``fitting`` and ``real``, if it was.

    Returns
    -------
    All checks that could be made, also those that found nothing (``warns`` is False).
    """
    known = [shared_texts(s, fitting) for s in (real, *generated)]
    checks = [_known(s, s is real, fitting, k) for s, k in zip((real, *generated), known, strict=True)]
    checks += [_repeated(s) for s in ([real] if fitting is real else [fitting, real])]
    checks += [_repeated(s) for s in generated]
    text, versions = real if whole is None else whole, whole is None and not len(fitting)
    for s, k in zip(generated, known[1:], strict=True):
        shared = shared_texts(s, real)
        copies = shared if whole is None else _joined(shared, k)
        copied = _copied(s, text, copies)
        opening = _opening(s, text, copies)
        if versions and _same_prompts(s, text):  # told as unchanged answers
            copied, opening = replace(copied, warns=False), replace(opening, warns=False)
        if copied.share >= SAME:  # that both sides are one text says all that its copies in the fitted text could say
            known_too = ("memorised", copied.corpus)
            checks = [replace(c, warns=False) if (c.kind, c.corpus) == known_too else c for c in checks]
        checks += [copied, opening]
    if fitting is not real and whole is None:
        checks.append(_opening(real, fitting, known[0]))
    if fitting is not real:
        checks.append(_leaked(real, fitting))
    sources = [whole] if whole is not None else [real] if fitting is real else [fitting, real]
    for source in (*sources, *generated):
        # ids of prompts that versions answer, such as tasks of a log, say nothing of how they came to their answers
        if not (versions and source.table["id"].equals(source.table["prompt"])):
            checks += dependence_checks(source)
    return checks


def dependence_checks(sketch: TextSketch) -> list[TrustCheck]:
    """Check whether ids or the order of a text betray documents that resemble each other.

    The two tests share the level; both are left out where group ids, or prompts that repeat, say what belongs together.
    """
    findings = [f for f in (groups_of_texts(sketch), order_of_texts(sketch)) if f is not None]
    level = LEVEL / max(len(findings), 1)
    kinds: list[Kind] = ["groups" if isinstance(f, HiddenGroups) else "order" for f in findings]
    return [
        TrustCheck(kind, sketch.name, None, f.documents, len(sketch), f.warns(level), f)
        for kind, f in zip(kinds, findings, strict=True)
    ]


def _repeated(sketch: TextSketch) -> TrustCheck:
    """Find documents that repeat others of the same text."""
    duplicates = near_duplicates(sketch)
    copies = duplicates.exact + duplicates.near
    return TrustCheck(
        "repeated", sketch.name, None, copies, len(sketch), _many(copies, duplicates.documents), duplicates
    )


def _known(sketch: TextSketch, real: bool, fitting: TextSketch, shared: Shared) -> TrustCheck:
    """Find documents that critics were fitted on; here, one document known word for word is one too many."""
    known = is_among(sketch.hashes, fitting.hashes) & ~sketch.blank
    documents = int((known | shared.either[0]).sum())
    kind: Kind = "fitted" if real else "memorised"
    warns = bool(known.any()) or _many(documents, shared.documents[0])
    return TrustCheck(kind, sketch.name, fitting.name, documents, len(sketch), warns, shared)


def _joined(real: Shared, fitting: Shared) -> Shared:
    """What a text shares with either half of the real one; of the second side, the half to compare comes first."""
    exact, either = (
        (a[0] | b[0], np.concatenate([a[1], b[1]]))
        for a, b in ((real.exact, fitting.exact), (real.either, fitting.either))
    )
    documents = real.documents[0], real.documents[1] + fitting.documents[1]
    return Shared(documents, exact, either, [*real.examples, *fitting.examples][:EXAMPLES])


def _copied(sketch: TextSketch, real: TextSketch, shared: Shared) -> TrustCheck:
    """Find copies of real documents; those too short to compare count where the texts are equal as a whole."""
    copies = int(shared.either[0].sum())
    warns = _many(copies, shared.documents[0])
    if sketch.fingerprint == real.fingerprint and not sketch.blank.all():
        shared = replace(shared, exact=(np.ones(len(sketch), dtype=bool), shared.exact[1]))
        copies, warns = len(sketch), True
    return TrustCheck("copied", sketch.name, real.name, copies, len(sketch), warns, shared)


def _opening(sketch: TextSketch, other: TextSketch, copies: Shared) -> TrustCheck:
    """Find documents that open like one of another text, and are no copies."""
    openings = shared_openings(sketch, other, copies.either[0])
    documents = int(openings.rows.sum())
    warns = documents >= max(FEWEST, OPENINGS * openings.documents)
    return TrustCheck("opening", sketch.name, other.name, documents, len(sketch), warns, openings)


def _leaked(sketch: TextSketch, fitting: TextSketch) -> TrustCheck:
    """Find documents of groups that critics are fitted on."""
    groups = sketch.table["group"].drop_null()
    leaked = groups.filter(pc.is_in(groups, fitting.table["group"].drop_null()))
    names = sorted(leaked.unique().to_pylist())
    shared = SharedGroups(len(names), tuple(names[:3]))
    return TrustCheck("leaked", sketch.name, fitting.name, len(leaked), len(sketch), len(leaked) > 0, shared)


def _same_prompts(sketch: TextSketch, other: TextSketch) -> bool:
    """Whether most documents of a text answer prompts of another one."""
    prompts = sketch.table["prompt"].drop_null()
    return 2 * int(pc.sum(pc.is_in(prompts, other.table["prompt"].drop_null())).as_py() or 0) > len(sketch)


def _many(copies: int, documents: int) -> bool:
    return copies >= max(FEWEST, SHARE * documents)
