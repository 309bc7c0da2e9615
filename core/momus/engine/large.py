"""What is given to a comparison whose texts are not held in memory: files, or rows that were scored before."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.effects import is_trusted
from momus.critic.hooks import row_unit
from momus.critic.registry import load_critic
from momus.critic.source import source_change, source_digest
from momus.engine.chosen import Chosen
from momus.engine.request import Request
from momus.engine.reuse import names_of
from momus.errors import MomusError, StoreError, UsageError
from momus.limits import size_text
from momus.ownership import kind_of
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.reading.parts import InputFile, list_inputs, read_first
from momus.reading.paths import Where
from momus.reading.reader import by_value
from momus.rows.folder import RowFolder
from momus.rows.plan import PART_BYTES, Plan, pieces_of
from momus.rows.store import StoredText
from momus.runs.manifest import ROWS
from momus.runs.texts import Texts
from momus.text.corpus import Corpus

LARGE = 32 << 20
"""Bytes of all texts together above which they are scored part by part instead of being held in memory."""
PACKED = 4
"""Compressed files are taken to have so many times their size."""
WHOLE = 256 << 20
"""Bytes of all texts together up to which critics that must see a text as a whole run although nobody named them."""
PREVIEW = 1_000
"""Documents that options are checked on before anything is scored."""


def row_folder(source: object) -> Path | None:
    """The folder of rows that a text is given as: what ``momus score`` wrote, or the real text of a run; else None.

    Raises
    ------
    UsageError
        It is a run without rows, or another folder of Momus.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    path = Path(source)
    # of a run folder, the real text: it is what later comparisons share
    rows = next((p for p in (path, path / ROWS / "real") if RowFolder(p).holds_rows()), None)
    kind = None if rows is not None else kind_of(path)
    if kind is not None:
        raise UsageError(
            f"{path}: a folder of Momus ({kind.name}) without rows of scores, not a text",
            hint="give a text, or the folder of rows that `momus score … -o ROWS` wrote",
        )
    return rows


def scored_by_parts(critic: Critic[Any]) -> bool:
    """Whether a critic scores documents one by one, so that it need not see a text as a whole."""
    return row_unit(critic) == "document"


@dataclass(frozen=True)
class LargeTexts:
    """The texts of a comparison as files, or as rows that were scored before.

    Attributes
    ----------
    files
        By name, the files of each text that is to be scored.
    rows
        By name, the folder of rows of each text that was scored before.
    """

    files: Mapping[str, Sequence[InputFile]]
    rows: Mapping[str, Path]

    @property
    def size(self) -> int:
        """Bytes of the files, those of compressed ones as they may be unpacked."""
        return sum(size_of(f) for listed in self.files.values() for f in listed)


def size_of(file: InputFile) -> int:
    """Bytes of a file, or what they may be when it is unpacked."""
    return file.size * (PACKED if file.kind.startswith("packed ") or file.kind == "parquet" else 1)


def large_texts(real: TextSource, generated: Mapping[str, TextSource], reading: ReadingOptions) -> LargeTexts | None:
    """The texts, if they are scored in parts: one is given as rows, or all are files of `LARGE` bytes together."""
    sources = {"real": real, **generated}
    rows = {name: folder for name, s in sources.items() if (folder := row_folder(s)) is not None}
    paths = {n: os.fspath(s) for n, s in sources.items() if n not in rows and isinstance(s, str | os.PathLike)}
    if len(rows) + len(paths) < len(sources):  # some text is in memory
        held = next(name for name in sources if name not in rows and name not in paths)
        if rows:
            raise UsageError(
                f"{held!r} is a text in memory, and others are rows that were scored before",
                hint="write it to a file, and give its path",
            )
        return None
    try:
        files = {name: list_inputs([str(path)], reading.named(name))[0] for name, path in paths.items()}
    except MomusError:
        if rows:
            raise
        return None  # a stream, an address, a log: read whole; what is wrong with it is said there
    texts = LargeTexts(files, rows)
    # rows are read in parts however small they are
    return texts if rows or texts.size > LARGE else None


def split_texts(path: str, column: str, reading: ReadingOptions) -> tuple[dict[str, TextSource], dict[str, str]]:
    """One text for each value of a column of a file, and where it is read from the file, the conditions of each.

    A large file is not held in memory: it is read again for each text, without the records of the others.

    Raises
    ------
    UsageError
        Documents lack the column.
    """
    files: list[InputFile] = []
    with suppress(MomusError):  # of what cannot be read in parts
        files, _ = list_inputs([path], reading)
    keeping = replace(reading, keep=(*reading.keep, column))
    if reading.where is None and sum(map(size_of, files)) > LARGE:
        values: dict[str | None, None] = {}
        for piece in pieces_of(files, reading, PREVIEW):
            values.update(dict.fromkeys(piece.read(keeping).field(column)))
        conditions = {value: f"{column}={value}" for value in values if value is not None}
        if None not in values and all(Where(text).equals == (column, value) for value, text in conditions.items()):
            return dict.fromkeys(conditions, path), conditions
    return dict(by_value(as_corpus(path, reading=keeping), column)), {}


