"""The interface of engines: what gives the parts of a plan to processes, and yields them as they are finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


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
