"""The record of a run: what ``run.json`` holds, for whoever reads it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from momus.critic.fitted import FittedOn, Source
from momus.parameters import Range

Count = Annotated[int, Range(0)]


class Origin(TypedDict, total=False):
    """Where a text was read from, if not from plain files."""

    logs: list[dict[str, Any]]


class CorpusRecord(TypedDict):
    """A text of a run."""

    name: str
    role: Literal["fit", "real", "generated"]
    documents: Count
    characters: Count
    fingerprint: str
    groups: Count
    prompts: Count
    origin: NotRequired[Origin]
    rows: NotRequired[str]


class CriticRecord(TypedDict):
    """A critic of a run."""

    name: str
    params: dict[str, Any]
    fitted_on: FittedOn
    source: NotRequired[Source]


class CheckRecord(TypedDict):
    """The outcome of a check of the texts."""

    kind: str
    corpus: str
    documents: Count
    total: Count
    warns: bool


class LanguagesRecord(TypedDict):
    """The languages of a text."""

    corpus: str
    shares: list[tuple[str, float]]
    documents: Count
    differs: bool


class Seconds(TypedDict):
    """Seconds by kind of stage, and in all."""

    total: float


class RunRecord(TypedDict):
    """The provenance of a run; of the settings, those that readers need (`momus.verdicts.settings.Settings`)."""

    momus: str
    command: str | None
    started: str
    seed: int
    permutations: Count
    confidence: Annotated[float, Range(0, 0.9999, above=True)]
    multiplicity: Literal["holm", "bh", "holm-table", "bh-table", "none"]
    device: str
    top: Count
    refits: Count
    equivalence: float | None
    split: bool
    icu: NotRequired[str]
    left_out: NotRequired[dict[str, str]]
    critics: list[CriticRecord]
    corpora: list[CorpusRecord]
    checks: list[CheckRecord]
    languages: list[LanguagesRecord]
    warnings: list[str]
    seconds: Seconds


def contradiction(record: RunRecord) -> str:
    """What contradicts itself in the record of a run, in words; empty if nothing does."""
    roles = [c["role"] for c in record["corpora"]]
    for role in ("fit", "real"):
        if roles.count(role) != 1:
            return f"corpora: {roles.count(role)} have the role {role!r}, expected one"
    if "generated" not in roles:
        return "corpora: none has the role 'generated'"
    compared = [c["name"] for c in record["corpora"] if c["role"] != "fit"]
    critics = [c["name"] for c in record["critics"]]
    for what, names in (("corpora", compared), ("critics", critics)):
        if len(set(names)) < len(names):
            return f"{what}: two have the same name"
    if not critics:
        return "critics: there is none"
    strange = next((name for name in critics if not name or "/" in name or "\0" in name or name in (".", "..")), None)
    return "" if strange is None else f"critics: {strange!r} is no name of a critic"
