"""Word-level networks for `long_memory.py`: an LSTM, the same with a continuous cache, and a transformer.

All are small enough for one CPU thread. Words are numbered by falling frequency, because the output layer is an
adaptive softmax (Grave et al. 2017a), which is exact and spends little on rare words. The text is one running stream:
training carries the LSTM's state from chunk to chunk, and generation never resets it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Stream = NDArray[np.int64]


@dataclass(frozen=True)
class Recipe:
    """Sizes and training of a network; ``chunk`` is the number of words of back-propagation and of a window."""

    kind: str
    width: int
    layers: int
    chunk: int
    rows: int
    epochs: int
    rate: float
    dropout: float = 0.1


RECIPES = {
    "LSTM": Recipe("lstm", width=200, layers=1, chunk=35, rows=32, epochs=2, rate=4e-3, dropout=0.2),
    "transformer": Recipe("transformer", width=128, layers=2, chunk=128, rows=8, epochs=1, rate=2e-3),
}


class Words(nn.Module):
    """Embedding, a body that subclasses define, and an adaptive softmax over V words."""

    def __init__(self, words: int, width: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, sparse=True)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.AdaptiveLogSoftmaxWithLoss(width, words, [2000, 10_000], div_value=2.0)

    def draw(self, hidden: Tensor, rng: torch.Generator) -> Tensor:
        """Draw the next word of each row of (B, width): first the word or the cluster of rare words, then its word."""
        head = self.head.head(hidden).double()
        first = head.shape[1] - self.head.n_clusters
        drawn = torch.multinomial(head.softmax(dim=1), 1, generator=rng)[:, 0]
        for cluster, tail in enumerate(self.head.tail):
            rows = torch.nonzero(drawn == first + cluster)[:, 0]
            if len(rows):
                p = tail(hidden[rows]).double().softmax(dim=1)
                drawn[rows] = self.head.cutoffs[cluster] + torch.multinomial(p, 1, generator=rng)[:, 0]
        return drawn


class Lstm(Words):
    """An LSTM with one softmax layer."""

    def __init__(self, words: int, recipe: Recipe) -> None:
        super().__init__(words, recipe.width, recipe.dropout)
        self.lstm = nn.LSTM(recipe.width, recipe.width, recipe.layers, batch_first=True)

    def forward(self, ids: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Hidden states (B, T, width) after each id, and the state to continue from."""
        out, state = self.lstm(self.dropout(self.embedding(ids)), state)
        return self.dropout(out), tuple(s.detach() for s in state)


class Block(nn.Module):
    """One layer of a transformer, normalised before each part, with keys and values of earlier words as its state."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = max(1, width // 32), nn.Dropout(dropout)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.reads, self.mixes = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """(B, T, width) to the same; with a ``past``, T must be 1."""
        b, t, width = x.shape
        # queries, keys, values: each (B, heads, T, width / heads)
        q, k, v = self.reads(self.before(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.dropout(self.mixes(mixed.transpose(1, 2).reshape(b, t, width)))
        return x + self.dropout(self.dense(self.between(x))), (k, v)


class Transformer(Words):
    """A decoder with learned positions, which reads at most ``chunk`` words."""

    def __init__(self, words: int, recipe: Recipe) -> None:
        super().__init__(words, recipe.width, recipe.dropout)
        self.window = recipe.chunk
        self.positions = nn.Parameter(0.02 * torch.randn(recipe.chunk, recipe.width))
        self.blocks = nn.ModuleList(Block(recipe.width, recipe.dropout) for _ in range(recipe.layers))
        self.last = nn.LayerNorm(recipe.width)

    def forward(self, ids: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Hidden states (B, T, width) after each id, and keys and values to continue from."""
        at = 0 if state is None else state[0][0].shape[2]
        x = self.dropout(self.embedding(ids) + self.positions[at : at + ids.shape[1]])
        kept = []
        for i, block in enumerate(self.blocks):
            x, pair = block(x, None if state is None else state[i])
            kept.append(pair)
        return self.last(x), kept


def build(recipe: Recipe, words: int, seed: int = 0) -> Lstm | Transformer:
    """Build an untrained network."""
    torch.manual_seed(seed)
    return Lstm(words, recipe) if recipe.kind == "lstm" else Transformer(words, recipe)


