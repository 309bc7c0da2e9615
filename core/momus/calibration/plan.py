"""The plan of a calibration (sizes, splits, defects, strengths), its random splits, and the units that are split."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from momus.arguments import arg
from momus.controls import DEFECTS
from momus.errors import UsageError
from momus.limits import MOST_PERMUTATIONS, MOST_RESAMPLES, MOST_SEED
from momus.numeric.ragged import Ragged, offsets_of, ranges_of
from momus.numeric.types import Bools, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus

STRENGTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
LARGEST = 1_000_000
"""Documents (groups, prompts) of a side at most: more would be drawn from the text again and again."""
NULL = "none"
"""The name of the defect that changes nothing."""
_SPLIT, _DRAW = 3, 4
"""Numbers that keep the random streams of splits and of draws apart."""
By = Literal["document", "group", "prompt"]
"""What a split assigns to one side as a whole."""


@dataclass(frozen=True)
class CalibrationPlan:
    """The plan of a calibration.

    Attributes
    ----------
    sizes
        Pairs (real, generated) of documents per side, or of groups or prompts (``by``); if empty, half of them each.
    splits
        Null splits per critic and size.
    power_splits
        Splits per defect and strength.
    permutations, wide
        Permutations per test; ``wide`` for rows of more than 64 columns. The level is exact if (B + 1) α is an integer.
    alpha
        Significance level at which alarms are counted, before adjustment.
    power
        Power at which a defect counts as detectable.
    defects, strengths
        Which defects are planted, and how strongly.
    replacement
        Whether documents are drawn with replacement for sizes larger than the held-out text. Both sides are then
        samples of its empirical distribution. Critics of running text ignore it: repeated documents would repeat words.
    seed
        Seed of the splits, the defects and the relabellings.
    by
        What is split at random: each ``document``, or whole groups of documents: those of one ``group`` (author,
        novel), or of one ``prompt``. Tests then treat the groups as units too.
    """

    sizes: Sequence[tuple[int, int]] = ()
    splits: Annotated[int, Range(1, MOST_RESAMPLES)] = 1000
    power_splits: Annotated[int, Range(1, MOST_RESAMPLES)] = 200
    permutations: Annotated[int, Range(1, MOST_PERMUTATIONS)] = 999
    wide: Annotated[int, Range(1, MOST_PERMUTATIONS)] = 199
    alpha: Annotated[float, Range(0, 1, above=True)] = 0.05
    power: Annotated[float, Range(0, 1, above=True)] = 0.8
    defects: Sequence[str] = tuple(DEFECTS)
    strengths: Annotated[Sequence[float], Range(0, 1, above=True)] = STRENGTHS
    seed: Annotated[int, Range(0, MOST_SEED)] = 0
    replacement: bool = False
    by: By = "document"

    @property
    def units(self) -> str:
        """What sizes count, in the plural: ``documents``, ``groups`` or ``prompts``."""
        return f"{self.by}s"

    def check(self, units: int) -> None:
        """Check that the plan can be carried out with so many documents (groups, prompts).

        Raises
        ------
        UsageError
            It cannot.
        """
        unknown = [d for d in self.defects if d not in DEFECTS]
        if unknown:
            raise UsageError(f"no defect {unknown[0]!r}", hint=f"choose from: {', '.join(DEFECTS)}")
        if self.defects and not self.strengths:
            raise UsageError("there are defects to plant, but no strengths", hint="name at least one strength")
        for name, count in (("permutations", self.permutations), ("wide", self.wide)):
            if 1 / (count + 1) > self.alpha:
                raise UsageError(
                    f"{count} permutations give no p below {1 / (count + 1):.3g}, and so no alarm at {self.alpha}",
                    hint=f"raise {arg(name)} to {math.ceil(1 / self.alpha) - 1} or more",
                )
        if units < 4:
            more = "some hundreds" if self.by == "document" else "some dozens"
            raise UsageError(
                f"{units} {self.units} with text are too few to split", hint=f"give at least 4, better {more}"
            )
        for a, b in self.pairs(units):
            if min(a, b) < 2:
                raise UsageError(
                    f"size {a}x{b}: each side needs at least two {self.units}", hint="write 50,200x1000, say"
                )
            if max(a, b) > LARGEST:
                raise UsageError(
                    f"size {a:,}x{b:,}: a side has at most {LARGEST:,} {self.units}",
                    hint=f"give smaller {arg('sizes')}",
                )
            if a + b > units and not self.replacement:
                raise UsageError(
                    f"size {a}x{b} needs {a + b:,} {self.units}, but the held-out text has {units:,}",
                    hint=f"give more real text or smaller {arg('sizes')}, or draw {self.units} repeatedly "
                    f"with {arg('replacement', True)}",
                )

    def pairs(self, units: int) -> list[tuple[int, int]]:
        """The sizes; if none are given, half of the documents (groups, prompts) each."""
        return [(real, generated) for real, generated in self.sizes] or [(units // 2, units // 2)]

    def key(self) -> dict[str, Any]:
        """The fields that a cell depends on, beside its own defect, strength and size."""
        return {name: getattr(self, name) for name in ("permutations", "wide", "seed", "replacement", "by")}


def split(seed: int, number: int, documents: int) -> Ints:
    """Draw the random order of the documents (or of the groups) of one split: int64 (documents,).

    The first documents that a critic can score are its real side, the next ones its generated side. All critics thus
    see nearly the same splits.
    """
    return np.argsort(np.random.default_rng([seed, _SPLIT, number]).random(documents), kind="stable")


def draw(seed: int, number: int, documents: Ints, size: int) -> Ints:
    """Draw the documents of one split with replacement: int64 (size,)."""
    return documents[np.random.default_rng([seed, _DRAW, number]).integers(0, len(documents), size)]


def parse_sizes(text: str | None) -> list[tuple[int, int]]:
    """Parse ``50,200x1000`` into [(50, 50), (200, 1000)].

    Raises
    ------
    UsageError
        The text has another form.

    >>> parse_sizes("50, 200x1000"), parse_sizes(None)
    ([(50, 50), (200, 1000)], [])
    """
    sizes = []
    for item in (s.strip() for s in (text or "").split(",")):
        if not item:
            continue
        n_real, _, n_generated = item.lower().partition("x")
        try:
            sizes.append((int(n_real), int(n_generated or n_real)))
        except ValueError:
            problem = f"{arg('sizes')}: {item!r} is not a size"
            raise UsageError(problem, hint="write documents per side: 50,200x1000") from None
    return sizes


PROMPT = "prompt"
"""The unit of critics that have one row per prompt."""
_FIELDS = {"group": "group_id", "prompt": "prompt_id"}


@dataclass(frozen=True)
class SplitUnits(Ragged):
    """Groups of the documents of a corpus, each of which a split assigns to one side as a whole.

    Attributes
    ----------
    rows
        int64 (documents,): row numbers of the documents, those of one group one behind another.
    offsets
        int64 (groups + 1,): group i has ``rows[offsets[i]:offsets[i + 1]]``.

    >>> units = SplitUnits.of(["b", "a", "b", None], ["x 10", "x 3", "x 9", "x 1"])
    >>> [units.rows[a:b].tolist() for a, b in zip(units.offsets, units.offsets[1:])]
    [[1], [2, 0], [3]]
    """

    rows: Ints
    offsets: Ints

    @classmethod
    def of(cls, names: Sequence[str | None], ids: Sequence[str]) -> SplitUnits:
        """Group documents by name; a document without one is a group by itself.

        Groups are sorted by name, documents by id with numbers in their natural order, which is how running text
        continues: a split does not depend on the order of the documents.
        """
        keys = [(0, name) if name is not None else (1, ids[i]) for i, name in enumerate(names)]
        order = sorted(range(len(ids)), key=lambda i: (keys[i], _natural(ids[i])))
        first = [k == 0 or keys[i] != keys[order[k - 1]] for k, i in enumerate(order)]
        return cls(np.array(order, dtype=np.int64), np.append(np.flatnonzero(first), len(order)).astype(np.int64))

    def usable(self, documents: Bools) -> Bools:
        """Groups with at least one usable document: bool (groups,)."""
        return np.diff(offsets_of(documents[self.rows])[self.offsets]) > 0

    def expand(self, groups: Ints, documents: Bools) -> tuple[Ints, Ints]:
        """Row numbers of the usable documents of some groups, and the place in ``groups`` of each one's group.

        A group that occurs twice is two groups.
        """
        lengths = np.diff(self.offsets)[groups]
        rows = self.rows[ranges_of(self.offsets[groups], lengths)]
        places = np.repeat(np.arange(len(groups)), lengths)
        return rows[documents[rows]], places[documents[rows]]


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts ``ch 9`` before ``ch 10``."""
    return [
        (int(piece), "") if piece.isascii() and piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", name)
    ]


def units_of(corpus: Corpus, by: By) -> SplitUnits | None:
    """The groups that a split by ``by`` assigns as a whole; None for single documents.

    Raises
    ------
    UsageError
        No document has a group or prompt.
    """
    if by == "document":
        return None
    names = corpus.groups if by == "group" else corpus.prompts
    if all(name is None for name in names):
        raise UsageError(
            f"no document of {corpus.name!r} has a {by}",
            hint=f"give each record a {_FIELDS[by]}, or leave {arg('by')} out",
        )
    return SplitUnits.of(names, corpus.ids)
