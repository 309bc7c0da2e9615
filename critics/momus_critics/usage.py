"""Tables of what one text uses more than the other, by log-odds, each row with an example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.evidence import Cell, Overuse, Overused, Table
from momus.numeric.types import Floats
from momus_critics.keyness.testing import log_odds, share_gaps
from momus_critics.prose.examples import Exampled

LEAST = 5
"""Occurrences in both texts together that something needs to be listed."""


@dataclass(frozen=True)
class Usage:
    """Numbers of V things in two texts.

    Attributes
    ----------
    kind, title, item
        Of the tables: the name is ``kind`` and how it is used, ``title`` what all rows are, ``item`` what one row is.
    unit
        What the first column counts: shares are per 1,000 of these.
    names, keys
        What readers are shown of each thing, and what its examples are found by, (V,).
    real, generated
        (1 + V,): the number of units of a text, then of each thing.
    """

    kind: str
    title: str
    item: str
    unit: str
    names: Sequence[str]
    keys: Sequence[str]
    real: Floats
    generated: Floats

    def table(
        self, real: Exampled, generated: Exampled, over: bool, shown: int, named: str = ""
    ) -> tuple[Table, list[str]]:
        """What generated text uses more, or less, and the keys of the rows; ``named`` on the first screen."""
        delta, z = log_odds(self.real, self.generated)
        sizes = np.abs(share_gaps(self.real, self.generated))
        sign, source, word = (1.0, generated, "over") if over else (-1.0, real, "under")
        order = [i for i in np.argsort(-sign * z, kind="stable").tolist() if sign * z[i] > 0][:shown]
        rows: list[tuple[Cell, ...]] = []
        uses = []
        for i in order:
            rates = [round(1000 * float(x[i + 1] / x[0]), 2) for x in (self.real, self.generated)]
            example = next(iter(source.texts(self.keys[i])), "")
            rows.append((self.names[i], *rates, round(float(delta[i]), 2), round(float(z[i]), 1), example))
            uses.append(Overused(self.names[i], rates[0], rates[1], example, float(sizes[i])))
        per = f"per 1,000 {self.unit}"
        table = Table(
            f"{self.kind}-{word}-used",
            f"{self.title} that generated text {word}-uses",
            (self.item, f"real, {per}", f"generated, {per}", "log-odds", "z", "for example"),
            rows,
            note="Log-odds and z with an informative prior (Monroe et al. 2008); occurrences in one document depend on "
            "each other, so z orders the rows and is no test.",
            overuse=Overuse(named, per, tuple(uses), of="largest_gap") if over and named and uses else None,
        )
        return table, [self.keys[i] for i in order]
