"""A table of a paper, computed on other texts: the printed figures and the measured ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from processes import pitman_yor, shuffle_corpus, simon

from momus.comparison import Comparison, compare
from momus.demo import demo_path
from momus.errors import UsageError
from momus.runs.texts import read_texts
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer
from momus.verdicts.verdict import Verdict
from papers.table import Column, PaperTable

if TYPE_CHECKING:
    from momus.progress import Reporter
    from momus.reading import ReadingOptions


@dataclass(frozen=True)
class Cell:
    """A measured figure.

    Attributes
    ----------
    value
        The statistic of the text; of the real text in a column of a distance, what chance alone gives. None where it
        does not exist.
    difference, low, high
        generated − real and its interval; of a distance, the excess over chance, and the interval of the distance.
    distance
        Whether the statistic is a distance between texts.
    n
        Documents of this text in the test (groups, for laws of running text).
    """

    value: float | None
    difference: float | None
    low: float | None
    high: float | None
    distance: bool
    n: int


@dataclass(frozen=True)
class MeasuredRow:
    """A text, and a cell per column; None where the critic left no figure."""

    name: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Reproduction:
    """A table of a paper beside what was measured on other texts.

    Attributes
    ----------
    columns
        Columns that were measured.
    left_out
        Critics of the table that were not asked for.
    changed
        Parameters that differ from the paper's, as (critic, parameter, paper's value, value here).
    shipped
        Whether the texts are those that ship with Momus.
    """

    table: PaperTable
    columns: tuple[Column, ...]
    rows: tuple[MeasuredRow, ...]
    left_out: tuple[str, ...]
    changed: tuple[tuple[str, str, Any, Any], ...]
    shipped: bool
    comparison: Comparison


def reproduce(
    table: PaperTable,
    real: str | Path | None = None,
    generated: Mapping[str, str | Path] | None = None,
    fit: str | Path | None = None,
    *,
    critics: Sequence[str] | None = None,
    config: Mapping[str, Mapping[str, Any]] | None = None,
    exact: bool = False,
    alternative: str | None = None,
    seed: int = 0,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> Reproduction:
    """Compute a table of a paper with the paper's parameters.

    Parameters
    ----------
    real, generated, fit
        The texts; without any, those that ship with Momus.
    critics
        Critics of the table to run; default: all.
    config
        Parameters by critic that replace those of the paper.
    exact
        Keep the paper's parameters where the registry replaces them by some that work offline.
    alternative
        Name of another reading of the paper that the table has, see `PaperTable`.
    options
        Further options of `momus.compare`, such as ``out`` or ``device``.

    Raises
    ------
    UsageError
        The table is not run by one command, it lacks texts, or it has no such alternative.
    MomusError
        What `compare` raises.
    """
    chosen = _chosen_critics(table, critics)
    shipped = real is None
    if real is None:
        real, generated, fit = _shipped(table, generated, fit)
    if not generated and not table.references:
        raise UsageError(f"{table.id} compares generated text", hint="name it: --generated NAME=PATH")
    parameters, changed = _parameters(table, table.parameters(alternative), chosen, config or {}, exact, shipped)
    options |= {"critics": chosen, "config": parameters, "seed": seed, "reporter": reporter}
    if table.references:
        # references are made of the held-out real text, so the texts are read and split here and not by `compare`
        texts = read_texts(real, dict(generated or {}), fit, seed, reading, reporter)
        others = {c.name: c for c in texts.generated}
        others |= reference_texts([n for n in table.references if n not in others], texts.real, seed)
        comparison = compare(texts.real, others, fit=texts.fit, **options)
        comparison.warnings[:0] = [w for w in texts.warnings if w not in comparison.warnings]
        names = list(others)
    else:
        comparison = compare(real, dict(generated or {}), fit=fit, reading=reading, **options)
        names = list(generated or {})
    columns = tuple(c for c in table.columns if c.critic in chosen)
    rows = _measured(columns, comparison.verdicts, names)
    left_out = tuple(c for c in table.critics if c not in chosen)
    return Reproduction(table, columns, rows, left_out, changed, shipped, comparison)


def _chosen_critics(table: PaperTable, critics: Sequence[str] | None) -> list[str]:
    """The critics to run, in the order of the columns."""
    if not table.columns:
        raise UsageError(f"{table.id} is not run by one command", hint=table.instead)
    if critics is None:
        return table.critics
    foreign = [c for c in critics if c not in table.critics]
    if foreign or not critics:
        hint = f"it has {', '.join(table.critics)}"
        raise UsageError(f"{table.id} has no critic {', '.join(map(repr, foreign)) or 'without a name'}", hint=hint)
    return [c for c in table.critics if c in critics]


def _shipped(
    table: PaperTable, generated: Mapping[str, str | Path] | None, fit: str | Path | None
) -> tuple[Path, dict[str, Path], Path | None]:
    """Paths of the texts that ship with Momus: real, generated, fit."""
    if generated or fit is not None:
        raise UsageError("--generated and --fit need the real text, too", hint="name it with --real")
    if table.texts is None:
        raise UsageError(
            f"no text for {table.id} ships with Momus: it needs {table.needs}",
            hint="name yours with --real and --generated NAME=PATH",
        )
    found = table.texts
    fitted = None if found.fit is None else demo_path(found.fit)
    return demo_path(found.real), {name: demo_path(f) for name, f in found.generated.items()}, fitted


def _parameters(
    table: PaperTable,
    paper: Mapping[str, Mapping[str, Any]],
    critics: Sequence[str],
    config: Mapping[str, Mapping[str, Any]],
    exact: bool,
    shipped: bool,
) -> tuple[dict[str, dict[str, Any]], tuple[tuple[str, str, Any, Any], ...]]:
    """The parameters by critic, and those that are not the paper's."""
    foreign = [c for c in config if c not in critics]
    if foreign:
        raise UsageError(
            f"--config has parameters of {', '.join(map(repr, foreign))}, which {table.id} does not run",
            hint=f"leave them out; it runs {', '.join(critics)}",
        )
    replaced = [{} if exact else table.substitutes, table.shipped_parameters if shipped else {}, config]
    used = {c: dict(paper.get(c, {})) for c in critics}
    for layer in replaced:
        for critic, values in layer.items():
            if critic in used:
                used[critic] |= values
    changed = tuple(
        (critic, name, paper.get(critic, {}).get(name), value)
        for critic, values in used.items()
        for name, value in values.items()
        if name not in paper.get(critic, {}) or paper[critic][name] != value
    )
    return used, changed


