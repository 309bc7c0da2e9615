"""The outlier documents of a run under one critic: ranked, with what the run keeps of their texts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from momus.errors import UsageError
from momus.evidence import MarkedDocument, to_json
from momus.numeric.types import Floats, Ints
from momus.runs.folder import RunFolder
from momus.runs.oddity import Standing, is_sequence, outlier_unit, reason_of, values_of
from momus.runs.result import CriticResult
from momus.runs.scored import scored_documents


@dataclass(frozen=True)
class Outlier:
    """One document.

    Attributes
    ----------
    first, last
        Its rank among the scored documents of its corpus, 1 for the least likely. Documents with equal values share
        the ranks from ``first`` to ``last``.
    value
        What ranks it: Latent NLL in nats, per step for sequences, or the critic's own measure; ``steps`` is the number
        of scored steps.
    why
        Why it is listed, in words.
    above
        Share of the human documents that are likelier; None if there are none.
    document
        The document as the critic sees it; None if the run does not keep it.
    human
        Human text to compare it with; None if the run does not keep any. It answers the same prompt if
        ``same_prompt``, else it is typical of human text.
    """

    corpus: str
    id: str
    first: int
    last: int
    value: float
    steps: int
    above: float | None
    why: str
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


def listed_outliers(run: Path, critic: str | None, top: int, corpus: str | None = None) -> Listing:
    """List the ``top`` least likely documents of each generated corpus, or of one corpus.

    Raises
    ------
    UsageError
        The run has no such critic or corpus.
    StoreError
        The table of documents is missing or damaged.
    """
    folder = RunFolder(run)
    record = folder.read_run()
    names = [c["name"] for c in record["critics"]]
    if critic is None:
        critic = largest_gap(run)
    elif critic not in names:
        raise UsageError(f"{run}: this run has no critic {critic!r}", hint=f"it has {', '.join(names)}")
    (result,) = folder.results([critic])
    frame = scored_documents(run, [critic])
    frame["value"] = values_of(frame, is_sequence(result.verdicts, critic))
    real, listed = chosen_corpora(run, record, corpus)
    human = np.sort(frame.loc[frame["corpus"] == real, "value"].to_numpy())
    typical = float(np.median(human)) if len(human) else None
    unit = outlier_unit(result)
    noun = result.verdicts[0].unit if result.verdicts else "document"
    odder = "odder" if result.oddity_unit else "less likely"
    kept = _kept(result)
    outliers: list[Outlier] = []
    scored, tied = {}, {}
    for name in listed:
        rows = frame[frame["corpus"] == name].sort_values(["value", "id"], ascending=[False, True], kind="stable")
        first, last = shared_ranks(rows["value"].to_numpy())
        scored[name] = len(rows)
        tied[name] = int(last[top - 1] - top) if len(rows) >= top else 0
        for i, row in enumerate(rows.head(top).itertuples()):
            above = float(np.searchsorted(human, row.value, side="left") / len(human)) if len(human) else None
            texts = kept.get((name, row.id), (None, None, False))
            why = reason_of(texts[0], Standing(above, typical, noun, odder), getattr(row, "z", None))
            outliers.append(
                Outlier(
                    name, row.id, int(first[i]), int(last[i]), float(row.value), int(row.states), above, why, *texts
                )
            )
    return Listing(critic, result.axis, noun, unit, typical, tuple(outliers), scored, tied, int(record.get("top", 0)))


def largest_gap(run: Path) -> str:
    """The critic on whose axis some text is farthest from human text."""
    from momus.report.answer import answer_of
    from momus.runs.folder import read_comparison

    return answer_of(read_comparison(run)).axes[0].critic


def chosen_corpora(run: Path, record: dict[str, Any], corpus: str | None) -> tuple[str, list[str]]:
    """The name of the real corpus, and those to list: all generated ones, or the one that was asked for."""
    roles = {c["name"]: c["role"] for c in record["corpora"] if c["role"] != "fit"}
    real = next(name for name, role in roles.items() if role == "real")
    if corpus is None:
        return real, [name for name, role in roles.items() if role == "generated"]
    if corpus not in roles:
        raise UsageError(f"{run}: this run has no corpus {corpus!r}", hint=f"it has {', '.join(roles)}")
    return real, [corpus]


def shared_ranks(values: Floats) -> tuple[Ints, Ints]:
    """First and last rank of each of n values, which are sorted from the largest: equal values share their ranks.

    >>> first, last = shared_ranks(np.array([9.0, 7.0, 7.0, 1.0]))
    >>> first.tolist(), last.tolist()
    ([1, 2, 2, 4], [1, 3, 3, 4])
    """
    rising = -np.asarray(values, dtype=np.float64)
    first: Ints = np.searchsorted(rising, rising, side="left") + 1
    last: Ints = np.searchsorted(rising, rising, side="right")
    return first, last


def _kept(result: CriticResult) -> dict[tuple[str, str], tuple[MarkedDocument | None, MarkedDocument | None, bool]]:
    """What the run keeps of documents, by corpus and id: the document, human text, and whether their prompt is one."""
    human = {(e.document.corpus, e.document.id): (e.human, e.same_prompt) for e in result.references}
    human |= {(e.document.corpus, e.document.id): (e.human, e.same_prompt) for e in result.examples}
    documents = {(e.document.corpus, e.document.id): e.document for e in result.examples}
    documents |= {(o.corpus, o.id): o for o in (*result.odd_real, *result.outliers)}
    return {key: (document, *human.get(key, (None, False))) for key, document in documents.items()}


def outliers_json(listing: Listing) -> dict[str, Any]:
    """A listing as plain lists, strings and numbers."""
    rows = []
    for o in listing.outliers:
        texts = {k: None if d is None else to_json(d) for k, d in (("document", o.document), ("human", o.human))}
        rows.append({**asdict(o), **texts})
    return {**asdict(listing), "outliers": rows}
