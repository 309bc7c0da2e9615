"""Texts that are too large to be held in memory: critics are fitted, and all texts are then scored part by part.

Every step after this one reads rows, wherever they are: the texts that are returned hold labels in memory, and read
documents and wide rows from their files when they are needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.critic import Critic, MergeableMixin
from momus.critic.hooks import SettlingMixin, moved, settled
from momus.engine.chosen import Chosen
from momus.engine.fitting import FitText, fit_in_parts, read_sample, text_to_fit
from momus.engine.large import LargeTexts, scored_by_parts
from momus.engine.reuse import Reuse
from momus.engine.scoring import OtherPlanError, score_parts
from momus.errors import FittingError, MissingExtraError, MomusError, ReadingError
from momus.outputs import copy_folder, delete_folder
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.reading import ReadingOptions, TextSource
from momus.runs.manifest import ROWS
from momus.runs.row_folder import RowFolder
from momus.runs.row_store import StoredText
from momus.runs.texts import ANALYSED, Texts, read_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.scripts import identifier
from momus.text.sketches import TextSketch
from momus.verdicts.settings import Settings

WHOLE = 256 << 20
"""Bytes of all texts together up to which critics that must see a text as a whole run although nobody named them."""
FITTED = ".fitted"
"""Folder of the critics that texts are scored by; no text has such a name."""


@dataclass(frozen=True)
class Sources:
    """The texts of a comparison as they are given, and how they are read."""

    real: TextSource
    generated: Mapping[str, TextSource]
    fit: TextSource | None
    reading: ReadingOptions


@dataclass
class Scoring:
    """What it takes to score texts in parts.

    Attributes
    ----------
    folder
        Where rows are written, one folder for each text.
    workers
        Number of processes.
    trust
        Folders of critics that may use adapters.
    device
        Where critics compute that use a device.
    """

    folder: Path
    workers: int = 1
    trust: Sequence[Path] = ()
    device: str = "cpu"


def score_large(
    large: LargeTexts,
    selection: Chosen,
    sources: Sources,
    settings: Settings,
    scoring: Scoring,
    reuse: Reuse | None,
    timed: Timed,
    skip_unfit: bool,
) -> tuple[Texts, Texts | None]:
    """Fit critics, unless texts were scored before, and score what is not.

    Parameters
    ----------
    selection
        The critics; those that can be are fitted afterwards, and those that cannot see such large texts are left out.
    skip_unfit
        Whether critics were not named, so that they may be left out.

    Returns
    -------
    The texts scored by parts, and the texts in memory, for critics that must see them as a whole; None without such.

    Raises
    ------
    MomusError
        A text cannot be read, or no critic can be fitted.
    """
    whole = [c for c in selection.critics if not scored_by_parts(c)]
    if whole and skip_unfit and large.size > WHOLE:
        names = ", ".join(c.name for c in whole)
        selection.warnings.append(
            f"{names} were left out: they read each text as a whole, and the texts have {large.size >> 20:,} MB "
            "(--critics NAMES runs them all the same)."
        )
        selection.critics[:] = [c for c in selection.critics if scored_by_parts(c)]
        whole = []
    critics = [c for c in selection.critics if scored_by_parts(c)]
    failed: dict[str, MomusError] = {}
    fit = FitText(Corpus.from_texts([], name="fit"))
    if not large.rows:
        fit = text_to_fit(sources.fit, large, sources.reading, settings.seed, timed)
        failed = _fitted(critics, fit, sources.reading, scoring, reuse, timed, skip_unfit)
        critics = [c for c in critics if c.name not in failed]
        return_memory()
        _settle(critics, large, sources.reading, settings.seed, timed)
    stored = _stored(large, critics, fit, sources.reading, scoring, reuse, timed)
    real, *generated = (text.corpus for text in stored)
    warnings = [fit.warning] if fit.warning else []
    split = sources.fit is None and not large.rows
    texts = Texts(fit.corpus, real, list(generated), split, warnings, seed=settings.seed, failed=failed)
    if large.rows:
        texts.warnings += _known(stored, critics)
    with timed.stage("checking", "texts"):
        texts = _checked(texts, stored, fit)
    for text in stored:
        _ = text.corpus.unspaced  # kept, while the rest of the sketch is not needed any more
        text.forget_sketch()
    fit.corpus.forget_tokens()
    identifier.cache_clear()
    return_memory()
    if not whole:
        return texts, None
    with timed.stage("reading", "whole texts"):
        arguments = (sources.real, sources.generated, sources.fit, settings.seed, sources.reading, timed.inner)
        plain = read_texts(*arguments, check=False)
    return texts, replace(plain, checks=texts.checks, languages=texts.languages, scripts=texts.scripts)


def _known(stored: Sequence[StoredText], critics: Sequence[Critic[Any]]) -> list[str]:
    """Warn of texts with documents that critics were fitted on, of which the rows of each part know the number."""
    known = {t.name: max(t.critics[c.name].fitted_on for c in critics) for t in stored}
    return [
        f"{n:,} of {counted(len(text), 'document')} of {text.name!r} are also in the text that critics are fitted on, "
        "so its scores are too good."
        for text in stored
        if (n := known[text.name])
    ]


def _checked(texts: Texts, stored: Sequence[StoredText], fit: FitText) -> Texts:
    """Check the texts by the sketches of their parts."""
    whole, *generated = (text.sketch for text in stored)
    try:
        if fit.keep is None:
            return texts.checked([TextSketch.of(fit.corpus), whole, *generated], None)
        halves = whole.take(np.flatnonzero(~fit.keep), "fit"), whole.take(np.flatnonzero(fit.keep))
        return texts.checked([*halves, *generated], whole)
    except ReadingError as error:
        note = f"Texts were not checked for copies and languages: {error.message}."
        return replace(texts, warnings=[*texts.warnings, note])


def _fitted(
    critics: Sequence[Critic[Any]],
    fit: FitText,
    reading: ReadingOptions,
    scoring: Scoring,
    reuse: Reuse | None,
    timed: Timed,
    skip_unfit: bool,
) -> dict[str, MomusError]:
    """Fit critics; the error of each that cannot be fitted on this text, by name."""
    failed: dict[str, MomusError] = {}
    for critic in critics:
        moved(critic, scoring.device)
        if reuse is not None and reuse.fitted(critic, Texts(fit.corpus, fit.corpus, [], False, [])):
            continue
        try:
            with reporting(timed.inner), timed.stage("fitting", critic.name, len(fit.corpus)):
                if fit.path is not None and isinstance(critic, MergeableMixin):
                    fit_in_parts(critic, fit.path, reading, scoring.workers)
                else:
                    critic.fit(fit.corpus)
        except (FittingError, MissingExtraError) as error:
            if not skip_unfit:
                raise
            failed[critic.name] = error
    if len(failed) == len(critics):
        raise FittingError(
            "no critic can be fitted on this text: " + " ".join(f"{n}: {e.message}." for n, e in failed.items()),
            hint="give more real text with --fit",
        )
    return failed


def _settle(
    critics: Sequence[Critic[Any]], texts: LargeTexts, reading: ReadingOptions, seed: int, timed: Timed
) -> None:
    """Settle what critics read of all texts, from a sample of each; see `SettlingMixin`."""
    settling = [c for c in critics if isinstance(c, SettlingMixin)]
    if not settling:
        return
    samples = []
    for name, path in texts.paths.items():
        with timed.stage("reading", f"a sample of {name}"):
            drawn = read_sample(path, ANALYSED, reading, seed).corpus
        drawn.name = name
        samples.append(drawn)
    for critic in settling:
        settled(critic, samples)


def _stored(
    large: LargeTexts,
    critics: Sequence[Critic[Any]],
    fit: FitText,
    reading: ReadingOptions,
    scoring: Scoring,
    reuse: Reuse | None,
    timed: Timed,
) -> list[StoredText]:
    """Score the texts that were not scored before, and open the rows of all."""
    folders = _saved(critics, large, scoring)
    stored = []
    for name in ("real", *(n for n in {**large.paths, **large.rows} if n != "real")):
        if name in large.rows:
            stored.append(StoredText(large.rows[name], name))
            continue
        out = scoring.folder / _safe(name)
        if name == "real" and reuse is not None and not out.exists():
            _linked(reuse.folder.path / ROWS / "real", out)
        _score(large.paths[name], name, folders, out, reading, scoring, timed)
        stored.append(StoredText(out, name, fit.keep if name == "real" else None))
    if (scoring.folder / FITTED).exists():
        delete_folder(scoring.folder / FITTED)  # the rows of each text hold the critics, too
    return stored


def _linked(rows: Path, out: Path) -> None:
    """Give a run the rows of an earlier one; they are scored again if anything that they depend on has changed."""
    if RowFolder(rows).holds_rows():
        copy_folder(rows, out, linked=True)


def _saved(critics: Sequence[Critic[Any]], large: LargeTexts, scoring: Scoring) -> list[Path]:
    """Folders of the fitted critics, from which processes load them."""
    if large.rows:
        folder = RowFolder(next(iter(large.rows.values())))
        return [folder.critic(c.name) for c in critics]
    for critic in critics:
        critic.save(scoring.folder / FITTED / critic.name)
    return [scoring.folder / FITTED / critic.name for critic in critics]


def _score(
    path: str, name: str, critics: Sequence[Path], out: Path, reading: ReadingOptions, scoring: Scoring, timed: Timed
) -> None:
    """Score a text; parts that are finished are kept, unless critics or texts have changed."""

    def run(resume: bool) -> None:
        with timed.stage("scoring", name) as advance:
            score_parts(
                critics,
                [path],
                out,
                workers=scoring.workers,
                resume=resume,
                overwrite=not resume,
                reading=reading,
                device=scoring.device,
                trust=[*scoring.trust, *critics],
                progress=lambda state: advance(state.documents),
            )

    try:
        run(resume=True)
    except OtherPlanError:
        run(resume=False)


def _safe(name: str) -> str:
    """A name of a folder for a text of any name."""
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:40]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
