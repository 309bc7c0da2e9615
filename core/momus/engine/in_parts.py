"""Texts that are too large to be held in memory: critics are fitted, and all texts are then scored part by part.

Every step after this one reads rows, wherever they are: the texts that are returned hold labels in memory, and read
documents and wide rows from their files when they are needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.critic import Critic, MergeableMixin
from momus.critic.guard import blamed
from momus.critic.hooks import AdvancedMixin, moved, settled
from momus.engine.chosen import Chosen
from momus.engine.fitting import FitText, fit_in_parts, read_sample, text_to_fit
from momus.engine.large import LargeTexts, scored_by_parts
from momus.engine.reuse import Reuse
from momus.engine.scoring import OtherPlanError, score_parts
from momus.errors import FittingError, MissingExtraError, MomusError, ReadingError
from momus.outputs import copy_folder, delete_folder
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.reading import TextSource
from momus.rows.folder import RowFolder
from momus.rows.store import StoredText
from momus.runs.manifest import ROWS
from momus.runs.texts import ANALYSED, Texts, read_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import identifier
from momus.text.sketches import TextSketch
from momus.verdicts.settings import Settings

WHOLE = 256 << 20
"""Bytes of all texts together up to which critics that must see a text as a whole run although nobody named them."""
FITTED = ".fitted"
"""Folder of the critics that texts are scored by; no text has such a name."""


@dataclass(frozen=True)
class LargeScoring:
    """Fits critics, unless texts were scored before, and scores what is not, part by part.

    Attributes
    ----------
    large
        The texts.
    folder
        Where rows are written, one folder for each text.
    workers
        Number of processes.
    trust
        Folders of critics that may use adapters.
    reuse
        An earlier run.
    """

    large: LargeTexts
    settings: Settings
    folder: Path
    workers: int
    trust: Sequence[Path]
    reuse: Reuse | None
    timed: Timed

    def score(self, selection: Chosen, fit: TextSource | None, skip_unfit: bool) -> tuple[Texts, Texts | None]:
        """Score the texts.

        Parameters
        ----------
        selection
            The critics; those that can be are fitted afterwards, and those that cannot see such large texts are left
            out.
        fit
            The text to fit on; None: half of the real one.
        skip_unfit
            Whether critics were not named, so that they may be left out.

        Returns
        -------
        The texts scored by parts, and those in memory, for critics that must see them as a whole; None without such.

        Raises
        ------
        MomusError
            A text cannot be read, or no critic can be fitted.
        """
        large, seed = self.large, self.settings.seed
        whole = [c for c in selection.critics if not scored_by_parts(c)]
        critics = [c for c in selection.critics if scored_by_parts(c)]
        if whole and skip_unfit and large.size > WHOLE:
            names = ", ".join(c.name for c in whole)
            selection.warnings.append(
                f"{names} were left out: they read each text as a whole, and the texts have {large.size >> 20:,} MB "
                f"(name them in {arg('critics')} to run them all the same)."
            )
            selection.critics[:], whole = critics, []
        failed: dict[str, MomusError] = {}
        text = FitText(Corpus.from_texts([], name="fit"))
        if not large.rows:
            text = text_to_fit(fit, large, seed, self.timed)
            failed = self._fitted(critics, text, skip_unfit)
            return_memory()
            self._settle([c for c in critics if c.name not in failed], failed, skip_unfit)
        stored = self._stored_without(critics, text, failed, skip_unfit, selection.warnings)
        critics = [c for c in critics if c.name not in failed]
        real, *generated = (stored_text.corpus for stored_text in stored)
        warnings = [text.warning] if text.warning else []
        split = fit is None and not large.rows
        texts = Texts(text.corpus, real, list(generated), split, warnings, seed=seed, failed=failed)
        if large.rows:
            texts.warnings += _known(stored, critics)
        with self.timed.stage("checking", "texts"):
            texts = _checked(texts, stored, text)
        for stored_text in stored:
            _ = stored_text.corpus.unspaced  # kept, while the rest of the sketch is not needed any more
            stored_text.forget_sketch()
        text.corpus.forget_tokens()
        identifier.cache_clear()
        return_memory()
        if not whole:
            return texts, None
        with self.timed.stage("reading", "whole texts"):
            others = {name: source for name, source in large.sources.items() if name != "real"}
            reading, reporter = large.reading, self.timed.inner
            plain = read_texts(large.sources["real"], others, fit, seed, reading, reporter, check=False)
        return texts, replace(plain, checks=texts.checks, languages=texts.languages, scripts=texts.scripts)

    def _fitted(self, critics: Sequence[Critic[Any]], fit: FitText, skip_unfit: bool) -> dict[str, MomusError]:
        """Fit critics; the error of each that cannot be fitted on this text, by name."""
        failed: dict[str, MomusError] = {}
        texts = Texts(fit.corpus, fit.corpus, [], False, [])
        for critic in critics:
            try:
                with blamed(critic):
                    moved(critic, self.settings.device)
                    if self.reuse is not None and self.reuse.fitted(critic, texts):
                        continue
                    with reporting(self.timed.inner), self.timed.stage("fitting", critic.name, len(fit.corpus)):
                        if fit.path is not None and isinstance(critic, MergeableMixin):
                            fit_in_parts(critic, fit.path, self.large.reading, self.workers)
                        else:
                            critic.fit(fit.corpus)
            except MomusError as error:
                if isinstance(error, FittingError | MissingExtraError):  # of its counts, say
                    error.critic = critic.name
                if not (skip_unfit and error.critic):
                    raise
                failed[critic.name] = error
        return failed

    def _settle(self, critics: Sequence[Critic[Any]], failed: dict[str, MomusError], skip_unfit: bool) -> None:
        """Settle what critics read of all texts, from a sample of each; see `AdvancedMixin`."""
        settling = [c for c in critics if isinstance(c, AdvancedMixin)]
        if not settling:
            return
        samples = []
        for name in self.large.sources:
            with self.timed.stage("reading", f"a sample of {name}"):
                path, seed = self.large.path(name), self.settings.seed
                drawn = read_sample(path, ANALYSED, self.large.reading, seed).corpus
            drawn.name = name
            samples.append(drawn)
        for critic in settling:
            try:
                settled(critic, samples)
            except MomusError as error:
                if not (skip_unfit and error.critic):
                    raise
                failed[critic.name] = error

    def _stored_without(
        self,
        critics: Sequence[Critic[Any]],
        fit: FitText,
        failed: dict[str, MomusError],
        skip_unfit: bool,
        warnings: list[str],
    ) -> list[StoredText]:
        """Score the texts; a critic that fails on the way is left out, and the others score them from the start.

        Raises
        ------
        FittingError
            All critics have failed.
        """
        while True:
            if critics and len(failed) == len(critics):
                reasons = " ".join(f"{n}: {e.message}." for n, e in failed.items())
                raise FittingError(
                    f"no critic can be fitted on this text: {reasons}", hint=f"give more real text with {arg('fit')}"
                )
            try:
                return self._stored([c for c in critics if c.name not in failed], fit, warnings)
            except MomusError as error:
                if not (skip_unfit and error.critic):
                    raise
                failed[error.critic] = error
                warnings = []  # why the text is scored again is told as the reason of the critic

    def _stored(self, critics: Sequence[Critic[Any]], fit: FitText, warnings: list[str]) -> list[StoredText]:
        """Score the texts that were not scored before, and open the rows of all; ``warnings`` say what is repeated."""
        folders = self._saved(critics)
        stored = []
        for name in self.large.sources:
            if name in self.large.rows:
                stored.append(StoredText(self.large.rows[name], name))
                continue
            out = self.folder / _safe(name)
            if name == "real" and self.reuse is not None and not out.exists():
                rows = self.reuse.folder.path / ROWS / "real"
                if RowFolder(rows).holds_rows():  # scored again if anything that they depend on has changed
                    copy_folder(rows, out, linked=True)
            try:
                self._score(name, folders, out, resume=True)
            except OtherPlanError as error:
                if not (name == "real" and self.reuse is not None):  # of which `Reuse` says what differs
                    warnings.append(f"{name!r} was scored again: {error.changed}.")
                self._score(name, folders, out, resume=False)
            stored.append(StoredText(out, name, fit.keep if name == "real" else None))
        if (self.folder / FITTED).exists():
            delete_folder(self.folder / FITTED)  # the rows of each text hold the critics, too
        return stored

    def _saved(self, critics: Sequence[Critic[Any]]) -> list[Path]:
        """Folders of the fitted critics, from which processes load them."""
        if self.large.rows:
            rows = RowFolder(next(iter(self.large.rows.values())))
            return [rows.critic(c.name) for c in critics]
        for critic in critics:
            critic.save(self.folder / FITTED / critic.name)
        return [self.folder / FITTED / critic.name for critic in critics]

    def _score(self, name: str, critics: Sequence[Path], out: Path, resume: bool) -> None:
        """Score a text; with ``resume``, parts that are finished are kept, unless critics or texts have changed."""
        with self.timed.stage("scoring", name) as advance:
            score_parts(
                critics,
                [self.large.path(name)],
                out,
                workers=self.workers,
                resume=resume,
                overwrite=not resume,
                reading=self.large.reading,
                device=self.settings.device,
                trust=[*self.trust, *critics],
                progress=lambda state: advance(state.documents),
            )


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


def _safe(name: str) -> str:
    """A name of a folder for a text of any name."""
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:40]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
