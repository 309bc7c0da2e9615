"""Texts that are too large to be held in memory: critics are fitted, and all texts are then scored part by part.

Every step after this one reads rows, wherever they are: the texts that are returned hold labels in memory, and read
documents and wide rows from their files when they are needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from momus.critic import Critic, MergeableMixin
from momus.critic.hooks import AdvancedMixin, moved, settled
from momus.engine.chosen import Chosen
from momus.engine.fitting import FitText, fit_in_parts, read_sample, text_to_fit
from momus.engine.large import LargeTexts, scored_by_parts
from momus.engine.measured import fitted
from momus.engine.reuse import Reuse
from momus.engine.scoring import OtherPlanError, score_parts
from momus.engine.worker import CriticFolders
from momus.errors import CriticError, ReadingError
from momus.outputs import delete_folder
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.reading import TextSource
from momus.rows.folder import CRITICS
from momus.rows.store import StoredText
from momus.runs.result import Again
from momus.runs.texts import ANALYSED, Texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import identifier
from momus.text.sketches import TextSketch
from momus.verdicts.settings import Settings

FITTED = ".fitted"
"""Folder of the critics that texts are scored by, as in a folder of rows; no text has such a name."""


@dataclass
class PartsScoring:
    """Fits critics, unless texts were scored before, and scores what is not, part by part.

    Attributes
    ----------
    large
        The texts.
    selection
        The critics of the run; one that fails is left out, unless it was ``named``.
    folder
        Where rows are written, one folder for each text.
    workers
        Number of processes.
    trust
        Folders of critics that may use adapters.
    reuse
        An earlier run.
    again
        Why the earlier run did not serve, by critic.
    """

    large: LargeTexts
    selection: Chosen
    named: bool
    settings: Settings
    folder: Path
    workers: int
    trust: Sequence[Path]
    reuse: Reuse | None
    timed: Timed
    again: dict[str, Again] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def critics(self) -> list[Critic[Any]]:
        """The critics that score documents by themselves and have not failed."""
        return [c for c in self.selection.critics if scored_by_parts(c)]

    def score(self, fit: TextSource | None) -> Texts:
        """Fit the critics, score the texts, and check them.

        Parameters
        ----------
        fit
            The text to fit on; None: half of the real one.

        Raises
        ------
        MomusError
            A text cannot be read, or no critic can be fitted.
        """
        text, split = FitText(Corpus.from_texts([], name="fit")), False
        if not self.large.rows:
            text, split = text_to_fit(fit, self.large, self.settings.seed, self.timed), fit is None
            self._fit(text)
            return_memory()
            # after all fits: a critic that failed settles nothing
            self._settle()
        stored = self._stored(text)
        real, *generated = (of_text.corpus for of_text in stored)
        self.warnings += [text.warning] if text.warning else []
        self.warnings += _known(stored, self.critics) if self.large.rows else []
        texts = Texts(
            text.corpus,
            real,
            list(generated),
            split,
            self.warnings,
            seed=self.settings.seed,
            stored=stored,
            again=self.again,
        )
        with self.timed.stage("checking", "texts"):
            texts = _checked(texts, text)
        for of_text in stored:
            _ = of_text.corpus.unspaced  # kept, while the rest of the sketch is not needed any more
            of_text.forget_sketch()
        text.corpus.forget_tokens()
        identifier.cache_clear()
        return_memory()
        return texts

    def _fit(self, text: FitText) -> None:
        texts = Texts(text.corpus, text.corpus, [], False, [])
        for critic in self.critics:
            fit: Callable[[], object] = partial(critic.fit, text.corpus)
            # counts add up over parts of the whole text; others get the sample in `text.corpus`
            if text.path is not None and isinstance(critic, MergeableMixin):
                fit = partial(fit_in_parts, critic, text.path, self.large.reading.named("fit"), self.workers)
            with self.selection.attempt(critic, named=self.named):
                moved(critic, self.settings.device)
                for again in fitted(critic, texts, self.reuse, self.timed, fit, critic.name):
                    self.again[critic.name] = again
        self.selection.check_any()

    def _settle(self) -> None:
        """Settle what critics read of all texts, from a sample of each; see `AdvancedMixin`."""
        settling = [c for c in self.critics if isinstance(c, AdvancedMixin)]
        samples = []
        for name in self.large.sources if settling else ():
            with self.timed.stage("reading", f"a sample of {name}"):
                path, seed = str(self.large.sources[name]), self.settings.seed
                sample, _, _ = read_sample(path, ANALYSED, self.large.reading.named(name), seed)
            sample.name = name
            samples.append(sample)
        for critic in settling:
            with self.selection.attempt(critic, named=self.named):
                settled(critic, samples)

    def _stored(self, text: FitText) -> list[StoredText]:
        """Score the texts that were not scored before, and open the rows of all."""
        # saved, since other processes load them, and rows name them by the digest of their files
        folders = self._saved()
        stored = []
        for name in self.large.sources:
            if name in self.large.rows:
                stored.append(StoredText(self.large.rows[name], name))
                continue
            out = self.folder / _safe(name)
            # only the real text of the earlier run is the same by intention; generated ones are new
            lent = name == "real" and self.reuse is not None
            if lent and self.reuse is not None:
                self.reuse.lend_parts(out)
            try:
                # first as if nothing had changed: what is the same is decided by the plan, not here
                self._score(name, folders, out, resume=True)
            except OtherPlanError as error:
                if not (lent or folders.failed or self.selection.failed):  # else the critics say what differs
                    self.warnings.append(f"{name!r} was scored again: {error.changed}.")
                self._score(name, folders, out, resume=False)
            stored.append(StoredText(out, name, text.keep if name == "real" else None))
        for critic, reason in folders.failed.items():
            self.selection.leave_out(critic, CriticError(reason, critic=critic), named=False)
        if (self.folder / FITTED).exists():
            delete_folder(self.folder / FITTED)  # the rows of each text hold the critics, too
        return stored

    def _saved(self) -> CriticFolders:
        """Folders of the fitted critics, from which processes load them."""
        folder = self.folder / FITTED / CRITICS
        if self.large.rows:
            folder = next(iter(self.large.rows.values())) / CRITICS
        else:
            for critic in self.critics:
                critic.save(folder / critic.name)
        paths = {critic.name: folder / critic.name for critic in self.critics}
        return CriticFolders(paths, {*paths} if self.named else set())

    def _score(self, name: str, critics: CriticFolders, out: Path, resume: bool) -> None:
        """Score a text; with ``resume``, parts that are finished are kept, unless critics or texts have changed."""
        with reporting(self.timed.inner), self.timed.stage("scoring", name):
            score_parts(
                critics,
                [str(self.large.sources[name])],
                out,
                workers=self.workers,
                resume=resume,
                overwrite=not resume,
                reading=self.large.reading.named(name),
                device=self.settings.device,
                trust=[*self.trust, *critics.paths.values()],
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


def _checked(texts: Texts, fit: FitText) -> Texts:
    """Check the texts by the sketches of their parts."""
    whole, *generated = (text.sketch for text in texts.stored)
    try:
        if fit.keep is None:
            return texts.checked([TextSketch.of(fit.corpus), whole, *generated], None)
        # both halves are of one file, whose sketch the parts made once
        halves = whole.take(np.flatnonzero(~fit.keep), "fit"), whole.take(np.flatnonzero(fit.keep))
        return texts.checked([*halves, *generated], whole)
    except ReadingError as error:
        note = f"Texts were not checked for copies and languages: {error.message}."
        return replace(texts, warnings=[*texts.warnings, note])


def _safe(name: str) -> str:
    """A name of a folder for a text of any name."""
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:40]
    # two names may be one after the replacement, and the hash keeps them apart
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
