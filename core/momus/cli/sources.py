"""The texts that a command names: paths by name, one file split by a column, or the two texts of a file of pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from momus.arguments import arg
from momus.cli.options import Reading
from momus.errors import UsageError
from momus.parameters import exclude

if TYPE_CHECKING:
    from momus.reading import ReadingOptions, TextSource

PEOPLE = ("human", "people", "real")
"""Values of a column of writers, and names of texts, that mean people."""


@dataclass(frozen=True)
class Given:
    """The texts of a comparison, as `momus.compare` takes them, and how they are read."""

    real: TextSource | None
    generated: dict[str, TextSource]
    against: dict[str, TextSource] | None
    reading: ReadingOptions


@dataclass(frozen=True)
class NamedTexts:
    """The texts that a comparison names, as they are typed."""

    generated: Annotated[
        list[str] | None,
        typer.Option(
            "--generated",
            "-g",
            metavar="NAME=PATH",
            help="Generated text, with a name or by that of its file; can be repeated.",
        ),
    ] = None
    real: Annotated[
        str | None,
        typer.Option("--real", "-r", help="Real text to compare with, held out from --fit; or a value of --split-by."),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="NAME=PATH",
            help="Text of a model to compare with in place of --real; with --real too, say which is nearer to it.",
        ),
    ] = None
    split_by: Annotated[
        str | None,
        typer.Option(
            "--split-by",
            metavar="COLUMN",
            help="Take -g PATH apart into one text per value of this column; --against VALUE=PATH picks one of them.",
        ),
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs", metavar="PATH", help="Compare the two texts of one file of pairs, such as chosen and rejected."
        ),
    ] = None

    def resolved(self, reading: Reading) -> Given:
        """The texts, and how they are read.

        Raises
        ------
        UsageError
            Options exclude each other, or no text is named.
        """
        for other in ("generated", "against", "split_by"):
            exclude(pairs=self.pairs, **{other: getattr(self, other)})
        if self.pairs is not None:
            return _of_pairs(self.pairs, self.real, reading)
        if self.split_by is not None:
            return self._split(self.split_by, reading)
        paths = named_paths(self.generated or [])
        reference = named_paths([self.against], "--against") if self.against else None
        options = reading.options(["real", "fit", *(reference or {}), *paths])
        return Given(self.real, {**paths}, None if reference is None else {**reference}, options)

    def _split(self, column: str, reading: Reading) -> Given:
        """One text per value of a column of each file; ``--real`` may name one, and else people are the real text."""
        from momus.engine.large import split_texts

        options = reading.options(["real", "fit"])
        texts: dict[str, TextSource] = {}
        where: dict[str, str] = {}
        for path in self.generated or ():
            label, _, rest = path.partition("=")
            if rest and not os.path.lexists(path) and os.path.lexists(rest):
                raise UsageError(f"{label!r} names no text: {arg('split_by', column)} does", hint=f"give {rest} alone")
            parts, conditions = split_texts(path, column, options)
            where |= conditions
            taken = next((name for name in parts if name in texts), None)
            if taken is not None:
                raise UsageError(f"two files have texts of {taken!r}", hint="name one of the files")
            texts.update(parts)
        values = ", ".join(list(texts)[:9])
        reference = self._reference(texts, column)
        real: TextSource | None = self.real
        people = self.real if self.real in texts else None
        if real is None and reference is None:
            people = next((name for name in texts if name.lower() in PEOPLE), None)
            if people is None:
                raise UsageError(
                    f"the values of {column} are {values}: none is called human",
                    hint=f"name the text of people by {arg('real', next(iter(texts)))}, or that of a model to compare "
                    f"with by {arg('against', next(iter(texts)))}",
                )
        if people is not None:
            real = texts.pop(people)
            where |= {"real": where.pop(people)} if people in where else {}
        return Given(real, texts, reference, replace(options, where=where) if where else options)

    def _reference(self, texts: dict[str, TextSource], column: str) -> dict[str, TextSource] | None:
        """The text of ``--against``, taken from those of a column if it is one of them."""
        if self.against is None:
            return None
        name, separator, path = self.against.partition("=")
        chosen = next((n for n in (self.against, path, name) if n in texts), None)
        if chosen is not None:
            return {chosen: texts.pop(chosen)}
        if not separator:
            values = ", ".join(list(texts)[:9])
            raise UsageError(f"no text is called {self.against!r}", hint=f"the values of {column} are {values}")
        return {**named_paths([self.against], "--against")}


def _of_pairs(path: str, real: str | None, reading: Reading) -> Given:
    """The two texts of a file; people are the real text, and otherwise the first is the reference."""
    from momus.reading import sides_of

    options = reading.options([])
    first, second = sides_of(path, options)
    named = options.field if isinstance(options.field, dict) else {}
    options = replace(options, field={**named, "real" if first in PEOPLE else first: first, second: second})
    if first in PEOPLE and real is None:
        return Given(path, {second: path}, None, options)
    return Given(real, {second: path}, {first: path}, options)


def given_labels(fields: Sequence[str], files: Sequence[str], gold: Sequence[str] = ()) -> dict[str, str | None]:
    """Labels as `momus.compare` takes them: names of fields of the records, and files by name.

    Raises
    ------
    UsageError
        A label is named twice.

    >>> given_labels(["topic:set"], ["tone=tone.jsonl"])
    {'topic:set': None, 'tone': 'tone.jsonl'}
    >>> given_labels([], ["tone=tone.jsonl", "tone=other.jsonl"])
    {'tone': 'tone.jsonl', 'tone.second': 'other.jsonl'}
    """
    from momus.reading.labels import GOLD, SECOND, label_file, name_and_path

    pairs: list[tuple[str, str | None]] = [(name, None) for name in fields]
    for item in files:
        name, separator, path = item.partition("=")
        whole = not separator or os.path.lexists(item)
        of_file = [(field, item) for field in label_file(item).fields] if whole else [(name, path)]
        # the labels of a second labeller, where the name is there already
        known = {name.partition(":")[0] for name, path in pairs if path is not None}
        pairs += [(name + SECOND if name in known else name, path) for name, path in of_file]
    pairs += [(name + GOLD, path) for name, path in map(name_and_path, gold)]
    labels = dict(pairs)
    if len(labels) < len(pairs):
        raise UsageError("two labels have one name", hint="name each once; a file without NAME= takes all its fields")
    return labels


def named_paths(pairs: list[str], option: str = "--generated") -> dict[str, str]:
    """Parse the ``NAME=PATH`` pairs of an option; a path alone gets the name of its file, up to the first dot.

    Raises
    ------
    UsageError
        A pair has no name or no path, or two have the same name.

    >>> named_paths(["nucleus=a.jsonl", "beam=b.jsonl"])
    {'nucleus': 'a.jsonl', 'beam': 'b.jsonl'}
    """
    paths: dict[str, str] = {}
    for pair in pairs:
        name, separator, path = pair.partition("=")
        if os.path.lexists(pair):
            name, separator, path = os.path.basename(pair.rstrip(os.sep)).partition(".")[0], "=", pair
        name = name.strip()
        if not separator or not name or not path:
            raise UsageError(
                f"{option} {pair!r} is not of the form NAME=PATH",
                hint=f"give each text a name, e.g. {option} gpt2=out.jsonl",
            )
        if name in paths:
            raise UsageError(f"{option}: two corpora are called {name!r}", hint="give each a different name")
        paths[name] = path
    return paths
