"""The joint analyses of a run on disk: one JSON file, from which the same objects are built again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from momus.files import plain, write_json
from momus.joint.analyses import Joint
from momus.schema import read_json


def write_joint(joint: Joint, path: Path) -> None:
    """Write the analyses; numbers that do not exist are null."""
    write_json(path, joint_json(joint))


def joint_json(joint: Joint) -> dict[str, Any]:
    """The analyses as plain lists, strings and numbers; numbers that do not exist are null."""
    content: dict[str, Any] = plain(asdict(joint))
    return content


def read_joint(path: Path) -> Joint:
    """Read what `write_joint` wrote; empty if there is no such file.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    if not path.exists():
        return Joint()
    return read_json(path, Joint, "run `momus compare` again")
