"""Conformance checks: requirements on every critic, shipped or third-party.

In a test file:

    @momus.conformance.parametrize([MyCritic()])
    def test_conformance(check): check()

On the command line: ``momus critics check package.module:MyCritic``.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from inspect import isfunction, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.conformance import contract, tables, verdict
from momus.conformance.subject import LEAST_SHARE, Record, Report, Skip, Subject, default_corpus
from momus.critic import Critic
from momus.critic.powers import FieldsMixin, has_latents
from momus.errors import CriticError, UsageError
from momus.foreign import calls_in, packages_of
from momus.text.corpus import Corpus

if TYPE_CHECKING:
    import pytest

__all__ = ["SLOW", "Record", "Report", "check_critic", "check_names", "parametrize"]

ALL: Mapping[str, Callable[[Subject], None]] = {
    name: check
    for module in (contract, tables, verdict)
    for name, check in vars(module).items()
    if isfunction(check) and [*signature(check).parameters] == ["s"] and not name.startswith("_")
}
"""The checks by name, in the order in which they run: the functions of a `Subject` ``s`` of the modules."""
SLOW = ("claimed_scripts_can_be_fitted",)
"""Checks that fit the critic many times: minutes for those whose fit takes seconds."""


def check_names(*, slow: bool = True) -> list[str]:
    """Names of all checks, or of all but the `SLOW` ones, in the order in which they run."""
    return [name for name in ALL if slow or name not in SLOW]


def _chosen(checks: Iterable[str] | None, critic: Critic[Any]) -> list[str]:
    """Names of the checks to run, without those about critics of another kind."""
    selected = set(check_names(slow=False) if checks is None else checks)
    if not isinstance(critic, FieldsMixin):
        selected.discard("needed_fields_are_read")
    if has_latents(critic):
        selected.discard("critics_without_latents_have_statistics")
    return [name for name in ALL if name in selected]


def check_critic(
    critic: Critic[Any],
    corpus: Corpus | None = None,
    checks: Iterable[str] | None = None,
    on_record: Callable[[Record], None] | None = None,
) -> Report:
    """Run the conformance checks on a critic; failures are reported, not raised.

    Parameters
    ----------
    critic
        The unfitted critic, which is not changed.
    corpus
        Real text to fit and score; default: synthetic text.
    checks
        Names of the checks to run; default: all but the `SLOW` ones.
    on_record
        Called with the outcome of each check as soon as it has run.

    Raises
    ------
    UsageError
        A name in ``checks`` is not the name of a check.
    """
    checks = None if checks is None else [*checks]
    for name in checks or ():
        if name not in ALL:
            raise UsageError(f"no check {name!r}", hint=f"choose from {', '.join(check_names())}")
    subject = Subject(critic, corpus if corpus is not None else default_corpus(critic))
    records = []
    for name in _chosen(checks, critic):
        records.append(_run(name, subject))
        if on_record is not None:
            on_record(records[-1])
    return Report(getattr(critic, "name", type(critic).__name__), records)


def _run(name: str, subject: Subject) -> Record:
    """Run a check, or return its record if it has run before."""
    if name not in subject.records:
        subject.records[name] = _outcome(name, subject)
    return subject.records[name]


def _outcome(name: str, subject: Subject) -> Record:
    try:
        ALL[name](subject)
    except Skip as reason:
        return Record(name, "skipped", str(reason))
    except (Exception, SystemExit) as error:  # a critic may raise anything; the report must cover all checks
        detail = str(error) if isinstance(error, AssertionError) else _described(error, subject.critic)
        # an earlier check may have failed by the same error, raised in the same line
        failed = (r.name for r in subject.records.values() if r.status == "failed" and r.detail == detail)
        first = None if isinstance(error, AssertionError) else next(failed, None)
        return Record(name, "failed", detail) if first is None else Record(name, "stopped", detail, first)
    return Record(name, "passed")


def _described(error: BaseException, critic: Critic[Any]) -> str:
    """Name an error and the line that raised it: the innermost line of the critic's own code, if it took part."""
    if isinstance(error, CriticError):
        if error.__cause__ is None:  # it says what a method returned
            return str(error)
        error = error.__cause__
    calls = list(traceback.walk_tb(error.__traceback__))
    where = ""
    if calls:
        frame, line = (calls_in(error.__traceback__, packages_of(type(critic))) or calls)[-1]
        where = f" ({Path(frame.f_code.co_filename).name}, line {line}, in {frame.f_code.co_name})"
    return f"{type(error).__name__}: {error}{where}"


def parametrize(
    critics: Sequence[Critic[Any]],
    corpus: Corpus | None = None,
    checks: Iterable[str] | None = None,
) -> pytest.MarkDecorator:
    """Decorate a test that takes ``check`` and calls it: one test per critic and check.

    Parameters
    ----------
    checks
        Names of the checks to run; default: all but the `SLOW` ones, of which it is a failure if too many do not apply.
    """
    import pytest

    checks = None if checks is None else {*checks}
    cases = []
    for critic in critics:
        subject = Subject(critic, corpus if corpus is not None else default_corpus(critic))
        chosen = _chosen(checks, critic)
        cases += [pytest.param(partial(_assert, name, subject), id=f"{critic.name}-{name}") for name in chosen]
        if checks is None or checks.issuperset(check_names(slow=False)):
            cases.append(pytest.param(partial(_enough, subject, chosen), id=f"{critic.name}-enough_checks_ran"))
    return pytest.mark.parametrize("check", cases)


def _assert(name: str, subject: Subject) -> None:
    import pytest

    record = _run(name, subject)
    if record.status == "skipped":
        pytest.skip(record.detail)
    if record.status == "failed":
        pytest.fail(record.detail, pytrace=False)
    if record.status == "stopped":
        pytest.fail(f"the same error as in {record.by}", pytrace=False)


def _enough(subject: Subject, selected: Collection[str]) -> None:
    """Fail if too many checks were skipped for a pass to mean anything; those that were left out do not count."""
    import pytest

    skipped = [r.name for r in subject.records.values() if r.name in selected and r.status == "skipped"]
    if len(skipped) > (1 - LEAST_SHARE) * len(selected):
        pytest.fail(f"too few checks ran: {len(skipped)} of {len(selected)} do not apply", pytrace=False)
