"""`compare`: fit critics on real text, project real and generated text, test the two against each other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.choosing import chosen_critics
from momus.criticising import Criticised, criticise
from momus.devices import resolve_device
from momus.errors import FittingError, MissingExtraError, UsageError
from momus.progress import Reporter, Timed, default_reporter
from momus.results import CriticResult
from momus.scores import Scores
from momus.settings import Settings, with_options
from momus.sources import Source, Texts, read_texts
from momus.store.runs import RunFolder
from momus.verdicts import Verdict, adjust, check_delta
from momus.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from momus.critic import Critic


@dataclass
class Comparison:
    """What `compare` found; prints as a table.

    Attributes
    ----------
    verdicts
        One row for each critic, statistic and generated corpus.
    results
        Evidence, outliers and unscored documents of each critic.
    scores
        Per-document rows by (critic, corpus); empty for critics taken from an earlier run.
    signature
        What made the numbers: version, seed, critics with parameters, fingerprints, times.
    warnings
        What a reader must know before believing the numbers.
    pairs
        Headline rows between generated corpora (``pairwise``), adjusted among themselves.
    """

    verdicts: list[Verdict]
    results: list[CriticResult]
    signature: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], Scores] = field(default_factory=dict)
    pairs: list[Verdict] = field(default_factory=list)

    def add(self, found: Criticised) -> None:
        """Take in what became of a critic."""
        self.results.append(found.result)
        self.scores |= {(found.result.name, s.corpus): s for s in found.scores}
        self.warnings += [found.warning] if found.warning else []

    def rows(self) -> list[dict[str, Any]]:
        """Verdicts as dicts."""
        return [v.row() for v in self.verdicts]

    def frame(self) -> pd.DataFrame:
        """Verdicts as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file, and return its path."""
        from momus.report import write_report

        return write_report(self, Path(path))

    def __str__(self) -> str:
        from momus.console import comparison_text

        return comparison_text(self)

    def __repr__(self) -> str:
        return str(self)


def compare(
    real: Source,
    generated: Mapping[str, Source],
    *,
    fit: Source | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare generated with real text along the axes of several critics.

    Parameters
    ----------
    real, fit
        Corpora, paths, or lists of texts. Critics are fitted on ``fit`` and compared on ``real``; without ``fit``,
        half of ``real``, drawn by the seed, is set apart for fitting.
    generated
        The corpora to criticise, by name.
    critics
        Names of registered critics, or critics; default: all registered ones that can be fitted on the text.
    config
        Parameters by name of critic.
    out
        Run folder to write.
    settings, **options
        `Settings`, or its fields one by one (``seed=1``, ``device="cpu"``, …).

    Returns
    -------
    Comparison

    Raises
    ------
    MomusError
        A text cannot be read, a critic cannot be fitted, the folder is in use, …; the message says how to go on.
    """
    settings = with_options(settings, options)
    check_delta(settings.equivalence)
    timed = Timed(reporter or default_reporter())
    started, clock = datetime.now(UTC), time.perf_counter()
    if not generated:
        raise UsageError("there is no generated text to compare", hint="give at least one corpus by name")
    chosen, left_out = chosen_critics(critics, dict(config or {}))
    with timed.stage("reading"):
        texts = read_texts(real, generated, fit, settings.seed)
    device = resolve_device(settings.device) if any(c.uses_device for c in chosen) else "cpu"
    folder = RunFolder(out) if out is not None else None
    comparison = Comparison([], [], {}, [*texts.warnings, *left_out])
    with ExitStack() as stack:
        if folder is not None:
            folder.open_for_writing(overwrite=overwrite, resume=resume)
            stack.callback(folder.release)
        for critic in chosen:
            critic.to(device)
            try:
                comparison.add(criticise(critic, texts, settings, timed, folder, resume))
            except (FittingError, MissingExtraError) as error:
                if critics is not None:
                    raise
                how = f" ({error.hint})" if isinstance(error, MissingExtraError) else ""
                comparison.warnings.append(f"Critic {critic.name!r} was left out: {error.message}{how}.")
        comparison.warnings += [f"Critic {r.name!r}: {caution}" for r in comparison.results for caution in r.cautions]
        if not comparison.results:
            raise FittingError(
                "no critic can be fitted on this text: " + " ".join(comparison.warnings),
                hint="give more real text with --fit",
            )
        unadjusted = [v for result in comparison.results for v in result.verdicts]
        comparison.verdicts = adjust(unadjusted, settings.adjustment)
        comparison.pairs = adjust([v for r in comparison.results for v in r.pairs], settings.adjustment)
        comparison.signature = _signature(comparison, texts, settings, device, command, started)
        if folder is not None:
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
            with timed.stage("report"):
                comparison.report(folder.path / "report.html")
            comparison.signature["seconds"] = _seconds(timed, clock)
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
        comparison.signature["seconds"] = _seconds(timed, clock)
    return comparison


def _seconds(timed: Timed, clock: float) -> dict[str, float]:
    seconds = {k: round(v, 3) for k, v in timed.seconds.items()}
    return {**seconds, "total": round(time.perf_counter() - clock, 3)}


def _signature(
    comparison: Comparison, texts: Texts, settings: Settings, device: str, command: str | None, started: datetime
) -> dict[str, Any]:
    corpora = [(texts.fit, "fit"), (texts.real, "real"), *((c, "generated") for c in texts.generated)]
    return {
        "momus": __version__,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
        "device": device,
        "seed": settings.seed,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "adjustment": settings.adjustment,
        "paired": settings.paired,
        "equivalence": settings.equivalence,
        "pairwise": settings.pairwise,
        "refits": settings.refits,
        "split": texts.split,
        "critics": [{"name": r.name, "params": r.params, "fitted_on": r.fitted_on} for r in comparison.results],
        "corpora": [
            {
                "name": c.name,
                "role": role,
                "documents": len(c),
                "characters": int(c.characters.sum()),
                "fingerprint": c.fingerprint,
            }
            for c, role in corpora
        ],
        "warnings": comparison.warnings,
    }
