"""Numbers in the logs of a training run: the trainer's history, and the trackers that it reports to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from momus.errors import MomusError
from momus.plugins import TRACKERS, load_plugin, registered
from momus.report.tracking import Tracker


class TrainingLog:
    """Where a callback writes numbers.

    A callback of ``transformers`` does not know its trainer, nor the other callbacks that report to trackers. Trackers
    that keep an active run per process get the numbers there.

    Attributes
    ----------
    trainer
        A trainer to log through instead, if it is known.
    """

    def __init__(self) -> None:
        self.trainer: Any = None
        self.trackers: dict[str, Tracker] = {}
        self.folder = "."

    def begin(self, args: Any) -> None:
        """Find the trackers that the arguments of a training name; those that Momus lacks are warned of."""
        if self.trainer is not None:
            return
        self.folder = str(getattr(args, "output_dir", None) or ".")
        names = getattr(args, "report_to", None) or []
        known = registered(TRACKERS)
        for name in [names] if isinstance(names, str) else names:
            if name in ("none", ""):
                continue
            try:
                self.trackers[name] = load_plugin(TRACKERS, name)()
            except MomusError as error:
                why = error.message if name in known else "Momus has no such tracker"
                warnings.warn(
                    f"numbers of critics do not reach {name!r} ({why}): attach(trainer) logs them there", stacklevel=3
                )

    def write(self, numbers: Mapping[str, float], state: Any) -> None:
        """Write numbers of the current step."""
        if self.trainer is not None:
            self.trainer.log(dict(numbers))
            return
        state.log_history.append({**numbers, "epoch": state.epoch, "step": state.global_step})
        if not getattr(state, "is_world_process_zero", True):
            return
        for name, tracker in list(self.trackers.items()):
            try:
                if tracker.add(numbers, int(state.global_step), self.folder):
                    continue
                why = "it has no active run"
            except Exception as error:  # a tracker must not end a training
                why = f"{type(error).__name__}: {error}"
            del self.trackers[name]
            warnings.warn(f"numbers of critics no longer go to {name!r}: {why}", stacklevel=3)
