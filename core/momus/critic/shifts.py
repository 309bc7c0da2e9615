"""The table that critics have in common: items, how often each text has them, and the effect, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from momus.evidence import Cell, Overuse, Overused, Table
from momus.numeric.types import Bools, Floats


@dataclass(frozen=True)
class Named:
    """Which items of a table the first screen may name.

    Attributes
    ----------
    what, of
        See `momus.evidence.Overuse`; the unit is that of the table.
    which
        bool (V,): the items that may be named.
    sizes
        (V,): what each item is tested by.
    most
        Named items at most.
    """

    what: str
    of: str
    which: Bools
    sizes: Floats
    most: int | None = None


@dataclass(frozen=True)
class Shifts:
    """V items and how often each text has them.

    Attributes
    ----------
    item
        Heading of the items.
    texts
        What readers are shown of each item.
    rates
        How often real and generated text have each item, (V,) both.
    unit
        Unit of these rates, or one for each item.
    effect, measure
        (V,): the size of each shift, with its sign, and its heading.
    by
        (V,): what the items are sorted by, whatever its sign, if not the effect.
    more
        Further columns by their headings.
    examples
        A line of text for each item.
    named
        What the first screen may name.
    """

    item: str
    texts: Sequence[str]
    rates: tuple[Floats, Floats]
    unit: str | Sequence[str]
    effect: Floats
    measure: str = "difference"
    by: Floats | None = None
    more: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    examples: Sequence[str] | None = None
    named: Named | None = None

    @classmethod
    def of_shares(
        cls,
        item: str,
        texts: Sequence[str],
        shares: Iterable[Floats],
        unit: str = "%",
        per: int = 100,
        **others: Any,
    ) -> Shifts:
        """Items by their shares of real and of generated text, (V,) both, told in percent or ``per`` so many.

        The effect is the difference, unless another one is given.

        Parameters
        ----------
        others
            Further attributes, by name.
        """
        a, b = shares
        return cls(item, texts, (per * a, per * b), unit, **{"effect": per * (b - a), **others})

    def table(self, name: str, title: str, most: int | None = None, note: str = "") -> Table:
        """The items with the largest effects, at most so many; those that neither text has are left out.

        >>> a, b = np.array([0.05, 0.0, 0.01]), np.array([0.04, 0.0, 0.03])
        >>> words = Shifts.of_shares("word", ["a", "so", "the"], (a, b), "per 1,000 words", 1000)
        >>> table = words.table("words", "Words that differ most")
        >>> table.columns
        ('word', 'real, per 1,000 words', 'generated, per 1,000 words', 'difference')
        >>> table.rows
        [('the', 10.0, 30.0, 20.0), ('a', 50.0, 40.0, -10.0)]
        """
        rank = np.abs(self.effect if self.by is None else self.by)
        present = np.any(self.rates, axis=0)
        order = [i for i in np.argsort(-rank, kind="stable").tolist() if present[i]][:most]
        # columns of V cells each, by heading
        columns: dict[str, Sequence[Cell]] = {self.item: self.texts}
        of = ""
        if isinstance(self.unit, str):
            of = f", {self.unit}"
        else:
            columns["unit"] = self.unit
        columns |= {f"{text}{of}": _rounded(x) for text, x in zip(("real", "generated"), self.rates, strict=True)}
        columns |= {self.measure: [float(f"{v:.4g}") for v in self.effect.tolist()], **self.more}
        if self.examples is not None:
            columns["for example"] = self.examples
        rows = [tuple(cells[i] for cells in columns.values()) for i in order]
        return Table(name, title, tuple(columns), rows, note, self._overuse(order))

    def _overuse(self, order: Sequence[int]) -> Overuse | None:
        """The items that may be named, in the order of the rows."""
        named = self.named
        if named is None:
            return None
        (real, generated), sizes = map(_rounded, self.rates), named.sizes.tolist()
        lines = self.examples or [""] * len(sizes)
        told = [i for i in order if named.which[i]][: named.most]
        items = tuple(Overused(self.texts[i], real[i], generated[i], lines[i], sizes[i]) for i in told)
        return Overuse(named.what, str(self.unit), items, named.of) if items else None


def _rounded(values: Floats) -> list[float]:
    """Numbers to hundredths."""
    return [round(v, 2) for v in values.tolist()]
