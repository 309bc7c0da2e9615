"""Whether what an earlier run left is what this run would compute, of these texts and by this code.

An interrupted run keeps whole results (`kept_outcome`); another run lends fitted critics and scores of the real text
(`Reuse`). Whatever differs is computed again, and one line says so of all critics with the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.hooks import tokenizer_of
from momus.critic.saved import read_critic_json
from momus.critic.scores import Scores
from momus.critic.source import source_change, source_digest
from momus.critic.splitting import documents_to_fit, icu_of, splitting_of
from momus.errors import MomusError, StoreError, UsageError
from momus.estimator import fitted_state, json_params, reset
from momus.files import content_digest, plain
from momus.outputs import copy_folder
from momus.rows.folder import RowFolder
from momus.runs.folder import RunFolder
from momus.runs.kept import read_scores
from momus.runs.manifest import ROWS
from momus.runs.result import Again, Outcome
from momus.runs.texts import Texts
from momus.text.counting import joined
from momus.verdicts.settings import Settings

RESULT_FORMAT = 10
"""Of the results that a run folder keeps; a result in another format is computed again."""
WITHOUT_EFFECT = ("device", "multiplicity", "control_for", "better")
"""Settings that do not change what is kept of a critic: p-values are adjusted over the whole table later."""
LONGEST = 1024
"""Characters of a parameter that may name a file."""
NAMED = 5
"""Critics that a line names; of more, it counts the others."""


def critic_signature(critic: Critic[Any], texts: Texts, settings: Settings, family: int) -> dict[str, Any]:
    """Everything that the result of a critic depends on."""
    corpora = [texts.fit, texts.real, *texts.generated]
    return {
        "family": family,
        "format": RESULT_FORMAT,
        "critic": critic.name,
        "source": source_digest(critic),
        "params": json_params(critic),
        "files": files_named(json_params(critic)),
        "fit": texts.fit.identity,
        "real": texts.real.identity,
        "generated": {c.name: c.identity for c in texts.generated},
        **icu_of(corpora),
        **{name: value for name, value in plain(asdict(settings)).items() if name not in WITHOUT_EFFECT},
    }


def files_named(params: Any) -> dict[str, str]:
    """Identify the files that parameters name, by name, and those in a folder: what they hold decides the result too.

    >>> files_named({"tokens": "words", "bins": 20})
    {}
    """
    return {name: content_digest(path) for name, path in sorted(_paths(params))}


def _paths(value: Any) -> Iterator[tuple[str, Path]]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _paths(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, str | Path) and 0 < len(str(value)) <= LONGEST and "\0" not in str(value):
        try:
            path = Path(value)
            if path.is_file():
                yield str(value), path
            elif path.is_dir() and path.parts:  # a bare name in the working folder may be anything
                yield from ((f.as_posix(), f) for f in path.rglob("*") if f.is_file())
        except OSError:  # not readable, which `content_digest` records, or too long for a path
            yield str(value), Path(value)


def kept_outcome(
    critic: Critic[Any], folder: RunFolder, texts: Texts, signature: Mapping[str, Any]
) -> tuple[Outcome | None, tuple[Again, ...]]:
    """What an interrupted run kept of a critic, or else why it is computed again; neither if it kept nothing."""
    try:
        kept = folder.kept(critic.name)
    except StoreError as error:
        return None, (Again(critic.name, "computed", error.message),)
    if kept is None:
        return None, ()
    # everything or nothing: a result is one table, of which no part can be kept alone
    if kept.signature == signature:
        axis = folder.kept_axis(critic)
        return Outcome(kept, axis=None if axis is None else axis.take(texts.samples_by_name)), ()
    # digests of code mean nothing to a reader: `source_change` says in words whose code differs
    keys = {**kept.signature, **signature}.keys() - {"source"}
    differing = sorted(k for k in keys if kept.signature.get(k) != signature.get(k))
    why = [source_change(kept.signature.get("source"), signature["source"])]
    why += [f"the earlier run differs in {', '.join(differing)}"] if differing else []
    return None, (Again(critic.name, "computed", "; ".join(filter(None, why))),)


def again_warnings(redone: Iterable[Again]) -> list[str]:
    """One line for all critics of which the same was done again, for the same reason.

    >>> changed = "the code of Momus has changed since"
    >>> print(*again_warnings([Again(c, "computed", changed) for c in ("length", "marks")]))
    Critics 'length' and 'marks' were each computed again: the code of Momus has changed since.
    """
    critics: dict[tuple[str, str], list[str]] = {}
    for again in redone:
        critics.setdefault((again.what, again.why), []).append(again.critic)
    return [
        f"The real text was scored again under {names_of(names)}: {why}."
        if what == "scored"
        else f"Critic{'' if len(names) == 1 else 's'} {names_of(names)} {'was' if len(names) == 1 else 'were each'} "
        f"{what} again: {why}."
        for (what, why), names in critics.items()
    ]


def names_of(names: Sequence[str]) -> str:
    """Names of critics in quotes; of many, the first and how many others.

    >>> names_of(list("abcdefg"))
    "'a', 'b', 'c', 'd' and 3 others"
    """
    shown = [repr(name) for name in names]
    rest = len(shown) - NAMED + 1
    return joined(shown if len(shown) <= NAMED else [*shown[: NAMED - 1], f"{rest:,} others"])


class Reuse:
    """An earlier run, whose fitted critics and scores of the real text later runs take over.

    Parameters
    ----------
    run
        Folder that ``momus compare --out`` wrote.

    Raises
    ------
    StoreError
        The folder holds no finished run.
    """

    def __init__(self, run: str | Path) -> None:
        self.folder = RunFolder(run)
        self.signature = self.folder.read_run()

    def check_split(self, has_fit: bool) -> None:
        """Raise `UsageError` if the earlier run had a text to fit on and this one would split its real text instead."""
        if not has_fit and not self.signature.get("split"):
            raise UsageError(
                f"{self.folder.path}: its critics were fitted on a separate text, and none is given now",
                hint=f"give the same {arg('fit')} again, so that it can be checked that the critics belong to it",
            )

    def fit(self, critic: Critic[Any], texts: Texts) -> str:
        """Give a critic the fitted state that the earlier run kept, if it would learn the same now.

        Returns
        -------
        str
            Why it must be fitted again; empty if it is fitted.
        """
        try:
            why = self._differs(critic, texts)
            if why:
                return why
            folder = self.folder.critic_folder(critic.name)
            loaded = type(critic).load(folder, configured=critic.get_params())
        except MomusError as error:
            return error.message
        # a state of an earlier fit must not stay beside the loaded one
        reset(critic)
        vars(critic).update(fitted_state(loaded))
        return ""

    def real(self, critic: Critic[Any], texts: Texts) -> Scores | None:
        """The scores of the real text under a critic that `fit` fitted; None if it must be scored again.

        Raises
        ------
        StoreError
            They are damaged.
        """
        # another version of ICU splits the same text into other words
        if self.signature.get("icu") != icu_of([texts.fit, texts.real, *texts.generated]).get("icu"):
            return None
        return read_scores(self.folder.critic_folder(critic.name), texts.real)

    def lend_parts(self, out: Path) -> None:
        """Link the scored parts of the real text to a folder, in which those of other texts or critics are replaced."""
        rows = self.folder.path / ROWS / "real"
        if not out.exists() and RowFolder(rows).holds_rows():
            # links, which cost no space: files are replaced and never written into
            copy_folder(rows, out, linked=True)

    def _differs(self, critic: Critic[Any], texts: Texts) -> str:
        """Why the kept critic is not what fitting would give; empty if it is."""
        folder = self.folder.critic_folder(critic.name)
        if not any(c["name"] == critic.name for c in self.signature["critics"]):
            return f"{self.folder.path} has no such critic"
        content = read_critic_json(folder)
        fitted_on = content["state"].get("fitted_on_", {})
        changed = source_change(fitted_on.get("source"), source_digest(critic))
        if changed:
            return f"{changed} ({self.folder.path})"
        params = json_params(critic)
        if content["params"] != params:
            names = sorted(k for k in {*params, *content["params"]} if params.get(k) != content["params"].get(k))
            return f"its parameters differ from {self.folder.path} in {', '.join(names)}"
        if fitted_on.get("identity") != documents_to_fit(critic, texts.fit)[0].identity:
            return f"{self.folder.path} fitted it on another text, or one with other titles or ids"
        if fitted_on.get("tokenizer") != splitting_of(tokenizer_of(critic), texts.fit).get("tokenizer"):
            return f"{self.folder.path} fitted it on words of another version of ICU"
        return ""
