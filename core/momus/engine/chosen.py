"""Choose the critics of a run, without those that need packages which are not installed.

What a run is asked to adjust for is checked before any critic is fitted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from momus.arguments import arg
from momus.critic import Critic, RunningTextCritic
from momus.critic.guard import blamed
from momus.critic.hooks import missing_params
from momus.critic.registry import check_name, family_class, located, make_critics, named
from momus.errors import CriticError, FittingError, MissingExtraError, MomusError, PluginError, UsageError
from momus.joint.better import Preference
from momus.joint.slices import codes_of, fields_of
from momus.plugins import CRITICS, critic_names, registered
from momus.runs.texts import Texts
from momus.verdicts.settings import Settings
from momus.version import install_command


def absent_warnings(absent: Mapping[str, MissingExtraError]) -> list[str]:
    """One warning for all critics that an extra would bring, and one for each that needs something else.

    >>> print(*absent_warnings(dict.fromkeys(("topics", "pcfg"), MissingExtraError("…", "momus-criticism[torch]"))))
    Left out, since packages are not installed: 'topics' and 'pcfg' (pip install -e '.[torch]').
    """
    critics: dict[str, list[str]] = {}  # by what brings them
    others = []
    for critic, error in absent.items():
        if error.requirement:
            critics.setdefault(error.requirement, []).append(repr(critic))
        else:
            others.append(left_out_warning({critic: f"{error.message}; {error.hint}"}))
    if not critics:
        return others
    parts = [f"{' and '.join(names)} ({install_command(requirement)})" for requirement, names in critics.items()]
    return [f"Left out, since packages are not installed: {', '.join(parts)}.", *others]


def left_out_warning(reasons: Mapping[str, str]) -> str:
    """Say which critics were left out, and why; the name of each is said once.

    >>> left_out_warning({"sections": "critic 'sections': no title recurs", "pcfg": "no treebank is given"})
    "Left out: 'sections' (no title recurs); 'pcfg' (no treebank is given)."
    """
    return f"Left out: {'; '.join(f'{critic!r} ({bare(critic, reason)})' for critic, reason in reasons.items())}."


def bare(critic: str, reason: str) -> str:
    """A reason without the name of the critic, which is said beside it."""
    return re.sub(rf"^critic {critic!r}(:| is| cannot be) ", "", reason)


@dataclass
class Chosen:
    """The critics of a run, those that are left out, and warnings on broken plug-ins.

    Attributes
    ----------
    asked
        Names of those that must run although the others were not asked for by name.
    absent, unset, failed
        Critics that lack packages or parameters, or that failed in the run, and why.
    """

    critics: list[Critic[Any]] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    absent: dict[str, MissingExtraError] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    unset: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def leave_out(self, critic: str, error: MomusError, *, named: bool) -> None:
        """Leave out a critic that failed; one that was named must not vanish from the table, and its error is raised.

        Raises
        ------
        MomusError
            The critic was named.
        """
        if named or critic in self.asked:
            raise error
        self.critics = [c for c in self.critics if c.name != critic]
        if isinstance(error, MissingExtraError):
            self.absent[critic] = error
        else:
            self.failed[critic] = error.message

    @contextmanager
    def attempt(self, critic: Critic[Any], *, named: bool) -> Iterator[None]:
        """Leave out a critic that fails within the context, as `leave_out` does.

        Raises
        ------
        MomusError
            The critic was named, or the failure is not a critic's.
        """
        try:
            with blamed(critic):
                yield
        except MomusError as error:
            if not (error.critic or isinstance(error, FittingError | MissingExtraError)):
                raise
            self.leave_out(critic.name, error, named=named)

    @property
    def reasons(self) -> dict[str, str]:
        """Why critics failed, by name."""
        return self.failed | {name: error.message for name, error in self.absent.items()}

    @property
    def left_out_warnings(self) -> list[str]:
        """What to say of the critics that are left out."""
        unfit = self.failed | self.unset
        return [*([left_out_warning(unfit)] if unfit else []), *absent_warnings(self.absent)]


def none_fitted(warnings: Iterable[str], hint: str = "") -> FittingError:
    """The error to raise where no critic is left, with the reasons."""
    words = "no critic can be fitted on this text: " + " ".join(warnings)
    return FittingError(words, hint=hint or f"give more real text with {arg('fit')}")


def chosen_critics(critics: Sequence[str | Critic[Any]] | None, config: dict[str, dict[str, Any]]) -> Chosen:
    """Construct the chosen critics.

    Without a choice (None), these are all registered critics that are configured; plug-ins that cannot be imported or
    lack packages are left out.

    Raises
    ------
    UsageError
        A critic is unknown, chosen twice or not configured, or a table of the configuration belongs to no critic.
    PluginError
        A chosen critic cannot be imported.
    MissingExtraError
        A chosen critic needs packages that are not installed.
    """
    # an empty choice is a slip, and not the same as no choice
    if critics is not None and not critics:
        raise UsageError("no critic is chosen", hint="name at least one; `momus critics` lists them")
    if critics is None:
        selection = _registered_critics(config)
    else:
        # a string is a sequence of letters too
        asked = [critics] if isinstance(critics, str) else critics
        selection = Chosen(_given_critics([named(c) if isinstance(c, str) else c for c in asked], config))
    # names are folders in a run and keys in its tables: two critics of one name would overwrite each other
    chosen_names = [c.name for c in selection.critics]
    for name in chosen_names:
        if chosen_names.count(name) > 1:
            raise UsageError(f"critic {name!r} is chosen twice", hint="name each critic once")
    return selection


def _given_critics(critics: Sequence[str | Critic[Any]], config: dict[str, dict[str, Any]]) -> list[Critic[Any]]:
    """Construct the critics that a user chose; what one of them lacks is an error."""
    for c in critics:
        if isinstance(c, type):
            raise UsageError(f"{c.__name__} is a class, not a critic", hint=f"pass an instance: {c.__name__}()")
        if not isinstance(c, str):
            check_name(type(c))
    # tables first: a misspelt one would leave its critic at the defaults without a word
    _check_tables(config, [c.name for c in critics if not isinstance(c, str)])
    chosen = [make_critics([c], config)[0] if isinstance(c, str) else c for c in critics]
    for c in chosen:
        if missing := missing_params(c):
            raise UsageError(
                f"critic {c.name!r} cannot run without {' and '.join(missing)}",
                hint=f"add a table [{c.name}] with {missing[0]} = … to {arg('config')}",
            )
    return chosen


def _registered_critics(config: dict[str, dict[str, Any]]) -> Chosen:
    """Construct all registered critics that can run; why the others cannot is said."""
    _check_tables(config)
    chosen = Chosen()
    for name in critic_names():
        try:
            (critic,) = make_critics([name], config)
        except MissingExtraError as error:
            # a critic that needs parameters besides is not one package away from running
            if _would_run(name, config.get(name, {})):
                chosen.absent[name] = error
            continue
        except (PluginError, CriticError) as error:
            chosen.warnings.append(left_out_warning({name: error.message}))
            continue
        if missing := missing_params(critic):
            # no separate warning: critics that nobody configured are told in one line
            chosen.unset[name] = f"no {' and '.join(missing)} in {arg('config')}"
            continue
        chosen.critics.append(critic)
    return chosen


def _check_tables(config: Mapping[str, Any], others: Sequence[str] = ()) -> None:
    """Refuse a table of the configuration that belongs to no critic, registered or of these names."""
    names = {*critic_names(), *located(), *others}
    for table in config:
        if table not in names and family_class(table) is None:
            near = difflib.get_close_matches(table, names, n=1)
            guess = f"did you mean [{near[0]}]? " if near else ""
            raise UsageError(
                f"the configuration has a table [{table}], but no critic has that name",
                hint=f"{guess}`momus critics` lists them",
            )


def _would_run(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a critic that lacks packages has all parameters without which it does not run."""
    try:
        critic = registered(CRITICS)[name][0].load()
    except PluginError:  # its module needs the packages itself
        return True
    return all(parameters.get(name) for name in critic.reporting.required)