def batches(stream: Stream, rows: int, chunk: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Cut a stream into ``rows`` long rows, read side by side: inputs and the words that follow, (rows, T)."""
    length = (len(stream) - 1) // rows
    inputs = torch.from_numpy(stream[: rows * length]).view(rows, length)
    targets = torch.from_numpy(stream[1 : rows * length + 1]).view(rows, length)
    for a in range(0, length, chunk):
        yield inputs[:, a : a + chunk], targets[:, a : a + chunk]


def train(name: str, stream: Stream, valid: Stream, words: int, folder: Path, minutes: float) -> tuple[Any, bool]:
    """Train for ``minutes`` at most, from the checkpoint in ``folder``; return the network and whether it is done.

    Adam, with a linear warm-up and a cosine decay to zero over all epochs, gradients clipped at norm 1 (LSTM: .25).
    """
    recipe = RECIPES[name]
    net = build(recipe, words)
    dense = torch.optim.AdamW([p for n, p in net.named_parameters() if n != "embedding.weight"], weight_decay=0.01)
    sparse = torch.optim.SparseAdam([net.embedding.weight])
    per_epoch = sum(1 for _ in batches(stream, recipe.rows, recipe.chunk))
    total = recipe.epochs * per_epoch
    path, done, seconds = folder / f"{name}.pt", 0, 0.0
    state: Any = None
    if path.exists():
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["net"])
        dense.load_state_dict(kept["dense"])
        sparse.load_state_dict(kept["sparse"])
        done, seconds, state = kept["done"], kept["seconds"], kept["state"]
    net.train()
    begun, before = time.process_time(), done
    while done < total and time.process_time() - begun < 60 * minutes:
        for number, (inputs, targets) in enumerate(batches(stream, recipe.rows, recipe.chunk)):
            if number < done % per_epoch:
                continue
            if number == 0 or recipe.kind != "lstm":
                state = None
            torch.manual_seed(done)  # the dropout of a resumed run is that of an uninterrupted one
            share = done / total
            rate = recipe.rate * min(1.0, (done + 1) / 200) * 0.5 * (1 + math.cos(math.pi * share))
            for optimizer in (dense, sparse):
                for group in optimizer.param_groups:
                    group["lr"] = rate
                optimizer.zero_grad(set_to_none=True)
            hidden, state = net(inputs, state)
            loss = net.head(hidden.flatten(0, 1), targets.flatten()).loss
            loss.backward()
            nn.utils.clip_grad_norm_(
                [p for n, p in net.named_parameters() if n != "embedding.weight"],
                0.25 if recipe.kind == "lstm" else 1.0,
            )
            dense.step()
            sparse.step()
            done += 1
            if done % 200 == 0:
                spent = seconds + time.process_time() - begun
                print(f"{name}: step {done:,} of {total:,}, loss {loss.item():.3f}, {spent:.0f} CPU s", flush=True)
            if time.process_time() - begun >= 60 * minutes:
                break
    seconds += time.process_time() - begun
    kept_state = state if recipe.kind == "lstm" else None
    torch.save(
        {
            "net": net.state_dict(),
            "dense": dense.state_dict(),
            "sparse": sparse.state_dict(),
            "done": done,
            "seconds": seconds,
            "state": kept_state,
        },
        path,
    )
    net.eval()
    if done == before:
        return net, True
    perplexity = math.exp(-float(np.mean(scored(net, valid)[0])))
    print(f"{name}: {done:,} of {total:,} steps, {seconds:.0f} CPU s, perplexity {perplexity:.2f} on valid", flush=True)
    return net, done == total


def seconds_of(name: str, folder: Path) -> float:
    """CPU seconds of the training."""
    return float(torch.load(folder / f"{name}.pt", weights_only=True)["seconds"])


def scored(net: Any, stream: Stream) -> tuple[NDArray[np.float64], Tensor]:
    """log p of each word but the first, in nats, and the hidden state that predicted it, (N − 1, width).

    The LSTM reads the stream from its beginning. The transformer reads windows that overlap by half; the words of the
    second half of each window are scored (in the first window all), so each has at least half a window before it.
    """
    ids = torch.from_numpy(stream)
    inputs, targets = ids[:-1], ids[1:]
    hidden = []
    with torch.inference_mode():
        if isinstance(net, Lstm):
            state = None
            for a in range(0, len(inputs), 1000):
                out, state = net(inputs[None, a : a + 1000], state)
                hidden.append(out[0])
        else:
            half = net.window // 2
            for a in range(0, len(inputs), half):
                begin = max(0, a - half)
                hidden.append(net(inputs[None, begin : a + half])[0][0, a - begin :])
        states = torch.cat(hidden)
        values = [net.head(states[a : a + 4096], targets[a : a + 4096]).output for a in range(0, len(targets), 4096)]
    return torch.cat(values).double().numpy(), states


def write(net: Any, words: int, first: int, chains: int, seed: int, cache: Cache | None = None) -> Stream:
    """Write ``words`` words as ``chains`` running texts side by side, one after the other in the result.

    Each begins with word ``first``, which is not part of the text. A full transformer window is emptied to its newest
    half.
    """
    rng = torch.Generator().manual_seed(seed)
    steps = -(-words // chains)
    out = torch.zeros((chains, steps + 1), dtype=torch.int64)
    out[:, 0] = first
    state: Any = None
    memory = None if cache is None else Memory(cache, chains, net.embedding.weight.shape[1])
    with torch.inference_mode():
        for t in range(steps):
            if isinstance(net, Transformer) and state is not None and state[0][0].shape[2] == net.window:
                hidden, state = net(out[:, t + 1 - net.window // 2 : t + 1])
            else:
                hidden, state = net(out[:, t : t + 1], state)
            last = hidden[:, -1]
            drawn = net.draw(last, rng)
            if memory is not None:
                drawn = memory.mixed(last, drawn, rng)
                memory.add(last, drawn)
            out[:, t + 1] = drawn
    return out[:, 1:].flatten().numpy()[:words]


@dataclass(frozen=True)
class Cache:
    """The continuous cache of Grave, Joulin & Usunier (2017): p = (1 − share) p_LSTM + share p_cache.

    p_cache(w) ∝ Σ exp(flatness · h_t · h_i) over the last ``window`` states h_i that were followed by w.
    """

    share: float
    flatness: float
    window: int = 2000


class Memory:
    """The last states of each chain, and the words that followed them; a ring buffer."""

    def __init__(self, cache: Cache, chains: int, width: int) -> None:
        self.cache = cache
        self.states = torch.zeros((chains, cache.window, width))
        self.words = torch.zeros((chains, cache.window), dtype=torch.int64)
        self.count = 0

    def add(self, hidden: Tensor, words: Tensor) -> None:
        """Keep states (B, width) and the words after them, (B,)."""
        at = self.count % self.cache.window
        self.states[:, at], self.words[:, at] = hidden, words
        self.count += 1

    def mixed(self, hidden: Tensor, drawn: Tensor, rng: torch.Generator) -> Tensor:
        """Replace the network's draw by one from the cache with probability ``share``, once the cache has words."""
        kept = min(self.count, self.cache.window)
        if not kept:
            return drawn
        rows = torch.nonzero(torch.rand(len(drawn), generator=rng) < self.cache.share)[:, 0]
        if not len(rows):
            return drawn
        logits = self.cache.flatness * torch.einsum("bnd,bd->bn", self.states[rows, :kept], hidden[rows])
        at = torch.multinomial(logits.double().softmax(dim=1), 1, generator=rng)
        drawn = drawn.clone()
        drawn[rows] = self.words[rows].gather(1, at)[:, 0]
        return drawn


def cached(stream: Stream, states: Tensor, flatness: float, window: int) -> NDArray[np.float64]:
    """p_cache of each word but the first, given the states of `scored`; 0 for the second, which has no cache."""
    ids = torch.from_numpy(stream[1:])
    out = np.zeros(len(ids))
    rows = 500
    with torch.inference_mode():
        for a in range(0, len(ids), rows):
            b, low = min(a + rows, len(ids)), max(0, a - window)
            logits = flatness * states[a:b] @ states[low:b].T  # (rows, states)
            # row t may use the states of positions t − window … t − 1
            position, time_ = torch.arange(low, b)[None, :], torch.arange(a, b)[:, None]
            logits = logits.masked_fill((position >= time_) | (position < time_ - window), -torch.inf)
            p = torch.nan_to_num(logits.softmax(dim=1))
            out[a:b] = (p * (ids[low:b][None, :] == ids[a:b, None])).sum(dim=1).numpy()
    return out


def mixed(cache: Cache, stream: Stream, base: NDArray[np.float64], states: Tensor) -> NDArray[np.float64]:
    """log p of each word but the first under the mixture of network and cache."""
    p = np.exp(base)
    memory = cached(stream, states, cache.flatness, cache.window)
    share = np.where(np.arange(len(p)) > 0, cache.share, 0.0)  # the first has no cache
    return np.asarray(np.log((1 - share) * p + share * memory))


def tuned(stream: Stream, base: NDArray[np.float64], states: Tensor, window: int = 2000, words: int = 50_000) -> Cache:
    """The share and flatness with the best perplexity on the first words of a stream."""
    part, p = stream[: words + 1], np.exp(base[:words])
    best = (math.inf, Cache(0.0, 0.0))
    for flatness in (0.1, 0.3, 0.6, 1.0):
        memory = cached(part, states[:words], flatness, window)
        for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
            loss = -float(np.log((1 - share) * p + share * memory)[1:].mean())
            best = min(best, (loss, Cache(share, flatness, window)), key=lambda pair: pair[0])
    return best[1]
