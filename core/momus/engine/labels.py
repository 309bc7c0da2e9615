"""Labels that a run is asked to compare: each becomes a critic without code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from momus.critic.registry import make_critics
from momus.engine.chosen import Chosen
from momus.errors import UsageError
from momus.files import file_digest
from momus.reading import ReadingOptions
from momus.reading.labels import GOLD, label_file

PREFIX = "label-"
"""How the names of critics of labels begin."""
Labels = str | os.PathLike[str] | Sequence[str] | Mapping[str, str | os.PathLike[str] | None] | None
"""A file of labels, fields of the records, or files and fields (None) by name; a type may follow a name."""


@dataclass(frozen=True)
class Label:
    """One label of each document.

    Attributes
    ----------
    name
        Of the label; that of its critic begins with `PREFIX`.
    kind
        Type that the user names; empty: as the values tell.
    path
        The file of the labels; empty: the records hold them.
    gold
        The file of true labels of some documents; empty: there is none.

    >>> Label("tone").critic
    'label-tone'
    """

    name: str
    kind: str = ""
    path: str = ""
    gold: str = ""

    @property
    def critic(self) -> str:
        """Name of its critic."""
        return f"{PREFIX}{self.name}"


def labels_of(labels: Labels) -> tuple[Label, ...]:
    """Labels as `momus.compare` takes them.

    Raises
    ------
    UsageError
        They are of another kind, or two have one name.
    ReadingError
        A file cannot be read.

    >>> labels_of(["tone", "score:number"])
    (Label(name='tone', kind='', path='', gold=''), Label(name='score', kind='number', path='', gold=''))
    >>> labels_of({"tone": "judge.jsonl", "topic": None, "tone.gold": "people.jsonl"})[0]
    Label(name='tone', kind='', path='judge.jsonl', gold='people.jsonl')
    """
    entries = tuple(_labels(labels))
    gold = {label.name.removesuffix(GOLD): label.path for label in entries if label.path and label.name.endswith(GOLD)}
    entries = tuple(replace(e, gold=gold.pop(e.name, "")) for e in entries if not (e.path and e.name.endswith(GOLD)))
    if gold:
        raise UsageError(f"true labels are of {next(iter(gold))!r:.60}, which is no label", hint="name the label, too")
    names = [label.name for label in entries]
    for name in names:
        if not name or names.count(name) > 1:
            what = "a label has no name" if not name else f"two labels are called {name!r:.60}"
            raise UsageError(what, hint="name each once, such as tone, tone:sequence or tone=tone.jsonl")
    return entries


def _labels(labels: Labels) -> Iterator[Label]:
    if labels is None:
        return
    if isinstance(labels, str | os.PathLike):
        file = label_file(labels)
        yield from (Label(name, path=file.path) for name in file.fields)
        return
    items = labels.items() if isinstance(labels, Mapping) else ((name, None) for name in labels)
    for name, path in items:
        if not isinstance(name, str) or not isinstance(path, str | os.PathLike | None):
            raise UsageError(
                f"labels hold {name!r:.60}, expected names of fields, or files by name",
                hint='labels=["tone"], labels={"tone": "tone.jsonl"} or labels="labels.jsonl"',
            )
        field, _, kind = name.partition(":")
        yield Label(field, kind, "" if path is None else os.fspath(path))


def reading_labels(reading: ReadingOptions, labels: Sequence[Label]) -> ReadingOptions:
    """How to read texts with the labels that files hold; parts that were scored with others are scored again."""
    held = [label for label in labels if label.path]
    for label in held:
        label_file(label.path).field(label.name)  # what is wrong with a file is told before texts are read
    pairs = [(label.name, label.path) for label in held]
    # after the labels that they correct
    pairs += [(label.name + GOLD, label.gold) for label in labels if label.gold]
    files = tuple(f"{name}={path}" for name, path in pairs)
    digests = tuple(file_digest(Path(path)) for _, path in pairs)
    return replace(reading, labels=files, label_digests=digests) if files else reading


def with_labels(selection: Chosen, labels: Sequence[Label], config: Mapping[str, dict[str, Any]]) -> Chosen:
    """The critics of a run after those of its labels, which must run: what is wrong with a label is told at once."""
    present = {critic.name for critic in selection.critics}
    wanted = [label for label in labels if label.critic not in present]
    typed: dict[str, dict[str, Any]] = {
        label.critic: {"kind": label.kind, "gold": bool(label.gold)} for label in labels if label.kind or label.gold
    }
    tables = {label.critic: {**config.get(label.critic, {}), **typed.get(label.critic, {})} for label in wanted}
    critics = [*make_critics([label.critic for label in wanted], tables), *selection.critics]
    return replace(selection, critics=critics, asked=frozenset(label.critic for label in labels))
