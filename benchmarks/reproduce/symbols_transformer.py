"""A transformer over symbols that a CPU can train to good next words, for `synthetic.py`.

Each position adds hashed embeddings of the 2- to 8-grams that end there (as in the Byte Latent Transformer,
Pagnoni et al. 2024), so the network need not learn spelling by attention. All else is a plain decoder with rotary
positions and pre-normalisation. Training reads each sequence once per epoch, keeps a checkpoint every minute or so and
resumes from it; at a geometric series of steps it also keeps a copy of the network, whose word PPL and Latent PPL show
what is learned first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of each block, (B, heads, room, width / heads); room for symbols to come is filled in place."""


@dataclass(frozen=True)
class Recipe:
    """Sizes of the network and of its training."""

    letters: int
    width: int = 128
    layers: int = 2
    heads: int = 4
    longest_gram: int = 8
    slots: int = 65_536
    batch: int = 8
    epochs: int = 1
    rate: float = 3e-3

    @property
    def begin(self) -> int:
        """The symbol before each sequence."""
        return self.letters

    @property
    def pad(self) -> int:
        """The symbol after sequences that are shorter than others of their batch."""
        return self.letters + 1


class Grams(nn.Module):
    """The sum of a symbol's embedding and hashed embeddings of the n-grams that end in it."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe
        self.symbols = nn.Embedding(recipe.letters + 2, recipe.width)
        self.tables = nn.ModuleList(
            nn.Embedding(recipe.slots, recipe.width, sparse=True) for _ in range(recipe.longest_gram - 1)
        )
        for table in self.tables:
            assert isinstance(table, nn.Embedding)
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T) symbols to (B, T, width); what is before a sequence counts as its begin symbol."""
        out, code, before = self.symbols(x), x, x
        for n, table in enumerate(self.tables):
            before = functional.pad(before[:, :-1], (1, 0), value=self.recipe.begin)
            code = (code * 1_000_003 + before + 7919 * n) % (2**31 - 1)  # products stay below 2⁵¹
            out = out + table(code % self.recipe.slots)
        return torch.as_tensor(out)


class Block(nn.Module):
    """Attention and a dense part, both normalised before; the last layer of each begins at zero."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        width, self.heads = recipe.width, recipe.heads
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.reads, self.mixes = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.dense = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False)
        )
        for layer in (self.mixes, self.dense[2]):
            assert isinstance(layer, nn.Linear)
            nn.init.zeros_(layer.weight)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], past: tuple[Tensor, Tensor] | None, at: int) -> Tensor:
        """(B, T, width) to the same; with a ``past``, of the symbols before place ``at``, T must be 1."""
        b, t, width = x.shape
        # queries, keys, values: each (B, heads, T, width / heads)
        q, k, v = self.reads(self.before(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = rotated(q, turn), rotated(k, turn)
        if past is not None:
            for kept, new in zip(past, (k, v), strict=True):
                kept[:, :, at] = new[:, :, 0]
            k, v = (kept[:, :, : at + 1] for kept in past)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.mixes(mixed.transpose(1, 2).reshape(b, t, width))
        return torch.as_tensor(x + self.dense(self.between(x)))


def rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary positions (Su et al. 2021): pairs of (B, heads, T, d) turn by cosines and sines (T, d / 2)."""
    a, b = x.chunk(2, dim=-1)
    cosine, sine = turn
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], dim=-1)


