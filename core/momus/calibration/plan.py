"""What is to be measured: sizes, splits, defects, strengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momus.controls import DEFECTS
from momus.errors import UsageError

STRENGTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
NULL = "none"
"""The name of the defect that changes nothing."""
_SPLIT, _DRAW = 3, 4


@dataclass(frozen=True)
class Plan:
    """What a calibration measures.

    Attributes
    ----------
    sizes
        Pairs (real, generated): numbers of documents a side; empty for half of the documents each.
    splits
        Null splits of each critic and size.
    power_splits
        Splits of each defect and strength.
    permutations, wide
        Of each test; ``wide`` for rows of more than 64 columns. At (B + 1) α whole the level is exact.
    alpha
        Level at which tests are counted, before adjustment.
    power
        Power at which a defect counts as detectable.
    defects, strengths
        What is planted.
    replacement
        Whether documents are drawn with replacement for sizes that need more than there are: both sides are then
        samples of one distribution, that of the documents at hand. Not for critics of running text, whose words would
        come twice.
    seed
        Of the splits, the defects and the relabellings.
    """

    sizes: Sequence[tuple[int, int]] = ()
    splits: int = 1000
    power_splits: int = 200
    permutations: int = 999
    wide: int = 199
    alpha: float = 0.05
    power: float = 0.8
    defects: Sequence[str] = tuple(DEFECTS)
    strengths: Sequence[float] = STRENGTHS
    seed: int = 0
    replacement: bool = False

    def check(self, documents: int) -> None:
        """Check the plan against a number of documents.

        Raises
        ------
        UsageError
            Something in it cannot be done.
        """
        unknown = [d for d in self.defects if d not in DEFECTS]
        if unknown:
            raise UsageError(f"no defect {unknown[0]!r}", hint=f"there are: {', '.join(DEFECTS)}")
        wrong = [s for s in self.strengths if not 0 < s <= 1]
        if wrong:
            raise UsageError(f"strength {wrong[0]} is not above 0 and at most 1", hint="write 0.05,0.2,0.8, say")
        if self.defects and not self.strengths:
            raise UsageError("defects are to be planted, but at no strength", hint="name at least one strength")
        if not 0 < self.alpha < 1 or not 0 < self.power < 1:
            raise UsageError("alpha and power lie between 0 and 1", hint="the usual ones are 0.05 and 0.8")
        for name, count in (("permutations", self.permutations), ("wide", self.wide)):
            if 1 / (count + 1) > self.alpha:
                raise UsageError(
                    f"with {count} permutations no p lies below {1 / (count + 1):.3g}: nothing alarms at {self.alpha}",
                    hint=f"raise --{name} to {math.ceil(1 / self.alpha) - 1} or more",
                )
        if documents < 4:
            raise UsageError(
                f"{documents} documents with text cannot be split", hint="give at least four, better some hundreds"
            )
        for a, b in self.pairs(documents):
            if min(a, b) < 2:
                raise UsageError(f"size {a}x{b}: a side needs two documents", hint="write --sizes 50,200x1000, say")
            if a + b > documents and not self.replacement:
                raise UsageError(
                    f"size {a}x{b} needs {a + b:,} documents, the held-out text has {documents:,}",
                    hint="give more real text, or smaller --sizes, or let documents be drawn twice: --replacement",
                )

    def pairs(self, documents: int) -> list[tuple[int, int]]:
        """Sizes, with the default filled in."""
        return [tuple(p) for p in self.sizes] or [(documents // 2, documents // 2)]  # type: ignore[misc]

    def key(self) -> dict[str, Any]:
        """What kept results depend on: all but the lists of what is measured, and how it is counted."""
        left_out = ["alpha", "power", "sizes", "defects", "strengths", "splits", "power_splits"]
        if not self.replacement:  # so that cells of versions without it are found
            left_out.append("replacement")
        return {k: v for k, v in asdict(self).items() if k not in left_out}


def split(seed: int, number: int, documents: int) -> NDArray[np.int64]:
    """A random order of the documents, for one split: int64 (documents,).

    The first documents of it that can be scored are the real side, the next ones the generated side; all critics so
    see nearly the same splits.
    """
    return np.argsort(np.random.default_rng([seed, _SPLIT, number]).random(documents), kind="stable")


def draw(seed: int, number: int, documents: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Documents drawn with replacement, for one split: int64 (size,)."""
    return documents[np.random.default_rng([seed, _DRAW, number]).integers(0, len(documents), size)]


def parse_sizes(text: str | None) -> list[tuple[int, int]]:
    """Read ``50,200x1000`` as [(50, 50), (200, 1000)].

    Raises
    ------
    UsageError
        It is something else.

    >>> parse_sizes("50, 200x1000"), parse_sizes(None)
    ([(50, 50), (200, 1000)], [])
    """
    found = []
    for part in (p.strip() for p in (text or "").split(",")):
        if not part:
            continue
        one, _, other = part.lower().partition("x")
        try:
            found.append((int(one), int(other or one)))
        except ValueError:
            raise UsageError(f"--sizes: {part!r} is no size", hint="write 50,200x1000: documents a side") from None
    return found
