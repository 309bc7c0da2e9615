"""Causal language models through ``transformers``: log p of texts, and drawn texts.

Any local folder, hub name or GGUF file that ``AutoModelForCausalLM`` reads. Documents longer than the model's window
are scored in overlapping windows and written with a sliding context.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.errors import UsageError
from momus.sequences import Sequences, SequenceScores, StepModel
from momus.sequences.interfaces import Advance
from momus_adapters.transformers_encoder import load, quiet
from momus_adapters.windows import Piece, batches, pieces

if TYPE_CHECKING:
    from torch import Tensor

LOGITS = 1 << 27  # numbers in one batch's logits: half a gigabyte in single precision
TOKENS = 16_384  # of a batch at most


class TransformersLM(StepModel):
    """A causal language model as scorer and generator.

    Every sequence begins after the begin symbol, which is not scored, and its end symbol is. A token of a document
    that is longer than the window is scored given at least half a window before it.

    Parameters
    ----------
    model
        A folder, a name on the model hub, or a ``.gguf`` file.
    device
        Torch device.
    precision
        ``auto`` (bfloat16 on a GPU, float32 on a CPU), ``float32``, ``bfloat16`` or ``float16``. Half precision moves
        log p of a token by about 0.01 nats, and makes what is drawn depend on the batch now and then.
    batch
        Documents written at a time; documents are scored in batches by their lengths.
    window
        Tokens of context, begin symbol included; 0 takes the model's own.
    begin, end
        Tokens that begin and end a document; default: the tokenizer's own, and its end for a missing begin.

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
        batch: int = 16,
        window: int = 0,
        begin: str = "",
        end: str = "",
    ) -> None:
        network, tokenizer = load("AutoModelForCausalLM", model)
        self._use(network, tokenizer, model, device, precision, batch, window, begin, end)

    @classmethod
    def of(cls, network: Any, tokenizer: Any, name: str = "model", **options: Any) -> TransformersLM:
        """Use a network and a tokenizer that are already in memory; further options as above."""
        made = cls.__new__(cls)
        known = {"device": "cpu", "precision": "auto", "batch": 16, "window": 0, "begin": "", "end": ""}
        made._use(network, tokenizer, name, **{**known, **options})
        return made

    def _use(
        self,
        network: Any,
        tokenizer: Any,
        name: str,
        device: str,
        precision: str,
        batch: int,
        window: int,
        begin: str,
        end: str,
    ) -> None:
        import torch

        kinds = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
        kinds["auto"] = torch.bfloat16 if device.startswith("cuda") else torch.float32
        if precision not in kinds:
            raise UsageError(f"precision is {precision!r}", hint=f"choose one of {', '.join(sorted(kinds))}")
        self.name, self.device, self.batch = name, device, batch
        self.network, self.tokenizer = network.to(device, kinds[precision]).eval(), tokenizer
        self.size = int(network.config.get_text_config().vocab_size)
        self.end = self._symbol(end, tokenizer.eos_token_id)
        self.begin = self._symbol(begin, self.end if tokenizer.bos_token_id is None else tokenizer.bos_token_id)
        own = getattr(network.config.get_text_config(), "max_position_embeddings", None)
        self.window = int(window or own or 1024)
        if self.window < 4 or (own and self.window > own):
            raise UsageError(f"a window of {self.window} tokens", hint=f"{name} has room for 4 to {own}")
        self._placed = "position_ids" in inspect.signature(network.forward).parameters

    def _symbol(self, token: str, default: int | None) -> int:
        found = self.tokenizer.convert_tokens_to_ids(token) if token else default
        if found is None or not 0 <= found < self.size or (token and found == self.tokenizer.unk_token_id):
            what = f"no token {token!r}" if token else "no token that ends a text"
            raise UsageError(f"{self.name} has {what}", hint="name one of its tokens as begin and end")
        return int(found)

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Token ids; what looks like a special token in a text is read as plain characters."""
        with quiet():
            rows = self.tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return Sequences.of(rows)

    def decode(self, sequences: Sequences) -> list[str]:
        """Texts of token ids, without special tokens."""
        rows = [sequences[i].tolist() for i in range(len(sequences))]
        found: list[str] = self.tokenizer.batch_decode(
            rows, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return found

    def continuations(self, prompts: Sequences | None, sequences: Sequences) -> list[str]:
        """Texts of what was drawn, decoded behind their prompts, since tokenizers treat the first word apart."""
        if prompts is None:
            return self.decode(sequences)
        both = Sequences.of([np.concatenate([prompts[i], sequences[i]]) for i in range(len(sequences))])
        before, whole = self.decode(prompts), self.decode(both)
        return [w[len(b) :] if w.startswith(b) else w for b, w in zip(before, whole, strict=True)]

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """log p of each token and of the end symbol, in nats.

        Raises
        ------
        UsageError
            The model gives no finite numbers (in half precision, say).
        """
        import torch

        offsets = np.concatenate([[0], np.cumsum(sequences.lengths + 1)]).astype(np.int64)
        out = np.zeros(int(offsets[-1]))
        todo = pieces(sequences.lengths + 1, self.window)
        done = 0
        with torch.inference_mode():
            for some in batches(todo, max(1, min(TOKENS, LOGITS // self.size))):
                inputs, targets = self._inputs(sequences, some)
                logits = self.network(input_ids=inputs, use_cache=False).logits
                values = _log_p(logits, targets, temperature).double().cpu().numpy()
                for row, piece in zip(values, some, strict=True):
                    a = offsets[piece.sequence] + piece.scored
                    out[a : a + piece.stop - piece.scored] = row[piece.scored - piece.start : piece.stop - piece.start]
                done += sum(p.last for p in some)
                if progress is not None:
                    progress(done)
        if not np.isfinite(out).all():
            raise UsageError(f"{self.name} gives log-probabilities that are not finite", hint="take precision float32")
        return SequenceScores(out, offsets)

    def _inputs(self, sequences: Sequences, some: Sequence[Piece]) -> tuple[Tensor, Tensor]:
        """What the model reads and what it predicts, int64 (B, T), filled up at the end."""
        import torch

        width = max(p.stop - p.start for p in some)
        rows = np.full((len(some), width + 1), self.end, dtype=np.int64)
        for row, piece in zip(rows, some, strict=True):
            framed = np.concatenate([[self.begin], sequences[piece.sequence], [self.end]])
            row[: piece.stop - piece.start + 1] = framed[piece.start : piece.stop + 1]
        whole = torch.from_numpy(rows).to(self.device)
        return whole[:, :-1], whole[:, 1:]

    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """Read begin symbols and prompts."""
        rows = [self._recent(np.concatenate([[self.begin], prompts[i]])) for i in range(len(prompts))]
        return self._read(rows)

    def _recent(self, ids: np.ndarray) -> np.ndarray:
        """The last half window of a context that fills the window."""
        return ids if len(ids) < self.window else ids[-(self.window // 2) :]

    def _read(self, rows: Sequence[np.ndarray]) -> tuple[_State, Tensor]:
        import torch

        some = Sequences.of(rows)
        ids = torch.from_numpy(some.padded(self.end, left=True)).to(self.device)
        mask = torch.from_numpy(Sequences(np.ones_like(some.ids), some.offsets).padded(0, left=True)).to(self.device)
        state = _State(None, ids, mask)
        return state, self._forward(state, ids)

    def _forward(self, state: _State, ids: Tensor) -> Tensor:
        import torch

        places = {"position_ids": (state.mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]}
        with torch.no_grad():
            out = self.network(
                input_ids=ids,
                attention_mask=state.mask,
                past_key_values=state.cache,
                use_cache=True,
                logits_to_keep=1,
                **(places if self._placed else {}),
            )
        state.cache = out.past_key_values
        logits: Tensor = out.logits[:, -1].float()
        return logits

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Read one more token; a row whose context is full goes on with the last half of its window."""
        import torch

        state.ids = torch.cat([state.ids, tokens[:, None]], dim=1)
        state.mask = torch.cat([state.mask, torch.ones_like(state.mask[:, :1])], dim=1)
        if int(state.mask.sum(dim=1).max()) < self.window:
            return state, self._forward(state, tokens[:, None])
        lengths = state.mask.sum(dim=1).tolist()
        ids = state.ids.cpu().numpy()
        return self._read([self._recent(row[len(row) - n :]) for row, n in zip(ids, lengths, strict=True)])

    def select(self, state: Any, rows: Tensor) -> Any:
        """Keep these rows; the state that is handed in is used up."""
        state.cache.batch_select_indices(rows)
        state.ids, state.mask = state.ids[rows], state.mask[rows]
        return state


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
