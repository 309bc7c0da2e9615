"""What scores texts part by part: fitted critics from folders, and engines that give them to processes.

Of the critics of a run, some may fail. Here a part is scored by critics in memory: in this process, or in some that may
be killed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow.parquet as pq

from momus.arguments import arg
from momus.critic import Critic, RunningTextCritic
from momus.critic.fitted import Source
from momus.critic.hooks import moved, overlap, scored_units
from momus.critic.registry import critic_class, load_critic, named
from momus.critic.saved import JSON_NAME, read_critic_json
from momus.critic.scores import AGGREGATED, Scores
from momus.critic.scoring import pools_rows, projected, score
from momus.critic.source import class_digest
from momus.errors import MissingExtraError, MomusError, PluginError, UsageError
from momus.numeric.types import Ints
from momus.outputs import make_folder, write_bytes, writing
from momus.processes import outcomes_of, return_memory
from momus.rows.folder import ROOM, RowFolder, write_record
from momus.rows.packing import pack, rows_to_json, summary_to_json
from momus.rows.plan import Plan
from momus.text.corpus import Corpus
from momus.text.sketches import TextSketch, sample_size

KEPT = 5
"""Documents that are oddest under a critic which a part keeps, so that the files are not read again for them."""


@dataclass(frozen=True)
class Job:
    """What a process needs to score parts.

    Attributes
    ----------
    folder
        The folder of parts, which holds manifest and critics.
    device
        Where critics compute that use a device.
    trusted
        Names of critics that may use adapters.
    located
        Where the classes are of critics that are not registered, see `momus.critic.registry.named`.
    """

    folder: Path
    device: str = "cpu"
    trusted: tuple[str, ...] = ()
    located: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """A finished part.

    Attributes
    ----------
    part, documents
        Its number, and how many documents it has.
    unscored
        How many of these a critic could not score, by critic and reason.
    nats, steps
        By critic, total Latent NLL and total scored steps of the documents that it scored.
    fitted_on
        By critic, how many of the documents it was fitted on.
    """

    part: int
    documents: int
    unscored: dict[str, dict[str, int]]
    nats: dict[str, float]
    steps: dict[str, int]
    fitted_on: dict[str, int]


class Engine(Protocol):
    """Scores parts somewhere; a part whose process ends early is begun again."""

    def run(self, parts: Sequence[int]) -> Iterator[Done]:
        """Score parts, and yield each when it is finished, in any order.

        Raises
        ------
        MomusError
            A part cannot be scored, or nothing can run.
        """
        ...


def done_of(record: dict[str, Any]) -> Done:
    """What the record of a part says of it."""
    critics = record["critics"]
    return Done(
        int(record["number"]),
        int(record["documents"]),
        *({name: c[key] for name, c in critics.items()} for key in ("unscored", "nats", "steps", "fitted_on")),
    )


class PartScorer:
    """Scores parts of a folder; critics are loaded once.

    Raises
    ------
    StoreError
        A critic or the manifest cannot be read.
    """

    def __init__(self, job: Job) -> None:
        self.folder = RowFolder(job.folder)
        self.plan = Plan.read(self.folder.manifest)
        # classes of a user's file are known to the process that found them only
        for location in job.located:
            named(location)
        self.critics = [
            moved(load_critic(self.folder.critic(name), trust=name in job.trusted), job.device)
            for name in self.plan.critics
        ]

    def __call__(self, number: int) -> Done:
        """Score one part, and write its rows and then its record.

        Raises
        ------
        MomusError
            The part cannot be read or scored, or the disk is full.
        """
        corpus = self.plan.piece(number).read(self.plan.reading)
        scored = {critic.name: score(critic, scored_units(critic, corpus), pool=False) for critic in self.critics}
        rows = io.BytesIO()
        table = pack(corpus, scored, TextSketch.of(corpus, sample_size(len(self.plan))))
        # into memory first, for the SHA-256; without statistics, as rows are read whole; labels repeat, hence the limit
        pq.write_table(table, rows, compression="zstd", dictionary_pagesize_limit=1 << 26, write_statistics=False)
        content = rows.getbuffer()
        with writing(self.folder.path, ROOM):
            make_folder(self.folder.rows(number).parent)
            write_bytes(self.folder.rows(number), content)
        record = {
            **self.plan.belongs(number),
            "documents": len(corpus),
            "characters": int(corpus.characters.sum()),
            "rows": {"bytes": len(content), "sha256": sha256(content).hexdigest()},
            "critics": {c.name: _of_critic(c, corpus, scored[c.name]) for c in self.critics},
            "odd": _odd(corpus, [scored[c.name].ranked(c.sequence, KEPT) for c in self.critics]),
        }
        # last: a part is finished when its record says so, and a kill before leaves it to be scored again
        write_record(self.folder.record(number), record)
        return_memory()
        return done_of(record)


def _of_critic(critic: Critic[Any], corpus: Corpus, scores: Scores) -> dict[str, Any]:
    if pools_rows(critic):
        rows = {key: table for key, table in scores.rows.items() if key != AGGREGATED}
        summary = rows_to_json(rows, projected(critic, scores.reasons)) if scores.n_scored else None
    else:
        summary = summary_to_json(scores.summary, scores.rows)
    return {
        "unscored": dict(sorted(scores.unscored.items())),
        "fitted_on": overlap(critic, corpus),
        "nats": float(scores.nll[scores.scored].sum()),
        "steps": int(scores.steps.sum()),
        "summary": summary,
    }


def _odd(corpus: Corpus, rows: Sequence[Ints]) -> list[list[Any]]:
    """The documents that are oddest under some critic: the number of each in the part, and the document."""
    chosen = np.unique(np.concatenate([np.zeros(0, np.int64), *rows]))  # the empty array: there may be no critic
    return [[int(row), asdict(corpus[int(row)])] for row in chosen]


def score_here(job: Job, workers: int, parts: Sequence[int]) -> Iterator[Done]:
    """Score parts in processes of this machine; with one worker, in this process. Yield each when it is finished."""
    hint = f"use fewer processes or {arg('part_size')}; finished parts stay to be resumed"
    return outcomes_of(workers, parts, hint, PartScorer, job)


@dataclass
class CriticFolders:
    """Folders of fitted critics, by name.

    Attributes
    ----------
    paths
        The folder of each critic.
    named
        Critics whose own folder was given; the others lie in the folder of a run, or of several critics.
    failed
        Why critics that were not named are left out.
    """

    paths: dict[str, Path] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, Source] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Sequence[str | Path]) -> CriticFolders:
        """Find the critics in folders; a run folder, or one of several critics, stands for all of documents in it.

        Raises
        ------
        StoreError
            A folder holds no fitted critic.
        UsageError
            Two folders hold critics of one name, or a critic that was named reads running text.
        MomusError
            The class of a critic cannot be imported, and it was named or is the only one.
        """
        folders = cls()
        for path in map(Path, places):
            inner = sorted(p.parent for place in ("*", "critics/*") for p in path.glob(f"{place}/{JSON_NAME}"))
            for folder in inner or [path]:
                name = str(read_critic_json(folder)["critic"])
                if name in folders.paths:
                    raise UsageError(
                        f"two critics {name!r}: {folders.paths[name]} and {folder}",
                        hint="score with one of them at a time",
                    )
                folders.paths[name] = folder
                folders.named |= set() if inner else {name}
        folders._check_classes()
        return folders

    def sources(self) -> dict[str, Source]:
        """Digests of the code of all critics, those that were left out included."""
        for name in self.paths.keys() - self._sources.keys():
            self._sources[name] = class_digest(critic_class(name), read_critic_json(self.paths[name])["params"])
        return dict(sorted(self._sources.items()))

    def _check_classes(self) -> None:
        running = []
        for name in list(self.paths):
            with self.leaving_out(name):
                running += [name] if issubclass(critic_class(name), RunningTextCritic) else []
        if running and (len(running) == len(self.paths) or self.named & {*running}):
            raise UsageError(
                f"{', '.join(running)}: critics of running text read what documents follow each other, across parts",
                hint="compare their texts with `momus compare`",
            )
        for name in running:
            del self.paths[name]

    @contextmanager
    def leaving_out(self, name: str = "") -> Iterator[None]:
        """Leave out a critic that fails within the context, unless it was named or is the last one.

        Parameters
        ----------
        name
            The critic that is loaded or scores; empty: the one whose code raised the error.

        Raises
        ------
        MomusError
            The failure of a critic that was named or is the last one, and any that is not a critic's.
        """
        try:
            yield
        except MomusError as error:
            culprit = error.critic or (name if isinstance(error, PluginError | MissingExtraError) else "")
            if culprit not in self.paths or culprit in self.named or len(self.paths) == 1:
                raise
            self.leave_out({culprit: error.message})

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Leave out critics that were not named, for reasons that are known."""
        for name in {*reasons} & {*self.paths} - self.named:
            self.failed[name] = reasons[name]
            del self.paths[name]
