"""The critics of a run, one after another or in several processes, and their verdicts adjusted for each other."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, TypeVar

from momus.checks.languages import language_warning, unclaimed
from momus.checks.notes import mixed_prompts_warnings
from momus.critic import Critic
from momus.critic.guard import blamed
from momus.critic.hooks import AdvancedMixin, DeviceMixin
from momus.engine.chosen import Chosen, bare, none_fitted
from momus.engine.provenance import critics_warnings, left_out_warnings, missing_warnings
from momus.engine.reuse import again_warnings
from momus.engine.run_critic import Work
from momus.errors import FittingError, MomusError, UsageError
from momus.processes import Workers, one_thread, pool_of
from momus.progress import Silent, Timed
from momus.runs.result import Again, Outcome, Results
from momus.runs.texts import Texts
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust, floor_warnings, held, selected, skewness_warnings

T = TypeVar("T", covariant=True)
R = TypeVar("R")


class CriticWork(Protocol[T]):
    """What all critics of a run share, and what is done with each of them."""

    def run(self, critic: Critic[Any], timed: Timed) -> T:
        """The outcome of a critic that is not fitted yet."""
        ...


def outcome_of(critic: Critic[Any], work: CriticWork[R], timed: Timed) -> R | MomusError:
    """Run one critic.

    Raises
    ------
    MomusError
        Something fails that is not the critic's own code: the run folder cannot be written, say.
    """
    try:
        with blamed(critic):
            return work.run(critic, timed)
    except MomusError as error:
        # errors with a critic are outcomes; others end the run, whatever critic met them
        if not error.critic:
            raise
        return error


def server_of(critics: Sequence[Critic[Any]], jobs: int) -> AbstractContextManager[object]:
    """Begin to import critics in a server of processes; those of the context then start with what it has imported."""
    if jobs == 1 or len(critics) < 2:
        return nullcontext()
    # the server cannot import the script that is running
    modules = {type(c).__module__ for c in critics} - {"__main__"}
    return Workers(jobs, _start, preload=["scipy.stats", *sorted(modules)])


@contextmanager
def processes_of(
    work: CriticWork[Any], critics: Sequence[Critic[Any]], jobs: int
) -> Iterator[ProcessPoolExecutor | None]:
    """The processes of a run; None where this process does all the work.

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
    critics: Sequence[Critic[Any]], work: CriticWork[R], timed: Timed, pool: ProcessPoolExecutor | None = None
) -> Iterator[tuple[Critic[Any], R | MomusError]]:
    """Run critics; yield each with its outcome, in the order given.

    Parameters
    ----------
    timed
        Seconds of stages are added up over the processes.
    pool
        `processes_of` the work: outcomes come when all critics have ended, and the critics given stay unfitted.
    """
    if pool is None:
        with one_thread():
            for critic in critics:
                with timed.item(critic.name):
                    outcome = outcome_of(critic, work, timed)
                yield critic, outcome
        return
    by_number: dict[int, R | MomusError] = {}
    with timed.inner.stage("critics in several processes", len(critics)) as advance:
        # encoders and topic models take longest, so they begin first
        order = sorted(range(len(critics)), key=lambda k: not isinstance(critics[k], DeviceMixin))
        futures: dict[Future[tuple[R | MomusError, dict[str, float]]], int] = {
            pool.submit(_run, critics[k]): k for k in order
        }
        # as they end, for the progress; yielded below in the order given, so that results do not depend on speed
        for future in as_completed(futures):
            by_number[futures[future]], taken = future.result()
            for kind, seconds in taken.items():
                timed.seconds[kind] = timed.seconds.get(kind, 0.0) + seconds
            advance(len(by_number))
    for k, critic in enumerate(critics):
        yield critic, by_number[k]


def _check_sent(critics: Sequence[Critic[Any]]) -> None:
    for critic in critics:
        try:
            # here, with the critic's name, and not as an error of the pool later
            pickle.dumps(critic)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"critic {critic.name!r} cannot be sent to another process ({error})",
                hint="define it in a module that can be imported, or compare with one job",
            ) from None


