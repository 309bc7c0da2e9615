"""The outlier documents of a run under one critic: their ranks, the reason in words, and texts that the run keeps.

And the documents that have a kind of fault, such as those that break off.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from momus.errors import UsageError
from momus.evidence import MarkedDocument, Step, Table
from momus.numeric.types import Floats
from momus.outliers.rows import OddDocument, OutlierRows, median_of, outlier_rows
from momus.runs.answer import answer_of
from momus.runs.folder import read_results
from momus.runs.result import CriticResult, Results
from momus.text.counting import documents_of
from momus.visible import visible

if TYPE_CHECKING:
    import pandas as pd

SHOWN_STEPS = 3
"""Steps of a document that its reason names."""
COPIED = ("id", "critic", "corpus", "value", "first", "last", "steps", "prompt", "group", "z")
"""Columns of the rows that an outlier has too."""
OUTLIER_COLUMNS = ("critic", "corpus", "rank", "id", "prompt", "group", "value", "unit", "z", "unlikely", "why")


@dataclass(frozen=True, kw_only=True)
class Outlier(OddDocument):
    """A document among those of its corpus.

    Attributes
    ----------
    first, last
        Its rank among the scored documents of its corpus, 1 for the oddest. Documents with equal values share the ranks
        from ``first`` to ``last``.
    steps
        Number of scored steps.
    above
        Share of the human documents that are less odd; None if there are none.
    why
        Why it is listed, in words.
    prompt, group, z
        Its prompt, its group, and its latents in a few words; None if it has none.
    document
        The document as the critic sees it; None if the run does not keep it.
    human
        Human text to compare it with; None if the run does not keep any. It answers the same prompt if
        ``same_prompt``, else it is typical of human text.
    """

    corpus: str
    first: int
    last: int
    steps: int
    above: float | None
    why: str
    prompt: str | None = None
    group: str | None = None
    z: str | None = None
    document: MarkedDocument | None = None
    human: MarkedDocument | None = None
    same_prompt: bool = False


@dataclass(frozen=True)
class Listing:
    """The outliers of one critic.

    Attributes
    ----------
    noun
        What is listed: ``document``, or the unit of a critic of running text, such as ``block``.
    unit
        Unit of the values.
    typical
        Median value of the human documents; None if there are none.
    scored
        Number of scored documents by corpus.
    tied
        By corpus, how many documents have the value of the last one that is listed, but are not listed.
    kept
        Number of outliers per corpus of which the run keeps the texts.
    """

    critic: str
    axis: str
    noun: str
    unit: str
    typical: float | None
    outliers: tuple[Outlier, ...]
    scored: dict[str, int]
    tied: dict[str, int]
    kept: int


def listed(run: Results | str | Path, critic: str | None = None, top: int = 10, corpus: str | None = None) -> Listing:
    """List the ``top`` oddest documents of each generated corpus, or of one corpus, under one critic.

    Parameters
    ----------
    run
        A comparison, or a run folder.
    critic
        Name of the critic; default: that on whose axis some text is farthest from human text.

    Raises
    ------
    UsageError
        The run has no such critic or corpus, or ``top`` is below 1.
    StoreError
        The table of documents is missing or damaged.
    """
    comparison = run if isinstance(run, Results) else read_results(run)
    name = answer_of(comparison).axes[0].critic if critic is None else critic
    (listing,) = _listings(comparison, outlier_rows(comparison, [name], corpus), top)
    return listing


def outliers_frame(
    comparison: Results, critic: str | None = None, corpus: str | None = None, top: int = 10
) -> pd.DataFrame:
    """Tabulate the oddest documents of each critic and corpus, as `Comparison.outliers` says."""
    import pandas as pd

    rows = outlier_rows(comparison, None if critic is None else [critic], corpus)
    records = [
        vars(o) | {"rank": o.first, "unlikely": named_steps(o.document)}
        for listing in _listings(comparison, rows, top)
        for o in listing.outliers
    ]
    # texts stay Python objects, so that what is missing is None
    frame = pd.DataFrame({c: pd.Series([r[c] for r in records], dtype=object) for c in OUTLIER_COLUMNS})
    return frame.astype({"rank": np.int64, "value": np.float64})


def _listings(comparison: Results, rows: OutlierRows, top: int) -> Iterator[Listing]:
    """The outliers of each critic."""
    if top < 1:
        raise UsageError(f"top is {top}, expected at least 1")
    for result in rows.results:
        noun = result.verdicts[0].unit if result.verdicts else "document"
        odder = "odder" if result.oddity_unit else "less likely"
        real, texts = rows.of_real(result.name), _kept(result)
        typical = median_of(real)
        unit = rows.measures[result.name].unit
        outliers: list[Outlier] = []
        scored, tied = {}, {}
        for corpus in rows.listed:
            ranked = rows.ranked(corpus, result.name)
            scored[corpus] = len(ranked)
            # ranks from `first` to `last` are shared, so `last` counts the ties beyond the end of the list
            tied[corpus] = int(ranked["last"].iloc[top - 1] - top) if len(ranked) >= top else 0
            shown = ranked.head(top).astype(object)
            for row in shown.where(shown.notna(), None).to_dict("records"):  # what is missing is None
                document, human, same_prompt = texts.get((corpus, row["id"]), (None, None, False))
                above, words = standing_of(row["value"], real, noun, odder, rows.real)
                outliers.append(
                    Outlier(
                        **{name: row[name] for name in COPIED},
                        typical=typical,
                        unit=unit,
                        above=above,
                        why=reason_of(document, words, row["z"]),
                        document=document,
                        human=human,
                        same_prompt=same_prompt,
                    )
                )
        kept = int(comparison.signature.get("top", 0))
        yield Listing(result.name, result.axis, noun, unit, typical, tuple(outliers), scored, tied, kept)


def _kept(result: CriticResult) -> dict[tuple[str, str], tuple[MarkedDocument | None, MarkedDocument | None, bool]]:
    """What the run keeps of documents, by corpus and id: the document, human text, and whether their prompt is one."""
    human = {(e.document.corpus, e.document.id): (e.human, e.same_prompt) for e in result.references}
    human |= {(e.document.corpus, e.document.id): (e.human, e.same_prompt) for e in result.examples}
    documents = {(e.document.corpus, e.document.id): e.document for e in result.examples}
    # later ones win: an outlier is marked for its oddness, an example for the statistic that leads
    documents |= {(o.corpus, o.id): o for o in (*result.odd_real, *result.outliers)}
    return {key: (document, *human.get(key, (None, False))) for key, document in documents.items()}


def standing_of(value: float, real: Floats, noun: str, odder: str, of: str = "real") -> tuple[float | None, str]:
    """Share of the real documents with smaller values, which are sorted; and the same in words. None without any.

    ``of`` is the name of their text.

    >>> standing_of(1.9, np.array([1.0, 1.2, 1.3, 2.0]), "document", "less likely")
    (0.75, 'less likely than 75 % of the human documents (median 1.25)')
    """
    if not len(real):
        return None, ""
    # “left”: documents with the same value are not less odd
    above = float(np.searchsorted(real, value, side="left") / len(real))
    # floored: “100 %” must not stand where one human document is odder
    share = "all" if above == 1 else f"{math.floor(100 * above)} % of the"
    return above, f"{odder} than {share} {documents_of(of, noun=f'{noun}s')} (median {median_of(real):.3g})"


def reason_of(document: MarkedDocument | None, standing: str, z: str | None = None) -> str:
    """Say why a document is listed: its standing, what the critic notes of it, and its unlikely steps.

    Parameters
    ----------
    document
        As the critic sees it; None if the run does not keep it.
    z
        Its latents in words, which stand for the steps of a document that has none worth naming.

    >>> odd = MarkedDocument("g", "1", 2.0, "nats", (Step("Notes", "…", 4.0, True, "likeliest: Use"), Step("Use")))
    >>> reason_of(odd, "less likely than all human documents (median 1.25)")
    'less likely than all human documents (median 1.25); unlikely: Notes (likeliest: Use)'
    >>> reason_of(None, "", z="7 words")
    'z: 7 words'
    """
    parts = [standing] if standing else []
    if document is not None and document.note:
        parts.append(_clean(document.note).removesuffix("."))
    steps = named_steps(document)
    if steps:
        parts.append(steps)
    elif z:
        parts.append(f"z: {_clean(z)}")
    return "; ".join(parts) or "the oddest that are scored"


def named_steps(document: MarkedDocument | None) -> str | None:
    """The unlikely steps of a document, the costliest first; if none is marked, its costliest step.

    None if its steps have no value, or there is only one.

    >>> steps = (Step("Use", "", 0.5), Step("Notes", "", 1.5, note="P = .2"))
    >>> named_steps(MarkedDocument("g", "1", 2.0, "nats", steps))
    'least likely step: Notes (P = .2)'
    """
    if document is None:
        return None
    marked = sorted((s for s in document.steps if s.marked), key=lambda s: -(s.value or 0.0))
    if marked:
        names = list(dict.fromkeys(map(_named, marked)))
        more = f" and {len(names) - SHOWN_STEPS:,} more" if len(names) > SHOWN_STEPS else ""
        return f"unlikely: {'; '.join(names[:SHOWN_STEPS])}{more}"
    valued = [s for s in document.steps if s.value is not None and s.label]
    if len(valued) < 2:
        return None
    return f"least likely step: {_named(max(valued, key=lambda s: s.value or 0.0))}"


def _named(step: Step) -> str:
    label, note = _clean(step.label), _clean(step.note)
    return f"{label} ({note})" if note else label


def _clean(text: str) -> str:
    """Text from a document or a critic, on one line and without control characters."""
    return visible(" ".join(text.split()))


@dataclass(frozen=True)
class FaultyDocuments:
    """The documents of one corpus that have a kind of fault.

    Attributes
    ----------
    ids
        Their ids, the least likely first.
    quotes
        What the fault says in some of them, by id.
    total
        Number of all scored documents of the corpus.
    """

    corpus: str
    fault: str
    clause: str
    ids: tuple[str, ...]
    quotes: dict[str, str]
    total: int


def faulty(run: Results | str | Path, fault: str, corpus: str | None = None) -> list[FaultyDocuments]:
    """List the documents of each generated corpus, or of one corpus, that have a fault.

    Parameters
    ----------
    run
        A comparison, or a run folder.
    fault
        Name of the kind of fault, such as ``broken-off``.

    Raises
    ------
    UsageError
        No critic of the run looked for faults, no document has this one, or there is no such corpus.
    """
    comparison = run if isinstance(run, Results) else read_results(run)
    told = [
        (result.name, name, f)
        for result in comparison.results
        for name, items in result.evidence
        for table in items
        if isinstance(table, Table)
        for f in table.faults
    ]
    known = list(dict.fromkeys(f.name for _, _, f in told))
    if fault not in known:
        near = difflib.get_close_matches(fault, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"no document of this run has the fault {fault!r}",
            hint=f"{guess}its faults are {', '.join(known) or 'none: no critic looked for them'}",
        )
    critic, clause = next((c, f.clause) for c, _, f in told if f.name == fault)
    rows = outlier_rows(comparison, [critic], corpus)
    listed = []
    for name in rows.listed:
        ranked = rows.ranked(name, critic)
        has = [fault in str(z or "").split(" → ") for z in ranked["z"]]
        some = next((f for c, n, f in told if (c, n, f.name) == (critic, name, fault)), None)
        quotes = {} if some is None else dict(zip(some.ids, some.quotes, strict=True))
        listed.append(FaultyDocuments(name, fault, clause, tuple(ranked["id"][has]), quotes, len(ranked)))
    return listed
