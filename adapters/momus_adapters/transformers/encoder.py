"""Encoders of the BERT family through ``transformers``: loading, batching, and sentence vectors.

A model is any local folder or hub name that ``AutoModel`` accepts; weights are read as safetensors, never unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic.tools import resource, token_batches
from momus.errors import MissingExtraError, UsageError
from momus.estimator import Estimator, check_params, parametrized
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.processes import usable_threads
from momus.progress import stage
from momus.sequences import Sequences
from momus.version import extra

Count = Annotated[int, Range(1)]
Precision = Literal["auto", "float32", "bfloat16", "float64"]
SPECIAL = ("cls_token", "sep_token", "pad_token", "unk_token", "mask_token", "bos_token", "eos_token")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep ``transformers`` from printing progress bars and advice."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)


def load(kind: str, model: str, **options: Any) -> tuple[Any, Any]:
    """Load a model class and its tokenizer.

    Parameters
    ----------
    kind
        Name of a ``transformers`` class, such as ``AutoModel``.
    model
        A folder, a name on the model hub, or a ``.gguf`` file.

    Raises
    ------
    UsageError
        The model does not exist or cannot be read.
    """
    import transformers

    if not model:
        raise UsageError("no model is given", hint='name a folder or a hub model: model = "…"')
    source: str = model
    file: dict[str, Any] = {"use_safetensors": True}
    if model.endswith(".gguf"):
        source, file = os.path.dirname(model) or ".", {"gguf_file": os.path.basename(model)}
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **file)
            network = getattr(transformers, kind).from_pretrained(source, **file, **options)
    except ImportError as error:
        raise MissingExtraError(
            f"{model!r} needs a package: {str(error).strip().splitlines()[0]}", extra("gguf")
        ) from error
    except (OSError, ValueError, KeyError) as error:
        kind_of_source = "folder" if os.path.isdir(source) else "model"
        reason = str(error).strip().splitlines()[0]
        raise UsageError(
            f"{kind_of_source} {model!r} cannot be loaded: {reason}",
            hint="give a folder with config.json, tokenizer.json and model.safetensors",
        ) from error
    return network, tokenizer


@contextmanager
def all_threads() -> Iterator[None]:
    """Let a network on the CPU compute in all threads, where critics have one (`momus.processes.one_thread`)."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(usable_threads())
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def autocast(device: str, precision: str) -> Iterator[None]:
    """Compute in mixed precision, ``auto`` being bfloat16 on a GPU and float32 on a CPU, and in all threads."""
    import torch

    on = precision == "bfloat16" or (precision == "auto" and device.startswith("cuda"))
    with all_threads(), torch.autocast(device.split(":")[0], dtype=torch.bfloat16, enabled=on):
        yield


def tokenize(tokenizer: Any, texts: Sequence[str], longest: int) -> list[NDArray[np.int32]]:
    """Token ids of each text, special tokens included, truncated to ``longest``."""
    rows: list[NDArray[np.int32]] = []
    for start in range(0, len(texts), 1024):
        # `longest` word pieces rarely cover 16 * longest characters: what lies further back is not tokenized at all
        chunk = [t[: 16 * longest] or " " for t in texts[start : start + 1024]]
        ids = tokenizer(chunk, truncation=True, max_length=longest, return_attention_mask=False)["input_ids"]
        rows.extend(np.asarray(i, dtype=np.int32) for i in ids)
    return rows


def padded(rows: Sequence[NDArray[np.int32]], pad: int, device: str) -> dict[str, Any]:
    """Ids and attention mask of a batch as tensors (B, T), padded at the end."""
    import torch

    ids = Sequences.of(rows)
    mask = Sequences(np.ones_like(ids.ids), ids.offsets)
    arrays = {"input_ids": ids.padded(pad), "attention_mask": mask.padded(0)}
    return {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}


class Encoder:
    """A network with its tokenizer, on a device, in a precision (see `autocast`).

    An output does not depend on what else is in its batch.
    """

    def __init__(self, network: Any, tokenizer: Any, device: str, precision: str) -> None:
        # weights are single, whatever the type of the file: steps of training are smaller than the rounding of half
        # precision, which `autocast` computes in
        weights = network.double() if precision == "float64" else network.float()
        self.network, self.tokenizer = weights.to(device), tokenizer
        self.device, self.precision = device, precision

    @classmethod
    def load(cls, kind: str, model: str, device: str, precision: str) -> Self:
        """Load a model for `momus.critic.resource`; ``kind`` and ``model`` as of `load`."""
        return cls(*load(kind, model), device, precision)

    def inputs(self, rows: Sequence[NDArray[np.int32]]) -> dict[str, Any]:
        """Ids and attention mask of a batch, see `padded`."""
        return padded(rows, int(self.tokenizer.pad_token_id), self.device)

    def outputs(self, rows: Sequence[NDArray[np.int32]], tokens: int) -> Iterator[tuple[Ints, Any, Any]]:
        """Run the network on texts, by their token ids, in batches of similar length and at most so many tokens.

        Yields
        ------
        The numbers of the texts of a batch, their attention mask (B, T), and the network's output.
        """
        import torch

        self.network.eval()
        for batch in token_batches([len(r) for r in rows], tokens):
            inputs = self.inputs([rows[i] for i in batch])
            with torch.inference_mode(), autocast(self.device, self.precision):
                output = self.network(**inputs)
            yield batch, inputs["attention_mask"], output

    def class_logits(self, rows: Sequence[NDArray[np.int32]], tokens: int) -> Floats:
        """Logits of a sequence classifier, float array (N, K); parameters as of `outputs`."""
        logits = np.zeros((len(rows), self.network.config.num_labels))
        for batch, _, output in self.outputs(rows, tokens):
            logits[batch] = output.logits.double().cpu().numpy()
        return logits


@parametrized
class TransformersEmbedder(Estimator):
    """Sentence vectors: the mean of an encoder's last hidden states, normalised to length 1.

    Parameters
    ----------
    model
        A folder, or a name on the model hub.
    max_tokens
        Maximum number of tokens read per text.
    batch
        Texts of ``max_tokens`` tokens per batch; of shorter ones more.
    precision
        ``auto`` (bfloat16 on a GPU), ``float32``, ``bfloat16`` or ``float64``.
    """

    device = "cpu"

    model: str = ""
    max_tokens: Count = 128
    batch: Count = 64
    precision: Precision = "auto"

    def fit(self, texts: Sequence[str]) -> Self:
        """Load the encoder; nothing is learned."""
        self._loaded()
        return self

    def _loaded(self) -> Encoder:
        check_params(self)
        return resource(Encoder.load, "AutoModel", self.model, self.device, self.precision)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, float array (N, V)."""
        import torch

        encoder = self._loaded()
        rows = tokenize(encoder.tokenizer, texts, self.max_tokens)
        out = np.zeros((len(rows), encoder.network.config.hidden_size))
        with stage("embedding", len(rows)) as advance:
            done, tokens = 0, self.batch * self.max_tokens
            for batch, mask, output in encoder.outputs(rows, tokens):
                # hidden is (B, T, V); the mask, as (B, T, 1), keeps padding out of the mean
                hidden = output.last_hidden_state
                hidden = hidden.to(torch.promote_types(hidden.dtype, torch.float32))
                weight = mask.unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * weight).sum(dim=1) / weight.sum(dim=1)
                out[batch] = torch.nn.functional.normalize(mean, dim=1).double().cpu().numpy()
                advance(done := done + len(batch))
        return out
