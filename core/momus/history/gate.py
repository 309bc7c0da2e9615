"""A gate for continuous integration: a run passes or fails by intervals of its distances to real text.

A limit δ is *kept*, *broken*, or neither is shown. A rule fails if its limit is shown to be broken: the interval lies
above δ. ``not-worse`` and *within* fail unless it is shown to be kept: the interval lies at or below δ. A rule is
decided by one end of an interval, and the ends that decide hold at once with probability 1 − α: α is shared by
Bonferroni's bound among the limits of distances, and among the statistics of an axis, of which the one that speaks for
it was chosen. If there are limits of changes too, these have half of it; their intervals hold at once by common
bootstrap draws (`momus.history.change`).
With slices, these have four times the share of another family (`momus.history.slice_checks.decide_slices`).
With repeated looks, look k has its share of α (`momus.inference.sequential.spent`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from momus.arguments import arg
from momus.errors import GateFailed, UsageError
from momus.files import write_sealed
from momus.history.checks import Check, Status, decide_changes, decide_distances
from momus.history.diff import check_comparable, check_real, matching_corpora
from momus.history.kept import InputChange, KeptRun, changed_inputs
from momus.history.rules import NOT_BEYOND, NOT_BEYOND_ITSELF, NOT_WORSE, WITHIN, WITHIN_ITSELF, Rules
from momus.history.slice_checks import decide_slices
from momus.inference.sequential import Look, Looks, spent
from momus.joint.better import WORSE
from momus.locking import Lock
from momus.outputs import make_folder, writing
from momus.schema import read_json
from momus.verdicts.statistics import UNSCORED

OF_SLICES = 4
"""What the family of slices has of the level, where those of distances and of changes have 1 each."""
FORMAT = "momus-gate-looks-2"
"""Format of the file that keeps the looks of a gate."""


@dataclass(frozen=True)
class GateResult:
    """The outcome of a gate.

    Attributes
    ----------
    run, baseline
        Folder of the run, and of the run it is compared with (empty without one).
    checks
        One entry per rule, corpus and axis; those that failed first.
    inputs
        Inputs that differ from the baseline.
    real_changed
        Whether the real text, or that of the model in its place, differs from that of the baseline.
    alpha, level
        Level of the gate, and of this look.
    look
        The look, if the gate keeps a state.
    model
        Name of the reference, where that is text of a model.
    sliced
        Whether rules were decided in slices too.
    """

    run: str
    baseline: str
    checks: tuple[Check, ...]
    inputs: tuple[InputChange, ...]
    real_changed: bool
    alpha: float
    level: float
    look: Look | None = None
    model: str = ""
    sliced: bool = False

    @property
    def failed(self) -> list[Check]:
        """Checks that fail the gate."""
        return [c for c in self.checks if c.status in ("failed", "not decided")]

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return not self.failed

    def check(self) -> None:
        """Raise `momus.errors.GateFailed` unless the gate passed."""
        from momus.history.view import failure

        if not self.passed:
            message, hint = failure(self)
            raise GateFailed(message, hint=hint)


def gate_run(run: KeptRun | str | Path, rules: Rules) -> GateResult:
    """Decide whether a run keeps its rules.

    Parameters
    ----------
    run
        Run folder.
    rules
        The rules; with ``sequential``, the state file is written.

    Raises
    ------
    UsageError
        There is no rule, a rule names an axis or a corpus that the run lacks, or the baseline cannot be compared.
    StoreError
        A run folder or the state cannot be read.
    """
    if not rules.sequential:
        return _gate(run, rules)
    with _locked(Path(rules.sequential)):  # from reading the state to writing it: two gates at once are two looks
        return _gate(run, rules)


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Be the only process that looks; others wait."""
    with writing(state, f"name another {arg('sequential')} file"):
        make_folder(state.parent)
    lock = Lock(state.with_name(f".{state.name}.lock"), str(state)).wait()
    try:
        yield
    finally:
        lock.release()


