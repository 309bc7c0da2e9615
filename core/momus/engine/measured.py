"""A critic fitted on the real text, and its scores of all texts of a comparison, wherever these come from.

Texts in memory are scored here; texts in their files were scored part by part before; where the reference is text of a
model, critics of folds score it. What follows asks no more which of these it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from momus.critic.hooks import settled, tokenizer_of
from momus.critic.scores import Scores
from momus.engine.crossfit import cross_scored
from momus.engine.reuse import Reuse
from momus.errors import StoreError
from momus.joint.axes import axis_of
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.runs.folder import RunFolder
from momus.runs.kept import write_scores
from momus.runs.result import Again
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.joint.axes import AxisRows


@dataclass(frozen=True)
class Measured:
    """A fitted critic, and its scores of the texts.

    Attributes
    ----------
    scored
        Scores of the reference and of each generated text, which are tested.
    again
        What an earlier run did not spare this one.
    shown
        The scores that evidence is made of.
    reverse
        Where the reference is text of a model: its scores under critics fitted on each new text. None elsewhere.
    """

    critic: Critic[Any]
    texts: Texts
    scored: list[Scores]
    shown: list[Scores]
    again: tuple[Again, ...] = ()
    reverse: list[Scores] | None = None

    @cached_property
    def sampled(self) -> list[Scores]:
        """The scores of the documents that all axes are analysed on together."""
        return [s if rows is None else s.take(rows) for s, rows in zip(self.scored, self.texts.samples, strict=True)]

    @cached_property
    def axis(self) -> AxisRows | None:
        """Headline rows of these documents."""
        return axis_of(self.critic, self.sampled)

    @property
    def placed_axis(self) -> AxisRows | None:
        """Headline rows of all documents, scored in the sample only."""
        sizes = {s.corpus: len(s) for s in self.scored}
        return None if self.axis is None else self.axis.placed(self.texts.samples_by_name, sizes)


def measured(
    critic: Critic[Any], texts: Texts, settings: Settings, folder: RunFolder | None, reuse: Reuse | None, timed: Timed
) -> Measured:
    """Fit a critic or take over what an earlier run fitted, keep it in the run folder, and score the texts.

    Raises
    ------
    FittingError, MissingExtraError
        The critic cannot be fitted on this text, or lacks a package.
    """
    # critics of folds cannot be taken over from an earlier run
    if settings.against:
        scored, shown, reverse = cross_scored(critic, texts, settings, timed, folder)
        return Measured(critic, texts, scored, shown, reverse=reverse)
    measurement = _from_parts(critic, texts, timed) if texts.in_parts else _in_memory(critic, texts, reuse, timed)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
        # otherwise the rows in the folder hold these scores
        if not texts.in_parts:
            write_scores(measurement.scored[0], texts.real, folder.critic_folder(critic.name))
    return measurement


def _from_parts(critic: Critic[Any], texts: Texts, timed: Timed) -> Measured:
    """Read the scores of texts that were scored part by part."""
    with timed.stage("reading", "scores"):
        scored = [stored.scores(critic.name) for stored in texts.stored]
    return_memory()
    return Measured(critic, texts, scored, scored, tuple(a for a in [texts.again.get(critic.name)] if a is not None))


def _in_memory(critic: Critic[Any], texts: Texts, reuse: Reuse | None, timed: Timed) -> Measured:
    """Fit, and score texts that are in memory; of the real one, scores of an earlier run serve that are the same."""
    again = fitted(critic, texts, reuse, timed)
    kept: Scores | None = None
    # scores of the real text are valid under the same fit alone
    if reuse is not None and not again:
        with timed.stage("loading"):
            try:
                kept = reuse.real(critic, texts)
            except StoreError as error:
                again = (Again(critic.name, "scored", error.message),)
    needed = [*([texts.real] if kept is None else []), *texts.generated]
    _split_words(critic, needed, timed)
    # what is settled changed with the new texts: scores of the real one are no longer those of this critic
    if settled(critic, (texts.real, *texts.generated)):
        kept, needed = None, [texts.real, *texts.generated]
    scored = [] if kept is None else [kept]
    for corpus in needed:
        with timed.stage("scoring", corpus.name, len(corpus)) as advance:
            scored.append(critic.score(corpus, progress=advance))
    return Measured(critic, texts, scored, scored, again)


def fitted(
    critic: Critic[Any],
    texts: Texts,
    reuse: Reuse | None,
    timed: Timed,
    fit: Callable[[], object] | None = None,
    what: str = "",
) -> tuple[Again, ...]:
    """Fit a critic, unless an earlier run fitted it on the same text.

    Parameters
    ----------
    fit
        Fits it part by part; None: on the text to fit on as a whole.
    what
        Completes the label of the stage.

    Returns
    -------
    Why the earlier run did not serve, if there is one that did not.
    """
    why = ""
    if reuse is not None:
        with timed.stage("loading"):
            why = reuse.fit(critic, texts)
        if not why:
            return ()
    if fit is None:
        _split_words(critic, [texts.fit], timed)
        fit = partial(critic.fit, texts.fit)
    with reporting(timed.inner), timed.stage("fitting", what):
        fit()
    return () if reuse is None else (Again(critic.name, "fitted", why),)


def _split_words(critic: Critic[Any], corpora: Sequence[Corpus], timed: Timed) -> None:
    """Split texts into the words that a critic reads, once for all critics that read them."""
    if (tokenizer := tokenizer_of(critic)) is None:
        return
    for corpus in corpora:
        with timed.stage("tokenizing", corpus.name):
            corpus.tokens(tokenizer)
