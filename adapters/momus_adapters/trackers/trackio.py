"""Trackio: numbers, a table of verdicts, the answer and the report."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

from momus_adapters.trackers.tracked import COLUMNS, ComparisonTracker, Tracked


class TrackioTracker(ComparisonTracker):
    """Send results to Trackio.

    The place is the name of a project; without one, the active run, else the project ``momus``. Runs are kept on this
    machine (``TRACKIO_DIR``) unless the environment names a space or a server, as everywhere in Trackio.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None, options: Mapping[str, Any]) -> str:
        """Send a comparison; returns the project and the run."""
        import trackio

        active = trackio.context_vars.current_run.get() if not place and not options else None
        with redirect_stdout(io.StringIO()):  # Trackio prints how to open its dashboard
            target = active or trackio.init(
                **{
                    "project": place or "momus",
                    "name": run,
                    "config": {"momus": tracked.settings},
                    "resume": "allow",
                    "embed": False,
                    "auto_log_gpu": False,
                    "auto_log_cpu": False,
                    **options,
                }
            )
            content: dict[str, Any] = dict(tracked.numbers)
            content["momus/verdicts"] = trackio.Table(columns=list(COLUMNS), data=tracked.table())
            content["momus/answer"] = trackio.Markdown(tracked.markdown)
            if tracked.report is not None:
                content["momus/report"] = trackio.Html(str(tracked.report))
            target.log(content, step=step)
            if active is None:
                trackio.finish()
        return f"project {target.project!r}, run {target.name!r}"

    def add(self, numbers: Mapping[str, float], step: int, folder: str) -> bool:
        """Add numbers to the active run."""
        import trackio

        active = trackio.context_vars.current_run.get()
        if active is None:
            return False
        active.log(dict(numbers), step=step)
        return True
