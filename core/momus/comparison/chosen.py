"""Choose the critics of a run."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from momus.critic.powers import LawsMixin
from momus.critic.registry import make_critics
from momus.errors import PluginError, UsageError
from momus.plugins import critic_names

if TYPE_CHECKING:
    from momus.critic import Critic


def chosen_critics(
    critics: Sequence[str | Critic[Any]] | None, config: dict[str, dict[str, Any]]
) -> tuple[list[Critic[Any]], list[str]]:
    """Construct the chosen critics, and return them with warnings.

    Without a choice (None), these are all registered critics that are configured; plug-ins that cannot be imported are
    left out with a warning.

    Raises
    ------
    UsageError
        A critic is unknown, chosen twice or not configured, or a table of the configuration belongs to no critic.
    PluginError
        A chosen critic cannot be imported.
    """
    if critics is not None and not critics:
        raise UsageError("no critic is chosen", hint="name at least one; `momus critics` lists them")
    critics = [critics] if isinstance(critics, str) else critics
    for c in critics or ():
        if isinstance(c, type):
            raise UsageError(f"{c.__name__} is a class, not a critic", hint=f"pass an instance: {c.__name__}()")
    chosen: list[Critic[Any]] = []
    warnings = []
    names = {*critic_names(), *(c.name for c in critics or () if not isinstance(c, str))}
    for table in config:
        if table not in names:
            near = difflib.get_close_matches(table, names, n=1)
            guess = f"did you mean [{near[0]}]? " if near else ""
            raise UsageError(
                f"the configuration has a table [{table}], but no critic has that name",
                hint=f"{guess}`momus critics` lists them",
            )
    for c in critic_names() if critics is None else critics:
        try:
            chosen.append(make_critics([c], config)[0] if isinstance(c, str) else c)
        except PluginError as error:
            if critics is not None:
                raise
            warnings.append(f"Critic {c!r} was left out: {error.message}.")
    if critics is None:
        chosen = [c for c in chosen if c.is_configured]
    for c in chosen:
        if not c.is_configured:
            missing = [p for p in c.configured if not getattr(c, p)]
            raise UsageError(
                f"critic {c.name!r} cannot run without {' and '.join(missing)}",
                hint=f"add a table [{c.name}] with {missing[0]} = … to a TOML file, and pass the file with --config",
            )
        if isinstance(c, LawsMixin):
            _check_laws(c)
    chosen_names = [c.name for c in chosen]
    for name in chosen_names:
        if chosen_names.count(name) > 1:
            raise UsageError(f"critic {name!r} is chosen twice", hint="name each critic once")
    return chosen, warnings


def _check_laws(critic: Any) -> None:
    """Refuse wrongly declared laws before anything is fitted, and name the critic."""
    try:
        critic.laws()
    except UsageError as error:
        raise UsageError(f"critic {critic.name!r}: {error.message}", hint=error.hint) from error
