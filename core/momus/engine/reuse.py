"""Fitted critics and scores of the real text, reused from an earlier run whose texts and parameters are the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.critic.hooks import tokenizer_of
from momus.critic.saved import read_critic_json
from momus.critic.scores import Scores
from momus.critic.source import source_change, source_digest
from momus.critic.splitting import icu_of, splitting_of, usable_documents
from momus.errors import MomusError, StoreError, UsageError
from momus.estimator import fitted_state, json_params, reset
from momus.runs.folder import RunFolder
from momus.runs.kept import KeptTexts, read_kept_texts, read_scores
from momus.runs.texts import Texts

if TYPE_CHECKING:
    from momus.critic import Critic


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
        self.warnings: list[str] = []

    @cached_property
    def texts(self) -> KeptTexts | None:
        """Ids, prompts, groups and digests of the texts of the earlier run."""
        return read_kept_texts(self.folder.path)

    def check_split(self, has_fit: bool) -> None:
        """Raise `UsageError` if the earlier run had a text to fit on and this one would split its real text instead."""
        if not has_fit and not self.signature.get("split"):
            raise UsageError(
                f"{self.folder.path}: its critics were fitted on a separate text, and none is given now",
                hint=f"give the same {arg('fit')} again, so that it can be checked that the critics belong to it",
            )

    def fitted(self, critic: Critic[Any], texts: Texts) -> bool:
        """Give a critic the fitted state that the earlier run kept, if it would learn the same now.

        Returns
        -------
        bool
            Whether the critic is now fitted; `warnings` says why not.
        """
        try:
            why = self._differs(critic, texts)
            folder = self.folder.critic_folder(critic.name)
            loaded = None if why else type(critic).load(folder, configured=critic.get_params(deep=False))
        except MomusError as error:
            why, loaded = error.message, None
        if loaded is None:
            self.warnings.append(f"Critic {critic.name!r} was fitted again: {why}.")
            return False
        reset(critic)
        vars(critic).update(fitted_state(loaded))
        return True

    def real(self, critic: Critic[Any], texts: Texts) -> Scores | None:
        """The scores of the real text under a critic that `fitted` accepted; None if it must be scored again."""
        if self.texts is None or self.texts.ordered.get("real") != texts.by_document.real.unsorted.identity:
            return None
        if self.signature.get("icu") != icu_of([texts.fit, texts.real, *texts.generated]).get("icu"):
            return None
        try:
            scores = read_scores(self.folder.critic_folder(critic.name))
        except StoreError as error:
            self.warnings.append(f"The real text was scored again under {critic.name!r}: {error.message}.")
            return None
        if scores is None or scores.critic != critic.name or list(scores.ids) != texts.real.ids:
            return None
        return replace(scores, corpus=texts.real.name)

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
        if fitted_on.get("fingerprint") != usable_documents(texts.fit).fingerprint:
            return f"{self.folder.path} fitted it on another text"
        if fitted_on.get("tokenizer") != splitting_of(tokenizer_of(critic), texts.fit).get("tokenizer"):
            return f"{self.folder.path} fitted it on words of another version of ICU"
        if self.texts is None or self.texts.ordered.get("fit") != texts.by_document.fit.unsorted.identity:
            return f"titles, ids or order of the text to fit on differ from {self.folder.path}"
        return ""
