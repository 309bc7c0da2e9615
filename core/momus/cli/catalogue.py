"""The list of critics, for the terminal."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from momus.critic.registry import critic_class
from momus.errors import PluginError
from momus.plugins import CRITICS, registered

if TYPE_CHECKING:
    from rich.console import RenderableType


def all_critics_view() -> RenderableType:
    """Build a table of all critics; broken plug-ins and duplicate names are shown with the reason."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("critic", "axis", "from", "state"):
        table.add_column(name)
    for name, plugins in registered(CRITICS).items():
        try:
            axis, state = critic_class(name).axis, "ready"
        except PluginError as error:
            axis, state = "–", f"broken: {error.message}"
        distributions = ", ".join(sorted({p.distribution for p in plugins}))
        table.add_row(escape(name), escape(axis), escape(distributions), escape(state))
    return table


def critic_view(name: str) -> RenderableType:
    """Show a critic: its question, its parameters with their defaults, and its documentation."""
    from rich.console import Group
    from rich.text import Text

    cls = critic_class(name)
    parameters = inspect.signature(cls.__init__).parameters.values()
    lines = [f"  {_toml(p.name, p.default)}" for p in parameters if p.name != "self"]
    return Group(
        Text(f"{cls.name} — {cls.axis}", style="bold"),
        Text(cls.question or "(this critic states no question)"),
        Text(f"\nIn a configuration file, under [{name}]:\n" + ("\n".join(lines) or "  (no parameters)") + "\n"),
        Text(inspect.getdoc(cls) or ""),
    )


def _toml(name: str, default: Any) -> str:
    """A parameter with its default, as a line of TOML; a comment where TOML has no such value."""
    if default is None or default is inspect.Parameter.empty:
        return f"# {name} = …"
    return f"{name} = {json.dumps(default, ensure_ascii=False)}"
