"""What a run is asked to adjust for: checked before any critic is fitted."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from momus.critic import RunningTextCritic
from momus.errors import UsageError
from momus.joint.axes import covariate
from momus.joint.subgroups import check_values
from momus.runs.texts import Texts
from momus.verdicts.settings import Settings

if TYPE_CHECKING:
    from momus.critic import Critic


def check_asked(settings: Settings, critics: Sequence[Critic[Any]], texts: Texts) -> None:
    """Check that every covariate and subgroup is a critic of documents that runs, or a field of all texts.

    Raises
    ------
    UsageError
        It is neither, or a field has too many values for subgroups.
    """
    documents = [c.name for c in critics if not isinstance(c, RunningTextCritic)]
    laws = [c.name for c in critics if isinstance(c, RunningTextCritic)]
    for option, names in (("adjust", settings.adjust), ("subgroups", settings.subgroups)):
        for name in dict.fromkeys(names):
            if name in documents:
                continue
            if name in laws:
                raise UsageError(
                    f"--{option} {name}: this critic scores blocks of running text, not documents",
                    hint=_choices(documents, texts),
                )
            _check_field(option, name, documents, texts)


def _check_field(option: str, name: str, documents: Sequence[str], texts: Texts) -> None:
    for corpus in (texts.real, *texts.generated):
        if all(value is None for value in corpus.field(name)):
            near = difflib.get_close_matches(name, [*documents, *_fields(texts)], n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(
                f"--{option} {name}: no critic of documents that runs has this name, and no document of "
                f"{corpus.name!r} has such a field",
                hint=guess + _choices(documents, texts),
            )
    if option == "subgroups":
        for corpus in texts.generated:
            check_values(covariate(name, (), texts.real, corpus))


def _choices(documents: Sequence[str], texts: Texts) -> str:
    fields = ", ".join(_fields(texts)) or "none (--keep reads some)"
    return f"critics of documents that run: {', '.join(documents) or 'none'}; fields of all texts: {fields}"


def _fields(texts: Texts) -> list[str]:
    """Names of the metadata fields that some document of each text has."""
    rows = [corpus.table["fields"].to_pylist() for corpus in (texts.real, *texts.generated)]
    return sorted(set.intersection(*({key for row in side for key, _ in row or ()} for side in rows)))
