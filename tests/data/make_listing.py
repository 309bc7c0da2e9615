"""Write ``momus-plugins.json`` into each package of this repository that has plug-ins: what lists say of them.

``python tests/data/make_listing.py`` after a change of an axis, of a default adapter or of a command's first line.
"""

import json
from importlib import import_module
from pathlib import Path

from momus.cli.app import _plugin_command
from momus.cli.critics import default_adapters
from momus.critic.registry import critic_class
from momus.plugins import COMMANDS, CRITICS, LISTING, registered

PACKAGES = "momus_critics", "momus_adapters", "momus_people", "momus_preparing", "momus_training"


def listing(package: str) -> dict[str, dict[str, dict[str, object]]]:
    """By group and name, what the classes and commands of a package say; all are imported."""
    rows: dict[str, dict[str, dict[str, object]]] = {}
    for group in (CRITICS, COMMANDS):
        for name, plugins in registered(group).items():
            if len(plugins) == 1 and plugins[0].value.startswith(f"{package}."):
                rows.setdefault(group, {})[name] = critic(name) if group == CRITICS else command(name)
    return rows


def critic(name: str) -> dict[str, object]:
    cls = critic_class(name)
    return {"axis": cls.axis, "adapters": default_adapters(cls)}


def command(name: str) -> dict[str, object]:
    return {"help": str(_plugin_command(name).help).strip().partition("\n")[0].replace(r"\[", "[")}


def file_of(package: str) -> Path:
    return Path(str(import_module(package).__file__)).parent / LISTING


if __name__ == "__main__":
    for package in PACKAGES:
        file_of(package).write_text(json.dumps(listing(package), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