def _measured(columns: Sequence[Column], verdicts: Sequence[Verdict], names: Sequence[str]) -> tuple[MeasuredRow, ...]:
    """One row for the real text, then one per generated text."""
    found = {(v.critic, v.statistic, v.generated): v for v in verdicts}

    def verdict(column: Column, name: str) -> Verdict | None:
        return found.get((column.critic, column.statistic, name))

    rows = [MeasuredRow(n, tuple(_cell(verdict(c, n), n) for c in columns)) for n in names]
    # where prompts pair documents, the real text's values differ a little between the tests of generated texts
    firsts = (next((v for n in names if (v := verdict(c, n)) is not None), None) for c in columns)
    return (MeasuredRow("real", tuple(_cell(v, None) for v in firsts)), *rows)


def _cell(verdict: Verdict | None, generated: str | None) -> Cell | None:
    """The figure of a generated text, or of the real text if ``generated`` is None."""
    if verdict is None:
        return None
    distance = verdict.effect_kind == "distance"
    if generated is None:
        return Cell(verdict.real_value, None, None, None, distance, verdict.n_real)
    return Cell(verdict.generated_value, verdict.difference, verdict.low, verdict.high, distance, verdict.n_generated)


def as_json(found: Reproduction) -> dict[str, Any]:
    """The reproduction as a dict that JSON can hold: the paper's rows and the measured ones, column by column."""
    table = found.table
    headings = [c.heading for c in found.columns]
    kept = [i for i, c in enumerate(table.columns) if c in found.columns]
    return {
        "id": table.id,
        "paper": table.paper.citation,
        "place": table.place,
        "title": table.title,
        "found": table.found,
        "note": table.note,
        "columns": [asdict(c) for c in found.columns],
        "printed": [
            {"name": name, "figures": {h: figures[i] for h, i in zip(headings, kept, strict=True) if figures[i]}}
            for name, figures in table.rows
        ],
        "measured": [
            {"name": r.name, "figures": {h: c and asdict(c) for h, c in zip(headings, r.cells, strict=True)}}
            for r in found.rows
        ],
        "left_out": list(found.left_out),
        "changed": [
            {"critic": critic, "parameter": name, "paper": paper, "here": here}
            for critic, name, paper, here in found.changed
        ],
        "shipped_texts": found.shipped,
        "warnings": list(found.comparison.warnings),
        "signature": found.comparison.signature,
    }


SIMON_NEW = 0.1
"""Probability of a new word in the Simon process."""
DISCOUNT, STRENGTH = 0.8, 1.0
"""Parameters of the Pitman–Yor process: types grow with the power ``DISCOUNT`` of the tokens."""


def reference_texts(names: Sequence[str], real: Corpus, seed: int) -> dict[str, Corpus]:
    """Make reference texts by name, each with documents as long as those of the real text in words.

    >>> real = Corpus.from_texts(["a b c d", "e f"])
    >>> {name: [len(d.text.split()) for d in c] for name, c in reference_texts(["Simon process"], real, 0).items()}
    {'Simon process': [4, 2]}
    """
    return {name: _reference(name, real, seed) for name in names}


def _reference(name: str, real: Corpus, seed: int) -> Corpus:
    words = get_tokenizer("whitespace", lower=False)
    if name.endswith("-gram shuffle"):
        return shuffle_corpus(real, words, int(name.split("-")[0]), seed)
    # offsets[i]:offsets[i + 1] are the tokens of document i, shape (documents + 1,)
    offsets = real.tokens(words).offsets
    n = int(offsets[-1])
    ids = simon(n, SIMON_NEW, seed) if name == "Simon process" else pitman_yor(n, DISCOUNT, STRENGTH, seed)
    texts = [" ".join(f"w{i}" for i in ids[a:b]) for a, b in itertools.pairwise(offsets)]
    return Corpus.from_texts(texts, name=name)
