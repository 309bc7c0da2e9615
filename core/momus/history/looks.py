"""The state of a gate that looks again and again: its level is spent over all looks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from momus.errors import StoreError, UsageError
from momus.files import read_sealed, write_sealed
from momus.inference.sequential import Look, Looks, spent

FORMAT = "momus-gate-looks-2"


@dataclass
class GateLooks:
    """Looks of one gate, kept in a file.

    A run that was looked at last is looked at again without spending anything: its result is the same.

    Attributes
    ----------
    path
        The state file; it need not exist yet.
    looks
        The looks before this one.
    """

    path: Path
    looks: Looks

    @classmethod
    def read(cls, path: str | Path, alpha: float, identity: str) -> GateLooks:
        """Read the state before the look at a run.

        Raises
        ------
        StoreError
            The file is damaged.
        UsageError
            The state was begun at another level.
        """
        path = Path(path)
        try:
            content = read_sealed(path)
            if content.get("format") != FORMAT:
                raise ValueError(f"it has no format {FORMAT!r}")
            last = content["last"]
            state = last["before"] if last["identity"] == identity else content["looks"]
            looks = Looks.from_json(json.dumps(state))
        except FileNotFoundError:
            return cls(path, Looks(alpha))
        except (OSError, ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreError(
                f"{path}: not readable as the state of a gate ({error})".split("\n")[0], hint="delete it to begin anew"
            ) from error
        if looks.alpha != alpha:
            raise UsageError(
                f"{path} was begun with alpha = {looks.alpha:g}, and now alpha is {alpha:g}",
                hint="keep the level, or begin another state file",
            )
        return cls(path, looks)

    @property
    def level(self) -> float:
        """The level of this look."""
        return spent(self.looks.alpha, self.looks.number + 1)

    def add(self, p: float, identity: str) -> Look:
        """Add this look, and write the state; the file is replaced whole.

        Raises
        ------
        StoreError
            The file cannot be written.
        """
        before = json.loads(self.looks.to_json())
        look = self.looks.add(p=p)
        content = {
            "format": FORMAT,
            "looks": json.loads(self.looks.to_json()),
            "last": {"identity": identity, "before": before},
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_sealed(self.path, content)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot be written ({error.strerror})", hint="name another --sequential file"
            ) from error
        return look
