"""Results: all that a run keeps of one critic, of a whole comparison, and of its provenance (``run.json``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from momus.against.versions import Against, Versions, against_of
from momus.critic import Note
from momus.critic.fitted import FittedOn, Source
from momus.critic.scores import Scores
from momus.evidence import Chart, Evidence, MarkedDocument
from momus.joint.partners import Win
from momus.joint.ranks import Joint
from momus.joint.slices import Slices
from momus.parameters import Range
from momus.runs.examples import Example
from momus.verdicts.decomposition import Parts
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.joint.axes import AxisRows

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


@dataclass(frozen=True)
class Unscored:
    """How many documents of a corpus have no score, for one reason."""

    corpus: str
    reason: str
    count: int


@dataclass(frozen=True)
class Again:
    """What an earlier run had done, and was done again.

    Attributes
    ----------
    critic
        The critic of which it was done.
    what
        ``computed`` (its whole result), ``fitted``, ``fitted and measured``, or ``scored`` (the real text).
    why
        The reason, in words.
    """

    critic: str
    what: Literal["computed", "fitted", "fitted and measured", "scored"]
    why: str


@dataclass(frozen=True)
class CriticResult:
    """All that a run keeps of a critic.

    Attributes
    ----------
    evidence
        Pairs of a generated corpus and the evidence on it, from the documents of the test.
    pairs
        Headline verdicts between the generated corpora.
    odd_real
        The outliers of the real text, beside which those of generated texts can be judged.
    oddity_unit
        Unit of what ranks the outliers, if that is the critic's own measure; empty: Latent NLL ranks them.
    references
        The outliers, without their steps, each beside human text.
    examples
        Generated documents of the test that show the difference, each beside human text.
    distribution
        How the documents of all corpora spread over what the axis measures.
    parts
        The parts of log P(x) of each text; None if the critic does not decompose it.
    limits
        What the critic cannot see.
    general, leading
        Whether it moves with narrower axes, and whether others move with it, see `momus.critic.reporting.Reporting`.
    notes
        What a reader should know about the fitted critic; those marked as warnings make its verdicts doubtful.
    versions
        What it says of versions of a model, where one is the reference.
    slices, wins
        What it says of slices, and of pairs of answers, before it is adjusted over critics.
    signature
        What the result depends on; equal signatures give equal results.
    """

    name: str
    axis: str
    question: str
    fitted_on: FittedOn
    params: dict[str, Any]
    verdicts: Sequence[Verdict]
    pairs: Sequence[Verdict] = ()
    evidence: Sequence[tuple[str, Sequence[Evidence]]] = ()
    outliers: Sequence[MarkedDocument] = ()
    odd_real: Sequence[MarkedDocument] = ()
    oddity_unit: str = ""
    references: Sequence[Example] = ()
    examples: Sequence[Example] = ()
    distribution: Chart | None = None
    parts: Parts | None = None
    limits: str = ""
    general: bool = False
    leading: bool = False
    unscored: Sequence[Unscored] = ()
    notes: Sequence[Note] = ()
    versions: Versions | None = None
    slices: Sequence[Slices] = ()
    wins: Sequence[Win] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


def _plain(value: Any) -> Any:
    """Lists, tables and plain values, of which `momus.schema` builds the value again; evidence has its kind."""
    if isinstance(value, Verdict):
        return value.row()
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": type(value).__name__} if isinstance(value, Evidence) else {}
        return {**kind, **{f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Outcome:
    """The outcome of one critic in a run.

    Attributes
    ----------
    result
        Verdicts, evidence, outliers.
    scores
        Per-document rows of each corpus; empty where an earlier run had the result.
    again
        What an earlier run had done of it and was done again.
    axis
        Headline rows of all documents, for analyses of several critics at once; None for critics of running text.
    behind
        Rows of documents of other statistics that may differ.
    """

    result: CriticResult
    scores: Sequence[Scores] = ()
    again: Sequence[Again] = ()
    axis: AxisRows | None = None
    behind: Sequence[AxisRows] = ()


@dataclass
class Results:
    """The results of a comparison, as data; `momus.Comparison` adds short forms of what can be done with them.

    Attributes
    ----------
    verdicts
        One row per critic, statistic and generated corpus.
    results
        Evidence, outliers and unscored documents of each critic.
    scores
        Per-document rows by (critic, corpus); empty for critics taken from an earlier run.
    signature
        Provenance: version, seed, critics with parameters, fingerprints, times.
    warnings
        What a reader must know before believing the numbers.
    pairs
        Headline rows between generated corpora (``pairwise``), adjusted among themselves.
    axes, behind
        Headline rows of all documents by critic, for analyses of several critics at once, and those of other statistics
        that may differ, while the run lasts; empty in runs that were read from a folder.
    joint
        Those analyses: ranks, adjustment, slices, wins.
    left_out
        Critics that could not be fitted on the texts, and why.
    folder
        The run folder; None if the comparison was not written.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    results: list[CriticResult] = field(default_factory=list)
    signature: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], Scores] = field(default_factory=dict)
    pairs: list[Verdict] = field(default_factory=list)
    axes: list[AxisRows] = field(default_factory=list, repr=False)
    behind: list[AxisRows] = field(default_factory=list, repr=False)
    joint: Joint = field(default_factory=Joint)
    left_out: dict[str, str] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False, repr=False)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a critic."""
        self.results.append(outcome.result)
        self.scores |= {(outcome.result.name, s.corpus): s for s in outcome.scores}
        self.axes += [outcome.axis.sharing(self.axes)] if outcome.axis else []
        self.behind += outcome.behind

    def rows(self) -> list[dict[str, Any]]:
        """Verdicts as dicts."""
        return [v.row() for v in self.verdicts]

    @cached_property
    def against(self) -> Against | None:
        """What changed from the reference to the new texts, where the reference is text of a model; else None."""
        versions = [r.versions for r in self.results if r.versions is not None]
        return against_of(self.signature, versions, self.verdicts, self.joint.nearer)


def count_unscored(scores: Sequence[Scores]) -> list[Unscored]:
    """Count unscored documents by corpus and reason."""
    return [Unscored(s.corpus, reason, n) for s in scores for reason, n in s.unscored.items()]
