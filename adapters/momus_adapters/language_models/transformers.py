"""Causal language models through ``transformers``: log p of texts, and sampled texts.

A model is any local folder, hub name or GGUF file that ``AutoModelForCausalLM`` reads. Documents longer than the
model's window are scored in overlapping windows and generated with a sliding context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from momus.errors import UsageError
from momus.sequences import Sequences
from momus_adapters.language_models.causal import CausalNetwork
from momus_adapters.transformers.encoder import load, quiet


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
        Number of documents generated at once; batches for scoring depend on document lengths.
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
        batch: int = 16,
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
        super().__init__(
            network.to(device, kinds[precision]).eval(),
            name=model,
            size=self.size,
            begin=first,
            end=last,
            window=tokens,
            device=device,
            batch=batch,
        )

    def _symbol(self, token: str, default: int | None) -> int:
        symbol = self.tokenizer.convert_tokens_to_ids(token) if token else default
        if symbol is None or not 0 <= symbol < self.size or (token and symbol == self.tokenizer.unk_token_id):
            missing = f"no token {token!r}" if token else "no token that ends a text"
            raise UsageError(f"{self.name} has {missing}", hint="name one of its tokens as begin and end")
        return int(symbol)

    @property
    def identity(self) -> str:
        """A hash of the settings and of a sample of each weight."""
        digest = hashlib.sha256(repr((self.begin, self.end, self.window, str(self.network.dtype))).encode())
        for name, weight in sorted(self.network.state_dict().items()):
            sample = weight.flatten()[:: max(1, weight.numel() // 64)][:64].double().cpu().numpy()
            digest.update(name.encode() + sample.tobytes())
        return digest.hexdigest()[:16]

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