_WORK: list[CriticWork[Any]] = []
"""What the critics of a pool process share, set once by `_start`."""


def _start(work: CriticWork[Any]) -> None:
    """Prepare a pool process; it holds the lock of the folder of the work, too."""
    _WORK[:] = [work]


def _run(critic: Critic[Any]) -> tuple[Any, dict[str, float]]:
    """What a process sends back: the outcome, and seconds by kind of stage."""
    timed = Timed(Silent())
    return outcome_of(critic, _WORK[0], timed), timed.seconds


def run_critics(
    results: Results,
    selection: Chosen,
    work: Work,
    timed: Timed,
    skip_unfit: bool,
    pool: ProcessPoolExecutor | None,
) -> None:
    """Run each critic, and add its outcome; with ``skip_unfit``, one that cannot be fitted only leaves a warning."""
    redone: list[Again] = []
    if skip_unfit:
        leave_out_blind(selection, work.texts)
    for critic, outcome in outcomes(selection.critics, work, timed, pool):
        if isinstance(outcome, Outcome):
            results.add(outcome)
            redone += outcome.again
        else:
            selection.leave_out(critic.name, outcome, named=not skip_unfit)
    work.texts.forget_rows()
    results.left_out = {name: bare(name, reason) for name, reason in selection.failed.items()}
    results.warnings += selection.left_out_warnings
    results.warnings += again_warnings(redone)
    results.warnings += critics_warnings(results.results)
    if not results.results:
        raise none_fitted(results.warnings, "give more text" if work.settings.against else "")


def claiming(selection: Chosen, texts: Texts, *, named: bool) -> list[str]:
    """Keep the critics that read these texts, and warn of those that do not; one that was named runs all the same."""
    warnings = []
    for critic in selection.critics:
        with selection.attempt(critic, named=named):
            outside = unclaimed(critic, texts.scripts)
            warning = "" if outside else language_warning(critic, texts.real, texts.languages.get(texts.real.name))
            if outside:
                end = " was asked for, though its numbers may say nothing: " if named else " was left out: "
                warning = f"Critic {critic.name!r}{end}{outside}."
            if outside and not named:
                selection.critics = [c for c in selection.critics if c is not critic]
            warnings += [warning] if warning else []
    return warnings


def leave_out_blind(selection: Chosen, texts: Texts) -> None:
    """Leave out the critics that say that these texts have nothing that they look at, or that fail in looking."""
    if texts.in_parts:  # critics are fitted already
        return
    corpora = [c for c in (texts.fit, *texts.analysed) if len(c)]  # where folds are fitted, no text is for that alone
    for critic in (c for c in selection.critics if isinstance(c, AdvancedMixin)):
        with selection.attempt(critic, named=False):
            if reason := critic.nothing_to_see(corpora):
                raise FittingError(reason)


def adjust_all(results: Results, texts: Texts, settings: Settings) -> None:
    """Adjust the p-values of all critics for each other, and warn of what the table shows."""
    multiplicity = settings.multiplicity
    # over all critics at once; intervals are widened only once it is known which rows differ
    adjusted = adjust([v for r in results.results for v in r.verdicts], multiplicity)
    results.verdicts = held(selected(adjusted), settings.seed)
    # no text has the pairs to itself, as it has its rows in the table: all pairs are adjusted together
    of_pairs = multiplicity if multiplicity in ("none", "holm-table", "bh-table") else f"{multiplicity}-table"
    results.pairs = adjust([v for r in results.results for v in r.pairs], of_pairs)
    results.warnings += [*missing_warnings(results.verdicts), *left_out_warnings(results.verdicts)]
    # asked for or refused, the design is as the user wants it
    if settings.paired is None:
        results.warnings += mixed_prompts_warnings(texts.real, texts.generated, results.verdicts)
    results.warnings += floor_warnings(results.verdicts, multiplicity)
    results.warnings += skewness_warnings(results.verdicts)
    results.warnings += floor_warnings(results.pairs, of_pairs, pairs=True)
