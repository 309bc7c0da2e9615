"""`compare`: fit critics on real text, project real and generated text, test the two against each other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.checks.languages import claiming
from momus.checks.notes import mixed_prompts_warnings
from momus.critic import RunningTextCritic
from momus.critic.hooks import DeviceMixin
from momus.engine.chosen import Absent, Chosen, absent_warnings, bare, check_asked, chosen_critics, left_out_warning
from momus.engine.crossfit import check_folds
from momus.engine.in_parts import LargeScoring
from momus.engine.jobs import Work, outcomes, processes_of, server_of
from momus.engine.large import critics_of_rows, large_texts, preview, whole_notes
from momus.engine.provenance import critics_warnings, left_out_warnings, missing_warnings, signature_of
from momus.engine.reuse import Reuse
from momus.errors import FittingError, MissingExtraError, UsageError
from momus.joint.analyses import analyse
from momus.joint.versions import Nearer
from momus.numeric.devices import resolve_device
from momus.ownership import check_place
from momus.parameters import exclude, need
from momus.processes import usable_cores
from momus.progress import Reporter, Timed, default_reporter
from momus.reading import ReadingOptions, TextSource
from momus.runs.folder import JOINT, REPORT, RunFolder, write_joint
from momus.runs.kept_rows import write_texts
from momus.runs.manifest import ROWS
from momus.runs.result import Comparison, Outcome
from momus.runs.texts import Texts, check_named, read_texts, read_versions
from momus.verdicts.atlas import check_register
from momus.verdicts.settings import Settings, with_options
from momus.verdicts.table import adjust, floor_warnings, selected, skewness_warnings
from momus.verdicts.verdict import check_delta

if TYPE_CHECKING:
    from momus.critic import Critic


MANY_CRITICS, MANY_CHARACTERS = 4, 1_000_000
"""From so many critics and characters of text on, several processes pay."""


def compare(
    real: TextSource | None = None,
    generated: Mapping[str, TextSource] | None = None,
    *,
    against: Mapping[str, TextSource] | None = None,
    fit: TextSource | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    settings: Settings | None = None,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
    command: str | None = None,
    reuse: str | Path | None = None,
    jobs: int | None = 1,
    trust: Sequence[Path] = (),
    **options: Any,
) -> Comparison:
    """Compare generated with real text along the axes of several critics.

    Parameters
    ----------
    real, fit
        Corpora, paths, or texts in memory: lists of texts or dicts, data frames, Arrow tables, Hugging Face data sets
        (`momus.reading.read_memory`); also folders of rows that ``momus score`` wrote. Critics are fitted on ``fit``
        and compared on ``real``; without ``fit``, half of ``real``, drawn by the seed, is set apart for fitting.
    generated
        The corpora to criticise, by name.
    against
        Text of a model, by name: the reference in place of real text, from which the others are said to differ. Critics
        are cross-fitted (`momus.engine.crossfit`), and bands are those of its own halves. With ``real`` too, it is said
        which of both is nearer to that.
    critics
        Names of registered critics, or critics; default: all registered ones that can be fitted on the text, or those
        that scored the rows.
    config
        Parameters by name of critic.
    out
        Run folder to write.
    reading
        How paths are read: field, format, encoding.
    reuse
        An earlier run folder: critics with the same parameters, fitted on the same text, are taken from it, and so are
        the scores of the real text if that is the same. Others are fitted again, with a warning.
    jobs
        Number of processes; None: one per core where that pays. Texts of more than `momus.engine.large.LARGE` bytes are
        scored part by part, smaller ones critic by critic. A script that asks for several needs
        ``if __name__ == "__main__":`` around its call, since the processes import it.
    trust
        Folders of critics that may use adapters, where texts are given as rows that were scored before.
    settings, **options
        `Settings`, or its fields one by one (``seed=1``, ``device="cpu"``, …).

    Returns
    -------
    Comparison

    Raises
    ------
    MomusError
        A text cannot be read, a critic cannot be fitted, the folder is in use, …; the message says how to fix it.
    """
    if against is not None:
        options["against"] = _one_name(against)
    settings = with_options(settings, options)
    check_out(out, overwrite=overwrite, resume=resume)
    _check_chain(settings, generated, given=against is not None)
    check_delta(settings.equivalence)
    check_register(settings.register)
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is {jobs}, expected a number of at least 1", hint="leave it out to use one process")
    timed = Timed(reporter or default_reporter())
    started, clock = datetime.now(UTC), time.perf_counter()
    check_named(generated)
    assert generated is not None
    reading = reading or ReadingOptions()
    if against is None and real is None:
        raise UsageError("there is no text to compare with", hint="give real text, or text of a model with against")
    reference = real if against is None else against[settings.against]
    assert reference is not None
    notes: list[str] = []
    if against is None:
        large = large_texts(reference, generated, reading)
    else:
        large, notes = None, whole_notes(reference, generated, reading)
    if large is not None and large.rows:
        selection = critics_of_rows(large, critics, fit, config, trust)
    else:
        selection = chosen_critics(critics, dict(config or {}))
    if against is not None:
        _check_versions(selection, critics is None, reuse, settings)
    earlier = Reuse(reuse) if reuse is not None else None
    if earlier is not None:
        earlier.check_split(fit is not None)
    chosen = selection.critics
    device = resolve_device(settings.device) if any(isinstance(c, DeviceMixin) for c in chosen) else "cpu"
    settings = replace(settings, device=device)
    folder = RunFolder(out) if out is not None else None
    named = [reference, real, fit, *generated.values(), reuse]
    check_place(None if out is None else Path(out), [t for t in named if isinstance(t, str | Path)])
    comparison = Comparison(folder=None if folder is None else folder.path)
    with ExitStack() as stack:

        def opened() -> Path:
            """Open the run folder, or a temporary one, and return where files are written."""
            if folder is None:
                return Path(stack.enter_context(TemporaryDirectory(prefix="momus-")))
            folder.open_for_writing(overwrite=overwrite, resume=resume)
            stack.callback(folder.release)
            folder.begin(resume=resume)
            return folder.work

        if large is None:
            files = (Path(t) for t in named if isinstance(t, str | Path))
            size = sum(path.stat().st_size for path in files if path.is_file())
            stack.enter_context(server_of(chosen, _jobs(chosen, size) if jobs is None else jobs))
            with timed.stage("reading", "whole" if notes else ""):
                if against is None:
                    texts = read_texts(reference, generated, fit, settings.seed, reading, timed.inner)
                else:
                    texts = read_versions((settings.against, reference), generated, reading, timed.inner)
                    check_folds(texts, settings)
            check_asked(settings, chosen, texts)
            if folder is not None:
                opened()
            plain = None
        else:
            check_asked(settings, chosen, preview(large))
            workers = usable_cores() if jobs is None else jobs
            scoring = LargeScoring(large, settings, opened() / ROWS, workers, trust, earlier, timed)
            texts, plain = scoring.score(selection, fit, critics is None)
        comparison.warnings += [*notes, *texts.warnings, *selection.warnings, *texts.sample_notes]
        if folder is not None:
            write_texts(texts, folder.work)
        stack.enter_context(timed.overall("critic", len(chosen)))
        selection.critics, warnings = claiming(chosen, texts, critics is None)
        comparison.warnings += warnings
        corpora = len(texts.generated) if settings.multiplicity.endswith("-table") else 1
        family = len(selection.critics) * corpora  # axes that are adjusted together
        work = Work(texts, plain, settings, folder, resume, family, earlier)
        size = sum(int(c.characters.sum()) for c in (texts.fit, texts.real, *texts.generated))
        jobs = 1 if large is not None else _jobs(chosen, size) if jobs is None else jobs
        with processes_of(work, selection.critics, jobs) as pool:
            _run_critics(comparison, selection, work, timed, critics is None, pool)
            _adjust(comparison, texts, settings)
            few, *others = texts.analysed
            comparison.joint = analyse(comparison.axes, comparison.verdicts, few, others, settings, timed, pool)
        if against is not None and real is not None:
            both = compare(
                real,
                {settings.against: reference, **generated},
                fit=fit,
                critics=critics,
                config=config,
                settings=replace(settings, against="", chain=False, folds=Settings.folds),
                reading=reading,
                reporter=reporter,
                jobs=jobs,
                trust=trust,
                command=command,
            )
            comparison.joint = replace(comparison.joint, nearer=nearer_of(both, settings.against))
            comparison.warnings += [f"With real text: {w}" for w in both.warnings if w not in comparison.warnings]
        comparison.signature = signature_of(comparison, texts, chosen, settings, command, started)
        if folder is not None:
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
            write_joint(comparison.joint, folder.work / JOINT)
            with timed.stage("report"):
                comparison.report(folder.work / REPORT)
            comparison.signature["seconds"] = _seconds(timed, clock)
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
            folder.publish()
        comparison.signature["seconds"] = _seconds(timed, clock)
    return comparison


def nearer_of(both: Comparison, reference: str) -> tuple[Nearer, ...]:
    """Which of a reference and each new text is nearer to real text on each axis, from their ranks."""
    rows = []
    bands = {v.critic: v.band for v in both.verdicts if v.headline}
    for result in both.results:
        ranks = {} if both.joint.ranking is None else {r.model: r for r in both.joint.ranking.of(result.name)}
        old = ranks.pop(reference, None)
        if old is None:
            continue
        unit = bands.get(result.name) or 1.0
        for name, new in ranks.items():
            nearer = "new" if new.rank_high < old.rank_low else "old" if old.rank_high < new.rank_low else ""
            sizes = old.distance / unit, new.distance / unit
            rows.append(Nearer(result.name, result.axis, name, *sizes, bool(bands.get(result.name)), nearer))
    return tuple(rows)


def check_out(out: str | Path | None, *, overwrite: bool, resume: bool) -> None:
    """Raise `UsageError` if no folder, or two things to do with it, are named."""
    need("out", out is not None, overwrite=overwrite, resume=resume)
    exclude(overwrite=overwrite, resume=resume)


def _check_chain(settings: Settings, generated: Mapping[str, TextSource] | None, *, given: bool) -> None:
    """Raise `UsageError` if there is no reference for a chain or for folds, or a chain of fewer than two texts."""
    folds = settings.folds if settings.folds != Settings.folds else None
    need("against", given, chain=settings.chain, folds=folds)
    if settings.chain and generated is not None and len(generated) < 2:
        raise UsageError(
            f"{arg('chain', True)} needs two or more later versions", hint=f"name each of them in {arg('generated')}"
        )


def _one_name(against: Mapping[str, TextSource]) -> str:
    """The name of the reference.

    Raises
    ------
    UsageError
        There is not exactly one.
    """
    if not isinstance(against, Mapping) or len(against) != 1:
        raise UsageError("against takes one text by name", hint='against={"old": texts}')
    return next(iter(against))


def _check_versions(selection: Chosen, by_default: bool, reuse: object, settings: Settings) -> None:
    """Leave out critics of running text, and refuse options that need real text.

    Raises
    ------
    UsageError
        Such a critic or option was asked for.
    """
    laws = [c.name for c in selection.critics if isinstance(c, RunningTextCritic)]
    if laws and not by_default:
        raise UsageError(
            f"{', '.join(laws)}: critics of running text have no prompts to be compared by",
            hint=f"leave them out, or compare both texts with {arg('real')}",
        )
    if reuse is not None or settings.refits:
        raise UsageError(
            "critics are fitted anew on the texts of models that are compared",
            hint=f"leave out {arg('reuse')} and {arg('refits')}",
        )
    selection.critics = [c for c in selection.critics if c.name not in laws]


def _run_critics(
    comparison: Comparison,
    selection: Chosen,
    work: Work,
    timed: Timed,
    skip_unfit: bool,
    pool: ProcessPoolExecutor | None,
) -> None:
    """Run each critic, and add its outcome; with ``skip_unfit``, one that cannot be fitted only leaves a warning."""
    absent, unfit = list(selection.absent), dict[str, str]()
    for critic, outcome in outcomes(selection.critics, work, timed, pool):
        if isinstance(outcome, Outcome):
            comparison.add(outcome)
        elif not skip_unfit:
            raise outcome
        elif isinstance(outcome, MissingExtraError):
            absent.append(Absent(critic.name, outcome))
        else:
            unfit[critic.name] = outcome.message
    comparison.left_out = {name: bare(name, reason) for name, reason in unfit.items()}
    unfit |= selection.unset
    comparison.warnings += [left_out_warning(unfit)] if unfit else []
    comparison.warnings += absent_warnings(absent)
    comparison.warnings += work.reuse.warnings if work.reuse is not None else []
    comparison.warnings += critics_warnings(comparison.results)
    if not comparison.results:
        raise FittingError(
            "no critic can be fitted on this text: " + " ".join(comparison.warnings),
            hint="give more text" if work.settings.against else f"give more real text with {arg('fit')}",
        )


def _adjust(comparison: Comparison, texts: Texts, settings: Settings) -> None:
    """Adjust the p-values of all critics for each other, and warn of what the table shows."""
    multiplicity = settings.multiplicity
    comparison.verdicts = selected(adjust([v for r in comparison.results for v in r.verdicts], multiplicity))
    of_pairs = multiplicity if multiplicity in ("none", "holm-table", "bh-table") else f"{multiplicity}-table"
    comparison.pairs = adjust([v for r in comparison.results for v in r.pairs], of_pairs)
    comparison.warnings += [*missing_warnings(comparison.verdicts), *left_out_warnings(comparison.verdicts)]
    if settings.paired is None:
        comparison.warnings += mixed_prompts_warnings(texts.real, texts.generated, comparison.verdicts)
    comparison.warnings += floor_warnings(comparison.verdicts, multiplicity)
    comparison.warnings += skewness_warnings(comparison.verdicts)
    comparison.warnings += floor_warnings(comparison.pairs, of_pairs, pairs=True)


def _jobs(critics: Sequence[Critic[Any]], size: int) -> int:
    """One process per core where critics take longer on a text of this size than processes take to start."""
    return usable_cores() if len(critics) >= MANY_CRITICS and size >= MANY_CHARACTERS else 1


def _seconds(timed: Timed, clock: float) -> dict[str, float]:
    seconds = {k: round(v, 3) for k, v in timed.seconds.items()}
    return {**seconds, "total": round(time.perf_counter() - clock, 3)}
