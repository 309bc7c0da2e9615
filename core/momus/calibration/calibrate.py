"""`calibrate`: fit critics once, split real text many times, plant defects, and count each critic's alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL, PROMPT, CalibrationPlan, units_of
from momus.calibration.store import RESULTS, Calibration, write_calibration
from momus.calibration.worker import CELLS, CalibrationWork, Crew, Task, crew_of
from momus.checks.notes import reading_notes
from momus.critic import Critic
from momus.critic.hooks import DeviceMixin, row_unit, with_needs
from momus.critic.powers import headline_of
from momus.critic.source import source_digest
from momus.critic.splitting import usable_documents
from momus.engine.chosen import absent_warnings, chosen_critics
from momus.errors import FittingError, MomusError, UsageError
from momus.estimator import json_params
from momus.locking import Lock
from momus.numeric.devices import resolve_device
from momus.outputs import make_folder, write_bytes, writing
from momus.ownership import CALIBRATION, MARK, check_folder, check_own, check_place
from momus.progress import Reporter, default_reporter
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.runs.folder import LOCK
from momus.runs.named_files import files_named
from momus.runs.texts import FIT_SHARE, check_splittable
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__


def calibrate(
    real: TextSource,
    *,
    fit: TextSource | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    plan: CalibrationPlan | None = None,
    reading: ReadingOptions | None = None,
    jobs: int = 1,
    device: str = "auto",
    reporter: Reporter | None = None,
    command: str | None = None,
    **options: Any,
) -> Calibration:
    """Measure each critic's false-alarm rate and power on real text.

    Parameters
    ----------
    real
        Real text to split and to plant defects in: a corpus, a path, or a list of texts.
    fit
        Other real text, on which critics are fitted once; default: half of ``real``, drawn by the seed.
    critics, config
        As in `momus.compare`.
    out
        Folder for results. Cells that it already holds for the same texts and settings are not measured again.
    plan, **options
        `CalibrationPlan`, or its fields one by one.
    reading
        How paths are read: field, format, encoding.
    jobs
        Number of processes.

    Raises
    ------
    MomusError
        A text cannot be read, no critic can be fitted, the plan cannot be carried out, …

    >>> texts = [f"word{i % 7} and word{i % 3} " * (i % 5 + 1) for i in range(60)]
    >>> calibration = calibrate(texts, critics=["length"], defects=["length-truncation"], strengths=[0.8], splits=100,
    ...                         power_splits=20, seed=1)
    >>> [(c.defect, c.n_real, c.n_generated, c.tested) for c in calibration.cells]
    [('none', 15, 15, 100), ('length-truncation', 15, 15, 20)]
    """
    plan = _plan(plan, options)
    if jobs < 1:
        raise UsageError(f"{arg('jobs', jobs)}: at least one process is needed", hint=f"write {arg('jobs', 2)}")
    selection = chosen_critics(critics, dict(config or {}))
    warnings = [*selection.warnings, *absent_warnings(selection.absent)]
    chosen = _splittable(selection.critics, plan, critics is not None, warnings)
    reporter = reporter or default_reporter()
    check_place(None if out is None else Path(out), [t for t in (real, fit) if isinstance(t, str | Path)])
    with reporter.stage("reading"):
        fitting, held_out = _texts(real, fit, plan, warnings, with_needs(reading, chosen), reporter)
    units = units_of(held_out, plan.by)
    n_units = len(held_out if units is None else units)
    plan.check(n_units)
    device = resolve_device(device) if any(isinstance(c, DeviceMixin) for c in chosen) else "cpu"
    with ExitStack() as stack:
        folder, lock = _folder(out, stack)
        for name, kind in RESULTS.items():  # now, and not after hours of work
            check_own(folder / name, kind)
        files = {c.name: files_named(json_params(c)) for c in chosen}
        sources = {c.name: source_digest(c) for c in chosen}
        work = CalibrationWork(fitting, held_out, chosen, plan, folder, device, files, sources)
        warnings += work.changed_code()
        crew = stack.enter_context(crew_of(work, jobs, lock))
        names = _fitted(crew, reporter, chosen, critics is not None, warnings)
        cells = _measured(crew, reporter, names, plan, n_units, None if critics is not None else warnings)
        names = [name for name in names if any(cell.critic == name for cell in cells)]
        calibration = Calibration(plan, cells, _described(chosen, names), {}, warnings)
        calibration.signature = _signature(work, jobs, command, warnings)
        if out is not None:
            write_calibration(calibration, folder)
    return calibration


def _plan(plan: CalibrationPlan | None, options: dict[str, Any]) -> CalibrationPlan:
    try:
        plan = replace(plan or CalibrationPlan(), **options)
    except TypeError as error:
        raise UsageError(
            f"calibrate: {error}", hint=f"options are: {', '.join(CalibrationPlan.__dataclass_fields__)}"
        ) from error
    plan.check_types()
    return plan


def _splittable(
    chosen: Sequence[Critic[Any]], plan: CalibrationPlan, explicit: bool, warnings: list[str]
) -> Sequence[Critic[Any]]:
    """Leave out critics of prompts if whole groups are to be split, since their rows belong to no group."""
    prompts = [c.name for c in chosen if row_unit(c) == PROMPT] if plan.by == "group" else []
    if prompts and explicit:
        raise UsageError(
            f"critic {prompts[0]!r} compares prompts, which cannot be split by group",
            hint=f"leave it out, or write {arg('by', 'prompt')}",
        )
    warnings += [
        f"Critic {name!r} was left out: it compares prompts, which no split by group keeps." for name in prompts
    ]
    return [c for c in chosen if c.name not in prompts]


def _texts(
    real: TextSource,
    fit: TextSource | None,
    plan: CalibrationPlan,
    warnings: list[str],
    reading: ReadingOptions | None,
    reporter: Reporter,
) -> tuple[Corpus, Corpus]:
    """Read the texts: (text to fit on, usable held-out documents sorted by id)."""
    whole = as_corpus(real, "real", reading, reporter)
    warnings += reading_notes(whole)
    if fit is None:
        check_splittable(whole.name, len(whole), int((~whole.blank).sum()))
        fitting, held_out = whole.split(FIT_SHARE, plan.seed, ("fit", "real"))
        warnings.append(
            f"No text to fit on was given: the real text was split by seed {plan.seed} into "
            f"{counted(len(fitting), 'document')} "
            f"to fit on and {len(held_out):,} to calibrate with."
        )
    else:
        fitting, held_out = as_corpus(fit, "fit", reading, reporter), whole
        shared = int(np.isin(held_out.hashes, fitting.hashes).sum())
        if shared:
            warnings.append(
                f"{shared:,} of {counted(len(held_out), 'document')} are also in the text that critics are fitted on."
            )
    usable = usable_documents(held_out)
    if len(usable) < len(held_out):
        warnings.append(f"{counted(len(held_out) - len(usable), 'document')} without text left out.")
    by_id = np.argsort(np.asarray(usable.ids, dtype=object), kind="stable")  # splits must not depend on document order
    return fitting, usable.take(by_id)


def _folder(out: str | Path | None, stack: ExitStack) -> tuple[Path, Lock | None]:
    """Open and lock the folder for results; without ``out``, a temporary one that is deleted at the end."""
    if out is None:
        return Path(stack.enter_context(TemporaryDirectory(prefix="momus-"))), None
    path = Path(out)
    check_folder(path, CALIBRATION, leftovers=[LOCK])
    with writing(path, f"name another folder with {arg('out')}"):
        make_folder(path)
        lock = Lock(path / LOCK, str(path)).acquire()
        stack.callback(lock.release)
        write_bytes(path / MARK, CALIBRATION.name.encode("ascii"))
        make_folder(path / CELLS)
    return path, lock


def _fitted(
    crew: Crew, reporter: Reporter, chosen: Sequence[Critic[Any]], explicit: bool, warnings: list[str]
) -> list[str]:
    """Fit the critics, and return the names of those that could be fitted, in the order given.

    A critic that cannot be fitted is an error if it was asked for by name (``explicit``), otherwise a warning.
    """
    names, fitted = [c.name for c in chosen], []
    with reporter.stage("fitting critics", len(names)) as advance:
        for i, (name, problem) in enumerate(crew.fit(names)):
            if problem is None:
                fitted.append(name)
            elif explicit:
                raise FittingError(
                    f"critic {name!r}: {problem}", hint=f"leave it out with {arg('critics')}, or give more real text"
                )
            else:
                warnings.append(f"Critic {name!r} was left out: {problem}.")
            advance(i + 1)
    if not fitted:
        raise FittingError("no critic can be fitted on this text", hint=f"give more real text with {arg('fit')}")
    return [n for n in names if n in fitted]


def _measured(
    crew: Crew, reporter: Reporter, names: Sequence[str], plan: CalibrationPlan, units: int, warnings: list[str] | None
) -> list[SplitCell]:
    """Measure all cells, sorted by critic, size, defect and strength.

    A critic that fails is left out with a warning, and the others go on from their finished cells; without a list of
    ``warnings`` it was asked for, and its error is raised.
    """
    try:
        return _cells(crew, reporter, names, plan, units)
    except MomusError as error:
        if warnings is None or error.critic not in names or len(names) == 1:
            raise
        warnings.append(f"Critic {error.critic!r} was left out: {error.message}.")
        others = [name for name in names if name != error.critic]
    return _measured(crew, reporter, others, plan, units, warnings)


def _cells(crew: Crew, reporter: Reporter, names: Sequence[str], plan: CalibrationPlan, units: int) -> list[SplitCell]:
    # one null task per critic; one task per defect and strength for all critics, which then plants the defect once
    tasks: list[Task] = [(NULL, 0.0, (name,)) for name in names]
    tasks += [(d, s, tuple(names)) for d in plan.defects for s in sorted(plan.strengths)]
    splits = sum(len(t[2]) * (plan.splits if t[0] == NULL else plan.power_splits) for t in tasks)
    with reporter.stage("measuring splits", splits * len(plan.pairs(units))) as advance:
        cells = crew.run(tasks, advance)
    critic_rank = {n: i for i, n in enumerate(names)}
    defect_rank = {d: i for i, d in enumerate((NULL, *plan.defects))}
    return sorted(
        cells, key=lambda c: (critic_rank[c.critic], c.n_real, c.n_generated, defect_rank[c.defect], c.strength)
    )


def _described(chosen: Sequence[Critic[Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": c.name,
            "axis": c.axis,
            "unit": row_unit(c),
            "statistic": headline_of(c),
            "params": c.get_params(deep=False),
            "source": source_digest(c),
        }
        for c in chosen
        if c.name in names
    ]


def _signature(work: CalibrationWork, jobs: int, command: str | None, warnings: Sequence[str]) -> dict[str, Any]:
    corpora = [(work.fit, "fit"), (work.real, "real")]
    return {
        "momus": __version__,
        "command": command,
        "seed": work.plan.seed,
        "device": work.device,
        "jobs": jobs,
        "corpora": [
            {"name": c.name, "role": role, "documents": len(c), "fingerprint": c.fingerprint} for c, role in corpora
        ],
        "warnings": list(warnings),
    }
