"""What a filter did, for the terminal and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.report.format import number
from momus.report.safe import one_line
from momus.text.counting import counted, percentage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from momus.outliers.filtered import Dropped, Filtered

SNIPPET = 140


def filtered_json(filtered: Filtered) -> dict[str, Any]:
    """What a filter did as plain lists, strings and numbers."""
    return {**asdict(filtered), "kept": filtered.kept, "expected": filtered.expected}


def filtered_view(filtered: Filtered, keep: Path, drop: Path) -> RenderableType:
    """Build the report: how many documents went, for which critics, and examples."""
    from rich.console import Group
    from rich.text import Text

    f = filtered
    share = percentage(f.dropped / f.documents, 1) if f.documents else "none"
    parts: list[RenderableType] = [
        Text(f"{f.dropped:,} of {counted(f.documents, 'document')} dropped ({share}) → {one_line(str(drop))}"),
        Text(f"{f.kept:,} kept → {one_line(str(keep))}"),
    ]
    parts += [Text(line, style="dim") for line in _notes(f)]
    for name, (unlikely, likely) in f.by_critic.items():
        if unlikely or likely:
            parts += [Text(""), Text(f"{name}: {_ways(unlikely, likely)}", style="bold")]
            parts += [_example(e) for e in f.examples if e.critic == name]
    return Group(*parts)


def _ways(unlikely: int, likely: int) -> str:
    """How many documents went for a critic, and at which end of real text."""
    if not likely:
        return f"{unlikely:,} dropped"
    return f"{unlikely + likely:,} dropped ({unlikely:,} unlikely, {likely:,} too likely)"


def _notes(f: Filtered) -> Iterator[str]:
    if f.p is None:
        yield (
            f"No document is odd enough: of {f.documents:,}, at least {f.fewest:,} must be as odd as the oddest real "
            f"documents to be told from chance at a false-discovery rate of {f.fdr:g}."
        )
    else:
        yield (
            f"Those with p ≤ {f.p:.2g} go: on average, at most {f.expected:,.1f} of them are as real as the real text "
            f"(false-discovery rate {f.fdr:g})."
        )
    yield f"Real text: {counted(f.real, 'document')}, of which {f.calibrating:,} calibrate the p-values."
    for name, n in f.seen.items():
        if n:
            yield f"Critic {name} was fitted on {n:,} of the real documents, which makes its p-values a little small."
    for name, reasons in f.unscored.items():
        for reason, n in reasons.items():
            yield f"{name}: {n:,} unscored ({one_line(reason)}), not odd under this critic"
    if f.judged_by_none:
        yield f"{counted(f.judged_by_none, 'document')} could not be scored by any critic: kept."


def _example(e: Dropped) -> Text:
    from rich.text import Text

    end = "too likely" if e.small else "odd"
    text = Text(f"  {one_line(e.id)}", style="bold")
    text.append(f"  p {e.p:.2g}, {end}: {number(e.value)}, real text {number(e.typical)}", style="not bold")
    return text.append(f"\n  “{one_line(' '.join(e.text.split()), SNIPPET)}”", style="not bold dim")
