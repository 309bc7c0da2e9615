"""Examples of a difference: documents that show it, beside human text of the same prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from momus.critic import Critic, EvidenceMixin
from momus.critic.hooks import row_unit, scored_units
from momus.critic.powers import has_latents
from momus.critic.scores import Scores, extreme_rows
from momus.evidence import MarkedDocument, Step
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.verdicts.judge import design_of_scores

EXCERPT = 600
"""Characters of a document that are shown where its critic cannot mark it."""
EXAMPLES = 3


@dataclass(frozen=True)
class Example:
    """A generated document that shows a difference, and a human one to compare it with.

    Attributes
    ----------
    document
        The generated document, step by step where its critic can mark it.
    human
        Human text of the same prompt, or the real document that is nearest to the median.
    same_prompt
        Whether both answer the same prompt.
    """

    document: MarkedDocument
    human: MarkedDocument
    same_prompt: bool


def compared_rows(real: Scores, generated: Scores, paired: bool | None) -> tuple[Ints, Ints]:
    """Row numbers of the documents that take part in the test, by side; the others have no score or no partner."""
    design = design_of_scores(real, generated, paired)
    scored = np.flatnonzero(real.scored), np.flatnonzero(generated.scored)
    return scored if design.rows is None else (scored[0][np.sort(design.rows[0])], scored[1][np.sort(design.rows[1])])


def find_examples(
    critic: Critic[Any],
    texts: tuple[Corpus, Corpus],
    scores: tuple[Scores, Scores],
    tested: tuple[Ints, Ints],
    values: tuple[Floats, Floats],
    higher: bool,
    count: int = EXAMPLES,
    moved: bool = False,
) -> list[Example]:
    """Choose the documents of the test that show a difference best.

    Parameters
    ----------
    texts, scores
        The real and the generated corpus, and their scores.
    tested
        Row numbers of the documents of the test, by side.
    values
        One number per document of each side, (n,): what the axis measures; NaN where a document is unscored.
    higher
        Whether the generated documents have higher values; lower ones are shown otherwise.
    moved
        Whether those are chosen whose values differ most from that of the same prompt, where there is one.

    Returns
    -------
    At most ``count`` documents with the most extreme values; ties are broken by id, not by order.
    """
    real, generated = tested
    if not len(real) or not len(generated):
        return []
    measured = values[1] if higher else -values[1]
    if moved:
        of_prompt = {p: values[0][i] * (1 if higher else -1) for i in real.tolist() if (p := texts[0].prompts[i])}
        measured = measured - np.array([of_prompt.get(p, np.nan) for p in texts[1].prompts])
    chosen = extreme_rows(measured, generated[np.isfinite(measured[generated])], texts[1].ids, count).tolist()
    human = _Humans(critic, texts[0], scores[0], real, values[0])
    return [Example(marked(critic, texts[1], scores[1], row), *human.beside(texts[1].prompts[row])) for row in chosen]


def find_references(
    critic: Critic[Any],
    texts: tuple[Corpus, Corpus],
    scores: tuple[Scores, Scores],
    outliers: Sequence[MarkedDocument],
) -> list[Example]:
    """Find human text to read beside each outlier: of its prompt, else the document with the median Latent NLL.

    The outliers come back without their steps. Empty without outliers, and for critics of running text, whose units are
    not documents.
    """
    scored = np.flatnonzero(scores[0].scored)
    if row_unit(critic) != "document" or not len(scored) or not outliers:
        return []
    listed = {outlier.id for outlier in outliers}
    prompts = {i: p for i, p in zip(texts[1].ids, texts[1].prompts, strict=True) if i in listed}
    human = _Humans(critic, texts[0], scores[0], scored, scores[0].outlying(critic.sequence))
    return [Example(replace(outlier, steps=()), *human.beside(prompts[outlier.id])) for outlier in outliers]


class _Humans:
    """Human text to read beside generated documents; each document is marked once."""

    def __init__(self, critic: Critic[Any], corpus: Corpus, scores: Scores, rows: Ints, values: Floats) -> None:
        self.marked = cache(lambda row: marked(critic, corpus, scores, row))
        self.of_prompt = {p: int(i) for i in reversed(rows) if (p := corpus.prompts[i]) is not None}
        self.typical = _median_row(values, rows)

    def beside(self, prompt: str | None) -> tuple[MarkedDocument, bool]:
        """The document of the same prompt, else the one with the median value; and whether the prompt is the same."""
        row = None if prompt is None else self.of_prompt.get(prompt)
        return self.marked(self.typical if row is None else row), row is not None


def unit_of(sequence: bool, declared: str) -> str:
    """Unit of what ranks outliers: that of the critic's own measure, else nats (per step for sequences)."""
    return declared or ("nats per step" if sequence else "nats")


def find_outliers(critic: Critic[Any], corpus: Corpus, scores: Scores, top: int) -> list[MarkedDocument]:
    """Mark the oddest documents, by the critic's own measure, else by Latent NLL (per step; Deng et al. 2022).

    A critic without either has no outliers.
    """
    if scores.oddity is None and not has_latents(critic):
        return []
    rows = scores.ranked(critic.sequence, top)
    # without their tokens: the vocabulary of all documents would slow each of them
    units = scored_units(critic, corpus)
    few, of_few = Corpus(units.take(rows).table, units.name), scores.take(rows)
    return [marked(critic, few, of_few, row) for row in range(len(few))]


def marked(critic: Critic[Any], corpus: Corpus, scores: Scores, row: int) -> MarkedDocument:
    """Mark one document; where the critic cannot, its beginning is the only step."""
    document = corpus.slice(row, row + 1)
    value = float(scores.outlying(critic.sequence)[row])
    unit = unit_of(critic.sequence, critic.reporting.oddity_unit)
    explained = critic.explain(document) if isinstance(critic, EvidenceMixin) else None
    steps = tuple(explained.steps) if explained else (Step("text", document[0].text[:EXCERPT]),)
    note = explained.note if explained else ""
    return MarkedDocument(corpus.name, document.ids[0], value if np.isfinite(value) else 0.0, unit, steps, note)


def _median_row(values: Floats, rows: Ints) -> int:
    """The row whose value is nearest to the median; the first if none is finite."""
    some = values[rows]
    if not np.isfinite(some).any():
        return int(rows[0])
    return int(rows[np.nanargmin(np.abs(some - np.nanmedian(some)).round(9))])