def whole_note(large: LargeTexts) -> str:
    """What to say of large texts of models, which are read whole: critics are fitted on them again and again.

    Raises
    ------
    UsageError
        A text is given as rows.
    """
    if large.rows:
        raise UsageError(
            f"{large.rows[min(large.rows)]}: rows were scored by critics that were fitted before, and with "
            f"{arg('against')} critics are fitted on folds of the texts themselves",
            hint="give the texts",
        )
    return (
        f"{size_text(large.size)} of text are read whole with {arg('against')}, not in parts: time and memory grow "
        "with them. A few hundred prompts tell most versions apart; leave the others out if this takes too long."
    )


def preview(request: Request, texts: LargeTexts) -> Texts:
    """The first documents of each text, which options are checked on."""
    corpora: list[Corpus] = []
    for name in request.sources:
        # ids and fields are in the rows; the texts' files may be gone
        if name in texts.rows:
            few = StoredText(texts.rows[name], name).corpus
            corpora.append(few.subset(np.arange(min(PREVIEW, len(few)))))
        else:
            corpora.append(read_first(texts.files[name][0], PREVIEW, PART_BYTES, request.reading.named(name)))
        corpora[-1].name = name
    real, *generated = corpora
    return Texts(real, real, generated, False, [])


def without_costly(selection: Chosen, texts: LargeTexts) -> Chosen:
    """The critics without those that read each text as a whole, if the texts are too large for that."""
    whole = [c.name for c in selection.critics if not scored_by_parts(c)]
    if not whole or texts.size <= WHOLE:
        return selection
    warning = (
        f"{', '.join(whole)} were left out: they read each text as a whole, and the texts have {texts.size >> 20:,} MB "
        f"(name them in {arg('critics')} to run them all the same)."
    )
    critics = [c for c in selection.critics if scored_by_parts(c)]
    return replace(selection, critics=critics, warnings=[*selection.warnings, warning])


def critics_of_rows(request: Request, texts: LargeTexts) -> Chosen:
    """The fitted critics that scored the texts before.

    Raises
    ------
    UsageError
        A critic is named that did not score them, or they were to be fitted on another text or with other parameters.
    StoreError
        Texts were scored by different critics or versions.
    """
    if request.fit is not None or request.config:
        raise UsageError(
            f"{arg('config' if request.fit is None else 'fit')} is for critics that are fitted now, and rows were "
            "scored by critics that were fitted before",
            hint="leave it out, or compare the texts instead of their rows",
        )
    if any(not isinstance(c, str) for c in request.critics or ()):
        raise UsageError("rows were scored by critics that were fitted before", hint="name some of these, or none")
    folder, *others = (RowFolder(path) for path in texts.rows.values())
    plan = Plan.read(folder.manifest)
    names = list(plan.critics) if request.critics is None else list(dict.fromkeys(map(str, request.critics)))
    unknown = [name for name in names if name not in plan.critics]
    if unknown:
        raise UsageError(
            f"{folder.path} has no scores of {', '.join(unknown)}", hint=f"it has those of {', '.join(plan.critics)}"
        )
    for other in others:
        _check_alike(names, (folder.path, plan), (other.path, Plan.read(other.manifest)))
    paths = [folder.critic(name) for name in names]
    chosen = Chosen([load_critic(path, trust=is_trusted(path, request.trust)) for path in paths])
    changed: dict[str, list[str]] = {}
    for c in chosen.critics:
        if why := source_change(plan.sources.get(c.name), source_digest(c)):
            changed.setdefault(why, []).append(c.name)
    chosen.warnings = [
        f"Critic{'' if len(alike) == 1 else 's'} {names_of(alike)} scored the rows of {folder.path} before, and "
        f"{why if len(alike) == 1 else f'of each, {why}'}: score the texts again to compare them by the present code."
        for why, alike in changed.items()
    ]
    return chosen


def _check_alike(critics: Sequence[str], one: tuple[Path, Plan], other: tuple[Path, Plan]) -> None:
    (path, plan), (second, its) = one, other
    for name in critics:
        # digests of the fitted state: the same critic fitted twice gives scores that do not compare
        if plan.critics[name] != its.critics.get(name):
            what = "has no scores of" if name not in its.critics else "was scored by another fitted"
            raise StoreError(
                f"{second} {what} {name!r}, unlike {path}",
                hint=f"score both with one: momus score {path / 'critics' / name} … -o ROWS",
            )
        if plan.sources.get(name) != its.sources.get(name):
            raise StoreError(
                f"{second} was scored by other code of {name!r} than {path}", hint="score both texts again"
            )
    versions = plan.versions.get("momus"), its.versions.get("momus")
    # fits and code agree, but what they call (tokenizers, sums) may have changed between versions
    if versions[0] != versions[1]:
        raise StoreError(
            f"{second} was scored by version {versions[1]} of Momus, and {path} by {versions[0]}",
            hint="score both by one version",
        )