class Network(nn.Module):
    """Grams, blocks and a softmax over the symbols."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.recipe, self.grams = recipe, Grams(recipe)
        self.blocks = nn.ModuleList(Block(recipe) for _ in range(recipe.layers))
        self.last = nn.RMSNorm(recipe.width)
        self.head = nn.Linear(recipe.width, recipe.letters, bias=False)
        nn.init.zeros_(self.head.weight)

    def forward(self, x: Tensor, past: Cache | None = None) -> Tensor:
        """Logits after each of (B, T) symbols, (B, T, letters); with a ``past``, after the last, (B, 1, letters).

        With a ``past``, all symbols before the last one must have been read with it, one after the other.
        """
        hidden = self.grams(x) if past is None else self.grams(x[:, -self.recipe.longest_gram :])[:, -1:]
        first = 0 if past is None else x.shape[1] - 1
        half = self.recipe.width // self.recipe.heads // 2
        angles = torch.arange(first, first + hidden.shape[1])[:, None] * 1000.0 ** (-torch.arange(half) / half)
        for i, block in enumerate(self.blocks):
            hidden = block(hidden, (angles.cos(), angles.sin()), None if past is None else past[i], first)
        return torch.as_tensor(self.head(self.last(hidden)))

    def cache(self, rows: int, room: int) -> Cache:
        """Empty keys and values."""
        shape = (rows, self.recipe.heads, room, self.recipe.width // self.recipe.heads)
        return [(torch.empty(shape), torch.empty(shape)) for _ in self.blocks]


def padded(sequences: list[list[int]], recipe: Recipe) -> Tensor:
    """Sequences after a begin symbol, padded on the right, (B, 1 + longest)."""
    rows = [torch.tensor([recipe.begin, *s]) for s in sequences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=recipe.pad)


def losses(net: Network, x: Tensor) -> Tensor:
    """−log P of each symbol after the first, 0 for padding, (B, T − 1)."""
    targets = x[:, 1:]
    shape = targets.shape
    targets = torch.where(targets == net.recipe.pad, -100, targets).flatten()
    logits = net(x[:, :-1]).flatten(0, 1)
    return functional.cross_entropy(logits, targets, ignore_index=-100, reduction="none").view(shape)


def order_of(data: list[list[int]], recipe: Recipe, seed: int) -> Iterator[list[int]]:
    """Batches of sequences of similar length; each epoch reads every batch once, in another order."""
    by_length = np.argsort([len(s) for s in data], kind="stable")
    groups = [by_length[i : i + recipe.batch].tolist() for i in range(0, len(data) - recipe.batch + 1, recipe.batch)]
    for epoch in range(recipe.epochs):
        for i in np.random.default_rng([seed, epoch]).permutation(len(groups)):
            yield groups[i]


def marks(steps: int) -> list[int]:
    """Steps whose network is kept: the last, and its halves down to a sixty-fourth."""
    return [max(1, steps >> k) for k in range(6, -1, -1)]


def train(
    data: list[list[int]], recipe: Recipe, folder: Path, seed: int, minutes: float = float("inf"), every: float = 60.0
) -> list[tuple[int, float, Path]]:
    """Train from the checkpoint in ``folder``; return (step, CPU seconds, file) of each kept network.

    AdamW, and Adam for the embeddings of n-grams; a linear warm-up, then a constant rate, which falls to nearly zero
    over the last two fifths. Stops after ``minutes`` of CPU time; call it again to continue.
    """
    torch.manual_seed(seed)
    net = Network(recipe)
    tables = list(net.grams.tables.parameters())
    dense = torch.optim.AdamW(
        [p for n, p in net.named_parameters() if not n.startswith("grams.tables")], betas=(0.9, 0.98), weight_decay=0.01
    )
    sparse = torch.optim.SparseAdam(tables)
    path, done, spent = folder / "training.pt", 0, 0.0
    if path.exists():
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["net"])
        dense.load_state_dict(kept["dense"])
        sparse.load_state_dict(kept["sparse"])
        done, spent = kept["done"], kept["spent"]
    steps = recipe.epochs * (len(data) // recipe.batch)
    begun = saved = time.process_time()

    def save() -> None:
        state = {"net": net.state_dict(), "dense": dense.state_dict(), "sparse": sparse.state_dict()}
        whole(path, state | {"done": done, "spent": spent + time.process_time() - begun})

    for number, some in enumerate(order_of(data, recipe, seed)):
        if number < done:
            continue
        share = number / steps
        rate = recipe.rate * min(1.0, (number + 1) / 50, (1 - share) / 0.4 + 0.01)
        for optimizer in (dense, sparse):
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad(set_to_none=True)
        x = padded([data[i] for i in some], recipe)
        loss = losses(net, x).sum() / (x[:, 1:] != recipe.pad).sum()
        loss.backward()
        dense.step()
        sparse.step()
        done = number + 1
        seconds = spent + time.process_time() - begun
        if done % 100 == 0:
            print(f"step {done:,} of {steps:,}, loss {loss.item():.3f}, {seconds:.0f} CPU s", flush=True)
        if done in marks(steps):
            whole(folder / f"step-{done}.pt", {"net": net.state_dict(), "spent": seconds})
        if time.process_time() - saved > every:
            save()
            saved = time.process_time()
        if time.process_time() - begun > 60 * minutes:
            break
    if time.process_time() > saved:
        save()
    found = [(step, folder / f"step-{step}.pt") for step in dict.fromkeys(marks(steps))]
    return [(s, float(torch.load(f, weights_only=True, mmap=True)["spent"]), f) for s, f in found if f.exists()]


def whole(path: Path, state: dict[str, object]) -> None:
    """Write a checkpoint, whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, path)


def loaded(path: Path, recipe: Recipe) -> Network:
    """Read a kept network."""
    net = Network(recipe)
    net.load_state_dict(torch.load(path, weights_only=True)["net"])
    return net.eval()


@torch.inference_mode()
def log_likelihood(net: Network, data: list[list[int]], batch: int = 32) -> NDArray[np.float64]:
    """log P(symbols) of each sequence, in nats, (sequences,)."""
    out = np.empty(len(data))
    order = np.argsort([len(s) for s in data], kind="stable")
    for i in range(0, len(order), batch):
        some = order[i : i + batch]
        out[some] = -losses(net, padded([data[j] for j in some], net.recipe)).double().sum(dim=1).numpy()
    return out


@torch.inference_mode()
def sample(net: Network, n: int, done: Callable[[list[int]], bool], longest: int, seed: int) -> list[list[int]]:
    """Draw ``n`` sequences at once, each until ``done`` says so or it has ``longest`` symbols."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.full((n, 1), net.recipe.begin)
    past = net.cache(n, longest)
    out: list[list[int]] = [[] for _ in range(n)]
    open_ = set(range(n))
    for _ in range(longest):
        drawn = torch.multinomial(net(x, past)[:, -1].double().softmax(dim=1), 1, generator=rng)
        x = torch.cat([x, drawn], dim=1)
        for i in list(open_):
            out[i].append(int(drawn[i]))
            if done(out[i]):
                open_.remove(i)
        if not open_:
            break
    return out
