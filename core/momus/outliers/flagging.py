"""Documents of a run that are odder than real ones, at a stated false-discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import false_discovery_control

from momus.arguments import arg
from momus.errors import UsageError
from momus.numeric.types import Floats
from momus.outliers.conformal import Calibrated, fewest_chosen, order_of
from momus.outliers.rows import Measure, OddDocument, median_of, outlier_rows
from momus.runs.result import Results

ROUNDING = 1e-12
"""What rounding adds to a q-value at most."""


@dataclass(frozen=True, kw_only=True)
class Flagged(OddDocument):
    """A document that is odder than real ones; ``critic`` is the one under which it is oddest.

    Attributes
    ----------
    small
        Whether its value is odd because it is small: it is too likely.
    p, q
        Its conformal p-value over all critics, and the smallest false-discovery rate at which it is chosen.
    by_critic
        Its p-value under each critic alone.
    """

    small: bool
    p: float
    q: float
    by_critic: dict[str, float]


@dataclass(frozen=True)
class FlaggedCorpus:
    """The documents of one text that are chosen, the oddest first.

    Attributes
    ----------
    n
        Documents of the text.
    fewest
        The smallest number that could have been chosen at all.
    calibrating
        Real documents that calibrate the p-values.
    reference
        Name of the text that they are of, if that is text of a model; else empty.
    """

    corpus: str
    n: int
    fewest: int
    fdr: float
    calibrating: int
    documents: tuple[Flagged, ...]
    reference: str = "real"


def flagged(
    run: Results | str | Path, fdr: float = 0.05, critic: str | None = None, corpus: str | None = None
) -> list[FlaggedCorpus]:
    """Choose the documents of a run that are odder than its real ones, at a stated false-discovery rate.

    Parameters
    ----------
    run
        A comparison, or a run folder.
    fdr
        Of the documents chosen, an expected share of at most this are as real as the real text.
    critic
        Name of the only critic to go by; default: all that judge documents.
    corpus
        Name of one corpus; default: all generated ones.

    Raises
    ------
    UsageError
        The run has no such critic or corpus, or too few real documents; the rate is not between 0 and 1.
    StoreError
        The table of documents is missing or damaged.

    Examples
    --------
    A run has 60 real documents and 40 generated ones, 16 of which are four times as long as all others:

    >>> import momus
    >>> text = lambda n, start, times: [" ".join(["word"] * (times * (20 + (start + i) % 9))) for i in range(n)]
    >>> real, fit, odd = text(60, 0, 1), text(90, 3, 1), text(16, 0, 4)
    >>> comparison = momus.compare(
    ...     real, {"g": [*odd, *text(24, 5, 1)]}, fit=fit, critics=["length"], reporter=momus.progress.Silent()
    ... )
    >>> (g,) = flagged(comparison, fdr=0.1)
    >>> len(g.documents), g.n, g.calibrating, round(g.documents[0].p, 3)
    (16, 40, 40, 0.024)
    """
    if not 0 < fdr < 1:
        raise UsageError(f"the false-discovery rate is {fdr}", hint="give a number between 0 and 1, such as 0.05")
    rows = outlier_rows(run, None if critic is None else [critic], corpus, documents_only=True)
    if not rows.results:
        raise UsageError(f"no critic of {rows.name} judges documents", hint="choose another critic or run")
    names, units = [r.name for r in rows.results], [rows.unit(r) for r in rows.results]
    measures = [rows.measures[name] for name in names]
    calibration = RealCalibration.of(names, units, measures, *rows.table(rows.real), fdr, rows.groups(rows.real))
    corpora = []
    for name in rows.listed:
        ids, values = rows.table(name)
        fewest = fewest_chosen(len(ids), calibration.calibrated.units, fdr)
        documents = tuple(calibration.chosen(ids, values))
        corpora.append(FlaggedCorpus(name, len(ids), fewest, fdr, len(calibration), documents, rows.real))
    return corpora


@dataclass(frozen=True)
class RealCalibration:
    """Real documents, against which others are judged.

    Attributes
    ----------
    critics, units
        Names of the critics, and units of their values.
    typical
        Median value of the real documents by critic; None where none has a value.
    calibrated
        What gives documents their p-values.
    fdr
        The false-discovery rate.
    """

    critics: Sequence[str]
    units: Sequence[str]
    typical: Sequence[float | None]
    calibrated: Calibrated = field(repr=False)
    fdr: float

    @classmethod
    def of(
        cls,
        critics: Sequence[str],
        units: Sequence[str],
        measures: Sequence[Measure],
        ids: Sequence[str],
        values: Floats,
        fdr: float,
        groups: Sequence[str | None] = (),
    ) -> RealCalibration:
        """Learn from the values of real documents, (n, critics), NaN where unscored, and from their groups.

        Raises
        ------
        UsageError
            They are too few for the rate.
        """
        # whole groups are ordered, so that a large one does not come earlier
        keys = ids if not groups else [i if g is None else f"group {g}" for i, g in zip(ids, groups, strict=True)]
        calibrated = Calibrated.of(values, [m.two_sided for m in measures], order_of(keys), groups)
        # the smallest p, 1/(units + 1), would be above the rate even if every document were odd
        if calibrated.units + 1 < 1 / fdr:
            n = len({g if g is not None else i for i, g in enumerate(groups)}) if groups else len(ids)
            what = "groups of real documents" if groups else "real documents"
            raise UsageError(
                f"{n:,} {what} are too few for a false-discovery rate of {fdr:g}: no p is small enough",
                hint=f"take at least {int(np.ceil(1.5 / fdr)):,}, or a larger {arg('fdr')}; rare faults need many more",
            )
        return cls(critics, units, [median_of(column) for column in values.T], calibrated, fdr)

    def __len__(self) -> int:
        return len(self.calibrated)

    def chosen(self, ids: Sequence[str], values: Floats) -> list[Flagged]:
        """The documents of a text that are chosen by their values, (n, critics), the oddest first.

        The procedure of Benjamini and Hochberg chooses; documents of equal surprise are sorted by id.
        """
        judged = self.calibrated.judge(values)
        p = judged.ranks / (len(self) + 1)
        q = false_discovery_control(p)
        # rounding must not leave out a document whose q is the rate itself
        numbers = sorted(np.flatnonzero(q <= self.fdr + ROUNDING).tolist(), key=lambda i: (-judged.surprise[i], ids[i]))
        alone = self.calibrated.alone(values) / (len(self) + 1)  # (n, critics)
        return [
            Flagged(
                id=ids[i],
                critic=self.critics[k],
                value=float(values[i, k]),
                typical=self.typical[k],
                unit=self.units[k],
                small=bool(judged.small[i]),
                p=float(p[i]),
                q=float(q[i]),
                by_critic=dict(zip(self.critics, alone[i].tolist(), strict=True)),
            )
            for i, k in ((i, int(judged.critic[i])) for i in numbers)
        ]
