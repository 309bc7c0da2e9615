"""Experiment trackers: what a plug-in of the group ``momus.trackers`` is, and how a comparison is sent to one.

A tracker is named with its place, such as ``wandb:team/project``; without a place, results go into the run that is
active in the process, if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from momus.errors import MomusError, UsageError
from momus.plugins import TRACKERS, load_plugin, registered
from momus.redact import redacted
from momus.version import install_command

if TYPE_CHECKING:
    from momus.runs.result import Results


class Tracker(Protocol):
    """An experiment tracker: a class under the entry-point group ``momus.trackers``, made without arguments."""

    def log(
        self,
        comparison: Results,
        place: str,
        *,
        run: str,
        step: int | None,
        report: bool,
    ) -> str:
        """Send a comparison, and return where it is now.

        Parameters
        ----------
        place
            What stands behind the tracker's name, such as a project or a folder; empty for the active run, else a
            default.
        run
            Name of a run that is created.
        step
            Where on the axis of training steps the numbers are; None if they belong to no step.
        report
            Whether to send the HTML report, which holds passages of the documents.
        """
        ...


def log_comparison(
    comparison: Results,
    to: str,
    *,
    run: str = "momus",
    step: int | None = None,
    report: bool = True,
) -> str:
    """Send a comparison to an experiment tracker; returns where it is now.

    Parameters
    ----------
    to
        ``TRACKER`` or ``TRACKER:PLACE``, such as ``wandb:team/project``, ``mlflow:experiment`` or
        ``tensorboard:folder``.
    run, step, report
        See `Tracker.log`.

    Raises
    ------
    PluginError
        There is no such tracker.
    MissingExtraError
        Its package is not installed.
    MomusError
        The tracker fails; the message says how.
    """
    name, _, place = to.partition(":")
    if not name:
        raise UsageError(f"{to!r} names no tracker", hint=f"name one of {', '.join(registered(TRACKERS))}")
    if not registered(TRACKERS):
        raise UsageError("no tracker is installed", hint=install_command("momus-training"))
    tracker: Tracker = load_plugin(TRACKERS, name)()
    try:
        return tracker.log(comparison, place, run=run, step=step, report=report)
    except MomusError:
        raise
    except Exception as error:  # a tracker may fail in any way: no network, no key, an unknown project
        what = redacted(str(error).strip()) or type(error).__name__
        raise MomusError(
            f"the tracker {name!r} failed: {what}",
            hint="the run folder is complete: `momus export RUN` sends it again once this is solved",
        ) from error
