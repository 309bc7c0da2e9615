"""Rules of a gate: limits of distances to real text and of changes, what is better, and required findings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from momus.arguments import arg
from momus.errors import UsageError
from momus.joint.better import NEARER, WORSE, Preference
from momus.schema import build, read_toml

FILE, PROJECT = "momus-gate.toml", "pyproject.toml"
EVERY = "*"
NOT_BEYOND, WITHIN = "not-beyond-human", "within-human"
NOT_BEYOND_ITSELF, WITHIN_ITSELF = "not-beyond-itself", "within-itself"
"""The same where the reference is text of a model."""
NOT_WORSE = "not-worse"
REQUIREMENTS = (NOT_BEYOND, WITHIN, NOT_BEYOND_ITSELF, WITHIN_ITSELF, NOT_WORSE)
KEYS = ("baseline", "better", "max", "max-worse", "require", "alpha", "corpus", "sequential")
HINT = f"the keys are {', '.join(KEYS)}"


_WORDED = re.compile(r"(?P<number>[\d.eE+-]+)\s*(?:(?P<percent>%)\s*)?(?P<side>more|fewer|worse)?(?<![\d.])")


@dataclass(frozen=True)
class Limit:
    """A limit of one axis.

    Attributes
    ----------
    critic
        Name of the critic; `EVERY` for all axes that have no limit of their own.
    value
        δ, 0 or more.
    words
        ``more``, ``fewer``, ``% more``, ``% fewer``, ``%``: δ limits the difference of a statistic in its own unit, or
        in percent of the reference. ``worse``, ``% worse``: how far it goes the way that ``better`` calls worse. Empty:
        a distance.
    statistic
        Which statistic such words limit; empty: the headline.

    >>> str(Limit.parse("sections=0.2")), str(Limit.parse("0.1"))
    ('sections=0.2', '0.1')
    >>> limit = Limit.parse("faults.loop_share=0.02 more")
    >>> limit.statistic, limit.value, limit.words
    ('loop_share', 0.02, 'more')
    """

    critic: str
    value: float
    words: str = ""
    statistic: str = ""

    @classmethod
    def parse(cls, text: str, argument: str = "max") -> Limit:
        """Read ``AXIS=δ``, ``AXIS.STATISTIC=δ more`` or ``δ`` alone (all axes).

        Raises
        ------
        UsageError
            It is nothing of the kind.
        """
        name, separator, number = text.rpartition("=")
        critic, _, statistic = name.strip().partition(".") if separator else (EVERY, "", "")
        words = ""
        if match := _WORDED.fullmatch(number.strip()):
            number, words = match["number"], " ".join(filter(None, (match["percent"], match["side"])))
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not (critic and limit >= 0 and math.isfinite(limit)) or (words and critic == EVERY):
            raise UsageError(
                f"{arg(argument, text)}: a limit is a number from 0 on",
                hint="write AXIS=0.2 (human bands), 0.2 (all axes), or of one statistic AXIS=0.02 more, "
                "AXIS=10 % fewer, AXIS.STATISTIC=5 %, AXIS=0.02 worse",
            )
        return cls(critic, limit, words, statistic)

    @property
    def side(self) -> str:
        """``more``, ``fewer`` or ``worse``; empty for either."""
        return self.words.removeprefix("%").strip()

    @property
    def place(self) -> str:
        """What it limits, as it is written."""
        return f"{self.critic}.{self.statistic}".removesuffix(".")

    def __str__(self) -> str:
        limit = f"{self.value:g} {self.words}".strip()
        return limit if self.place == EVERY else f"{self.place}={limit}"


@dataclass(frozen=True)
class Rules:
    """Everything that a gate decides by.

    Attributes
    ----------
    max
        Largest distances to real text.
    max_worse
        Largest changes in distance against the baseline.
    require
        ``not-beyond-human``: no axis is found beyond human variation. ``within-human``: every axis is shown to lie
        within it. ``not-beyond-itself``, ``within-itself``: the same of the variation of a model that is the reference.
        ``AXIS=not-beyond-human``: of one axis, which must then be tested. ``not-worse``: every axis of ``better`` is
        shown to be worse by no more than its limit.
    better
        What is better than the reference; a text must not be shown to be worse by more than the ``worse`` limit, or 0.
    baseline
        Folder of the run that changes are measured from; empty for none.
    alpha
        Level; None takes that of the run.
    corpus
        Generated corpora that are checked; empty for all.
    sequential
        State file of repeated looks; empty for a single look.
    """

    max: tuple[Limit, ...] = ()
    max_worse: tuple[Limit, ...] = ()
    require: tuple[str, ...] = ()
    better: tuple[Preference, ...] = ()
    baseline: str = ""
    alpha: float | None = None
    corpus: tuple[str, ...] = ()
    sequential: str = ""

    def __post_init__(self) -> None:
        """Check the choices."""
        for name in self.require:
            if _parted(name)[1] not in REQUIREMENTS:
                raise UsageError(
                    f"{arg('require', [name])}: unknown",
                    hint=f"choose from {', '.join(REQUIREMENTS)}, or write AXIS={NOT_BEYOND}, say",
                )
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha:g}", hint="give a level between 0 and 1, such as 0.05")
        for argument, limits in (("max", self.max), ("max_worse", self.max_worse)):
            names = [limit.place for limit in limits]
            for name in names:
                if names.count(name) > 1:
                    raise UsageError(f"{arg(argument)} has two limits for {name!r}", hint="give one limit per axis")
        for limit in self.max_worse:
            if limit.words:
                raise UsageError(
                    f"{arg('max_worse', str(limit))}: a change in distance has bands",
                    hint=f"give {arg('max', str(limit))}",
                )

    @property
    def named(self) -> list[str]:
        """Names of the critics that a rule is for, without those for all axes."""
        names = [x.critic for x in (*self.max, *self.max_worse)] + [p.critic for p in self.better]
        return [name for name in (*names, *(_parted(text)[0] for text in self.require)) if name != EVERY]

    @property
    def findings(self) -> set[str]:
        """What is required, of all axes or of one."""
        return {_parted(name)[1] for name in self.require}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to decide."""
        return not (self.max or self.max_worse or self.require or self.better)

    def check(self) -> None:
        """Raise `UsageError` if there is no rule, or one without the baseline that it needs."""
        if self.empty:
            raise UsageError(
                "the gate has no rule",
                hint=f"give {arg('better')}, {arg('max')}, {arg('max_worse')} or {arg('require')}, or write them into "
                f"{FILE} or {PROJECT} [tool.momus.gate]",
            )
        if self.max_worse and not self.baseline:
            raise UsageError(
                f"{arg('max_worse')} needs a baseline",
                hint=f"name a run folder, e.g. {arg('baseline', 'runs/v1')}",
            )
        near = {p.place for p in self.better if p.direction == NEARER}
        if near & {limit.place for limit in self.max if limit.words == "% worse"}:
            raise UsageError(f"{arg('max')}: nearness to people is told in human bands", hint="write AXIS=0.5 worse")

    def of_critics(self, axes: Mapping[str, str]) -> Rules:
        """The rules with the names of critics where they name an axis as tables do; ``axes`` maps these to critics."""
        most, worse = (
            tuple(replace(limit, critic=axes.get(limit.critic, limit.critic)) for limit in limits)
            for limits in (self.max, self.max_worse)
        )
        parted = map(_parted, self.require)
        require = tuple(f"{axes.get(c, c)}={f}" if c != EVERY else f for c, f in parted)
        better = tuple(replace(p, critic=axes.get(p.critic, p.critic)) for p in self.better)
        return replace(self, max=most, max_worse=worse, require=require, better=better)

    def not_worse(self, critic: str) -> str:
        """That an axis must be shown not to be worse, as it is written; empty where that is not required."""
        return required_of(self.require, critic).get(NOT_WORSE, "")

    def limit_of_worse(self, preference: Preference) -> tuple[Limit, str]:
        """The limit of a preference, its own, else 0; and both as they are read."""
        limits = (x for x in self.max if x.side == "worse" and x.place == preference.place)
        limit = next(limits, Limit(preference.critic, 0.0, words="worse", statistic=preference.statistic))
        rule = f"require {NOT_WORSE}:" if self.not_worse(preference.critic) else "better"
        text = f"{rule} {preference}{f', at most {limit.value:g} {limit.words}' if limit.value else ''}"
        return replace(limit, words=limit.words.replace("worse", WORSE[preference.direction])), text

    def updated(self, **changes: Any) -> Rules:
        """Replace those fields that were given (not None and not empty); limits replace those of the same axis."""
        fields = {k: v for k, v in changes.items() if v not in (None, "", (), [])}
        for name in ("max", "max_worse", "better"):
            if name in fields:
                named = {limit.place for limit in fields[name]}
                fields[name] = (*(x for x in getattr(self, name) if x.place not in named), *fields[name])
        return replace(self, **fields)


