"""The table that critics have in common: items, how often each text has them, and the effect, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    exclusive
        See `momus.evidence.Overuse`.
    documents
        (V,) of each text: the share of documents that have each item, see `momus.evidence.Overused`.
    """

    what: str
    of: str
    which: Bools
    sizes: Floats
    most: int | None = None
    exclusive: bool = False
    documents: tuple[Floats, Floats] | None = None

    def having(self, i: int) -> tuple[float, float] | None:
        """The shares of documents that have an item, if they were counted."""
        return None if self.documents is None else (float(self.documents[0][i]), float(self.documents[1][i]))


def shift_table(
    name: str,
    title: str,
    item: str,
    texts: Sequence[str],
    shares: Iterable[Floats],
    unit: str | Sequence[str] = "%",
    per: int = 100,
    *,
    effect: Floats | None = None,
    measure: str = "difference",
    by: Floats | None = None,
    more: Mapping[str, Sequence[Cell]] | None = None,
    examples: Sequence[str] | None = None,
    named: Named | None = None,
    most: int | None = None,
    note: str = "",
) -> Table:
    """The items with the largest shifts between real and generated text; those that neither text has are left out.

    Parameters
    ----------
    name, title, note
        Of the table.
    item, texts
        Heading of the items, and what readers are shown of each of the V items.
    shares
        How often real and generated text have each item, (V,) both.
    unit, per
        What shares are told in, or one unit for each item, and what they are multiplied by.
    effect, measure
        (V,): the size of each shift, with its sign, and its heading; by default, the difference of what is told.
    by
        (V,): what the items are sorted by, whatever its sign, if not the effect.
    more
        Further columns by their headings.
    examples
        A line of text for each item.
    named
        What the first screen may name.
    most
        Rows at most.

    >>> a, b = np.array([0.05, 0.0, 0.01]), np.array([0.04, 0.0, 0.03])
    >>> table = shift_table("words", "Words", "word", ["a", "so", "the"], (a, b), "per 1,000 words", 1000)
    >>> table.columns
    ('word', 'real, per 1,000 words', 'generated, per 1,000 words', 'difference')
    >>> table.rows
    [('the', 10.0, 30.0, 20.0), ('a', 50.0, 40.0, -10.0)]
    """
    a, b = shares
    shift = per * (b - a) if effect is None else effect
    rank = np.abs(shift if by is None else by)
    order = [i for i in np.argsort(-rank, kind="stable").tolist() if a[i] or b[i]][:most]
    real, generated = ([round(v, 2) for v in (per * x).tolist()] for x in (a, b))
    # columns of V cells each, by heading
    of = f", {unit}" if isinstance(unit, str) else ""
    columns: dict[str, Sequence[Cell]] = {item: texts} if of else {item: texts, "unit": unit}
    columns |= {f"real{of}": real, f"generated{of}": generated}
    columns |= {measure: [float(f"{v:.4g}") for v in shift.tolist()], **(more or {})}
    if examples is not None:
        columns["for example"] = examples
    rows = [tuple(cells[i] for cells in columns.values()) for i in order]
    overuse = None
    if named is not None and (told := [i for i in order if named.which[i]][: named.most]):
        lines, sizes = examples or [""] * len(a), named.sizes.tolist()
        items = tuple(Overused(texts[i], real[i], generated[i], lines[i], sizes[i], named.having(i)) for i in told)
        overuse = Overuse(named.what, str(unit), items, named.of, named.exclusive)
    return Table(name, title, tuple(columns), rows, note, overuse)
