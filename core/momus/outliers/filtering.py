"""`filter_text`: remove documents unlike real text, at a stated false-discovery rate.

Real and new text are scored part by part; the real one calibrates (`momus.outliers.conformal`). A first pass over the
scores of the new text gives each document the rank of its p-value, from whose counts the rank follows up to which
documents go; a second pass copies the records. Memory grows by some twenty bytes per document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.arguments import arg
from momus.critic.effects import is_trusted
from momus.critic.hooks import AdvancedMixin, row_unit
from momus.critic.powers import defines, has_latents
from momus.critic.registry import critic_class, load_critic
from momus.engine.scoring import OtherPlanError, ScoringRun, score_parts
from momus.engine.worker import CriticFolders
from momus.errors import FittingError, UsageError
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Bools, Floats
from momus.outliers.flagging import Choice, Flagged, RealDocuments, check_rate
from momus.outliers.originals import read_originals
from momus.outliers.records import RecordWriter, writers
from momus.outliers.rows import ODDITIES, Measure
from momus.ownership import check_place
from momus.reading import ReadingOptions
from momus.rows.packing import column_of, dense_rows
from momus.rows.store import StoredText

EXAMPLES = 10
"""Documents per critic of which a report shows the beginning."""
SHOWN = 300
"""Characters of an example."""
SEEN = 0.01
"""Largest share of the real documents that a critic may have been fitted on."""


@dataclass(frozen=True)
class Filtered:
    """What a filter did.

    Attributes
    ----------
    documents, dropped
        Documents that were read, and that went.
    fdr
        The false-discovery rate that was asked for.
    p
        The largest p-value of a document that went; None if none did.
    real, calibrating
        Real documents that were used, and how many of them calibrate.
    left_out
        Real documents that were not used, since a critic was fitted on them.
    fewest
        The smallest number of documents that could have gone at all.
    by_critic
        How many went for each critic, or kind of fault: too unlikely, and too likely.
    unscored
        By critic and reason, documents of the new text without a score, which are never odd there.
    judged_by_none
        Documents that no critic could score; they stay.
    seen
        By critic, how many of the real documents that were used it was fitted on.
    examples
        The oddest documents that went, at most ten per critic.
    failed
        Why critics are left out that were not named, by name.
    """

    documents: int
    dropped: int
    fdr: float
    p: float | None
    real: int
    calibrating: int
    left_out: int
    fewest: int
    by_critic: Mapping[str, tuple[int, int]]
    unscored: Mapping[str, Mapping[str, int]]
    judged_by_none: int
    seen: Mapping[str, int]
    examples: Sequence[Flagged]
    failed: Mapping[str, str]

    @property
    def kept(self) -> int:
        """Documents that stay."""
        return self.documents - self.dropped

    @property
    def expected(self) -> float:
        """How many of the documents that went are as real as the real text, on average, at most."""
        return self.fdr * self.dropped


def filter_text(
    paths: Sequence[str | Path],
    critics: Sequence[str | Path],
    real: Sequence[str | Path],
    kept: Path,
    dropped: Path,
    scores: Path,
    *,
    fdr: float = 0.05,
    skip_fitted: bool = False,
    reading: ReadingOptions | None = None,
    workers: int = 1,
    part_size: int | None = None,
    overwrite: bool = False,
    device: str = "auto",
    trust: Sequence[Path] = (),
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
    kept, dropped
        Files to write: JSON Lines (``.jsonl``), or Parquet (``.parquet``) if the new text is Parquet.
    scores
        Folder for the scores. What is scored there already is not scored again.
    fdr
        The false-discovery rate: of the documents that go, an expected share of at most this are as real as ``real``.
    skip_fitted
        Leave out the real documents that a critic was fitted on. Otherwise more than 1 % of them are an error.

    Raises
    ------
    UsageError
        There is too little real text, or the critics were fitted on it.
    StoreError
        An output exists, or a folder of scores holds others.
    MomusError
        A critic or a text cannot be read.
    """
    check_rate(fdr)
    reading = reading or ReadingOptions()
    folders = CriticFolders.of(critics)
    for name, cls in ((name, critic_class(name)) for name in folders.paths):
        if (unit := row_unit(cls)) != "document":
            raise UsageError(f"critic {name!r} judges a {unit}, not a document", hint="filter by other critics")
        if not (has_latents(cls) or defines(cls, AdvancedMixin, "oddity")):
            raise UsageError(
                f"critic {name!r} compares texts as wholes, and ranks no documents", hint="filter by other critics"
            )
    inputs = [*paths, *real, *critics]
    writing = writers(kept, dropped, [*inputs, scores], overwrite)
    check_place(scores, [*inputs, kept, dropped], argument="scores")
    score = partial(
        score_parts, critics, workers=workers, part_size=part_size, reading=reading, device=device, trust=trust
    )
    scored = partial(_scored, score, scores, overwrite=overwrite)
    # real text that will not do is refused before the rest is scored
    stored = scored("real", real)
    known = ScoredText(stored, [*stored.critics], reading)
    trusted = {name: is_trusted(folders.paths[name], trust) for name in known.critics}
    used = known.unseen(trusted) if skip_fitted else known.checked()
    yardstick = known.yardstick(used, fdr)
    new = scored("new", paths)
    both = [name for name in known.critics if name in new.critics]
    if not both:
        raise FittingError("no critic can score both texts", hint="name the critics, to see why they fail")
    if len(both) < len(known.critics):  # one fails on the new text alone
        known = ScoredText(stored, both, reading)
        yardstick = known.yardstick(used, fdr)
    text = ScoredText(new, both, reading)
    choice = yardstick.choose(lambda: map(text.values, range(len(new.sizes))))
    # outputs are opened after everything that can be refused has been
    with writing as (stay, go):
        examples = _copy(text, yardstick, choice, stay, go)
    return Filtered(
        documents=len(choice.goes),
        dropped=int(choice.goes.sum()),
        fdr=fdr,
        p=choice.largest / (len(yardstick) + 1) if choice.largest else None,
        real=yardstick.n,
        calibrating=len(yardstick),
        left_out=len(used) - yardstick.n,
        fewest=choice.fewest,
        by_critic={name: choice.ends(k) for k, name in enumerate(yardstick.measures)},
        unscored={name: dict(new.critics[name].unscored.most_common()) for name in both},
        judged_by_none=int(choice.judged.unscored.sum()),
        seen={name: 0 if skip_fitted else stored.critics[name].fitted_on for name in both},
        examples=examples,
        failed={**folders.failed, **stored.plan.left_out, **new.plan.left_out},
    )


