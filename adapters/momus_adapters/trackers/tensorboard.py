"""TensorBoard: scalars, the answer as text, and the report beside the event file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from time import time
from typing import Any

from momus.outputs import write_bytes
from momus.ownership import check_output
from momus.report.page import REPORT_PAGE
from momus_adapters.trackers.tracked import ComparisonTracker, Tracked


class TensorboardTracker(ComparisonTracker):
    """Write results as events of TensorBoard; neither TensorFlow nor torch is needed.

    The place is a folder, ``runs`` by default; a run is a folder in it. TensorBoard shows no HTML: the report is copied
    beside the event file. Runs of one name with different steps form curves.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None, options: Mapping[str, Any]) -> str:
        """Write a comparison; returns the folder of the run."""
        from tensorboard.plugins.text.summary_v2 import text_pb

        folder = Path(place or "runs").expanduser() / run
        settings = "\n".join(f"    {name}: {value}" for name, value in tracked.settings.items())
        texts = [text_pb("momus/answer", tracked.markdown), text_pb("momus/settings", settings)]
        _write(folder, [*_scalars(tracked.numbers), *texts], step or 0, **options)
        if tracked.report is not None:
            name = "report.html" if step is None else f"report-{step}.html"
            check_output(folder / name, REPORT_PAGE)
            write_bytes(folder / name, tracked.report.read_bytes())
        return f"folder {folder}"

    def add(self, numbers: Mapping[str, float], step: int, folder: str) -> bool:
        """Add numbers to the run ``momus`` in ``TENSORBOARD_LOGGING_DIR``, else in the training's ``runs``."""
        place = os.environ.get("TENSORBOARD_LOGGING_DIR") or os.path.join(folder, "runs")
        _write(Path(place).expanduser() / "momus", _scalars(numbers), step)
        return True


def _scalars(numbers: Mapping[str, float]) -> list[Any]:
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb

    return [scalar_pb(name, value) for name, value in numbers.items()]


def _write(folder: Path, summaries: list[Any], step: int, **options: Any) -> None:
    """Append an event file with these summaries."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder), **options)
    try:
        for summary in summaries:
            writer.add_event(Event(wall_time=time(), step=step, summary=summary))
    finally:
        writer.close()
