"""Engines: what gives the shards of a plan to processes, and yields them as they are finished.

An engine is registered under ``momus.adapters`` as ``engine.NAME``: a callable that takes a `Job`, a number of workers
and an address, and returns an object with `Engine.run`. The one of this machine is `momus.shards.pool.Pool`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin

LOCAL = "local"
TRIES = 3
"""How often a shard is begun whose process ended before it had finished."""


@dataclass(frozen=True)
class Job:
    """What a process needs to score shards.

    Attributes
    ----------
    folder
        The folder of shards, which holds manifest and critics.
    device
        Where critics compute that use a device.
    trusted
        Names of critics that may use adapters.
    """

    folder: Path
    device: str = "cpu"
    trusted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """A finished shard.

    Attributes
    ----------
    shard, documents
        Its number, and how many documents it has.
    unscored
        How many of these a critic could not score, by critic and reason.
    nats, steps
        By critic, total Latent NLL and total scored steps of the documents that it scored.
    fitted_on
        By critic, how many of the documents it was fitted on.
    """

    shard: int
    documents: int
    unscored: dict[str, dict[str, int]]
    nats: dict[str, float]
    steps: dict[str, int]
    fitted_on: dict[str, int]


class Engine(Protocol):
    """Scores shards somewhere; a shard whose process ends early is begun again."""

    def run(self, shards: Sequence[int]) -> Iterator[Done]:
        """Score shards, and yield each when it is finished, in any order.

        Raises
        ------
        MomusError
            A shard cannot be scored, or nothing can run.
        """
        ...


def make_engine(name: str, job: Job, workers: int, address: str | None) -> Engine:
    """Make an engine by name.

    Raises
    ------
    UsageError
        An address is given to the engine of this machine.
    PluginError
        There is no such engine.
    MissingExtraError
        It needs packages that are not installed.
    """
    if name != LOCAL:
        engine: Engine = load_plugin(ADAPTERS, f"engine.{name}")(job, workers, address)
        return engine
    if address is not None:
        raise UsageError("--address is that of a cluster", hint="name its engine too, e.g. --engine ray")
    from momus.shards.pool import Pool

    return Pool(job, workers)


def done_of(record: dict[str, Any]) -> Done:
    """What the record of a shard says of it."""
    critics = record["critics"]
    return Done(
        int(record["shard"]),
        int(record["documents"]),
        *({name: c[key] for name, c in critics.items()} for key in ("unscored", "nats", "steps", "fitted_on")),
    )
