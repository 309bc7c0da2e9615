"""Causal language models through ``transformers``: log p of texts, and sampled texts, by windows and caches.

A model is any local folder, hub name or GGUF file that ``AutoModelForCausalLM`` reads. Documents longer than the
model's window are scored in overlapping windows and generated with a sliding context.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from momus.critic.tools import token_batches
from momus.errors import UsageError
from momus.numeric.devices import free_memory
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Ints
from momus.sequences import Sequences, SequenceScores, StepModel
from momus_adapters.transformers.encoder import all_threads, load, quiet

if TYPE_CHECKING:
    from torch import Tensor


TOKENS = 16_384  # maximum tokens per scored batch
# maximum tokens of a batch whose keys and values are kept while it is generated
CACHED = {"cpu": 1 << 14, "other": 1 << 18}
# maximum size of a batch's logits; on a CPU, more would only miss the cache
LOGITS = {"cpu": 1 << 22, "other": 1 << 27}
# bytes per logit: of scoring, in half and single precision with intermediate results; of sampling, in double precision
SCORING, SAMPLING = 16, 48


class Piece(NamedTuple):
    """One window of a sequence: ``start … stop`` is read, ``scored … stop`` is scored."""

    sequence: int
    start: int
    scored: int
    stop: int


def pieces(lengths: Ints, window: int) -> list[Piece]:
    """Cut sequences into windows: every token is scored once, after the first window given at least half a window.

    >>> [(p.start, p.scored, p.stop) for p in pieces(np.array([10]), 4)]
    [(0, 0, 4), (2, 4, 6), (4, 6, 8), (6, 8, 10)]
    """
    out, step = list[Piece](), window - window // 2
    for i, n in enumerate(lengths.tolist()):
        out.append(Piece(i, 0, 0, min(n, window)))
        stops = ((scored, min(n, scored + step)) for scored in range(window, n, step))
        out += [Piece(i, stop - window, scored, stop) for scored, stop in stops]
    return out


class CausalNetwork(StepModel):
    """A network with the interface of the causal language models of ``transformers``, over token ids.

    Every sequence begins with a begin symbol, which is not scored, and ends with an end symbol, which is. In sequences
    longer than the window, each token after the first window is scored given at least half a window before it.

    Parameters
    ----------
    network
        Called with ``input_ids`` (B, T), it returns ``logits`` (B, T, V); for sampling, also called with
        ``attention_mask``, ``past_key_values`` and ``use_cache``.
    size
        V.
    begin, end
        Ids of the symbols.
    window
        Maximum number of ids that the network reads at once.
    batch
        Sequences that are generated at once; 0: as many as `at_once` allows.
    cached
        Bytes of the keys and values of a token.
    """

    def __init__(
        self,
        network: Any,
        *,
        name: str,
        size: int,
        begin: int,
        end: int,
        window: int,
        device: str,
        batch: int = 0,
        cached: int = 0,
    ) -> None:
        self.network, self.name, self.size, self.begin, self.end = network, name, size, begin, end
        self.window, self.device, self.batch, self.cached = window, device, batch, cached
        self._takes_positions = "position_ids" in inspect.signature(network.forward).parameters

    @property
    def budget(self) -> int:
        """Maximum number of tokens per scored batch, padding included, whose logits take half of the free memory."""
        logits = LOGITS.get(self.device, LOGITS["other"])
        if (free := free_memory(self.device)) is not None:
            logits = min(logits, free // 2 // SCORING)
        return max(1, min(TOKENS, logits // self.size))

    def at_once(self, tokens: int, beams: int = 1) -> int:
        """Sequences of at most ``tokens`` tokens per batch: ``batch``, or by tokens and half of a GPU's free memory."""
        if self.batch:
            return self.batch
        tokens = min(tokens, self.window)
        rows = CACHED.get(self.device, CACHED["other"]) // tokens
        if (free := free_memory(self.device)) is not None:
            rows = min(rows, free // 2 // (tokens * self.cached + self.size * SAMPLING))
        return max(1, rows // beams)

    def score(self, sequences: Sequences, *, temperature: float = 1.0) -> SequenceScores:
        """log p of each token and of the end symbol, in nats.

        Raises
        ------
        UsageError
            The model returns non-finite numbers (in half precision, for example).
        """
        import torch

        offsets = offsets_of(sequences.lengths + 1)
        out = np.zeros(int(offsets[-1]))
        todo = pieces(sequences.lengths + 1, self.window)
        with torch.inference_mode(), all_threads():
            for rows in token_batches([p.stop - p.start for p in todo], self.budget):
                batch = [todo[i] for i in rows]
                inputs, targets = self._inputs(sequences, batch)
                logits = self.network(input_ids=inputs, use_cache=False).logits
                values = _log_p(logits, targets, temperature).double().cpu().numpy()
                # values[i, j] is log p of id start + j of piece i; only scored … stop belongs to the piece
                for row, piece in zip(values, batch, strict=True):
                    a = offsets[piece.sequence] + piece.scored
                    out[a : a + piece.stop - piece.scored] = row[piece.scored - piece.start : piece.stop - piece.start]
        if not np.isfinite(out).all():
            raise UsageError(f"{self.name} returns log-probabilities that are not finite", hint="use precision float32")
        return SequenceScores(out, offsets)

    def _inputs(self, sequences: Sequences, batch: Sequence[Piece]) -> tuple[Tensor, Tensor]:
        """Inputs and targets (the inputs shifted by one), int64 (B, T), padded at the end with the end symbol."""
        import torch

        width = max(p.stop - p.start for p in batch)
        rows = np.full((len(batch), width + 1), self.end, dtype=np.int64)
        for row, piece in zip(rows, batch, strict=True):
            framed = np.concatenate([[self.begin], sequences[piece.sequence], [self.end]])
            row[: piece.stop - piece.start + 1] = framed[piece.start : piece.stop + 1]
        whole = torch.from_numpy(rows).to(self.device)
        return whole[:, :-1], whole[:, 1:]

    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """Read the begin symbol and each prompt."""
        rows = [self._recent(np.concatenate([[self.begin], prompts[i]])) for i in range(len(prompts))]
        return self._read(rows)

    def _recent(self, ids: np.ndarray) -> np.ndarray:
        """The context, cut to its last half window once it fills the window."""
        return ids if len(ids) < self.window else ids[-(self.window // 2) :]

    def _read(self, rows: Sequence[np.ndarray]) -> tuple[_State, Tensor]:
        import torch

        contexts = Sequences.of(rows)  # padded on the left, (B, T): the last column is the latest token of every row
        ids = torch.from_numpy(contexts.padded(self.end, left=True)).to(self.device)
        ones = Sequences(np.ones_like(contexts.ids), contexts.offsets)
        mask = torch.from_numpy(ones.padded(0, left=True)).to(self.device)
        state = _State(None, ids, mask)
        return state, self._forward(state, ids)

    def _forward(self, state: _State, ids: Tensor) -> Tensor:
        import torch

        positions = {"position_ids": (state.mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]}
        with torch.no_grad(), all_threads():
            out = self.network(
                input_ids=ids,
                attention_mask=state.mask,
                past_key_values=state.cache,
                use_cache=True,
                logits_to_keep=1,
                **(positions if self._takes_positions else {}),
            )
        state.cache = out.past_key_values
        logits: Tensor = out.logits[:, -1].float()
        return logits

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Read one more token; once a context is full, every full one is cut to its last half window and read again."""
        import torch

        state.ids = torch.cat([state.ids, tokens[:, None]], dim=1)
        state.mask = torch.cat([state.mask, torch.ones_like(state.mask[:, :1])], dim=1)
        if int(state.mask.sum(dim=1).max()) < self.window:
            return state, self._forward(state, tokens[:, None])
        lengths = state.mask.sum(dim=1).tolist()
        ids = state.ids.cpu().numpy()
        return self._read([self._recent(row[len(row) - n :]) for row, n in zip(ids, lengths, strict=True)])

    def select(self, state: Any, rows: Tensor) -> Any:
        """Keep these rows; the state that is passed in is modified."""
        state.cache.batch_select_indices(rows)
        state.ids, state.mask = state.ids[rows], state.mask[rows]
        return state


def key_value_size(config: Any) -> int:
    """Numbers in the keys and values of a token: two vectors per layer and head; 0 for networks without attention."""
    heads = getattr(config, "num_attention_heads", 0)
    if not heads:
        return 0
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return 2 * int(config.num_hidden_layers * (getattr(config, "num_key_value_heads", None) or heads) * width)


@dataclass
class _State:
    cache: Any
    ids: Tensor
    mask: Tensor


def _log_p(logits: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """log p of the targets, (B, T), without a second copy of the logits."""
    import torch

    scaled = logits.float() if temperature == 1.0 else logits.float() / temperature
    return scaled.gather(2, targets[:, :, None])[:, :, 0] - torch.logsumexp(scaled, dim=2)


class TransformersLM(CausalNetwork):
    """A causal language model as scorer and generator of texts; see `CausalNetwork`.

    Parameters
    ----------
    model
        A folder, a name on the model hub, or a ``.gguf`` file.
    device
        Torch device.
    precision
        ``auto`` (bfloat16 on a GPU, float32 on a CPU), ``float32``, ``bfloat16`` or ``float16``. Half precision changes
        log p of a token by about 0.01 nats, and occasionally makes a sampled text depend on the batch.
    batch
        Number of documents generated at once; 0: by their tokens and the free memory. Batches for scoring always are.
    window
        Tokens of context, begin symbol included; 0 uses the model's maximum.
    begin, end
        Tokens that begin and end a document; default: those of the tokenizer, and its end for a missing begin.

    Raises
    ------
    UsageError
        The model cannot be loaded, or has no end token.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str = "cpu",
        precision: str = "auto",
        batch: int = 0,
        window: int = 0,
        begin: str = "",
        end: str = "",
    ) -> None:
        import torch

        kinds = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
        kinds["auto"] = torch.bfloat16 if device.startswith("cuda") else torch.float32
        if precision not in kinds:
            raise UsageError(f"precision is {precision!r}", hint=f"choose one of {', '.join(sorted(kinds))}")
        network, self.tokenizer = load("AutoModelForCausalLM", model)
        self.name, config = model, network.config.get_text_config()
        self.size = int(config.vocab_size)
        last = self._symbol(end, self.tokenizer.eos_token_id)
        bos = self.tokenizer.bos_token_id
        first = self._symbol(begin, last if bos is None else bos)
        most = getattr(config, "max_position_embeddings", None)
        tokens = int(window or most or 1024)
        if tokens < 4 or (most and tokens > most):
            allowed = f"4 to {most}" if most else "at least 4"
            raise UsageError(f"a window of {tokens} tokens for {model}", hint=f"give {allowed}")
        network = network.to(device, kinds[precision]).eval()
        super().__init__(
            network,
            name=model,
            size=self.size,
            begin=first,
            end=last,
            window=tokens,
            device=device,
            batch=batch,
            cached=key_value_size(config) * network.dtype.itemsize,
        )

    def _symbol(self, token: str, default: int | None) -> int:
        symbol = self.tokenizer.convert_tokens_to_ids(token) if token else default
        if symbol is None or not 0 <= symbol < self.size or (token and symbol == self.tokenizer.unk_token_id):
            missing = f"no token {token!r}" if token else "no token that ends a text"
            raise UsageError(f"{self.name} has {missing}", hint="name one of its tokens as begin and end")
        return int(symbol)

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Token ids of texts; special tokens within a text are read as plain characters."""
        with quiet():
            rows = self.tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return Sequences.of(rows)

    def decode(self, sequences: Sequences) -> list[str]:
        """Texts of token ids, without special tokens."""
        rows = [sequences[i].tolist() for i in range(len(sequences))]
        texts: list[str] = self.tokenizer.batch_decode(
            rows, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return texts

    def continuations(self, prompts: Sequences | None, sequences: Sequences) -> list[str]:
        """Texts of sampled ids, decoded together with their prompts: tokenizers treat a first word differently."""
        if prompts is None:
            return self.decode(sequences)
        both = Sequences.of([np.concatenate([prompts[i], sequences[i]]) for i in range(len(sequences))])
        before, whole = self.decode(prompts), self.decode(both)
        return [w[len(b) :] if w.startswith(b) else w for b, w in zip(before, whole, strict=True)]
