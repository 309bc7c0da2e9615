"""The critics of a comparison, one after another or in several processes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from momus.critic.guard import blamed
from momus.critic.hooks import DeviceMixin, moved
from momus.engine.large import scored_by_parts
from momus.engine.reuse import Reuse
from momus.engine.run_critic import run_critic
from momus.errors import MomusError, UsageError
from momus.processes import Workers, pool_of, return_memory
from momus.progress import Silent, Timed
from momus.runs.folder import RunFolder
from momus.runs.result import Outcome
from momus.runs.texts import Texts
from momus.verdicts.settings import Settings

if TYPE_CHECKING:
    from momus.critic import Critic

Failure = MomusError
"""Why a critic has no outcome; whether that ends the comparison is for the caller to say."""


@dataclass(frozen=True)
class Work:
    """What all critics of a comparison share; see `run_critic`.

    Attributes
    ----------
    plain
        The texts in memory, for critics that must see a text as a whole, where ``texts`` are scored in parts.
    """

    texts: Texts
    plain: Texts | None
    settings: Settings
    folder: RunFolder | None
    resume: bool
    family: int
    reuse: Reuse | None

    def run(self, critic: Critic[Any], timed: Timed) -> Outcome | Failure:
        """Run one critic.

        Raises
        ------
        MomusError
            Something fails that is not the critic's own code: the run folder cannot be written, say.
        """
        texts = self.texts if self.plain is None or scored_by_parts(critic) else self.plain
        try:
            with blamed(critic):
                moved(critic, self.settings.device)
                return run_critic(
                    critic, texts, self.settings, timed, self.folder, self.resume, self.family, self.reuse
                )
        except MomusError as error:
            if not error.critic:
                raise
            return error


@dataclass(frozen=True)
class _Done:
    """What a process sends back: the outcome, seconds by kind of stage, and warnings of reuse."""

    outcome: Outcome | Failure
    seconds: dict[str, float]
    warnings: list[str]


def server_of(critics: Sequence[Critic[Any]], jobs: int) -> AbstractContextManager[object]:
    """Begin to import critics in a server of processes; those of the context then start with what it has imported."""
    if jobs == 1 or len(critics) < 2:
        return nullcontext()
    modules = {type(c).__module__ for c in critics} - {"__main__"}
    return Workers(jobs, _start, preload=["scipy.stats", *sorted(modules)])


@contextmanager
def processes_of(work: Work, critics: Sequence[Critic[Any]], jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """The processes of a comparison; None where this process does all the work.

    Raises
    ------
    UsageError
        A critic cannot be sent to another process.
    """
    if jobs == 1 or len(critics) < 2:
        yield None
        return
    _check_sent(critics)
    with pool_of(min(jobs, len(critics)), _start, work) as pool:
        yield pool


def outcomes(
    critics: Sequence[Critic[Any]], work: Work, timed: Timed, pool: ProcessPoolExecutor | None = None
) -> Iterator[tuple[Critic[Any], Outcome | Failure]]:
    """Run critics; yield each with its outcome, in the order given.

    Parameters
    ----------
    timed
        Seconds of stages are added up over the processes.
    pool
        `processes_of` the work: outcomes come when all critics have ended, and the critics given stay unfitted.
    """
    if pool is None:
        for critic in critics:
            with timed.item(critic.name):
                outcome = work.run(critic, timed)
            if work.texts.in_parts:
                return_memory()
            yield critic, outcome
        work.texts.forget_rows()
        return
    by_number: dict[int, Outcome | Failure] = {}
    with timed.inner.stage("critics in several processes", len(critics)) as advance:
        # encoders and topic models take longest, so they begin first
        order = sorted(range(len(critics)), key=lambda k: not isinstance(critics[k], DeviceMixin))
        futures: dict[Future[_Done], int] = {pool.submit(_run, critics[k]): k for k in order}
        for future in as_completed(futures):
            done = future.result()
            by_number[futures[future]] = done.outcome
            for kind, seconds in done.seconds.items():
                timed.seconds[kind] = timed.seconds.get(kind, 0.0) + seconds
            if work.reuse is not None:
                work.reuse.warnings += done.warnings
            advance(len(by_number))
    for k, critic in enumerate(critics):
        yield critic, by_number[k]


def _check_sent(critics: Sequence[Critic[Any]]) -> None:
    for critic in critics:
        try:
            pickle.dumps(critic)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"critic {critic.name!r} cannot be sent to another process ({error})",
                hint="define it in a module that can be imported, or compare with one job",
            ) from None


_WORK: list[Work] = []
"""What the critics of a pool process share, set once by `_start`."""


def _start(work: Work) -> None:
    """Prepare a pool process; it holds the lock of the run folder, too."""
    _WORK[:] = [work]


def _run(critic: Critic[Any]) -> _Done:
    (work,) = _WORK
    timed = Timed(Silent())
    known = 0 if work.reuse is None else len(work.reuse.warnings)
    outcome = work.run(critic, timed)
    return _Done(outcome, timed.seconds, [] if work.reuse is None else work.reuse.warnings[known:])
