"""What a critic shows beside its verdicts: evidence, example documents, outliers and human text to read beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from momus.critic import EvidenceMixin, Note, Pooled
from momus.critic.rows import Summary, take_rows
from momus.critic.scoring import pools_rows
from momus.engine.measured import Measured
from momus.joint.axes import distribution, shown_axis
from momus.numeric.types import Ints
from momus.progress import Timed
from momus.runs.examples import Example, compared_rows, find_examples, find_outliers, find_references
from momus.runs.result import CriticResult
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.evidence import Evidence, MarkedDocument
    from momus.joint.axes import AxisRows


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
    return find_examples(critic, sides, (real, scores), compared_rows(real, scores, settings.paired), values, higher)


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
