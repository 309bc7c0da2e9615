"""Texts that are too large to be held in memory: critics are fitted, and all texts are then scored part by part.

Every step after this one reads rows, wherever they are: the texts that are returned hold labels in memory, and read
documents and wide rows from their files when they are needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.arguments import arg
from momus.critic import Critic, MergeableMixin
from momus.critic.hooks import AdvancedMixin, moved, settled
from momus.engine.chosen import check_asked, none_fitted
from momus.engine.fitting import FitText, fit_in_parts, read_sample, text_to_fit
from momus.engine.large import LargeTexts, preview, scored_by_parts, without_costly
from momus.engine.measured import fitted
from momus.engine.scoring import OtherPlanError, score_parts
from momus.engine.worker import CriticFolders
from momus.errors import CriticError, ReadingError, UsageError
from momus.outputs import delete_folder
from momus.processes import return_memory, usable_cores
from momus.progress import reporting
from momus.rows.folder import CRITICS
from momus.rows.store import StoredText
from momus.runs.manifest import ROWS
from momus.runs.result import Again
from momus.runs.texts import ANALYSED, Texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import identifier
from momus.text.sketches import TextSketch

if TYPE_CHECKING:
    from momus.engine.compare import Run

FITTED = ".fitted"
"""Folder of the critics that texts are scored by, as in a folder of rows; no text has such a name."""


def scored_in_parts(run: Run, large: LargeTexts) -> Texts:
    """Fit critics on texts that stay in their files, score what was not scored before, and check the texts.

    Raises
    ------
    MomusError
        An option does not suit the texts, one of them cannot be read, or no critic can be fitted.
    """
    request, settings = run.request, run.settings
    if settings.without:
        raise UsageError(f"{arg('without')} needs texts that are read whole", hint="give smaller texts, or filter them")
    # on a preview: a wrong option must not come to light after hours of scoring
    check_asked(settings, run.selection.critics, preview(request, large))
    folder = run.work_folder() / ROWS
    if request.unnamed:
        run.selection = without_costly(run.selection, large)
    text, again = FitText(Corpus.from_texts([], name="fit")), dict[str, Again]()
    if not large.rows:
        text = text_to_fit(run, large)
        again = _fitted(run, text)
        return_memory()
        # after all fits: a critic that failed settles nothing
        _settle(run)
    stored, warnings = _stored(run, large, text, folder)
    real, *generated = (of_text.corpus for of_text in stored)
    warnings += [text.warning] if text.warning else []
    warnings += _known(stored, _by_parts(run)) if large.rows else []
    split = request.fit is None and not large.rows
    texts = Texts(text.corpus, real, list(generated), split, warnings, seed=settings.seed, stored=stored, again=again)
    with run.timed.stage("checking", "texts"):
        texts = _checked(texts, text)
    for of_text in stored:
        _ = of_text.corpus.unspaced  # kept, while the rest of the sketch is not needed any more
        of_text.forget_sketch()
    text.corpus.forget_tokens()
    identifier.cache_clear()
    return_memory()
    return texts


def _by_parts(run: Run) -> list[Critic[Any]]:
    """The critics that score documents by themselves and have not failed."""
    return [c for c in run.selection.critics if scored_by_parts(c)]


def _fitted(run: Run, text: FitText) -> dict[str, Again]:
    """Fit the critics; by name, why an earlier run did not serve."""
    texts = Texts(text.corpus, text.corpus, [], False, [])
    done_again = {}
    for critic in _by_parts(run):
        fit: Callable[[], object] = partial(critic.fit, text.corpus)
        # counts add up over parts of the whole text; others get the sample in `text.corpus`
        if text.path is not None and isinstance(critic, MergeableMixin):
            fit = partial(fit_in_parts, critic, text.path, run.request.reading.named("fit"), _workers(run))
        with run.selection.attempt(critic, named=not run.request.unnamed):
            moved(critic, run.settings.device)
            for again in fitted(critic, texts, run.earlier, run.timed, fit, critic.name):
                done_again[critic.name] = again
    if not run.selection.critics:
        raise none_fitted([*run.selection.warnings, *run.selection.left_out_warnings])
    return done_again


def _workers(run: Run) -> int:
    return usable_cores() if run.request.jobs is None else run.request.jobs


def _settle(run: Run) -> None:
    """Settle what critics read of all texts, from a sample of each; see `AdvancedMixin`."""
    settling = [c for c in _by_parts(run) if isinstance(c, AdvancedMixin)]
    samples = []
    for name, source in run.request.sources.items() if settling else ():
        with run.timed.stage("reading", f"a sample of {name}"):
            sample, _, _ = read_sample(str(source), ANALYSED, run.request.reading.named(name), run.settings.seed)
        sample.name = name
        samples.append(sample)
    for critic in settling:
        with run.selection.attempt(critic, named=not run.request.unnamed):
            settled(critic, samples)


def _stored(run: Run, large: LargeTexts, text: FitText, folder: Path) -> tuple[list[StoredText], list[str]]:
    """Score the texts that were not scored before, and open the rows of all; and say which were scored again."""
    # saved, since other processes load them, and rows name them by the digest of their files
    critics = _saved(run, large, folder)
    stored, warnings = [], []
    for name in run.request.sources:
        if name in large.rows:
            stored.append(StoredText(large.rows[name], name))
            continue
        out = folder / _safe(name)
        # only the real text of the earlier run is the same by intention; generated ones are new
        lent = name == "real" and run.earlier is not None
        if lent and run.earlier is not None:
            run.earlier.lend_parts(out)
        try:
            # first as if nothing had changed: what is the same is decided by the plan, not here
            _score(run, name, critics, out, resume=True)
        except OtherPlanError as error:
            if not (lent or critics.failed or run.selection.failed):  # else the critics say what differs
                warnings.append(f"{name!r} was scored again: {error.changed}.")
            _score(run, name, critics, out, resume=False)
        stored.append(StoredText(out, name, text.keep if name == "real" else None))
    for critic, reason in critics.failed.items():
        run.selection.leave_out(critic, CriticError(reason, critic=critic), named=False)
    if (folder / FITTED).exists():
        delete_folder(folder / FITTED)  # the rows of each text hold the critics, too
    return stored, warnings


def _saved(run: Run, large: LargeTexts, folder: Path) -> CriticFolders:
    """Folders of the fitted critics, from which processes load them."""
    critics = _by_parts(run)
    if large.rows:
        place = next(iter(large.rows.values())) / CRITICS
    else:
        place = folder / FITTED / CRITICS
        for critic in critics:
            critic.save(place / critic.name)
    paths = {critic.name: place / critic.name for critic in critics}
    return CriticFolders(paths, set() if run.request.unnamed else {*paths})


def _score(run: Run, name: str, critics: CriticFolders, out: Path, *, resume: bool) -> None:
    """Score a text; with ``resume``, parts that are finished are kept, unless critics or texts have changed."""
    with reporting(run.timed.inner), run.timed.stage("scoring", name):
        score_parts(
            critics,
            [str(run.request.sources[name])],
            out,
            workers=_workers(run),
            resume=resume,
            overwrite=not resume,
            reading=run.request.reading.named(name),
            device=run.settings.device,
            trust=[*run.request.trust, *critics.paths.values()],
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
