"""Small language models over ids, trained from scratch (a transformer and an LSTM), for studies with known answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from momus.errors import FittingError, UsageError
from momus.numeric.types import Ints
from momus.progress import stage
from momus.sequences import Sequences
from momus_adapters.language_models.transformers import CausalNetwork

if TYPE_CHECKING:
    from torch import Tensor


def small_lm(
    kind: Literal["transformer", "lstm"],
    symbols: int,
    *,
    width: int = 128,
    layers: int = 2,
    window: int = 130,
    seed: int = 0,
    device: str = "cpu",
) -> CausalNetwork:
    """Build an untrained model over ids 0 … ``symbols`` − 1; the end symbol is ``symbols``, the begin symbol one more.

    Parameters
    ----------
    kind
        ``transformer`` (GPT-2's architecture) or ``lstm``.
    width
        Dimension of embeddings and hidden states.
    window
        Maximum number of ids that a transformer reads.

    >>> model = small_lm("lstm", 5, width=8)
    >>> model.score(Sequences.of([[0, 4]])).lengths.tolist()
    [3]
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if kind == "transformer":
            network = _transformer(symbols + 2, width, layers, window)
        elif kind == "lstm":
            network = _lstm(symbols + 2, width, layers)
        else:
            raise UsageError(f"kind is {kind!r}", hint="choose one of transformer, lstm")
    return CausalNetwork(
        network.to(device).eval(),
        name=kind,
        size=symbols + 1,
        begin=symbols + 1,
        end=symbols,
        window=window if kind == "transformer" else 1 << 30,
        device=device,
        batch=256,
    )


def _transformer(size: int, width: int, layers: int, window: int) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=size,
        n_embd=width,
        n_layer=layers,
        n_head=max(1, width // 32),
        n_positions=window,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=size - 1,
        eos_token_id=size - 2,
    )
    return _without_begin(GPT2LMHeadModel(config))


def _without_begin(network: Any) -> Any:
    """Remove the begin symbol's column from the logits: it is read, but never predicted."""
    forward = network.forward

    def trimmed(*args: Any, **kwargs: Any) -> Any:
        out = forward(*args, **kwargs)
        out.logits = out.logits[..., :-1]
        return out

    trimmed.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]
    network.forward = trimmed
    return network


@dataclass
class _Output:
    logits: Tensor
    past_key_values: Any = None


class _LstmState:
    """Hidden states of a batch, with row selection like the caches of ``transformers``."""

    def __init__(self, hidden: tuple[Tensor, Tensor]) -> None:
        self.hidden = hidden

    def batch_select_indices(self, rows: Tensor) -> None:
        self.hidden = (self.hidden[0][:, rows].contiguous(), self.hidden[1][:, rows].contiguous())


