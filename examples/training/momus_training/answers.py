"""Single answers of a harness, scored with a saved critic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from momus.critic import RunningTextCritic
from momus.critic.registry import critic_class, load_critic
from momus.critic.saved import read_critic_json
from momus.errors import UsageError
from momus.text.corpus import Corpus


@dataclass(frozen=True)
class AnswerScore:
    """The score of one answer.

    Attributes
    ----------
    value
        Latent NLL in nats, per step for critics of sequences; NaN where the answer has no score.
    steps
        Number of scored steps.
    reason
        Why there is no score; None if there is one.
    """

    value: float
    steps: int
    reason: str | None


def saved_critics(folder: str | Path, *, trust: bool = False) -> list[SavedCritic]:
    """The saved critic of a folder, or all critics of documents of a run folder.

    Raises
    ------
    StoreError
        The folder holds neither.
    """
    of_run = sorted(p.parent for p in Path(folder).glob("critics/*/critic.json"))
    if not of_run:
        return [SavedCritic(folder, trust=trust)]
    critics = [SavedCritic(path, trust=trust) for path in of_run]
    return [c for c in critics if not issubclass(critic_class(c.name), RunningTextCritic)]


class SavedCritic:
    """A critic of a folder that `momus fit` or `momus compare` wrote, loaded when it is first used.

    Parameters
    ----------
    folder
        The saved critic, such as ``run/critics/length``.
    trust
        Whether it may use adapters, connect to addresses and read files, see `momus.load_critic`.

    Raises
    ------
    StoreError
        The folder holds no saved critic.
    """

    def __init__(self, folder: str | Path, *, trust: bool = False) -> None:
        # absolute, because harnesses may change the working directory before the critic is loaded
        self.folder, self.trust = Path(folder).absolute(), trust
        self.name: str = read_critic_json(self.folder)["critic"]

    @cached_property
    def critic(self) -> Any:
        """The critic.

        Raises
        ------
        UsageError
            It scores blocks of running text, and an answer is none.
        """
        critic = load_critic(self.folder, trust=self.trust)
        if isinstance(critic, RunningTextCritic):
            raise UsageError(
                f"critic {critic.name!r} measures a law of running text, which a single answer is too short for",
                hint="use a critic of documents, or compare the whole log: momus compare -g a=lm-eval:PATH",
            )
        return critic

    def score(self, texts: Sequence[str]) -> list[AnswerScore]:
        """Score answers, one by one; an answer's score does not depend on the others."""
        scores = self.critic.score(Corpus.from_texts(list(texts), name="answers"))
        values = scores.per_step if self.critic.sequence else scores.nll
        return [
            AnswerScore(float(value), int(steps), reason)
            for value, steps, reason in zip(values, scores.steps, scores.reasons, strict=True)
        ]
