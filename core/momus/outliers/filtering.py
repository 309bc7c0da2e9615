"""`filter_text`: drop the documents of a text that are no real ones, at a stated false-discovery rate.

Real and new text are scored in shards; the real one calibrates (`momus.inference.conformal`). A first pass over the
scores of the new text gives each document the rank of its p-value, from whose counts the rank follows up to which
documents go; a second pass copies the records. Memory grows by some twenty bytes per document.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.critic import Critic
from momus.critic.registry import critic_class
from momus.engine.scoring import OtherPlanError, ScoringRun, critic_folders, score_parts
from momus.errors import UsageError
from momus.inference.conformal import Calibrated, Judged, fewest_chosen, largest_rank, order_of, q_values
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.filtered import Dropped, Filtered
from momus.outliers.records import RecordWriter, writers
from momus.reading import ReadingOptions
from momus.reading.originals import Originals, read_originals
from momus.runs.oddity import outlier_values, rounded
from momus.runs.row_store import StoredText
from momus.text.corpus import Corpus

EXAMPLES = 10
"""Documents per critic of which a report shows the beginning."""
SHOWN = 300
"""Characters of an example."""
SEEN = 0.01
"""Largest share of the real documents that a critic may have been fitted on."""


Classes = Mapping[str, type[Critic[Any]]]
"""Classes of the critics by name, in the order of the scores."""


@dataclass
class _Verdicts:
    """Of all documents of the new text, in order: int64, int16 and bool (n,); and the oddest of each critic."""

    ranks: list[Ints] = field(default_factory=list)
    critics: list[Ints] = field(default_factory=list)
    small: list[Bools] = field(default_factory=list)
    silent: int = 0
    # per critic, a heap of (surprise, −number of the document, value): the least odd is on top
    oddest: dict[int, list[tuple[float, int, float]]] = field(default_factory=dict)

    def add(self, judged: Judged, values: Floats, before: int) -> None:
        """Add the documents of a shard, before which there are ``before`` others."""
        self.ranks.append(judged.ranks)
        self.critics.append(judged.critic.astype(np.int16))
        self.small.append(judged.small)
        self.silent += int(np.isnan(values).all(axis=1).sum())
        for k in np.unique(judged.critic).tolist():
            rows = np.flatnonzero(judged.critic == k)
            # the oddest first, and of equals the first
            for i in rows[np.argsort(-judged.surprise[rows], kind="stable")][:EXAMPLES].tolist():
                entry = float(judged.surprise[i]), -(before + i), float(values[i, k])
                heap = self.oddest.setdefault(k, [])
                (heapq.heappush if len(heap) < EXAMPLES else heapq.heappushpop)(heap, entry)


@dataclass(frozen=True)
class _Choice:
    """Which documents go, and why: arrays (n,) in the order of the text, p and q by rank."""

    ranks: Ints
    critics: Ints
    small: Bools
    largest: int
    """Rank up to which documents go; 0 if none does."""
    p: Floats
    q: Floats
    oddest: list[tuple[int, int, float]]
    """Of the documents that go: number, critic and value of the oddest of each critic."""
    silent: int
    """Documents that no critic scored."""

    @property
    def goes(self) -> Bools:
        """Which documents go: bool (n,)."""
        return self.ranks <= self.largest

    def ends(self, critic: int) -> tuple[int, int]:
        """How many documents go as too large, and as too small, under a critic."""
        mine = self.goes & (self.critics == critic)
        return int((mine & ~self.small).sum()), int((mine & self.small).sum())


def filter_text(
    paths: Sequence[str | Path],
    critics: Sequence[str | Path],
    real: Sequence[str | Path],
    keep: Path,
    drop: Path,
    shards: Path,
    *,
    fdr: float = 0.05,
    reading: ReadingOptions | None = None,
    workers: int = 1,
    shard_size: int | None = None,
    overwrite: bool = False,
    device: str = "auto",
    trust: Sequence[Path] = (),
    progress: Callable[[str, ScoringRun], None] | None = None,
) -> Filtered:
    """Copy the records of a text into two files: those that stay, and those that are odder than real documents.

    Parameters
    ----------
    paths
        The new text: files, folders and patterns.
    critics
        Folders of fitted critics, or run folders.
    real
        Real text that the critics were not fitted on.
    keep, drop
        Files to write: JSON Lines (``.jsonl``), or Parquet (``.parquet``) if the new text is Parquet.
    shards
        Folder for the scores. What is scored there already is not scored again.
    fdr
        The false-discovery rate: of the documents that go, an expected share of at most this are as real as ``real``.
    progress
        Called with ``real`` or ``new`` and how far its scoring is.

    Raises
    ------
    UsageError
        There is too little real text, or the critics were fitted on it.
    StoreError
        An output exists, or a folder of scores holds others.
    MomusError
        A critic or a text cannot be read.
    """
    reading = reading or ReadingOptions()
    if not 0 < fdr < 1:
        raise UsageError(f"the false-discovery rate is {fdr}", hint="give a number between 0 and 1, such as 0.05")
    classes = {name: critic_class(name) for name in critic_folders([Path(c) for c in critics])}
    for name, cls in classes.items():
        if cls.unit != "document":
            raise UsageError(f"critic {name!r} judges a {cls.unit}, not a document", hint="filter by other critics")
    writing = writers(keep, drop, overwrite)
    score = partial(
        score_parts,
        critics,
        workers=workers,
        shard_size=shard_size,
        reading=reading,
        device=device,
        trust=trust,
    )
    text = _scored(score, real, shards, "real", overwrite, progress)
    # refuses real text that will not do before the rest is scored
    calibrated, seen, typical = _calibrate(text, classes, fdr)
    n_real, text = len(text), _scored(score, paths, shards, "new", overwrite, progress)
    choice = _choose(text, classes, calibrated, fdr)
    with writing as (kept, dropped):
        shown = {number for number, *_ in choice.oddest}
        texts_of = _copy(text, reading, choice.goes, kept, dropped, shown)
    return Filtered(
        documents=len(choice.ranks),
        dropped=int(choice.goes.sum()),
        fdr=fdr,
        p=choice.largest / (len(calibrated) + 1) if choice.largest else None,
        real=n_real,
        calibrating=len(calibrated),
        fewest=fewest_chosen(len(choice.ranks), len(calibrated), fdr),
        by_critic={name: choice.ends(k) for k, name in enumerate(classes)},
        unscored={name: _unscored(text, name) for name in classes},
        judged_by_none=choice.silent,
        seen=seen,
        examples=_examples(choice, list(classes), typical, texts_of),
    )


def _scored(
    score: Callable[..., ScoringRun],
    given: Sequence[str | Path],
    shards: Path,
    role: str,
    overwrite: bool,
    progress: Callable[[str, ScoringRun], None] | None,
) -> StoredText:
    """Score a text, from where its scores end; what was scored otherwise is scored again with ``overwrite``."""
    score = partial(score, given, shards / role, progress=None if progress is None else partial(progress, role))
    try:
        score(resume=True)
    except OtherPlanError:
        if not overwrite:
            raise
        score(overwrite=True)
    return StoredText(shards / role, role)


def _choose(text: StoredText, classes: Classes, calibrated: Calibrated, fdr: float) -> _Choice:
    """Rank the documents of a text by their p-values, and choose those that go."""
    verdicts, before = _Verdicts(), 0
    for values in _values(text, classes):
        verdicts.add(calibrated.judge(values), values, before)
        before += len(values)
    ranks = np.concatenate([np.zeros(0, np.int64), *verdicts.ranks])
    counts = np.bincount(ranks, minlength=len(calibrated) + 2)
    largest = largest_rank(counts, len(calibrated), fdr)
    return _Choice(
        ranks,
        np.concatenate([np.zeros(0, np.int16), *verdicts.critics]),
        np.concatenate([np.zeros(0, bool), *verdicts.small]),
        largest,
        np.arange(len(calibrated) + 2) / (len(calibrated) + 1),
        q_values(counts, len(calibrated)),
        _oddest(verdicts, len(classes), ranks, largest),
        verdicts.silent,
    )


def _examples(
    choice: _Choice, names: Sequence[str], typical: Sequence[float], texts_of: Mapping[int, tuple[str, str]]
) -> list[Dropped]:
    """The oddest documents of each critic, with their beginnings."""
    found = []
    for number, k, value in choice.oddest:
        id, beginning = texts_of[number]
        p, q = (float(by_rank[choice.ranks[number]]) for by_rank in (choice.p, choice.q))
        found.append(Dropped(id, names[k], bool(choice.small[number]), p, q, value, typical[k], beginning))
    return found


def _calibrate(real: StoredText, classes: Classes, fdr: float) -> tuple[Calibrated, dict[str, int], list[float]]:
    """Learn from the real text; also how many of its documents each critic was fitted on, and its median values.

    Raises
    ------
    UsageError
        There are too few real documents, or a critic was fitted on them.
    """
    seen = {name: sum(int(r["fitted_on"]) for r in real.records(name)) for name in classes}
    for name, n in seen.items():
        if n > SEEN * len(real):
            raise UsageError(
                f"critic {name!r} was fitted on {n:,} of the {len(real):,} real documents, which it finds too likely",
                hint="give real text that the critics have not seen, such as a held-out part, with --real",
            )
    values = np.concatenate([np.zeros((0, len(classes))), *_values(real, classes)])
    calibrated = Calibrated.of(values, [is_two_sided(cls) for cls in classes.values()], order_of(real.labels[0]))
    if len(calibrated) + 1 < 1 / fdr:
        raise UsageError(
            f"{len(real):,} real documents are too few for a false-discovery rate of {fdr:g}: no p is small enough",
            hint=f"give at least {int(np.ceil(1.5 / fdr)):,} with --real; rare faults need many more",
        )
    with np.errstate(all="ignore"):
        typical = [float(np.median(c[~np.isnan(c)])) if (~np.isnan(c)).any() else float("nan") for c in values.T]
    return calibrated, seen, typical


def is_two_sided(critic: type[Critic[Any]]) -> bool:
    """Whether documents that are too likely under a critic are odd too, as those are that repeat themselves.

    So it is for sequences, whose Latent NLL per step is neither large nor small in real text. A single value is at its
    likeliest where real documents are, and a critic's own measure of oddity says which end is odd.
    """
    return critic.sequence and critic.oddity is Critic.oddity


def _values(text: StoredText, classes: Classes) -> Iterator[Floats]:
    """What ranks the documents of each shard as outliers, NaN where unscored: float64 (n, critics)."""
    for path, schema in zip(text.paths, text.schemas, strict=True):
        yield np.column_stack([_column(path, schema, name, cls.sequence) for name, cls in classes.items()])


def _column(path: Path, schema: pa.Schema, name: str, sequence: bool) -> Floats:
    wanted = [f"{name}.{what}" for what in ("nll", "states", "oddity")]
    table = pq.read_table(path, columns=[c for c in wanted if c in schema.names])
    frame = table.rename_columns([c.removeprefix(f"{name}.") for c in table.column_names]).to_pandas()
    values = rounded(outlier_values(frame, sequence))
    values[frame["nll"].isna().to_numpy()] = np.nan
    return values


def _unscored(text: StoredText, name: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for record in text.records(name):
        total.update({str(k): int(v) for k, v in record["unscored"].items()})
    return dict(total.most_common())


def _oddest(verdicts: _Verdicts, critics: int, ranks: Ints, largest: int) -> list[tuple[int, int, float]]:
    """The oddest documents that go, critic by critic: their numbers, critics and values."""
    found = []
    for k in range(critics):
        entries = sorted(verdicts.oddest.get(k, ()), reverse=True)
        found += [(-number, k, value) for _, number, value in entries if ranks[-number] <= largest]
    return found


def _copy(
    text: StoredText,
    reading: ReadingOptions,
    goes: Bools,
    kept: RecordWriter,
    dropped: RecordWriter,
    shown: set[int],
) -> dict[int, tuple[str, str]]:
    """Copy the records, part by part; give ids and beginnings of the documents that are shown, by number."""
    beginnings: dict[int, tuple[str, str]] = {}
    for shard, (start, stop) in enumerate(pairwise(offsets_of(text.sizes).tolist())):
        planned, part = text.plan.part(shard)
        originals = read_originals(planned.file, part, reading)
        _check_length(originals, stop - start, planned.file.path)
        going = goes[start:stop]
        kept.add(originals, np.flatnonzero(~going))
        dropped.add(originals, np.flatnonzero(going))
        for number in sorted(n for n in shown if start <= n < stop):
            beginnings[number] = _beginning(originals.corpus, number - start)
    return beginnings


def _check_length(originals: Originals, documents: int, path: str) -> None:
    if len(originals.corpus) != documents:
        raise UsageError(
            f"{path}: {len(originals.corpus):,} documents where {documents:,} were scored",
            hint="the file or an option was changed: score again with --overwrite",
        )


def _beginning(corpus: Corpus, row: int) -> tuple[str, str]:
    document = corpus[row]
    return document.id, document.text[:SHOWN]
