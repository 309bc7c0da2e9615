"""Runs against runs: what changed between two runs, gates for continuous integration, baselines, and histories."""

from momus.history.baselines import Baseline, Baselines
from momus.history.diff import RunDiff, diff_runs
from momus.history.gate import GateResult, gate_run
from momus.history.kept import KeptRun
from momus.history.rules import Rules, read_rules
from momus.history.timeline import Timeline, read_timeline

__all__ = [
    "Baseline",
    "Baselines",
    "GateResult",
    "KeptRun",
    "Rules",
    "RunDiff",
    "Timeline",
    "diff_runs",
    "gate_run",
    "read_rules",
    "read_timeline",
]
