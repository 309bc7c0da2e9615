"""Who answers: a language model behind an address with the chat completions of OpenAI, or one in this process."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.pool import ThreadPool
from pathlib import PurePath
from typing import Any

import numpy as np

from momus.numeric.types import Ints
from momus.redact import redacted
from momus.sequences import Sequences
from momus.text.counting import clipped
from momus_adapters.asking.question import Answer, Question
from momus_adapters.language_models.openai import OpenAIServer, Refused
from momus_adapters.language_models.transformers import TransformersLM

SHOWN = 300  # characters of an utterance that are kept
BODY: Mapping[str, Any] = {"temperature": 0, "max_tokens": 16}
PROBABILITIES: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
SURE = 0.5  # probability that the answers must have together, for their shares of it to count
AT_ONCE = 16  # texts that a local model is asked about at once
_PLACE = "\ue000"


class ServerLabeller:
    """A model behind an address; ``body`` is what requests hold beside the prompt, None what they do not."""

    def __init__(self, server: OpenAIServer, body: Mapping[str, Any]) -> None:
        self.name, self._server = server.model, server
        fields = {"model": server.model, **BODY, **body}
        self.body = {name: value for name, value in fields.items() if value is not None}

    def answers(self, question: Question, texts: Sequence[str]) -> Iterator[tuple[int, Answer]]:
        """The number of each text and its answer, as they come."""
        # its threads end with the program: an interrupted one does not wait for the server
        with ThreadPool(self._server.concurrency) as pool:
            yield from pool.imap_unordered(lambda i: (i, self._answer(question, texts[i])), range(len(texts)))

    def _answer(self, question: Question, text: str) -> Answer:
        messages = [{"role": "user", "content": question.prompt(text)}]
        try:
            reply = self._server.post("chat/completions", {**self.body, "messages": messages})
        except Refused as refused:  # this text, which may be too long
            return Answer(str(refused), refused=True)
        try:
            choice = reply["choices"][0]
            said = str(choice["message"]["content"] or "")
        except (KeyError, IndexError, TypeError):
            choice, said = {}, json.dumps(reply)
        if choice.get("finish_reason") == "content_filter":
            return Answer("the server's filter of content", refused=True)
        label, weights = question.read(said), weights_of(choice.get("logprobs"), question.answers)
        # the first token says something else where a model thinks before it answers
        likely = weights and max(weights, key=weights.__getitem__) == label
        return Answer(clipped(redacted(said), SHOWN), weights if likely else label)


def weights_of(logprobs: Any, answers: Sequence[str]) -> dict[str, float] | None:
    """The probability of each answer by the alternatives to the first token; None if they do not tell answers apart.

    >>> top = [{"token": "Yes", "logprob": -0.1}, {"token": " no", "logprob": -2.4}, {"token": "?", "logprob": -9}]
    >>> round(weights_of({"content": [{"top_logprobs": top}]}, ("yes", "no"))["yes"], 4)
    0.9089
    """
    weights = dict.fromkeys(answers, 0.0)
    try:
        for top in logprobs["content"][0]["top_logprobs"]:
            token = top["token"].strip().casefold()
            begun = [word for word in answers if token and word.casefold().startswith(token)]
            if len(begun) == 1:
                weights[begun[0]] += math.exp(min(float(top["logprob"]), 0.0))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None
    total = sum(weights.values())  # a comparison with NaN is false
    return {word: round(p / total, 6) for word, p in weights.items()} if total >= SURE else None


class LocalLabeller:
    """A causal model in this process, asked by its tokenizer's template; it tells the probability of each choice."""

    def __init__(self, model: TransformersLM) -> None:
        self.name, self._model = PurePath(model.name).name, model
        tokenizer, before, after, self._space = model.tokenizer, "", "\nAnswer:", " "
        if getattr(tokenizer, "chat_template", None):
            message = [{"role": "user", "content": _PLACE}]
            whole: str = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
            before, _, after = whole.partition(_PLACE)
            before, self._space = before.removeprefix(tokenizer.bos_token or ""), ""  # every sequence begins with it
        ids = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (before, after))
        self._before, self._after = (np.asarray(row, dtype=np.int64) for row in ids)

    def answers(self, question: Question, texts: Sequence[str]) -> Iterator[tuple[int, Answer]]:
        """The number of each text and its answer; texts that the window does not hold are refused, and not cut."""
        choices, model = question.answers, self._model
        words = model.encode([self._space + choice for choice in choices])
        longest = model.window - int(words.lengths.max()) - 2
        for start in range(0, len(texts), AT_ONCE):
            prompts = model.encode([question.prompt(text) for text in texts[start : start + AT_ONCE]])
            rows = {start + i: np.concatenate([self._before, prompts[i], self._after]) for i in range(len(prompts))}
            short: dict[int, Ints] = {i: row for i, row in rows.items() if len(row) <= longest}
            for i in rows.keys() - short.keys():
                yield i, Answer(f"the prompt is longer than the {longest:,} tokens that the model reads", refused=True)
            # each prompt with each choice: log p of the choice and of the end, (texts, choices)
            pairs = [np.concatenate([row, words[k]]) for row in short.values() for k in range(len(choices))]
            scores = model.score(Sequences.of(pairs))
            tails = [scores[j][len(row) - len(words[j % len(choices)]) :].sum() for j, row in enumerate(pairs)]
            for i, logs in zip(short, np.reshape(tails, (-1, len(choices))), strict=True):
                p = np.exp(logs - np.logaddexp.reduce(logs)).round(6)
                best = choices[int(p.argmax())]
                yield i, Answer(best, int(best) if question.numbers else dict(zip(choices, p.tolist(), strict=True)))
