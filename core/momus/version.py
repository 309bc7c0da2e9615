"""The version and the names under which Momus is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

__version__ = "0.2.0"
"""``pyproject.toml`` reads it from here."""

DISTRIBUTION = "momus-criticism"
"""The distribution; its module and its command are called ``momus``."""

RUN_FORMAT, ROWS_FORMAT = 2, 3
CRITIC_FORMAT: Literal[3] = 3
"""Of run folders, rows of scores and saved critics: raised where an older version would misunderstand a file."""


def extra(*names: str) -> str:
    """The requirement that brings extras of Momus.

    >>> extra("torch", "pyro")
    'momus-criticism[torch,pyro]'
    """
    return f"{DISTRIBUTION}[{','.join(names)}]"


def install_command(requirement: str) -> str:
    """The command that installs a requirement; in a checkout, Momus and the packages in ``examples`` come from there.

    >>> install_command("my-critic[torch]")
    "pip install 'my-critic[torch]'"
    """
    checkout = Path(__file__).parents[2]
    name, bracket, extras = requirement.partition("[")
    place = Path() if checkout == Path.cwd() else checkout
    folder = "" if name == DISTRIBUTION else f"examples/{name.removeprefix('momus-')}"
    if (checkout / folder / "pyproject.toml").is_file():
        return f"pip install -e '{place / folder}{bracket}{extras}'"
    return f"pip install '{requirement}'"
