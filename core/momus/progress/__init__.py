"""Progress: the library reports stages to a reporter; on a terminal they are shown as bars, elsewhere as lines.

A computation of several like parts, such as the critics of a comparison, reports those parts too: then one bar shows
them all, with the time left if each takes as long as the finished ones.
"""

from momus.progress.overall import Advance, Overall
from momus.progress.reporters import Bars, Lines, PartsReporter, Reporter, Silent, default_reporter
from momus.progress.stages import Timed, reporting, stage

__all__ = [
    "Advance",
    "Bars",
    "Lines",
    "Overall",
    "PartsReporter",
    "Reporter",
    "Silent",
    "Timed",
    "default_reporter",
    "reporting",
    "stage",
]