def _lstm(size: int, width: int, layers: int) -> Any:
    import torch

    class Lstm(torch.nn.Module):
        """Embedding, LSTM, and a softmax tied to the embedding."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(size, width)
            torch.nn.init.normal_(self.embedding.weight, std=0.05)
            self.lstm = torch.nn.LSTM(width, width, layers, batch_first=True)
            self.bias = torch.nn.Parameter(torch.zeros(size - 1))

        def forward(
            self,
            input_ids: Tensor,
            attention_mask: Tensor | None = None,
            past_key_values: Any = None,
            use_cache: bool = False,
            logits_to_keep: int = 0,
        ) -> _Output:
            if past_key_values is None and attention_mask is not None and not bool(attention_mask.all()):
                return self._padded(input_ids, attention_mask)
            hidden = past_key_values.hidden if past_key_values is not None else None
            out, last = self.lstm(self.embedding(input_ids), hidden)
            return _Output(self._logits(out[:, -logits_to_keep:]), _LstmState(last))

        def _padded(self, ids: Tensor, mask: Tensor) -> _Output:
            """Read prompts that are padded on the left: move the padding to the right, and read each to its end."""
            lengths = mask.sum(dim=1)
            columns = torch.arange(ids.shape[1], device=ids.device)
            shifted = (columns + (ids.shape[1] - lengths)[:, None]).clamp(max=ids.shape[1] - 1)  # (B, T)
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                self.embedding(ids.gather(1, shifted)), lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            _, last = self.lstm(packed)
            return _Output(self._logits(last[0][-1][:, None]), _LstmState(last))

        def _logits(self, out: Tensor) -> Tensor:
            return out @ self.embedding.weight[:-1].T + self.bias

    return Lstm()


def train(
    model: CausalNetwork,
    sequences: Sequences,
    validation: Sequences,
    *,
    epochs: int = 10,
    batch: int = 128,
    rate: float = 2e-3,
    seed: int = 0,
    even: bool = False,
    after_epoch: Callable[[int], None] | None = None,
) -> list[float]:
    """Train with AdamW; halve the rate whenever the validation loss rises; keep the weights of the best epoch.

    Parameters
    ----------
    batch
        Sequences per step; those of a batch have similar lengths.
    rate
        Initial learning rate.
    even
        Fill each batch with about as many tokens as every other, with ``batch`` sequences on average. The loss of a
        step is a mean over its tokens, so all tokens then weigh the same. Batches of equally many sequences give more
        weight to tokens of short sequences, and with them to the end symbol.
    after_epoch
        Called after each epoch with its number, with the weights of that epoch.

    Returns
    -------
    Validation loss after each epoch, in nats per token.

    Raises
    ------
    FittingError
        There are no training sequences or no validation sequences.
    """
    import torch

    if not len(sequences) or not len(validation):
        raise FittingError("training needs both training and validation sequences")
    rng = np.random.default_rng(seed)
    network = model.network
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    losses: list[float] = []
    best: dict[str, Any] = {}
    steps = -(-len(sequences) // batch)
    with stage(f"training {model.name}", epochs * steps) as advance:
        for epoch in range(epochs):
            network.train()
            for step, rows in enumerate(similar_lengths(sequences.lengths, batch, rng, even)):
                train_step(model, sequences.take(rows), optimizer)
                advance(epoch * steps + step + 1)
            network.eval()
            losses.append(-float(model.score(validation).log_probabilities.mean()))
            if losses[-1] == min(losses):
                best = {k: v.detach().clone() for k, v in network.state_dict().items()}
            elif losses[-1] > losses[-2]:
                for group in optimizer.param_groups:
                    group["lr"] /= 2
            if after_epoch is not None:
                after_epoch(epoch)
    network.load_state_dict(best)
    return losses


def similar_lengths(lengths: Ints, batch: int, rng: np.random.Generator, even: bool = False) -> list[Ints]:
    """Row numbers in batches of similar lengths, in random order; the assignment to batches is random each time.

    >>> rows = similar_lengths(np.array([9, 1, 8, 2]), 2, np.random.default_rng(0))
    >>> sorted(sorted(r.tolist()) for r in rows)
    [[0, 2], [1, 3]]

    With ``even``, batches have about equally many tokens:

    >>> lengths = np.array([1, 1, 1, 1, 4, 4])
    >>> sorted(len(rows) for rows in similar_lengths(lengths, 3, np.random.default_rng(0), even=True))
    [2, 4]
    """
    order = np.argsort(lengths + rng.random(len(lengths)) * 2, kind="stable")
    chunks = [order[a : a + batch] for a in range(0, len(order), batch)]
    if even:
        # the tokens before the middle of each sequence, its end symbol included, as a share of all: (sequences,)
        sizes = lengths[order] + 1
        middle = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
        number = (middle * len(chunks)).astype(np.int64)
        chunks = [order[number == i] for i in range(len(chunks)) if (number == i).any()]
    return [chunks[i] for i in rng.permutation(len(chunks))]


def train_step(model: CausalNetwork, sequences: Sequences, optimizer: Any) -> None:
    """Take one step on the mean cross-entropy per token, the end included, with gradients clipped at norm 1."""
    import torch

    # targets (B, T + 1): ids, the end symbol, then −1, which the loss ignores; inputs: the begin symbol, then ids
    ids = sequences.padded(-1)
    last = np.full((len(sequences), 1), -1, dtype=np.int64)
    targets = np.concatenate([ids, last], axis=1)
    targets[np.arange(len(sequences)), sequences.lengths] = model.end
    first = np.full((len(sequences), 1), model.begin, dtype=np.int64)
    inputs = np.concatenate([first, np.where(ids < 0, model.end, ids)], axis=1)
    logits = model.network(input_ids=torch.from_numpy(inputs).to(model.device)).logits
    target = torch.from_numpy(targets).to(model.device)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.network.parameters(), 1.0)
    optimizer.step()