def limit_of(limits: Sequence[Limit], critic: str) -> Limit | None:
    """The limit of the distance on an axis: its own, else that of all axes, else None."""
    distances = [x for x in limits if not x.words]
    named = [x for x in distances if x.critic == critic]
    return next(iter([*named, *(x for x in distances if x.critic == EVERY)]), None)


def _parted(required: str) -> tuple[str, str]:
    """The critic (`EVERY` for all axes) and the finding of a requirement."""
    critic, _, finding = required.rpartition("=")
    return critic.strip() or EVERY, finding.strip()


def required_of(required: Sequence[str], critic: str) -> dict[str, str]:
    """What is required of an axis: for each finding, the requirement as it is written; one of its own comes first.

    >>> required_of(["within-human", "length=not-beyond-human"], "length")
    {'within-human': 'within-human', 'not-beyond-human': 'length=not-beyond-human'}
    """
    of_every = {_parted(name)[1]: name for name in required if _parted(name)[0] == EVERY}
    return of_every | {_parted(name)[1]: name for name in required if _parted(name)[0] == critic}


def read_rules(path: Path | None = None, start: Path | None = None) -> Rules:
    """Read the rules beside the project.

    Parameters
    ----------
    path
        A TOML file; default: ``momus-gate.toml`` or ``[tool.momus.gate]`` of ``pyproject.toml`` in the current folder.

    Returns
    -------
    Rules
        Without rules if there is no such file.

    Raises
    ------
    UsageError
        The file cannot be read, or has an unknown key or a wrong value.
    """
    here = start or Path.cwd()
    if path is None:
        path = next((here / name for name in (FILE, PROJECT) if (here / name).is_file()), None)
        if path is None:
            return Rules()
    content = read_toml(path, str(path), "write TOML, such as max-worse = 0.1")
    for name in ("tool", "momus", "gate") if path.name == PROJECT else ():
        content = build(dict[str, Any], content.get(name, {}), f"{path}: {name}", HINT, UsageError)
    return _rules(content, path)


