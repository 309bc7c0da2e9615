"""Who answers: a language model behind an address with the chat completions of OpenAI, or one in this process."""

from __future__ import annotations

import json
import math
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Protocol

import numpy as np

from momus.critic.tools import token_batches
from momus.errors import UsageError
from momus.numeric.types import Floats, Ints
from momus.redact import redacted
from momus.sequences import Sequences
from momus.text.counting import clipped
from momus_adapters.asking.question import Answer, Question
from momus_adapters.language_models.openai import Failed, OpenAIServer
from momus_adapters.language_models.transformers import TransformersLM

SHOWN = 300
"""Characters of an utterance that are kept."""
TOKENS = 16
"""Tokens of an answer, unless the user says otherwise."""
ALTERNATIVES = 20
"""Alternatives to the first token whose probabilities a server is asked for."""
SURE = 0.5
"""Probability that the words to choose from must have together, for their shares of it to count."""
_PLACE = "\ue000"


class Labeller(Protocol):
    """Answers a question about texts."""

    name: str

    def answers(self, question: Question, texts: Sequence[str]) -> Iterator[tuple[int, Answer | Failed]]:
        """The number of each text and its answer, or why there is none, as they come."""
        ...


class ServerLabeller:
    """A model behind an address.

    Parameters
    ----------
    server
        The server.
    body
        What each request holds beside the prompt: null leaves out what it would hold otherwise.
    """

    def __init__(self, server: OpenAIServer, body: Mapping[str, Any] | None = None) -> None:
        self.name, self._server = server.model, server
        fields = {"model": server.model, "temperature": 0, "max_tokens": TOKENS, **(body or {})}
        self.body = {name: value for name, value in fields.items() if value is not None}
        self._alternatives = {"logprobs": True, "top_logprobs": ALTERNATIVES}

    def answers(self, question: Question, texts: Sequence[str]) -> Iterator[tuple[int, Answer | Failed]]:
        """The number of each text and its answer, as they come from several requests at once."""
        waiting, taking, stopped = iter(range(len(texts))), threading.Lock(), threading.Event()
        done: queue.Queue[tuple[int, Answer | Exception]] = queue.Queue()

        def work() -> None:
            while not stopped.is_set():
                with taking:
                    number = next(waiting, None)
                if number is None:
                    return
                try:
                    done.put((number, self._answer(question, texts[number])))
                except Exception as error:  # told by the thread that waits
                    done.put((number, error))

        # threads that end with the program: an interrupted one does not wait for a server
        for _ in range(min(self._server.concurrency, len(texts))):
            threading.Thread(target=work, daemon=True).start()
        try:
            for _ in texts:
                number, answer = done.get()
                if isinstance(answer, Exception) and not isinstance(answer, Failed):
                    raise answer
                yield number, answer
        finally:
            stopped.set()

    def _answer(self, question: Question, text: str) -> Answer:
        more = self._alternatives if question.bounds is None else {}
        messages = [{"role": "user", "content": question.prompt(text)}]
        try:
            reply = self._server.post("chat/completions", {**more, **self.body, "messages": messages})
        except Failed as failed:
            if failed.status not in (400, 422) or not more:
                raise
            self._alternatives = {}  # the server does not know them
            return self._answer(question, text)
        try:
            choice = reply["choices"][0]
            said = choice["message"]["content"]
        except (KeyError, IndexError, TypeError):
            return Answer(None, clipped(redacted(json.dumps(reply)), SHOWN))
        said = said if isinstance(said, str) else ""
        value = question.read(said)
        weights = weights_of(choice.get("logprobs"), question.answers) if isinstance(value, str) else None
        # probabilities of the first token say something else where a model thinks before it answers
        weights = weights if weights and max(weights, key=weights.__getitem__) == value else None
        return Answer(value, clipped(redacted(said), SHOWN), weights)


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
    total = sum(weights.values())  # NaN compares as false
    return {word: p / total for word, p in weights.items()} if total >= SURE else None


class LocalLabeller:
    """A causal model in this process: it answers with the most probable choice, and gives the probability of each.

    Parameters
    ----------
    model
        Its prompts follow the template of its tokenizer, if it has one.
    """

    def __init__(self, model: TransformersLM) -> None:
        self.name, self._model = PurePath(model.name).name, model
        self._before, self._after, self._space = self._framed()

    def _framed(self) -> tuple[Ints, Ints, str]:
        """Token ids before and after a prompt, and what stands before an answer."""
        tokenizer, before, after, space = self._model.tokenizer, "", "\nAnswer:", " "
        if getattr(tokenizer, "chat_template", None):
            message = [{"role": "user", "content": _PLACE}]
            whole: str = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
            before, _, after = whole.partition(_PLACE)
            before, space = before.removeprefix(tokenizer.bos_token or ""), ""  # every sequence begins with it
        ids = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (before, after))
        first, second = (np.asarray(row, dtype=np.int64) for row in ids)
        return first, second, space

    def answers(self, question: Question, texts: Sequence[str]) -> Iterator[tuple[int, Answer | Failed]]:
        """The number of each text and its answer; texts that the window does not hold are not cut."""
        choices = question.choices
        words = self._model.encode([self._space + choice for choice in choices])
        prompts = self._model.encode([question.prompt(text) for text in texts])
        longest = self._model.window - int(words.lengths.max()) - 2
        rows = [np.concatenate([self._before, prompts[i], self._after]) for i in range(len(texts))]
        for i, row in enumerate(rows):
            if len(row) > longest:
                yield i, Answer(None, f"(the prompt has {len(row):,} tokens, and the model reads {longest:,})")
        short = [i for i, row in enumerate(rows) if len(row) <= longest]
        size = self._model.at_once(longest, len(choices))
        for batch in token_batches([len(rows[i]) for i in short], size * longest):
            numbers = [short[i] for i in batch.tolist()]
            for number, logs in zip(numbers, self._logs([rows[i] for i in numbers], words), strict=True):
                p = np.exp(logs - np.logaddexp.reduce(logs))
                best = choices[int(p.argmax())]
                weights = dict(zip(choices, p.tolist(), strict=True))
                yield number, Answer(best, best, weights) if question.bounds is None else Answer(int(best), best)

    def _logs(self, prompts: Sequence[Ints], words: Sequences) -> Floats:
        """log p of each choice and the end after each prompt, (B, K): prompts are read once, choices step by step."""
        import torch

        model, n, k = self._model, len(prompts), len(words)
        state, logits = model.start(Sequences.of(prompts))
        copies = torch.arange(n, device=logits.device).repeat_interleave(k)
        state, logits = model.select(state, copies), logits[copies]  # (B K, V)
        # one column more than the longest choice, which holds its end
        columns = torch.from_numpy(words.padded(model.end)).to(logits.device).repeat(n, 1)
        columns = torch.nn.functional.pad(columns, (0, 1), value=model.end)
        lengths = torch.from_numpy(words.lengths).to(logits.device).repeat(n)
        total = torch.zeros(n * k, dtype=torch.float64, device=logits.device)
        for t in range(columns.shape[1]):
            logs = torch.log_softmax(logits.double(), dim=1).gather(1, columns[:, t : t + 1])[:, 0]
            total += torch.where(t <= lengths, logs, 0.0)
            if t + 1 < columns.shape[1]:
                state, logits = model.step(state, columns[:, t])
        values = total.reshape(n, k).cpu().numpy()
        if not np.isfinite(values).all():
            raise UsageError(f"{self.name} returns log-probabilities that are not finite", hint="use precision float32")
        return np.asarray(values)