def check_asked(settings: Settings, critics: Sequence[Critic[Any]], texts: Texts) -> None:
    """Check that every covariate is a critic of documents that runs or a field of all texts, and every slice a field.

    Raises
    ------
    UsageError
        It is neither, or a field has too many values for slices.
    """
    corpora = (texts.real, *texts.generated)
    for text in settings.better:
        Preference.parse(text).check([c.name for c in critics])
    documents = [c.name for c in critics if not isinstance(c, RunningTextCritic)]
    fields = fields_of(corpora)
    codes_of(settings.by, corpora)
    choices = (
        f"critics of documents that run: {', '.join(documents) or 'none'}; fields of all texts: "
        f"{', '.join(fields) or 'none'} ({arg('keep')} reads more)"
    )
    for name in dict.fromkeys(settings.control_for):
        if name in documents:
            continue
        place = arg("control_for", [name])
        if any(name == c.name for c in critics):
            raise UsageError(f"{place}: this critic scores blocks of running text, not documents", hint=choices)
        for corpus in corpora:
            if all(value is None for value in corpus.field(name)):
                near = difflib.get_close_matches(name, [*documents, *fields], n=1)
                guess = f"did you mean {near[0]!r}? " if near else ""
                raise UsageError(
                    f"{place}: no critic of documents that runs has this name, and no document of {corpus.name!r} has "
                    "such a field",
                    hint=guess + choices,
                )
