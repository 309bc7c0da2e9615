"""Results: all that a run keeps of one critic, and of a whole comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.comparison.joint import Joint
from momus.comparison.verdict import Verdict, finite
from momus.critic import ExplanationMixin, Note, Scores
from momus.evidence import Evidence, MarkedDocument, Step, from_json, to_json

if TYPE_CHECKING:
    import pandas as pd

    from momus.comparison.axes import Axis
    from momus.critic import Critic
    from momus.text.corpus import Corpus

EXCERPT = 240
"""Characters of an outlier that are shown where its critic cannot mark documents."""


@dataclass(frozen=True)
class Unscored:
    """How many documents of a corpus have no score, for one reason."""

    corpus: str
    reason: str
    count: int


@dataclass(frozen=True)
class CriticResult:
    """All that a run keeps of a critic.

    Attributes
    ----------
    evidence
        Pairs of a generated corpus and the evidence on it.
    pairs
        Headline verdicts between the generated corpora.
    notes
        What a reader should know about the fitted critic; those marked as warnings make its verdicts doubtful.
    signature
        What the result depends on; equal signatures give equal results.
    """

    name: str
    axis: str
    question: str
    fitted_on: dict[str, Any]
    params: dict[str, Any]
    verdicts: Sequence[Verdict]
    pairs: Sequence[Verdict] = ()
    evidence: Sequence[tuple[str, Sequence[Evidence]]] = ()
    outliers: Sequence[MarkedDocument] = ()
    unscored: Sequence[Unscored] = ()
    notes: Sequence[Note] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers."""
        return {
            "name": self.name,
            "axis": self.axis,
            "question": self.question,
            "fitted_on": self.fitted_on,
            "params": self.params,
            "verdicts": [v.row() for v in self.verdicts],
            "pairs": [v.row() for v in self.pairs],
            "evidence": [[name, [to_json(e) for e in items]] for name, items in self.evidence],
            "outliers": [to_json(o) for o in self.outliers],
            "unscored": [asdict(u) for u in self.unscored],
            "notes": [asdict(n) for n in self.notes],
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CriticResult:
        """Read what `to_json` returned."""
        outliers = [from_json(o) for o in data["outliers"]]
        return cls(
            name=data["name"],
            axis=data["axis"],
            question=data["question"],
            fitted_on=data["fitted_on"],
            params=data["params"],
            verdicts=[Verdict.from_row(v) for v in data["verdicts"]],
            pairs=[Verdict.from_row(v) for v in data.get("pairs", [])],
            evidence=[(name, [from_json(e) for e in items]) for name, items in data["evidence"]],
            outliers=[o for o in outliers if isinstance(o, MarkedDocument)],
            unscored=[Unscored(**u) for u in data["unscored"]],
            notes=[Note(**n) for n in data["notes"]],
            signature=data["signature"],
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of one critic in a run.

    Attributes
    ----------
    result
        Verdicts, evidence, outliers.
    scores
        Per-document rows of each corpus; empty where an earlier run had the result.
    warning
        Why an earlier result was not reused; empty where there was none, or it was.
    axis
        Headline rows of all documents, for analyses of several critics at once; None for critics of running text.
    """

    result: CriticResult
    scores: Sequence[Scores] = ()
    warning: str = ""
    axis: Axis | None = None


@dataclass
class Comparison:
    """The results of `momus.compare`; prints as a table.

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
    axes
        Headline rows of all documents by critic, for analyses of several critics at once; empty in runs that were read
        from a folder.
    joint
        Those analyses: global tests, ranks, attribution, adjustment, subgroups, components.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    results: list[CriticResult] = field(default_factory=list)
    signature: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], Scores] = field(default_factory=dict)
    pairs: list[Verdict] = field(default_factory=list)
    axes: list[Axis] = field(default_factory=list, repr=False)
    joint: Joint = field(default_factory=Joint)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a critic."""
        self.results.append(outcome.result)
        self.scores |= {(outcome.result.name, s.corpus): s for s in outcome.scores}
        self.warnings += [outcome.warning] if outcome.warning else []
        self.axes += [outcome.axis] if outcome.axis else []

    def rows(self) -> list[dict[str, Any]]:
        """Verdicts as dicts."""
        return [v.row() for v in self.verdicts]

    def frame(self) -> pd.DataFrame:
        """Verdicts as a pandas data frame; the fields of the method are columns ``method_…``."""
        import pandas as pd

        return pd.json_normalize(self.rows(), sep="_")

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file, and return its path."""
        from momus.report import write_report

        return write_report(self, Path(path))

    def __str__(self) -> str:
        from momus.report.terminal import comparison_text

        return comparison_text(self)

    def __repr__(self) -> str:
        return str(self)


def find_outliers(critic: Critic[Any], corpus: Corpus, scores: Scores, top: int) -> list[MarkedDocument]:
    """Mark the least likely documents: by Latent NLL per step for sequences, else by Latent NLL (Deng et al. 2022)."""
    corpus = critic.units(corpus)
    unit = "nats per step" if critic.sequence else "nats"
    marked = []
    for row in scores.ranked(critic.sequence)[:top]:
        document = corpus.slice(int(row), int(row) + 1)
        value = float(scores.per_step[row] if critic.sequence else scores.nll[row])
        explained = critic.explain(document) if isinstance(critic, ExplanationMixin) else None
        steps: Sequence[Step] = explained.steps if explained else [Step("text", document[0].text[:EXCERPT])]
        note = explained.note if explained else ""
        marked.append(MarkedDocument(corpus.name, document.ids[0], finite(value) or 0.0, unit, steps, note))
    return marked


def count_unscored(scores: Sequence[Scores]) -> list[Unscored]:
    """Count unscored documents by corpus and reason."""
    return [Unscored(s.corpus, reason, n) for s in scores for reason, n in s.unscored.items()]