def _scored(
    score: Callable[..., ScoringRun],
    scores: Path,
    role: str,
    paths: Sequence[str | Path],
    overwrite: bool,
) -> StoredText:
    """Score a text, from where its scores end; what was scored otherwise is scored again with ``overwrite``."""
    score = partial(score, paths, scores / role)
    try:
        # the folder may hold the scores of another call: what agrees is kept
        score(resume=True)
    except OtherPlanError:
        if not overwrite:
            raise
        score(overwrite=True)
    return StoredText(scores / role, role)


class ScoredText:
    """A text part by part: its records, and the values of its documents.

    Parameters
    ----------
    text
        Its scores.
    critics
        Names of the critics that count, in the order of the values.
    reading
        How the text was read.
    """

    def __init__(self, text: StoredText, critics: Sequence[str], reading: ReadingOptions) -> None:
        self.text, self.reading = text, reading
        self.critics = {name: Measure.columns(name, critic_class(name)) for name in critics}
        self.measures = {name: measure for columns in self.critics.values() for name, measure in columns.items()}

    def values(self, part: int) -> Floats:
        """What ranks the documents of a part as outliers, NaN where unscored: float64 (n, measures)."""
        return np.column_stack([self._columns(part, critic) for critic in self.critics])

    def _columns(self, part: int, critic: str) -> Floats:
        names = {f"{critic}.nll": "nll", f"{critic}.states": "steps", f"{critic}.oddity": "oddity"}
        path, schema = self.text.paths[part], self.text.schemas[part]
        # only three columns: rows of counts are far larger
        table = pq.read_table(path, columns=[column for column in names if column in schema.names])
        if f"{critic}.oddity" not in schema.names:
            table = table.append_column(f"{critic}.oddity", pa.nulls(len(table), pa.float64()))
        measure, *others = self.critics[critic].values()
        values = measure.values(table.rename_columns(list(names.values())).to_pandas())[:, None]
        if not others:
            return values
        # without a scored document, a part has no such rows
        several = column_of(critic, ODDITIES)
        rows = dense_rows(pq.read_table(path, columns=[several])[several]) if several in schema.names else np.nan
        return np.hstack([values, np.broadcast_to(rows, (len(values), len(others)))])

    def yardstick(self, used: Bools, fdr: float) -> RealDocuments:
        """What documents are judged by: some of these, by a mask of all."""
        values = [np.zeros((0, len(self.measures))), *map(self.values, range(len(self.text.sizes)))]
        labels = self.text.labels.filter(pa.array(used))
        groups = labels["group"].to_pylist()
        named = groups if any(map(bool, groups)) else []
        return RealDocuments.of(self.measures, labels["id"].to_pylist(), np.concatenate(values)[used], fdr, named)

    def checked(self) -> Bools:
        """All documents, if no critic was fitted on more than 1 % of them: bool (n,).

        Raises
        ------
        UsageError
            A critic was.
        """
        for name in self.critics:
            n = self.text.critics[name].fitted_on
            if n > SEEN * len(self.text):
                raise UsageError(
                    f"critic {name!r} was fitted on {n:,} of the {len(self.text):,} real documents, which it finds too "
                    "likely",
                    hint=f"give real text that the critics have not seen, such as a held-out part, with {arg('real')}, "
                    f"or leave these documents out with {arg('skip_fitted', True)}",
                )
        return np.ones(len(self.text), dtype=bool)

    def unseen(self, trusted: Mapping[str, bool]) -> Bools:
        """The documents that no critic was fitted on, by their text: bool (n,)."""
        seen = [load_critic(self.text.folder.critic(n), trust=t).fitted_hashes_ for n, t in trusted.items()]
        parts = (self.text.plan.piece(part).read(self.reading).hashes for part in range(len(self.text.sizes)))
        return ~np.isin(np.concatenate([np.zeros(0, np.uint64), *parts]), np.concatenate(seen))


