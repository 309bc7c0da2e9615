"""The front door of the library: `compare`, `read_comparison`, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.runs.result import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from momus.critic import Critic
    from momus.engine.request import Labels
    from momus.progress import Reporter
    from momus.reading import ReadingOptions, TextSource
    from momus.report.figures.paper import Plot
    from momus.runs.answer import Answer
    from momus.verdicts.settings import Settings


class Comparison(Results):
    """The results of `momus.compare`; prints as a table, and shows as one in a notebook.

    Its fields are those of `momus.runs.result.Results`; its methods are short forms of functions of the report.
    """

    @classmethod
    def of(cls, results: Results) -> Comparison:
        """Give results the short forms."""
        return cls(**{f.name: getattr(results, f.name) for f in fields(Results)})

    def frame(self, by: str | None = None) -> pd.DataFrame:
        """Verdicts as a pandas data frame; the fields of the method are columns ``method_…``.

        With ``by``, a field in whose slices texts were compared: one row per text, axis and slice, with the difference
        in units of the statistic, and in bands of the whole text, drawn to the mean of all slices.
        """
        import pandas as pd

        from momus.joint.slices import frame_rows

        rows = self.rows() if by is None else frame_rows(self.joint.slices, self.verdicts, by)
        return pd.json_normalize(rows, sep="_")

    @property
    def answer(self) -> Answer:
        """Which text is nearest to human text, and how far each is off on each axis, as data."""
        from momus.runs.answer import answer_of

        return answer_of(self)

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
        from momus.runs.kept import documents_frame

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
        """Draw a figure of the report into matplotlib axes, and return them.

        Their coordinates are units of the drawing (12 are the height of its type), from the upper left corner.

        Parameters
        ----------
        kind
            ``overview``: distance of each corpus on each axis in human bands. ``axis``: the human and the generated
            texts on one axis. ``ranks``: mean distance of each corpus, with bootstrap share.
        critic
            Name of a critic, for ``axis`` (default: the one with the largest gap) and ``ranks`` (default: all axes).
        ax
            Axes to draw into; default: those of a new figure.

        Raises
        ------
        UsageError
            There is no such plot or critic, or the comparison lacks what it shows.
        """
        from momus.report.figures.paper import plot

        return plot(self, kind, critic, ax)

    def to_latex(self) -> str:
        """Write the overview table in LaTeX, with intervals, caption and label; it needs ``array`` and ``booktabs``."""
        from momus.report.exports import comparison_latex

        return comparison_latex(self)

    def to_markdown(self) -> str:
        """Write the answer, the overview table and the warnings in Markdown."""
        from momus.report.exports import comparison_markdown

        return comparison_markdown(self)

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file, and return its path."""
        from momus.ownership import check_output
        from momus.report.page import write_report
        from momus.runs.manifest import REPORT_KIND

        check_output(Path(path), REPORT_KIND, kept_by=self.folder)
        return write_report(self, Path(path))

    def __str__(self) -> str:
        from momus.report.terminal import comparison_text

        return comparison_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from momus.report.page import summary_html

        return summary_html(self)


def compare(
    real: TextSource | None = None,
    generated: Mapping[str, TextSource] | None = None,
    *,
    against: Mapping[str, TextSource] | None = None,
    fit: TextSource | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    settings: Settings | None = None,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
    command: str | None = None,
    reuse: str | Path | None = None,
    jobs: int | None = 1,
    trust: Sequence[Path] = (),
    labels: Labels = None,
    **options: Any,
) -> Comparison:
    """Compare generated with real text along the axes of several critics.

    Parameters
    ----------
    real, fit
        Corpora, paths, or texts in memory: lists of texts or dicts, data frames, Arrow tables, Hugging Face data sets
        (`momus.read_corpus`); also folders of rows that ``momus score`` wrote. Critics are fitted on ``fit``
        and compared on ``real``; without ``fit``, half of ``real``, drawn by the seed, is set apart for fitting.
    generated
        The corpora to criticise, by name.
    against
        Text of a model, by name: the reference in place of real text, from which the others are said to differ. Critics
        are cross-fitted (`momus.engine.crossfit`), and bands are those of its own halves. With ``real`` too, it is said
        which of both is nearer to that.
    critics
        Names of registered critics, or critics; default: all registered ones that can be fitted on the text, or those
        that scored the rows.
    config
        Parameters by name of critic.
    out
        Run folder to write.
    reading
        How paths are read: field, format, encoding.
    reuse
        An earlier run folder: critics with the same parameters, fitted on the same text, are taken from it, and so are
        the scores of the real text if that is the same. Others are fitted again, with a warning.
    jobs
        Number of processes; None: one per core where that pays. Texts of more than `momus.engine.large.LARGE` bytes are
        scored part by part, smaller ones critic by critic. A script that asks for several needs
        ``if __name__ == "__main__":`` around its call, since the processes import it.
    trust
        Folders of critics that may use adapters, where texts are given as rows that were scored before.
    labels
        Labels of documents, each of which becomes a critic ``label-NAME`` beside the others: names of fields of the
        records, files by name, or one file, all of whose fields are labels. ``NAME:TYPE`` names the type, else it is
        found: category, yes-no, set, number, share or sequence. Records of a file have the ``id`` of a document, and
        the name of its text as ``corpus`` where documents of several texts share an id. The file ``NAME.gold`` has
        true labels of some documents drawn at random, which correct the others.
    settings, **options
        `Settings`, or its fields one by one (``seed=1``, ``device="cpu"``, …).

    Returns
    -------
    Comparison

    Raises
    ------
    MomusError
        A text cannot be read, a critic cannot be fitted, the folder is in use, …; the message says how to fix it.
    """
    from momus.engine import compare as engine
    from momus.engine.request import requested

    request = requested(
        real,
        generated,
        against,
        settings,
        options,
        fit=fit,
        critics=critics,
        config=config,
        out=out,
        overwrite=overwrite,
        resume=resume,
        reading=reading,
        reporter=reporter,
        command=command,
        reuse=reuse,
        jobs=jobs,
        trust=trust,
        labels=labels,
    )
    return Comparison.of(engine.compare(request, write_page))


def write_page(results: Results, path: Path) -> Path:
    """Write the report of results as one HTML file, and return its path."""
    from momus.report.page import write_report

    return write_report(results, path)


def read_comparison(run: str | Path) -> Comparison:
    """Read a finished run back from its folder; per-document scores stay in ``documents.parquet``.

    Raises
    ------
    StoreError
        The folder holds no finished run.
    """
    from momus.runs.folder import read_results

    return Comparison.of(read_results(run))