def _gate(run: KeptRun | str | Path, rules: Rules) -> GateResult:
    rules.check()
    run = run if isinstance(run, KeptRun) else KeptRun.read(run)
    for name in rules.corpus:
        run.check_generated(name)
    corpora = list(rules.corpus) or run.generated
    rules = rules.of_critics({v.axis: critic for name in corpora for critic, v in run.speaking(name).items()})
    _check_axes(run, rules)
    wrong = rules.findings & ({NOT_BEYOND, WITHIN} if run.against else {NOT_BEYOND_ITSELF, WITHIN_ITSELF})
    if wrong:
        kind, instead = ("text of a model", NOT_BEYOND_ITSELF) if run.against else ("real text", NOT_BEYOND)
        raise UsageError(
            f"{arg('require', [min(wrong)])}: the reference of {run.path} is {kind}", hint=f"require {instead}"
        )
    alpha = round(1 - run.confidence if rules.alpha is None else rules.alpha, 12)
    baseline = KeptRun.read(rules.baseline) if rules.baseline else None
    state = Path(rules.sequential)
    looks = read_looks(state, alpha, run.identity) if rules.sequential else None
    level = alpha if looks is None else spent(alpha, looks.number + 1)
    # with slices, required findings share the level too, so that all rules keep it together
    limited = bool(rules.max or rules.better)
    sliced = bool(run.joint.slices and (limited or rules.require))
    by_level = looks is not None or sliced
    # a slice has fewer documents than the whole text, and there are many of them
    weights = int(limited or bool(rules.require and by_level)), int(bool(rules.max_worse)), OF_SLICES * sliced
    shares = [w / max(sum(weights), 1) for w in weights]
    of_axes, p = decide_distances(run, corpora, rules, level * shares[0], by_level)
    moved = [c.status == "failed" and c.statistic != UNSCORED.name for c in of_axes]
    of_axes = [
        replace(c, prompts=run.moved(c.critic, c.corpus)) if m else c for c, m in zip(of_axes, moved, strict=True)
    ]
    decisions = [((of_axes, p), shares[0])]
    if sliced:
        decisions.append((decide_slices(run, corpora, rules, level * shares[2]), shares[2]))
    inputs: list[InputChange] = []
    if baseline is not None:
        pairs = [(one, other) for one, other in matching_corpora(baseline, run) if other in corpora]
        inputs = changed_inputs(baseline, run, tuple(pairs))
        if rules.max_worse:
            check_real(baseline, run)
            _check_paired(baseline, [name for name in corpora if name not in {other for _, other in pairs}])
            check_comparable(baseline, run)
            decisions.append((decide_changes(baseline, run, pairs, rules, level * shares[1]), shares[1]))
    p = min([1.0, *(p / share for (_, p), share in decisions if share)])
    look = None if looks is None else add_look(state, looks, p, run.identity)
    checks = [c for (checks, _), _ in decisions for c in checks]
    # a text of which no rule could be checked must not pass: its rules are not decided then
    checked = {c.corpus for c in checks if c.status != "not checked"}
    checks = [c if c.corpus in checked else replace(c, status="not decided") for c in checks]
    order: dict[Status, int] = {"failed": 0, "not decided": 1, "passed": 2, "not checked": 3}
    return GateResult(
        run=str(run.path),
        baseline=str(baseline.path) if baseline is not None else "",
        checks=tuple(sorted(checks, key=lambda c: order[c.status])),
        inputs=tuple(inputs),
        real_changed=baseline is not None
        and baseline.fingerprint(baseline.reference) != run.fingerprint(run.reference),
        alpha=alpha,
        level=level,
        look=look,
        model=run.reference if run.against else "",
        sliced=sliced,
    )


def _check_paired(baseline: KeptRun, unpaired: list[str]) -> None:
    """Raise `UsageError` if the baseline lacks a corpus whose change is limited: it must not pass unseen."""
    if unpaired:
        raise UsageError(
            f"{baseline.path}: the baseline has no generated corpus {unpaired[0]!r}, so its change cannot be decided",
            hint=f"it has {', '.join(baseline.generated)}; name the corpora to check with {arg('corpus')}",
        )


def _check_axes(run: KeptRun, rules: Rules) -> None:
    """Raise `UsageError` if a rule is for a critic that the run lacks, or for what is worse and nobody said so."""
    places = [p.place for p in rules.better]
    worse = [arg("max", str(x)) for x in rules.max if x.side == "worse" and x.place not in places]
    worse += [arg("require", [NOT_WORSE])] if NOT_WORSE in rules.findings and not places else []
    if worse:
        hint = f"name a direction of the axis: {', '.join(WORSE)}"
        raise UsageError(f"{worse[0]}: {arg('better')} does not say what is worse", hint=hint)
    for name in rules.named:
        if name not in run.critics:
            why = f" ({run.left_out[name]})" if name in run.left_out else ""
            raise UsageError(
                f"{run.path}: this run has no critic {name!r}{why}", hint=f"it has {', '.join(run.critics)}"
            )


class _Last(TypedDict):
    """The last look: the run that was looked at, and the looks before."""

    identity: str
    before: dict[str, Any]


class _State(TypedDict):
    """The state file."""

    format: Literal["momus-gate-looks-2"]
    looks: dict[str, Any]
    last: _Last


def read_looks(path: Path, alpha: float, identity: str) -> Looks:
    """Read the looks of a gate before the look at a run: one that was looked at last is looked at anew at no cost.

    Raises
    ------
    StoreError
        The file is damaged, was edited, or is no state of a gate.
    UsageError
        The state was begun at another level.
    """
    try:
        content = read_json(path, _State, "name another file to begin anew", sealed=True)
    except FileNotFoundError:
        return Looks(alpha)
    last = content["last"]
    looks = Looks.from_json(last["before"] if last["identity"] == identity else content["looks"])
    if looks.alpha != alpha:
        raise UsageError(
            f"{path} was begun with alpha = {looks.alpha:g}, and now alpha is {alpha:g}",
            hint="keep the level, or begin another state file",
        )
    return looks


def add_look(path: Path, looks: Looks, p: float, identity: str) -> Look:
    """Add the look at a run, and write the state; the file is replaced whole.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    last = {"identity": identity, "before": looks.to_json()}
    look = looks.add(p=p)
    with writing(path, f"name another {arg('sequential')} file"):
        write_sealed(path, {"format": FORMAT, "looks": looks.to_json(), "last": last})
    return look
