"""A finished run, read back to be compared with other runs, and what differs between the inputs of two runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from momus.critic.fitted import Source
from momus.critic.registry import load_critic
from momus.critic.source import UNKNOWN
from momus.errors import UsageError
from momus.joint.axes import AxisRows
from momus.joint.better import rows_of
from momus.joint.ranks import Joint
from momus.runs.folder import JOINT, RunFolder, read_joint
from momus.verdicts.settings import Settings
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

Kind = Literal[
    "version", "seed", "real text", "fitted text", "generated text", "critic", "code", "parameter", "setting"
]
_NO_INPUT = {"seed", "device", "top", "better"}


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
        return cls(folder.path, folder.read_run(), folder.read_verdicts())

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
    def seed(self) -> int:
        """The seed of the tests."""
        return int(self.signature.get("seed") or 0)

    @property
    def left_out(self) -> dict[str, str]:
        """Critics that could not be fitted on the texts, and why; empty in runs of older versions."""
        return dict(self.signature.get("left_out", {}))

    @property
    def critics(self) -> dict[str, dict[str, Any]]:
        """Records of the critics in ``run.json``, by name."""
        return {c["name"]: c for c in self.signature["critics"]}

    def code(self, critic: str) -> Source:
        """Digests of the code that a critic ran with; empty where the run does not know them."""
        source = self.critics[critic].get("source", {})
        core, critics_own = (str(source.get(name, "")) for name in ("core", "critic"))
        return {
            "core": "" if core.startswith(UNKNOWN) else core,
            "critic": "" if critics_own.startswith(UNKNOWN) else critics_own,
        }

    @property
    def reference(self) -> str:
        """Name of the text that the others are compared with."""
        return next((str(c["name"]) for c in self.signature["corpora"] if c["role"] == "real"), "real")

    @property
    def against(self) -> bool:
        """Whether that is text of a model."""
        return bool(self.signature.get("against"))

    def rows(self, generated: str) -> dict[str, dict[str, Verdict]]:
        """Verdicts of a generated corpus, by critic and statistic."""
        return rows_of(self.verdicts, generated, self.reference)

    @cached_property
    def joint(self) -> Joint:
        """Slices, and which version is nearer to text of people, if the run was asked for them."""
        return read_joint(self.path / JOINT)

    def moved(self, critic: str, generated: str) -> tuple[str, ...]:
        """Ids of the documents that show best how a text differs on an axis, beside answers to the same prompts."""
        (result,) = RunFolder(self.path).results([critic])
        of_text = (e for e in result.examples if e.document.corpus == generated and e.same_prompt)
        return tuple(e.document.id for e in of_text)

    def headlines(self, generated: str) -> dict[str, Verdict]:
        """Headline verdicts of a generated corpus, by critic: their statistics are the same in all runs."""
        return {name: v for name, rows in self.rows(generated).items() for v in rows.values() if v.headline}

    def speaking(self, generated: str) -> dict[str, Verdict]:
        """The verdict that speaks for each axis of a generated corpus, as on the first screen, by critic."""
        rows = self.rows(generated).items()
        return {name: v for name, of_axis in rows for v in speaking([*of_axis.values()])}

    def axis(self, critic: str) -> AxisRows | None:
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


@dataclass(frozen=True)
class InputChange:
    """One input that differs.

    Attributes
    ----------
    kind, name
        What differs; the name of the corpus, critic (of code also ``momus``), parameter (``critic.parameter``) or
        setting.
    before, after
        Its values, as short texts, of code its digests; empty where a run lacks it.
    """

    kind: Kind
    name: str
    before: str
    after: str


def changed_inputs(before: KeptRun, after: KeptRun, corpora: tuple[tuple[str, str], ...] = ()) -> list[InputChange]:
    """List the inputs that differ between two runs.

    Parameters
    ----------
    corpora
        Pairs of generated corpora, whose texts are compared too.
    """
    changes: list[InputChange] = []

    def note(kind: Kind, name: str, one: Any, other: Any) -> None:
        if one != other:
            changes.append(InputChange(kind, name, _text(one), _text(other)))

    note("version", "momus", before.signature.get("momus"), after.signature.get("momus"))
    note("seed", "seed", before.signature.get("seed"), after.signature.get("seed"))
    reference = after.reference
    note("real text", reference, before.fingerprint(before.reference), after.fingerprint(reference))
    note("fitted text", "fit", before.fingerprint("fit"), after.fingerprint("fit"))
    for one, other in corpora:
        note("generated text", other, before.fingerprint(one), after.fingerprint(other))
    for name in dict.fromkeys([*before.critics, *after.critics]):
        if name not in before.critics or name not in after.critics:
            changes.append(
                InputChange(
                    "critic", name, name if name in before.critics else "", name if name in after.critics else ""
                )
            )
            continue
        codes = before.code(name), after.code(name)
        if codes[0]["core"] != codes[1]["core"] and not any(c.kind == "code" for c in changes):
            note("code", "momus", codes[0]["core"], codes[1]["core"])
        if all(c["core"] for c in codes):  # an older run without digests is said to be one once
            note("code", name, codes[0]["critic"], codes[1]["critic"])
        params = (before.critics[name].get("params", {}), after.critics[name].get("params", {}))
        for key in sorted({*params[0], *params[1]}):
            note("parameter", f"{name}.{key}", params[0].get(key), params[1].get(key))
    for f in fields(Settings):
        if f.name not in _NO_INPUT:
            note("setting", f.name, before.signature.get(f.name), after.signature.get(f.name))
    return changes


def incomparable(before: KeptRun, after: KeptRun, critic: str) -> str:
    """Why two runs of a critic measure different things; empty if they measure the same."""
    one, other = before.critics.get(critic), after.critics.get(critic)
    if one is None or other is None:
        return "only one of the runs has it"
    if one.get("params") != other.get("params"):
        params = one.get("params", {}), other.get("params", {})
        names = sorted(k for k in {*params[0], *params[1]} if params[0].get(k) != params[1].get(k))
        return f"its parameters differ ({', '.join(names)})"
    fitted = [record.get("fitted_on", {}).get("fingerprint") for record in (one, other)]
    if fitted[0] != fitted[1]:
        return "it was fitted on different texts"
    codes = {run.code(critic)["critic"] for run in (before, after)} - {""}
    if len(codes) > 1:
        return "its code differs"
    return ""


def _text(value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
