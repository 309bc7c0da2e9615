"""What a comparison is asked to do, checked before anything is read; labels become critics without code.

Documents that are broken can be set aside: the comparison then speaks of the others alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.hooks import with_needs
from momus.critic.registry import FAMILY, make_critics
from momus.critic.rows import Rows
from momus.engine.chosen import Chosen
from momus.errors import UsageError
from momus.estimator import clone
from momus.files import file_digest
from momus.joint.better import NEARER, Preference
from momus.numeric.types import Bools
from momus.ownership import check_place
from momus.parameters import exclude, need
from momus.progress import Reporter
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.reading.labels import GOLD, SECOND, label_file
from momus.runs.text_checks import check_named
from momus.text.counting import counted
from momus.verdicts.band import check_register
from momus.verdicts.settings import Settings, with_options

Labels = str | os.PathLike[str] | Sequence[str] | Mapping[str, str | os.PathLike[str] | None] | None
"""A file of labels, fields of the records, or files and fields (None) by name; a type may follow a name."""


@dataclass(frozen=True)
class Label:
    """One label of each document.

    Attributes
    ----------
    name
        Of the label; that of its critic begins with `momus.critic.registry.FAMILY`.
    kind
        Type that the user names; empty: as the values tell.
    path
        The file of the labels; empty: the records hold them.
    gold
        The file of true labels of some documents; empty: there is none.
    second
        The file of a second labeller; empty: there is none.

    >>> Label("tone").critic
    'label-tone'
    """

    name: str
    kind: str = ""
    path: str = ""
    gold: str = ""
    second: str = ""

    @property
    def critic(self) -> str:
        """Name of its critic."""
        return f"{FAMILY}{self.name}"


def labels_of(labels: Labels) -> tuple[Label, ...]:
    """Labels as `momus.compare` takes them.

    Raises
    ------
    UsageError
        They are of another kind, or two have one name.
    ReadingError
        A file cannot be read.

    >>> labels_of(["score:number"])
    (Label(name='score', kind='number', path='', gold='', second=''),)
    >>> labels_of({"tone": "judge.jsonl", "tone.second": "other.jsonl", "tone.gold": "people.jsonl"})
    (Label(name='tone', kind='', path='judge.jsonl', gold='people.jsonl', second='other.jsonl'),)
    """
    entries = tuple(_labels(labels))
    beside = {e.name: e.path for e in entries if e.path and e.name.endswith((GOLD, SECOND))}
    entries = tuple(e for e in entries if e.name not in beside)
    entries = tuple(
        replace(e, gold=beside.pop(e.name + GOLD, ""), second=beside.pop(e.name + SECOND, "")) for e in entries
    )
    if beside:
        of = next(iter(beside))
        raise UsageError(f"labels of {of!r:.60} belong to no label", hint="name the label, too")
    names = [label.name for label in entries]
    for name in names:
        if not name or names.count(name) > 1:
            what = "a label has no name" if not name else f"two labels are called {name!r:.60}"
            raise UsageError(what, hint="name each once, such as tone, tone:sequence or tone=tone.jsonl")
    return entries


def _with_better(labels: tuple[Label, ...], preferences: Sequence[Preference]) -> tuple[Label, ...]:
    """Labels, and the fields of which it is said what is better."""
    names = [p.critic.removeprefix(FAMILY) for p in preferences if p.critic.startswith(FAMILY)]
    known = {label.name for label in labels}
    return (*labels, *(Label(name) for name in dict.fromkeys(names) if name not in known))


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
    for label in held:  # what is wrong with a file is told before texts are read
        label_file(label.path).field(label.name)
        if label.second:
            label_file(label.second).field(label.name + SECOND)
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
    typed = {e.critic: {k: v for k, v in (("kind", e.kind), ("gold", bool(e.gold))) if v} for e in labels}
    tables = {label.critic: {**config.get(label.critic, {}), **typed[label.critic]} for label in wanted}
    # a label that is chosen by name too keeps the type and the true labels that it was given
    chosen = [clone(c).set_params(**typed[c.name]) if typed.get(c.name) else c for c in selection.critics]
    critics = [*make_critics([label.critic for label in wanted], tables), *chosen]
    return replace(selection, critics=critics, asked=frozenset(label.critic for label in labels))


Critics = Sequence["str | Critic[Any]"] | None


@dataclass(frozen=True)
class Request:
    """What a comparison is asked to do; `momus.compare` explains its arguments.

    Attributes
    ----------
    reference
        The text that the others are compared with: real text, or that of the model ``settings.against``.
    real
        Real text beside the reference of a model; None elsewhere.
    """

    reference: TextSource
    generated: Mapping[str, TextSource]
    settings: Settings
    reading: ReadingOptions
    real: TextSource | None = None
    fit: TextSource | None = None
    critics: Critics = None
    config: Mapping[str, dict[str, Any]] | None = None
    out: Path | None = None
    overwrite: bool = False
    resume: bool = False
    reporter: Reporter | None = None
    command: str | None = None
    reuse: str | Path | None = None
    jobs: int | None = 1
    trust: Sequence[Path] = ()
    labels: Sequence[Label] = ()

    @property
    def unnamed(self) -> bool:
        """Whether no critic was asked for by name, so that one that cannot run is left out."""
        return self.critics is None

    @property
    def paths(self) -> list[str | Path]:
        """Files and folders that are read."""
        sources = [self.reference, self.real, self.fit, *self.generated.values(), self.reuse]
        return [source for source in sources if isinstance(source, str | Path)]

    @property
    def sources(self) -> dict[str, TextSource]:
        """The texts that are compared as they were given, by name, the reference first."""
        return {self.settings.against or "real": self.reference, **self.generated}

    def with_real(self, reference: TextSource, generated: Mapping[str, TextSource]) -> Request:
        """The request that compares the reference of a model and the new texts, as they were read, with real text."""
        assert self.real is not None
        return replace(
            self,
            reference=self.real,
            generated={self.settings.against: reference, **generated},
            # what takes a model as reference is refused with real text; slices are compared by nearness alone
            settings=replace(self.settings, against="", chain=False, better=(), by=(), folds=Settings.folds),
            real=None,
            # the run that asks keeps only which text is nearer
            out=None,
            overwrite=False,
            resume=False,
        )


def requested(
    real: TextSource | None,
    generated: Mapping[str, TextSource] | None,
    against: Mapping[str, TextSource] | None,
    settings: Settings | None,
    options: dict[str, Any],
    **more: Any,
) -> Request:
    """Check the arguments of `momus.compare`, and put them together.

    Raises
    ------
    UsageError
        An argument is missing, of another type, out of range, or excluded by another.
    """
    if against is not None:
        if not isinstance(against, Mapping) or len(against) != 1:
            raise UsageError("against takes one text by name", hint='against={"old": texts}')
        options = {**options, "against": next(iter(against))}
    settings = with_options(settings, options)
    check_out(more["out"], overwrite=more["overwrite"], resume=more["resume"])
    _check_chain(settings, generated, has_reference=against is not None)
    need("against", against is not None, better=settings.better or None)
    preferences = [Preference.parse(text) for text in settings.better]
    if NEARER in [p.direction for p in preferences]:
        need("real", real is not None, better=settings.better)
    if against is not None:  # critics are then fitted on its text
        need("real", real is not None, fit=None if more["fit"] is None else "text")
    check_register(settings.register)
    jobs = more["jobs"]
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is {jobs}, expected a number of at least 1", hint="leave it out to use one process")
    check_named(generated)
    assert generated is not None
    reference = real if against is None else against[settings.against]
    if reference is None:
        raise UsageError(
            "there is no text to compare with",
            hint=f"name text of people with {arg('real')}, or text of a model with {arg('against')}",
        )
    more["out"] = None if more["out"] is None else Path(more["out"])
    more["labels"] = _with_better(labels_of(more["labels"]), preferences)
    more["reading"] = reading_labels(more["reading"] or ReadingOptions(), more["labels"])
    request = Request(
        reference, generated, settings, more.pop("reading"), real=None if against is None else real, **more
    )
    # the output must not lie in or over what is read
    check_place(request.out, request.paths)
    return request


def check_out(out: str | Path | None, *, overwrite: bool, resume: bool) -> None:
    """Raise `UsageError` if no folder, or two things to do with it, are named."""
    need("out", out is not None, overwrite=overwrite, resume=resume)
    exclude(overwrite=overwrite, resume=resume)


def _check_chain(settings: Settings, generated: Mapping[str, TextSource] | None, *, has_reference: bool) -> None:
    """Raise `UsageError` if there is no reference for a chain or for folds, or a chain of fewer than two texts."""
    # only a number that was asked for can be out of place
    folds = settings.folds if settings.folds != Settings.folds else None
    need("against", has_reference, chain=settings.chain, folds=folds)
    if settings.chain and generated is not None and len(generated) < 2:
        raise UsageError(
            f"{arg('chain', True)} needs two or more later versions", hint=f"name each of them in {arg('generated')}"
        )


CRITIC = "faults"
"""The critic that says what is broken; the rows of a fault have its name."""


def set_aside(request: Request, reporter: Reporter) -> tuple[Request, list[str]]:
    """The request with its texts read, less documents with these faults on either side; and how many were left out.

    Raises
    ------
    UsageError
        There is no such fault, or it leaves no document of a text.
    """
    (critic,) = make_critics([CRITIC], {})
    reading = with_needs(request.reading, [critic])
    sources = request.sources
    reference = next(iter(sources))
    if request.fit is not None:
        sources["fit"] = request.fit
    texts = {name: as_corpus(source, name, reading, reporter) for name, source in sources.items()}
    critic.fit(texts.get("fit", texts[reference]))
    notes, kept = [], {}
    for name, corpus in texts.items():
        rows = critic.score(corpus).rows
        having = {fault: _broken(rows, fault) for fault in request.settings.without}
        flagged = [fault for fault, documents in having.items() if documents.any()]
        broken = np.logical_or.reduce(list(having.values()))
        if broken.all():
            raise UsageError(
                f"every document of {name!r} is set aside ({', '.join(flagged)})", hint=f"leave out {arg('without')}"
            )
        kept[name] = corpus if not broken.any() else corpus.take(np.flatnonzero(~broken)).read_as(corpus)
        if broken.any():
            of = f"{int(broken.sum()):,} of {counted(len(corpus), 'document')} of {corpus.name!r}"
            notes.append(f"Set aside: {of} ({', '.join(flagged)}).")
    fit = kept.pop("fit", None)
    return replace(request, reference=kept.pop(reference), generated=dict(kept), fit=fit), notes


def _broken(rows: Mapping[str, Rows], fault: str) -> Bools:
    """Which documents have a fault."""
    table = rows.get(fault.replace("-", "_"))
    if table is None or fault == "faulty":
        known = ", ".join(key.replace("_", "-") for key in rows if key != "faulty")
        raise UsageError(f"there is no fault {fault!r}", hint=f"name some of {known}")
    return np.asarray(np.asarray(table)[:, 0] > 0)
