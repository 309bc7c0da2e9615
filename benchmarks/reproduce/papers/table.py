"""The tables of the source papers, read from ``tables.toml``: what each printed, and what computes it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from momus.errors import UsageError

FOLDER = Path(__file__).parent
Printed = str
"""A figure as a paper printed it, such as ``4.80``; a word such as ``No``; empty where it printed nothing."""


@dataclass(frozen=True)
class Paper:
    """A source paper.

    Attributes
    ----------
    sample
        What the paper measured; completes the sentence "The paper measured …".
    """

    citation: str
    sample: str


@dataclass(frozen=True)
class ShippedTexts:
    """Texts that ship with Momus, as names of files of `momus.demo`; without ``fit``, half of ``real`` is fitted on."""

    real: str
    description: str
    fit: str | None = None
    generated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column of a table: the statistic of a critic, or its difference from real text."""

    heading: str
    critic: str
    statistic: str
    shows: Literal["value", "difference"]


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper.

    Attributes
    ----------
    found
        What the paper found, one sentence.
    needs
        What text (or other data) it needs.
    columns, rows
        The layout: statistics, and the printed figures, a name and one figure per column. No columns: not run by
        one command, and ``instead`` says what to do.
    settings
        Name of the file of the paper's parameters.
    references
        Texts made of the real text that the table has, too.
    substitutes
        Parameters by critic that replace those of the paper, because it used what cannot be had offline.
    alternatives
        By name, parameters by critic of another reading of the paper, such as what the authors' code does.
    texts, shipped_parameters
        The texts to run on where none are given, and parameters by critic for texts so small.
    note
        How a reader compares the printed figures with the measured ones.
    seconds
        CPU time on ``texts``, as measured once; None where it was not measured.
    """

    id: str
    paper: Paper
    place: str
    title: str
    found: str
    needs: str
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str, tuple[Printed, ...]], ...] = ()
    settings: str | None = None
    instead: str = ""
    note: str = ""
    references: tuple[str, ...] = ()
    substitutes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    alternatives: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    texts: ShippedTexts | None = None
    shipped_parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seconds: int | None = None

    @property
    def critics(self) -> list[str]:
        """Critics of the columns, each once."""
        return list(dict.fromkeys(c.critic for c in self.columns))

    def settings_text(self) -> str:
        """The paper's parameters, as TOML for ``--config``.

        Raises
        ------
        UsageError
            The table has no settings.
        """
        if self.settings is None:
            raise UsageError(f"{self.id} has no settings of critics", hint=self.instead)
        return (FOLDER / "settings" / f"{self.settings}.toml").read_text(encoding="utf-8")

    def parameters(self, alternative: str | None = None) -> dict[str, dict[str, Any]]:
        """The paper's parameters of the critics of the columns, or those of an alternative.

        Raises
        ------
        UsageError
            The table has no such alternative.

        >>> find_table("deng-6").parameters("absolute")["coreference"]["discounting"]
        'absolute'
        """
        if alternative is not None and alternative not in self.alternatives:
            hint = f"choose one of {', '.join(self.alternatives)}" if self.alternatives else "leave it out"
            raise UsageError(f"{self.id} has no alternative {alternative!r}", hint=hint)
        other = self.alternatives.get(alternative or "", {})
        settings = tomllib.loads(self.settings_text())
        return {k: {**v, **other.get(k, {})} for k, v in settings.items() if k in self.critics}


@cache
def paper_tables() -> dict[str, PaperTable]:
    """All tables by id, in the order of the file.

    >>> table = paper_tables()["meister-2"]
    >>> table.place, table.columns[2].statistic, table.rows[0]
    ('Table 2 and Figure 6', 'ks', ('Transformer, ancestral', ('0.150', '0.150', '0.0037', '0.0069')))
    """
    source = (FOLDER / "tables.toml").read_text(encoding="utf-8")
    content = tomllib.loads(source, parse_float=str)  # 4.80 stays 4.80
    papers = {key: Paper(**p) for key, p in content["papers"].items()}
    texts = {key: ShippedTexts(**t) for key, t in content["texts"].items()}
    return {row["id"]: _table(row, papers, texts) for row in content["table"]}


def _table(row: dict[str, Any], papers: Mapping[str, Paper], texts: Mapping[str, ShippedTexts]) -> PaperTable:
    row = dict(row)
    return PaperTable(
        paper=papers[row.pop("paper")],
        columns=tuple(Column(*c) for c in row.pop("columns", ())),
        rows=tuple((name, tuple(figures)) for name, *figures in row.pop("rows", ())),
        references=tuple(row.pop("references", ())),
        texts=texts[row.pop("texts")] if "texts" in row else None,
        **row,
    )


def find_table(name: str) -> PaperTable:
    """Look a table up by its id.

    Raises
    ------
    UsageError
        There is none.

    >>> find_table("takahashi-2").critics
    ['heaps', 'ebeling', 'taylor', 'long-range']
    """
    import difflib

    tables = paper_tables()
    if name not in tables:
        near = difflib.get_close_matches(name, tables, n=3)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else "`python benchmarks/reproduce/paper_table.py` lists them"
        )
        raise UsageError(f"no table is called {name!r}", hint=hint)
    return tables[name]
