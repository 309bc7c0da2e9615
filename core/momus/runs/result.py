"""Results: all that a run keeps of one critic, and of a whole comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from momus.critic import Note
from momus.critic.fitted import FittedOn
from momus.critic.scores import Scores
from momus.evidence import Chart, Evidence, MarkedDocument, to_json
from momus.joint.analyses import Joint
from momus.joint.versions import Against, Versions, against_of
from momus.runs.examples import Example
from momus.verdicts.decomposition import Parts
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from momus.joint.axes import Axis
    from momus.report.answer import Answer

Plot = Literal["overview", "axis", "ranks", "power"]


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
        Whether it moves with narrower axes, and whether others move with it, see `momus.critic.statistic.Reporting`.
    notes
        What a reader should know about the fitted critic; those marked as warnings make its verdicts doubtful.
    versions
        What it says of versions of a model, where one is the reference.
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
            "odd_real": [to_json(o) for o in self.odd_real],
            "oddity_unit": self.oddity_unit,
            "references": [e.to_json() for e in self.references],
            "examples": [e.to_json() for e in self.examples],
            "distribution": None if self.distribution is None else to_json(self.distribution),
            "parts": None if self.parts is None else self.parts.to_json(),
            "limits": self.limits,
            "general": self.general,
            "leading": self.leading,
            "unscored": [asdict(u) for u in self.unscored],
            "notes": [asdict(n) for n in self.notes],
            "versions": None if self.versions is None else asdict(self.versions),
            "signature": self.signature,
        }


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
    """The results of `momus.compare`; prints as a table, and shows as one in a notebook.

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
        Those analyses: ranks, adjustment, subgroups.
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
    axes: list[Axis] = field(default_factory=list, repr=False)
    joint: Joint = field(default_factory=Joint)
    left_out: dict[str, str] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False, repr=False)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a critic."""
        self.results.append(outcome.result)
        self.scores |= {(outcome.result.name, s.corpus): s for s in outcome.scores}
        self.warnings += [outcome.warning] if outcome.warning else []
        self.axes += [outcome.axis.sharing(self.axes)] if outcome.axis else []

    def rows(self) -> list[dict[str, Any]]:
        """Verdicts as dicts."""
        return [v.row() for v in self.verdicts]

    def frame(self) -> pd.DataFrame:
        """Verdicts as a pandas data frame; the fields of the method are columns ``method_…``."""
        import pandas as pd

        return pd.json_normalize(self.rows(), sep="_")

    @property
    def answer(self) -> Answer:
        """Which text is nearest to human text, and how far each is off on each axis, as data."""
        from momus.report.answer import answer_of

        return answer_of(self)

    @cached_property
    def against(self) -> Against | None:
        """What changed from the reference to the new texts, where the reference is text of a model; else None."""
        return against_of(self)

    @property
    def documents(self) -> pd.DataFrame:
        """Documents as a tidy data frame, one row per document and critic.

        Its columns are corpus, id, prompt, group, critic, z (the states or the number, in a few words), nll, steps,
        nll_per_step and reason (why a document is unscored); what does not exist is null.

        Raises
        ------
        StoreError
            The scores are neither in memory nor in the run folder.
        """
        from momus.runs.documents import documents_frame

        return documents_frame(self)

    def outliers(self, critic: str | None = None, corpus: str | None = None, top: int = 10) -> pd.DataFrame:
        """Oddest documents as a data frame, ``top`` per critic and corpus, the oddest first.

        Its columns are critic, corpus, rank, id, prompt, group, value, unit, z, unlikely and why. ``value`` is the
        critic's own measure of oddity, or else the Latent NLL, per step for critics of sequences; documents of one
        value share a rank and are in the order of their ids. ``unlikely`` names unlikely steps where the run kept the
        document, else None; ``why`` says why it is listed.

        Parameters
        ----------
        critic
            Name of one critic; default: all.
        corpus
            Name of one corpus, which may be ``real``; default: all generated ones.

        Raises
        ------
        UsageError
            There is no such critic or corpus, or ``top`` is below 1.
        """
        from momus.outliers.listing import outliers_frame

        return outliers_frame(self, critic, corpus, top)

    def plot(self, kind: Plot = "overview", critic: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw a figure into matplotlib axes, and return them.

        Parameters
        ----------
        kind
            ``overview``: distance of each corpus on each axis in human bands. ``axis``: the human and the generated
            texts on one axis. ``ranks``: mean distance of each corpus, with bootstrap share. ``power``: the smallest
            difference that each axis would have detected.
        critic
            Name of a critic, for ``axis`` (default: the one with the largest gap) and ``ranks`` (default: all axes).
        ax
            Axes to draw into; default: those of a new figure.

        Raises
        ------
        UsageError
            There is no such plot or critic, or the comparison lacks what it shows.
        """
        from momus.report.figures.axes import plot

        return plot(self, kind, critic, ax)

    def to_latex(self) -> str:
        """Write the overview table in LaTeX, with intervals, caption and label; it needs ``array`` and ``booktabs``."""
        from momus.report.latex import comparison_latex

        return comparison_latex(self)

    def to_markdown(self) -> str:
        """Write the answer, the overview table and the warnings in Markdown."""
        from momus.report.exports import comparison_markdown

        return comparison_markdown(self)

    def to_card(self, corpus: str | None = None) -> str:
        """Write a section of a data card in Markdown: what critics say of one generated corpus.

        Parameters
        ----------
        corpus
            Name of the corpus; default: the only one.

        Raises
        ------
        UsageError
            There is no such corpus, or there are several and none is named.
        """
        from momus.report.exports import card_markdown

        return card_markdown(self, corpus)

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file, and return its path."""
        from momus.ownership import check_output
        from momus.report.page import write_report
        from momus.runs.manifest import REPORT_KIND

        check_output(Path(path), REPORT_KIND, kept_by=self.folder)
        return write_report(self, Path(path))

    def log_to(
        self, to: str, *, run: str = "momus", step: int | None = None, report: bool = True, **options: Any
    ) -> str:
        """Send verdicts, effects and the report to an experiment tracker, and return where they are now.

        Parameters
        ----------
        to
            ``wandb:ENTITY/PROJECT``, ``mlflow:EXPERIMENT``, ``tensorboard:FOLDER`` or ``trackio:PROJECT``. The name
            alone logs into the run that is active in this process, if there is one.
        run
            Name of a run that is created.
        step
            Where on the axis of training steps the numbers are.
        report
            Whether to send the HTML report, which holds passages of the documents.
        options
            Options of the tracker's own function that creates a run, such as ``tags`` of ``wandb.init``.

        Raises
        ------
        MomusError
            There is no such tracker, its package is not installed, or it fails.
        """
        from momus.report.tracking import log_comparison

        return log_comparison(self, to, run=run, step=step, report=report, options=options)

    def __str__(self) -> str:
        from momus.report.terminal import comparison_text

        return comparison_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from momus.report.page import summary_html

        return summary_html(self)


def count_unscored(scores: Sequence[Scores]) -> list[Unscored]:
    """Count unscored documents by corpus and reason."""
    return [Unscored(s.corpus, reason, n) for s in scores for reason, n in s.unscored.items()]