class _Table(TypedDict, total=False):
    """The keys of a gate in TOML."""

    baseline: str
    better: dict[str, Any]
    max: Any
    max_worse: Any
    require: str | list[str]
    alpha: float
    corpus: str | list[str]
    sequential: str


def _rules(content: Mapping[str, Any], path: Path) -> Rules:
    unknown = sorted(set(content) - set(KEYS))
    if unknown:
        raise UsageError(f"{path}: no key {unknown[0]!r} for a gate", hint=HINT)
    named = {key.replace("-", "_"): value for key, value in content.items()}
    values: dict[str, Any] = {**build(_Table, named, str(path), HINT, UsageError)}
    try:
        for key in ("max", "max_worse", "better"):
            written = [f"{name}={value}" for name, value in _flat(values.get(key, {}))]
            values[key] = tuple(Preference.parse(x) if key == "better" else Limit.parse(x, key) for x in written)
        for key in values.keys() & {"require", "corpus"}:
            names = values[key]
            values[key] = (names,) if isinstance(names, str) else tuple(names)
        return Rules(**values)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from error


def _flat(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Entries of a table; a dotted key of TOML is a table in a table, and a value alone is for all axes."""
    for name, value in table.items() if isinstance(table, Mapping) else [(EVERY, table)]:
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
