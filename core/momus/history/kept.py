"""A finished run, read back to be compared with other runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momus.critic.registry import load_critic
from momus.errors import StoreError, UsageError
from momus.joint.axes import Axis
from momus.runs.folder import RunFolder
from momus.runs.texts_file import KeptTexts, read_kept_texts
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class KeptRun:
    """A run folder.

    Attributes
    ----------
    path
        The folder.
    signature
        ``run.json``.
    verdicts
        ``verdicts.jsonl``.
    """

    path: Path
    signature: dict[str, Any]
    verdicts: list[Verdict] = field(repr=False)

    @classmethod
    def read(cls, path: str | Path) -> KeptRun:
        """Read a run folder.

        Raises
        ------
        StoreError
            The folder holds no finished run.
        """
        folder = RunFolder(path)
        run = cls(folder.path, folder.read_run(), folder.read_verdicts())
        corpora = run.signature.get("corpora")
        if not isinstance(corpora, list) or not all(
            isinstance(c, dict) and {"name", "role", "fingerprint"} <= set(c) for c in corpora
        ):
            raise StoreError(f"{folder.path}: its run record has no corpora", hint="run `momus compare` again")
        if not all(isinstance(c, dict) and isinstance(c.get("name"), str) for c in run.signature["critics"]):
            raise StoreError(
                f"{folder.path}: its run record has critics without names", hint="run `momus compare` again"
            )
        return run

    @property
    def started(self) -> str:
        """When the run began, as ISO 8601 writes it."""
        return str(self.signature.get("started", ""))

    @property
    def generated(self) -> list[str]:
        """Names of the generated corpora."""
        return [c["name"] for c in self.signature["corpora"] if c["role"] == "generated"]

    def check_generated(self, name: str) -> None:
        """Raise `UsageError` if the run has no generated corpus of this name."""
        if name not in self.generated:
            raise UsageError(
                f"{self.path}: this run has no generated corpus {name!r}", hint=f"it has {', '.join(self.generated)}"
            )

    def fingerprint(self, name: str) -> str:
        """Fingerprint of a corpus (``real``, ``fit``, or a generated one); empty if the run has none of this name."""
        return next((c["fingerprint"] for c in self.signature["corpora"] if c["name"] == name), "")

    @property
    def identity(self) -> str:
        """Sixteen hexadecimal digits that identify texts, critics, parameters, seed and version of the run."""
        content = {
            "corpora": [(c["name"], c["role"], c["fingerprint"]) for c in self.signature["corpora"]],
            "critics": [(c["name"], c.get("params"), c.get("fitted_on")) for c in self.signature["critics"]],
            "seed": self.signature.get("seed"),
            "momus": self.signature.get("momus"),
        }
        text = json.dumps(content, sort_keys=True).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    @property
    def confidence(self) -> float:
        """Level of the intervals of the verdicts."""
        return float(self.signature.get("confidence", 0.95))

    @property
    def critics(self) -> dict[str, dict[str, Any]]:
        """Records of the critics in ``run.json``, by name."""
        return {c["name"]: c for c in self.signature["critics"]}

    def headlines(self, generated: str) -> dict[str, Verdict]:
        """Headline verdicts of a generated corpus, by critic."""
        return {v.critic: v for v in self.verdicts if v.headline and v.generated == generated and v.reference == "real"}

    def texts(self) -> KeptTexts:
        """Ids, prompts and groups of all documents.

        Raises
        ------
        StoreError
            The run folder lacks them, since an older version of Momus wrote it.
        """
        kept = read_kept_texts(self.path)
        if kept is None:
            raise StoreError(
                f"{self.path}: an older version of Momus wrote this run, without prompts and ids",
                hint="run `momus compare` again with --overwrite",
            )
        return kept

    def axis(self, critic: str) -> Axis | None:
        """Headline rows of a critic; None if it has none (critics of running text).

        Raises
        ------
        MomusError
            The critic cannot be loaded, or its files are damaged.
        """
        folder = RunFolder(self.path)
        if not (folder.critic_folder(critic) / "headline.parquet").exists():
            return None
        return folder.kept_axis(load_critic(folder.critic_folder(critic)))
