"""Completions that a trainer of TRL has generated anyway, collected on their way to a reward function."""

from __future__ import annotations

import functools
import inspect
import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

from momus.errors import UsageError
from momus.reading import read_corpus
from momus.text.corpus import Corpus

Reward = Callable[..., Any]
Mode = Literal["train", "eval"]


class Rollouts:
    """The newest completions since they were last taken, with their prompts.

    Parameters
    ----------
    most
        How many completions to keep, the newest.

    >>> rollouts = Rollouts()
    >>> reward = rollouts.watch(lambda prompts, completions, **kwargs: [float(len(c)) for c in completions])
    >>> reward(prompts=["2 + 2 =", "2 + 2 ="], completions=["four", "4"])
    [4.0, 1.0]
    >>> corpus = rollouts.take("step-1")
    >>> corpus.prompts, len(rollouts.take("step-2"))
    (['2 + 2 =', '2 + 2 ='], 0)
    """

    def __init__(self, most: int = 512) -> None:
        if most < 1:
            raise UsageError(f"rollouts is {most}", hint="keep one rollout or more")
        self.watched = False
        self.model: Any = None
        self._kept: dict[Mode, deque[dict[str, Any]]] = {"train": deque(maxlen=most), "eval": deque(maxlen=most)}

    def watch(self, reward: Reward | None = None) -> Reward:
        """Wrap a reward function of TRL: it does what it did, and its completions are kept.

        Without a function, returns one that gives each completion 0, for trainers whose rewards are models.

        Raises
        ------
        UsageError
            A reward function is watched already (the trainer calls all of them with the same completions), or this is
            no function.
        """
        if self.watched:
            raise UsageError("a reward function is watched already", hint="watch one: all see the same completions")
        if reward is not None and (not callable(reward) or hasattr(reward, "parameters")):
            raise UsageError(
                f"{type(reward).__name__} is no reward function",
                hint="give the trainer watch() beside it, with reward_weights=[1.0, 0.0]",
            )
        self.watched = True
        if reward is None:
            return self._momus
        if inspect.iscoroutinefunction(reward):

            @functools.wraps(reward)
            async def watched_async(*arguments: Any, **keywords: Any) -> Any:
                self._keep(*arguments, **keywords)
                return await reward(*arguments, **keywords)

            return watched_async

        @functools.wraps(reward)
        def watched(*arguments: Any, **keywords: Any) -> Any:
            self._keep(*arguments, **keywords)
            return reward(*arguments, **keywords)

        # TRL names its metrics by the function; a functools.partial or an object has no name of its own
        watched.__name__ = getattr(reward, "__name__", type(reward).__name__)
        return watched

    def take(self, name: str, mode: Mode = "train") -> Corpus:
        """All completions since they were last taken, as a corpus; completions of one prompt have its id.

        Of chats, the assistant's turns are the text. In evaluation, ``mode`` chooses the completions that the trainer
        wrote in evaluation mode.
        """
        records = list(self._kept[mode])
        self._kept[mode].clear()
        if not records:
            return Corpus.from_texts([], name=name)
        return read_corpus(records, name, field="completion", prompt="prompt")

    def has(self, mode: Mode) -> bool:
        """Whether there are completions of this mode."""
        return bool(self._kept[mode])

    def _momus(self, prompts: Sequence[Any], completions: Sequence[Any], **keywords: Any) -> list[float]:
        """A reward of 0 for each completion."""
        self._keep(prompts, completions)
        return [0.0] * len(completions)

    def _keep(self, prompts: Sequence[Any], completions: Sequence[Any], *_: Any, **keywords: Any) -> None:
        mode: Mode = "eval" if self.model is not None and not self.model.training else "train"
        for prompt, completion in zip(prompts, completions, strict=True):
            key = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, default=str)
            self._kept[mode].append({"prompt": key, "completion": completion})
