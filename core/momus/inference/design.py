"""The design of a test: which documents belong together, hence which units are relabelled and resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Literal

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Ints

Kind = Literal["documents", "pairs", "prompts", "clusters"]
Prompts = Sequence[str | None]
MATCHED = 0.9
"""Share of the scored documents that must find a partner for a design to be chosen without being asked for."""


@dataclass(frozen=True)
class Design:
    """How the documents of two texts belong together; build one with the class methods.

    Attributes
    ----------
    kind
        The unit that is relabelled and resampled: single ``documents``; ``pairs`` (document i of one text belongs to
        document i of the other); ``prompts`` that both texts answer, any number of times (documents are relabelled
        within prompts, prompts are resampled); or ``clusters`` within each text (whole clusters are relabelled and
        resampled).
    n_real, n_generated
        Numbers of documents that take part.
    numbers
        For each real and each generated document, the number (from 0) of its prompt or cluster; None for documents
        and pairs.
    rows
        Of pairs, the row numbers of their documents in each text; None where all documents take part, in order.

    >>> Design.clusters([0, 0, 1], None, n_generated=4).units
    (2, 4)
    """

    kind: Kind
    n_real: int
    n_generated: int
    numbers: tuple[Ints, Ints] | None = None
    rows: tuple[Ints, Ints] | None = None

    @classmethod
    def documents(cls, n_real: int, n_generated: int) -> Design:
        """Documents are independent."""
        return cls("documents", n_real, n_generated)

    @classmethod
    def pairs(cls, pairs: Ints) -> Design:
        """Pairs of row numbers, int (P, 2); documents outside of pairs do not take part."""
        return cls("pairs", len(pairs), len(pairs), rows=(pairs[:, 0], pairs[:, 1]))

    @classmethod
    def prompts(cls, real: Sequence[int] | Ints, generated: Sequence[int] | Ints) -> Design:
        """The prompt that each document answers; equal numbers are one prompt, on either side."""
        codes = np.unique(np.concatenate([real, generated]), return_inverse=True)[1]
        return cls("prompts", len(real), len(generated), (codes[: len(real)], codes[len(real) :]))

    @classmethod
    def clusters(
        cls,
        real: Sequence[int] | Ints | None,
        generated: Sequence[int] | Ints | None,
        *,
        n_real: int = 0,
        n_generated: int = 0,
    ) -> Design:
        """The cluster of each document, by text; without clusters on a side (None), give its number of documents."""
        one, other = (
            np.arange(n) if c is None else np.unique(c, return_inverse=True)[1]
            for n, c in ((n_real, real), (n_generated, generated))
        )
        return cls("clusters", len(one), len(other), (one, other))

    @property
    def units(self) -> tuple[int, int]:
        """Numbers of units that are drawn: documents, pairs or prompts (the same for both texts), or clusters."""
        if self.numbers is None:
            return self.n_real, self.n_generated
        one, other = (int(n.max(initial=-1)) + 1 for n in self.numbers)
        return (max(one, other),) * 2 if self.kind == "prompts" else (one, other)

    @property
    def together(self) -> bool:
        """Whether both texts are resampled by the same units."""
        return self.kind in ("pairs", "prompts")

    @property
    def relabellings(self) -> int:
        """How many distinct ways there are to label the units."""
        if self.kind == "pairs":
            return int(2**self.n_real)
        if self.kind == "prompts" and self.numbers is not None:
            counts = [np.bincount(s, minlength=self.units[0]).tolist() for s in self.numbers]
            return int(prod(comb(r + g, r) for r, g in zip(*counts, strict=True)))
        return comb(sum(self.units), self.units[0])

    @property
    def enumerable(self) -> bool:
        """Whether all labellings can be listed (`momus.inference.weights.all_labels`)."""
        return self.kind != "prompts"


def design_of(
    real: Prompts, generated: Prompts, paired: bool | None = None, names: tuple[str, str] = ("real", "generated")
) -> Design:
    """Choose the design from the prompt ids of the scored documents of both texts.

    * Each prompt has one document on each side: pairs.
    * At least nine in ten scored documents answer a prompt that both sides have, some prompts several times: prompts
      (a document without a prompt is a prompt by itself, and adds no information).
    * Prompts have several documents, and the sides do not share them: clusters.
    * Otherwise: documents.

    Parameters
    ----------
    paired
        True asks for pairs; False ignores the prompts of the other side, but several documents of one prompt still
        belong together.
    names
        What messages call the two texts.

    Raises
    ------
    UsageError
        Pairs were asked for and there are fewer than two.

    >>> design_of(["a", "b"], ["b", "a"]).rows
    (array([0, 1]), array([1, 0]))
    >>> design_of(["a", "a", None], ["x", "y", "z"]).kind
    'clusters'
    """
    pairs = pair_up(real, generated, paired, names)
    if pairs is not None:
        return Design.pairs(pairs)
    if not any(_repeats(side) for side in (real, generated)):
        return Design.documents(len(real), len(generated))
    common = {p for p in real if p is not None} & {p for p in generated if p is not None}
    matched = all(sum(p in common for p in side) >= MATCHED * len(side) for side in (real, generated))
    if paired is not False and len(common) >= 2 and matched:
        return Design.prompts(_keys(real, "r"), _keys(generated, "g"))
    return Design.clusters(_keys(real, "x"), _keys(generated, "x"))


def pair_up(
    real: Prompts, generated: Prompts, paired: bool | None = None, names: tuple[str, str] = ("real", "generated")
) -> Ints | None:
    """Pair documents by prompt id: int array (P, 2) of row numbers, or None.

    Pairs are made only where each prompt occurs once on each side. Without ``paired``, at least nine in ten documents
    of the smaller side must find a partner; with ``paired=True`` two pairs suffice. Documents without a partner are
    left out of the test.
    """
    if paired is False:
        return None
    left, right = _by_prompt(real), _by_prompt(generated)
    common = [p for p in left if p in right]
    if paired and len(common) < 2:
        raise UsageError(
            f"{len(common)} documents of {names[1]!r} share a prompt_id with one of {names[0]!r}: no pairs",
            hint="leave --paired out, or give both sides the same prompt_id",
        )
    enough = len(common) >= 2 and (paired or len(common) >= MATCHED * min(len(real), len(generated)))
    return np.array([(left[p], right[p]) for p in common], dtype=np.int64) if enough else None


def _repeats(prompts: Prompts) -> bool:
    known = [p for p in prompts if p is not None]
    return len(set(known)) < len(known)


def _keys(prompts: Prompts, side: str) -> Ints:
    """A key for each document: its prompt, or one that no other document has."""
    return np.array([f"{side}{i}" if p is None else f"p{p}" for i, p in enumerate(prompts)], dtype=object)


def _by_prompt(prompts: Prompts) -> dict[str, int]:
    """Row number of each prompt that occurs exactly once."""
    rows: dict[str, int] = {}
    repeated = set()
    for i, prompt in enumerate(prompts):
        if prompt in rows:
            repeated.add(prompt)
        if prompt is not None:
            rows[prompt] = i
    return {p: i for p, i in rows.items() if p not in repeated}