def _copy(
    text: ScoredText, yardstick: RealDocuments, choice: Choice, kept: RecordWriter, dropped: RecordWriter
) -> list[Flagged]:
    """Copy the records, part by part; give the oddest documents that go, critic by critic."""
    oddest = [number for k in range(len(yardstick.measures)) for number in choice.oddest(k, EXAMPLES)]
    examples: dict[int, Flagged] = {}
    for part, (start, stop) in enumerate(pairwise(offsets_of(text.text.sizes).tolist())):
        file, place = text.text.plan.piece(part)
        originals = read_originals(file, place, text.reading)
        # a choice is by row number: in a file that was changed since, other documents would go
        if len(originals.corpus) != stop - start:
            raise UsageError(
                f"{file.path}: {len(originals.corpus):,} documents where {stop - start:,} were scored",
                hint=f"the file or an option was changed: score again with {arg('overwrite', True)}",
            )
        goes = choice.goes[start:stop]
        kept.add(originals, np.flatnonzero(~goes))
        dropped.add(originals, np.flatnonzero(goes))
        shown = [number for number in oddest if start <= number < stop]
        if shown:
            rows = [originals.corpus[number - start] for number in shown]
            ids, texts = [d.id for d in rows], [d.text[:SHOWN] for d in rows]
            values = text.values(part)[np.array(shown) - start]
            examples |= zip(shown, yardstick.documents(choice, shown, ids, values, texts), strict=True)
    return [examples[number] for number in oddest]
