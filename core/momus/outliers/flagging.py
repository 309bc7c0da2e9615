"""Documents that are odder than real ones at a stated false-discovery rate: of a run, or of any text that is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.numeric.types import Bools, Floats
from momus.outliers.conformal import Calibrated, Judged, fewest_chosen, largest_rank, order_of, q_values
from momus.outliers.rows import Measure, OddDocument, median_of, outlier_rows
from momus.runs.result import Results


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
    text
        The beginning of its text; empty if only its rows are known.
    """

    small: bool
    p: float
    q: float
    by_critic: dict[str, float]
    text: str = ""


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
    check_rate(fdr)
    rows = outlier_rows(run, None if critic is None else [critic], corpus, documents_only=True)
    if not rows.results:
        raise UsageError(f"no critic of {rows.name} judges documents", hint="choose another critic or run")
    real = RealDocuments.of(rows.measures, *rows.table(rows.real), fdr, rows.groups(rows.real))
    corpora = []
    for name in rows.listed:
        ids, values = rows.table(name)
        choice = real.choose(partial(iter, [values]))
        # by id where surprises are equal, so that the list does not depend on the order of the files
        numbers = sorted(
            np.flatnonzero(choice.goes).tolist(),
            key=lambda i: (choice.judged.ranks[i], -choice.judged.surprise[i], ids[i]),
        )
        documents = real.documents(choice, numbers, [ids[i] for i in numbers], values[numbers])
        corpora.append(FlaggedCorpus(name, len(ids), choice.fewest, fdr, len(real), tuple(documents), rows.real))
    return corpora


def check_rate(fdr: float) -> None:
    """Raise `UsageError` unless a false-discovery rate lies between 0 and 1."""
    if not 0 < fdr < 1:
        raise UsageError(f"the false-discovery rate is {fdr}", hint="give a number between 0 and 1, such as 0.05")


@dataclass(frozen=True)
class Choice:
    """Which documents of a text are chosen, and why.

    Attributes
    ----------
    judged
        All of its documents.
    largest
        Rank up to which they are chosen; 0 if none is.
    q
        q-values by rank, float64 (calibrating documents + 2,).
    fewest
        The smallest number of documents that could have been chosen at all.
    """

    judged: Judged
    largest: int
    q: Floats
    fewest: int

    @property
    def goes(self) -> Bools:
        """Which documents are chosen: bool (n,)."""
        return self.judged.ranks <= self.largest  # p is a multiple of 1/(n + 1), so ranks compare as p does

    def ends(self, critic: int) -> tuple[int, int]:
        """How many documents are chosen as too large, and as too small, under a critic."""
        small = self.judged.small[self.goes & (self.judged.critic == critic)]  # (chosen under it,)
        return int((~small).sum()), int(small.sum())

    def oddest(self, critic: int, most: int) -> list[int]:
        """Numbers of the oddest documents that are chosen under a critic, the oddest first, equal ones in order."""
        numbers = np.flatnonzero(self.goes & (self.judged.critic == critic))
        order = np.argsort(-self.judged.surprise[numbers], kind="stable")[:most]
        return [int(number) for number in numbers[order]]


@dataclass(frozen=True)
class RealDocuments:
    """Real documents, against which others are judged.

    Attributes
    ----------
    measures
        What ranks documents, by critic.
    typical
        Median value of the real documents by critic; None where none has a value.
    calibrated
        What gives documents their p-values.
    fdr
        The false-discovery rate.
    n
        Number of the real documents.
    """

    measures: Mapping[str, Measure]
    typical: Sequence[float | None]
    calibrated: Calibrated = field(repr=False)
    fdr: float
    n: int

    @classmethod
    def of(
        cls,
        measures: Mapping[str, Measure],
        ids: Sequence[str],
        values: Floats,
        fdr: float,
        groups: Sequence[str | None] = (),
    ) -> RealDocuments:
        """Learn from the values of real documents, (n, critics), NaN where unscored, and from their groups.

        Raises
        ------
        UsageError
            They are too few for the rate.
        """
        order = order_of(list(zip(ids, groups or [None] * len(ids), strict=True)))
        calibrated = Calibrated.of(values, [m.two_sided for m in measures.values()], order, groups)
        # the smallest p, 1/(units + 1), would be above the rate even if every document were odd
        if calibrated.units + 1 < 1 / fdr:
            n = len({g if g is not None else i for i, g in enumerate(groups)}) if groups else len(ids)
            what = "groups of real documents" if groups else "real documents"
            raise UsageError(
                f"{n:,} {what} are too few for a false-discovery rate of {fdr:g}: no p is small enough",
                hint=f"take at least {int(np.ceil(1.5 / fdr)):,}, or a larger {arg('fdr')}; rare faults need many more",
            )
        return cls(measures, [median_of(column) for column in values.T], calibrated, fdr, len(ids))

    def __len__(self) -> int:
        """Number of documents that calibrate."""
        return len(self.calibrated)

    def choose(self, parts: Callable[[], Iterable[Floats]]) -> Choice:
        """Choose documents of a text by their values in parts, (n, critics), which are read several times."""
        none = np.zeros((0, len(self.measures)))
        calibrated = self.calibrated.leaning(parts)
        # judged part by part: only ranks and surprises of all documents are in memory, not their values
        judged, n = Judged.joined(map(calibrated.judge, chain([none], parts()))), len(self)
        counts = np.bincount(judged.ranks, minlength=n + 2)  # documents of each rank, (n + 2,)
        fewest = fewest_chosen(len(judged.ranks), self.calibrated.units, self.fdr)
        return Choice(judged, largest_rank(counts, n, self.fdr), q_values(counts, n), fewest)

    def documents(
        self, choice: Choice, numbers: Sequence[int], ids: Sequence[str], values: Floats, texts: Sequence[str] = ()
    ) -> list[Flagged]:
        """Some documents of a choice, by their numbers; ids, values (numbers, critics) and texts are those of these."""
        p_alone = (self.calibrated.alone(values) / (len(self) + 1)).tolist()  # (numbers, critics)
        names, units = list(self.measures), [m.unit for m in self.measures.values()]
        critic, ranks = choice.judged.critic[numbers].tolist(), choice.judged.ranks[numbers].tolist()
        return [
            Flagged(
                id=ids[i],
                critic=names[k],
                value=float(values[i, k]),
                typical=self.typical[k],
                unit=units[k],
                small=bool(choice.judged.small[numbers[i]]),
                p=rank / (len(self) + 1),
                q=float(choice.q[rank]),
                by_critic=dict(zip(names, p_alone[i], strict=True)),
                text=texts[i] if texts else "",
            )
            for i, (k, rank) in enumerate(zip(critic, ranks, strict=True))
        ]
