"""What one critic found in one run: verdicts, evidence, outliers, and what it could not score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from momus.corpus import Corpus
from momus.evidence import Evidence, MarkedDocument, Step, from_json, to_json
from momus.scores import Scores
from momus.verdicts import Verdict, finite

if TYPE_CHECKING:
    from momus.critic import Critic

EXCERPT = 240


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
        Headline verdicts between the generated corpora themselves.
    cautions
        What makes the verdicts doubtful, of the fitted critic itself.
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
    notes: Sequence[str] = ()
    cautions: Sequence[str] = ()
    signature: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain lists, strings and numbers."""
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
            "notes": list(self.notes),
            "cautions": list(self.cautions),
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CriticResult:
        """Read what `to_json` gave."""
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
            notes=data["notes"],
            cautions=data.get("cautions", []),
            signature=data["signature"],
        )


def find_outliers(critic: Critic[Any], corpus: Corpus, scores: Scores, top: int) -> list[MarkedDocument]:
    """Show the least likely documents: by Latent NLL a state for sequences, by Latent NLL else (Deng et al. 2022)."""
    corpus = critic.units(corpus)
    unit = "nats a state" if critic.sequence else "nats"
    marked = []
    for row in scores.ranked(critic.sequence)[:top]:
        document = corpus.slice(int(row), int(row) + 1)
        value = float(scores.per_state[row] if critic.sequence else scores.nll[row])
        shown = critic.explain(document)
        steps: Sequence[Step] = shown.steps if shown else [Step("text", document[0].text[:EXCERPT])]
        note = shown.note if shown else ""
        marked.append(MarkedDocument(corpus.name, document.ids[0], finite(value) or 0.0, unit, steps, note))
    return marked


def count_unscored(scores: Sequence[Scores]) -> list[Unscored]:
    """Unscored documents by corpus and reason."""
    return [Unscored(s.corpus, reason, n) for s in scores for reason, n in s.unscored.items()]
