"""What experiment trackers get of a comparison: numbers by name, a table of verdicts, the answer and the report.

A tracker is named with its place, such as ``wandb:team/project``; without a place, results go into the run that is
active in the process, if there is one.
"""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.errors import MomusError, UsageError
from momus.plugins import TRACKERS, load_plugin, registered
from momus.redact import redacted, redacted_value

if TYPE_CHECKING:
    from momus import Comparison
    from momus.verdicts.verdict import Verdict

COLUMNS = (
    *("generated", "critic", "axis", "statistic", "finding", "gap", "gap_low", "gap_high", "effect", "effect_low"),
    *("effect_high", "difference", "unit", "p_adjusted", "n_real", "n_generated", "unscored_generated"),
)
"""Columns of the table of headline verdicts."""
CURVES = ("gap", "gap_low", "gap_high", "effect", "effect_low", "effect_high", "difference", "p_adjusted")
NAME = 80
"""Longest part of a metric's name."""
_UNUSUAL = re.compile(r"[^\w.\-]+")


@dataclass(frozen=True)
class Tracked:
    """What a tracker gets of a comparison.

    Attributes
    ----------
    numbers
        Finite numbers by name. ``momus/TEXT/CRITIC/…``, for each headline verdict: ``gap`` (effect ÷ human band) with
        ``gap_low`` and ``gap_high``, ``effect`` with its interval, ``difference``, ``p_adjusted``, ``differs`` (0 or 1)
        and ``n`` (generated documents in the test). ``momus/TEXT/…``: ``axes_beyond``, ``axes_differ`` and
        ``axes_tested``. What does not exist is left out.
    rows
        Headline verdicts with the keys `COLUMNS`; missing values are None.
    markdown
        The answer, the overview table and the warnings.
    settings
        What the numbers depend on, as short strings: version, seed, critics, digests of the texts. Passwords and keys
        of addresses are replaced.
    report
        The report as an HTML file; None if it is not sent. It holds passages of the documents.
    """

    numbers: dict[str, float]
    rows: list[dict[str, Any]]
    markdown: str
    settings: dict[str, str]
    report: Path | None = None

    def table(self) -> list[list[Any]]:
        """The rows as lists, in the order of `COLUMNS`."""
        return [[row[c] for c in COLUMNS] for row in self.rows]


class ComparisonTracker(ABC):
    """A tracker: a class under the entry-point group ``momus.trackers``, made without arguments."""

    @abstractmethod
    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None) -> str:
        """Send what `tracked` holds, and return where it is now.

        Parameters
        ----------
        place
            What stands behind the tracker's name, such as a project or a folder; empty for the active run, else a
            default.
        run
            Name of a run that is created.
        step
            Where on the axis of training steps the numbers are; None if they belong to no step.
        """


def log_to(comparison: Comparison, to: str, *, run: str = "momus", step: int | None = None, report: bool = True) -> str:
    """Send a comparison to an experiment tracker, and return where it is now.

    Parameters
    ----------
    to
        ``wandb:ENTITY/PROJECT``, ``mlflow:EXPERIMENT`` or ``tensorboard:FOLDER``. The name alone logs into the run that
        is active in this process, if there is one.
    run, step
        See `ComparisonTracker.send`.
    report
        Whether to send the HTML report, which holds passages of the documents.

    Raises
    ------
    MomusError
        There is no such tracker, its package is not installed, or it fails; the message says how.
    """
    name, _, place = to.partition(":")
    if not name:
        raise UsageError(f"{to!r} names no tracker", hint=f"name one of {', '.join(registered(TRACKERS))}")
    tracker: ComparisonTracker = load_plugin(TRACKERS, name)()
    tracked = tracked_of(comparison)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if report:
                tracked = replace(tracked, report=comparison.report(Path(folder) / "report.html"))
            return tracker.send(tracked, place, run=run, step=step)
    except MomusError:
        raise
    except Exception as error:  # a tracker may fail in any way: no network, no key, an unknown project
        what = redacted(str(error).strip()) or type(error).__name__
        raise MomusError(
            f"the tracker {name!r} failed: {what}",
            hint="the run folder is complete: `momus export RUN` sends it again once this is solved",
        ) from error


def tracked_of(comparison: Comparison) -> Tracked:
    """Collect what a tracker gets, without the report."""
    headlines = [v for v in comparison.verdicts if v.headline]
    rows = [_row(v) for v in headlines]
    texts = metric_names(v.generated for v in headlines)
    critics = metric_names(v.critic for v in headlines)
    numbers: dict[str, float] = {}
    for verdict, row in zip(headlines, rows, strict=True):
        name = f"momus/{texts[verdict.generated]}/{critics[verdict.critic]}"
        numbers |= {f"{name}/{key}": float(row[key]) for key in CURVES if row[key] is not None}
        if verdict.p_adjusted is not None:
            numbers[f"{name}/differs"] = float(verdict.differs)
        numbers[f"{name}/n"] = float(verdict.n_generated)
    for corpus in comparison.answer.corpora:
        name = f"momus/{texts[corpus.generated]}"
        counts = {"axes_beyond": corpus.beyond, "axes_differ": corpus.differs, "axes_tested": corpus.tested}
        numbers |= {f"{name}/{key}": float(n) for key, n in counts.items()}
    return Tracked(numbers, rows, comparison.to_markdown(), _settings(comparison.signature))


def _row(verdict: Verdict) -> dict[str, Any]:
    low, high = verdict.gap_interval or (None, None)
    computed = {"finding": verdict.finding, "gap": verdict.gap, "gap_low": low, "gap_high": high}
    return {c: computed[c] if c in computed else getattr(verdict, c) for c in COLUMNS}


def metric_names(names: Iterable[str]) -> dict[str, str]:
    """Names that every tracker takes as a part of a metric's name; different names stay different.

    >>> metric_names(["gpt2", "a/b c", "a_b_c", "<b>"])
    {'gpt2': 'gpt2', 'a/b c': 'a_b_c', 'a_b_c': 'a_b_c-2', '<b>': 'b'}
    """
    cleaned: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = metric = _UNUSUAL.sub("_", name).strip("_.")[:NAME] or "unnamed"
        number = 1
        while metric in cleaned.values():
            number += 1
            metric = f"{plain}-{number}"
        cleaned[name] = metric
    return cleaned


def _settings(signature: Mapping[str, Any]) -> dict[str, str]:
    """Provenance as short strings by name, without passwords and keys."""
    texts = signature.get("corpora", ())
    names = metric_names(c["name"] for c in texts)
    settings = {
        "momus": signature.get("momus"),
        "seed": signature.get("seed"),
        "device": signature.get("device"),
        "critics": ", ".join(c["name"] if isinstance(c, Mapping) else str(c) for c in signature.get("critics", ())),
        **{f"documents of {names[c['name']]}": c.get("documents") for c in texts},
        **{f"fingerprint of {names[c['name']]}": c.get("fingerprint") for c in texts},
        "command": signature.get("command"),
    }
    return {k: str(redacted_value(v, k))[:500] for k, v in settings.items() if v not in (None, "")}
