"""A critic fitted on the real text, its scores of all texts of a comparison, and what it shows beside its verdicts.

Texts in memory are scored here; texts in their files were scored part by part before; where the reference is text of a
model, critics of folds score it. What follows asks no more which of these it was. A critic shows evidence, example
documents, outliers and human text to read beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from momus.critic import Critic, EvidenceMixin, Note, Pooled
from momus.critic.hooks import settled, tokenizer_of
from momus.critic.rows import Summary, take_rows
from momus.critic.scores import Scores
from momus.critic.scoring import pools_rows
from momus.engine.crossfit import cross_scored
from momus.engine.reuse import Reuse
from momus.errors import StoreError
from momus.evidence import Evidence, MarkedDocument
from momus.joint.axes import AxisRows, axis_of, distribution, shown_axis
from momus.numeric.types import Ints
from momus.processes import return_memory
from momus.progress import Timed, reporting
from momus.runs.examples import Example, compared_rows, find_examples, find_outliers, find_references
from momus.runs.folder import RunFolder
from momus.runs.kept import write_scores
from momus.runs.result import Again, CriticResult
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict


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
    """

    critic: Critic[Any]
    texts: Texts
    scored: list[Scores]
    shown: list[Scores]
    again: tuple[Again, ...] = ()

    @cached_property
    def sampled(self) -> list[Scores]:
        """The scores of the documents that all axes are analysed on together."""
        return [s if rows is None else s.take(rows) for s, rows in zip(self.scored, self.texts.samples, strict=True)]

    @cached_property
    def axis(self) -> AxisRows | None:
        """Headline rows of these documents."""
        return axis_of(self.critic, self.sampled)


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
        return Measured(critic, texts, *cross_scored(critic, texts, settings, timed, folder))
    if texts.in_parts:
        with timed.stage("reading", "scores"):
            scored = [stored.scores(critic.name) for stored in texts.stored]
        return_memory()
        again = texts.again.get(critic.name)
        measurement = Measured(critic, texts, scored, scored, () if again is None else (again,))
    else:
        measurement = _in_memory(critic, texts, reuse, timed)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
        # otherwise the rows in the folder hold these scores
        if not texts.in_parts:
            write_scores(measurement.scored[0], texts.real, folder.critic_folder(critic.name))
    return measurement


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


def with_shown(result: CriticResult, measurement: Measured, settings: Settings, timed: Timed) -> CriticResult:
    """The result with what its critic shows of each generated text."""
    critic, axis = measurement.critic, measurement.axis
    shown = None if axis is None else shown_axis(critic, measurement.sampled, axis)
    evidence: list[tuple[str, Sequence[Evidence]]] = []
    outliers: list[MarkedDocument] = []
    references: list[Example] = []
    examples: list[Example] = []
    for k, corpus in enumerate(measurement.texts.generated, 1):
        with timed.stage("evidence", corpus.name):
            # outliers below need one text, all the rest compares two
            if measurement.scored[0].n_scored and measurement.scored[k].n_scored:
                rows = (
                    None
                    if shown is None
                    else compared_rows(measurement.scored[0], measurement.scored[k], settings.paired)
                )
                evidence.append((corpus.name, evidence_of(measurement, k, rows)))
                if shown is not None:
                    of_text = [v for v in result.verdicts if v.generated == corpus.name]
                    examples += examples_of(measurement, k, of_text, shown, settings)
            oddest = find_outliers(critic, corpus, measurement.scored[k], settings.top)
            sides, scores = (measurement.texts.analysed[0], corpus), (measurement.sampled[0], measurement.scored[k])
            references += find_references(critic, sides, scores, oddest)
            outliers += oddest
    return replace(
        result,
        evidence=evidence,
        outliers=outliers,
        odd_real=find_outliers(critic, measurement.texts.real, measurement.scored[0], settings.top),
        references=references,
        examples=examples,
        distribution=None if shown is None else distribution(critic, shown, measurement.texts.real.name),
    )


def examples_of(
    measurement: Measured, k: int, verdicts: Sequence[Verdict], shown: AxisRows, settings: Settings
) -> list[Example]:
    """Documents of a generated text that show what its leading statistic says, where that is a value of documents."""
    critic, axis = measurement.critic, measurement.axis
    assert axis is not None
    real, scores = measurement.sampled[0], measurement.sampled[k]
    leading = next((v for v in verdicts if v.leads and v.wording.direction), None)
    # examples show what the first screen says, where documents have values of it
    by = shown if leading is None else shown_axis(critic, [real, scores], axis, leading.statistic)
    speaking = next((v for v in verdicts if v.statistic == by.statistic.name), None)
    higher = speaking is None or (speaking.difference or 0.0) >= 0
    values = by.values[real.corpus], by.values[scores.corpus]
    sides = measurement.texts.analysed[0], measurement.texts.analysed[k]
    tested = compared_rows(real, scores, settings.paired)
    moved = bool(settings.against) and None not in sides[1].prompts
    return find_examples(critic, sides, (real, scores), tested, values, higher, moved=moved)


def evidence_of(measurement: Measured, k: int, rows: tuple[Ints, Ints] | None) -> Sequence[Evidence]:
    """Evidence from the documents of the test, given by row; None: of all scored documents."""
    if not isinstance(measurement.critic, EvidenceMixin):
        return []
    real, generated = (
        _summary(measurement, side, of_side) for side, of_side in zip((0, k), rows or (None, None), strict=True)
    )
    return [] if real is None or generated is None else measurement.critic.evidence(real, generated)


def few_notes(measurement: Measured) -> list[Note]:
    """Say that evidence comes from some of the documents: of texts in their files, where it needs their latents."""
    limit = measurement.texts.real.readable
    if limit is None or not isinstance(measurement.critic, EvidenceMixin) or pools_rows(measurement.critic):
        return []
    if not any(s.summary is None and s.n_scored > limit for s in measurement.scored):
        return []
    return [Note(f"Its evidence is made of at most {limit:,} documents of each text, drawn at random.")]


def _summary(measurement: Measured, side: int, rows: Ints | None) -> Summary | None:
    """The summary of the documents of a text in these rows; None: of all.

    A summary that pools the rows of documents is made from these; others need the latents, and these another scoring.
    """
    critic, scores = measurement.critic, measurement.shown[side]
    # as many rows as scored documents are all of them
    if scores.summary is not None and (rows is None or len(rows) == scores.n_scored):
        return scores.summary
    rows = np.flatnonzero(scores.scored) if rows is None else rows
    if isinstance(critic, EvidenceMixin) and type(critic).summarize is EvidenceMixin.summarize:
        return Pooled.of_rows({key: take_rows(table, rows) for key, table in scores.rows.items()}, len(rows))
    corpus = (measurement.texts.real, *measurement.texts.generated)[side]
    # canonical order is that of hashes, so the first documents are drawn at random
    return critic.score(corpus.take(rows[: corpus.readable])).summary
