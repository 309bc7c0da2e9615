"""A pytest fixture that gates a run: ``pytest_plugins = ["momus_adapters.pytest_gate"]`` in ``conftest.py``.

The rules are those of `momus gate`: ``momus-gate.toml`` or ``[tool.momus.gate]`` of ``pyproject.toml`` in the root
folder of the tests, and what the test adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from momus.errors import GateFailed
from momus.history.gate import GateResult, gate_run
from momus.history.rules import limits_of, read_rules

Limits = float | Mapping[str, float]
"""One limit for all axes, or limits by axis (``{"sections": 0.2, "length.effect": 0.1}``)."""
Gate = Callable[..., GateResult]


@pytest.fixture
def momus_gate(request: pytest.FixtureRequest) -> Gate:
    """Return a function that fails the test, and names the axes, if a run breaks its rules.

    Its arguments are those of `check_run`, but for ``root``, which is the root folder of the tests.
    """
    root = request.config.rootpath

    def gate(run: str | Path, **rules: Any) -> GateResult:
        try:
            return check_run(run, root=root, **rules)
        except GateFailed as error:
            pytest.fail(str(error), pytrace=False)

    return gate


def check_run(
    run: str | Path,
    *,
    max: Limits | None = None,
    max_worse: Limits | None = None,
    require: tuple[str, ...] = (),
    baseline: str | Path = "",
    strict: bool | None = None,
    root: Path | None = None,
) -> GateResult:
    """Gate a run by the rules beside the project, and by those given.

    Parameters
    ----------
    run
        Run folder.
    max, max_worse, require, baseline, strict
        See `momus.history.rules.Rules`.
    root
        Folder of the file of rules; default: the current one.

    Raises
    ------
    GateFailed
        The run breaks a rule; the message names the axes.
    MomusError
        A run cannot be read, or a rule names an axis that it lacks.
    """
    rules = read_rules(start=root).updated(
        max=limits_of({} if max is None else max, "max"),
        max_worse=limits_of({} if max_worse is None else max_worse, "max_worse"),
        require=tuple(require),
        baseline=str(baseline),
        strict=strict,
    )
    result = gate_run(run, rules)
    result.check()
    return result
