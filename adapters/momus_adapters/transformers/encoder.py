"""Encoders of the BERT family through ``transformers``: loading, batching, and vectors for sentences.

Any local folder or hub name that ``AutoModel`` takes; weights are read as safetensors, never unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import MissingExtraError, UsageError
from momus.estimator import Estimator
from momus.numeric.types import Floats
from momus.progress import stage

SPECIAL = ("cls_token", "sep_token", "pad_token", "unk_token", "mask_token", "bos_token", "eos_token")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep ``transformers`` from printing bars and advice, and from asking a hub where it is told to be offline."""
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
        There is no such model, or it cannot be read.
    """
    import transformers

    if not model:
        raise UsageError("there is no model", hint='name a folder or a hub model: model = "…"')
    place: str = model
    how: dict[str, Any] = {"use_safetensors": True}
    if model.endswith(".gguf"):
        place, how = os.path.dirname(model) or ".", {"gguf_file": os.path.basename(model)}
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **how)
            network = getattr(transformers, kind).from_pretrained(place, **how, **options)
    except ImportError as error:
        raise MissingExtraError(
            f"{model!r} needs a package: {str(error).strip().splitlines()[0]}", hint="pip install gguf accelerate"
        ) from error
    except (OSError, ValueError, KeyError) as error:
        where = "folder" if os.path.isdir(place) else "model"
        reason = str(error).strip().splitlines()[0]
        raise UsageError(
            f"{where} {model!r} cannot be loaded: {reason}",
            hint="give a folder with config.json, tokenizer.json and model.safetensors",
        ) from error
    return network, tokenizer


def autocast(device: str, precision: str) -> AbstractContextManager[Any]:
    """Mixed precision: ``auto`` is bfloat16 on a GPU and float32 on a CPU.

    Raises
    ------
    UsageError
        The precision has another name.
    """
    import torch

    if precision not in ("auto", "float32", "bfloat16"):
        raise UsageError(f"precision is {precision!r}", hint="choose one of auto, float32, bfloat16")
    on = precision == "bfloat16" or (precision == "auto" and device.startswith("cuda"))
    return torch.autocast(device.split(":")[0], dtype=torch.bfloat16, enabled=on)


def tokenize(tokenizer: Any, texts: Sequence[str], longest: int) -> list[NDArray[np.int32]]:
    """Token ids of each text, special tokens included, cut at ``longest``."""
    found: list[NDArray[np.int32]] = []
    for start in range(0, len(texts), 1024):
        # a word piece has at least one character: what lies far behind the cut is not worth splitting
        some = [t[: 16 * longest] or " " for t in texts[start : start + 1024]]
        ids = tokenizer(some, truncation=True, max_length=longest, return_attention_mask=False)["input_ids"]
        found.extend(np.asarray(i, dtype=np.int32) for i in ids)
    return found


def sorted_batches(lengths: Sequence[int], size: int) -> list[NDArray[np.int64]]:
    """Rows in batches of similar length, the longest first, so that little is padding and memory peaks at once.

    >>> [b.tolist() for b in sorted_batches([3, 9, 4], 2)]
    [[1, 2], [0]]
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    return [order[i : i + size] for i in range(0, len(order), size)]


def padded(rows: Sequence[NDArray[np.int32]], pad: int, device: str) -> dict[str, Any]:
    """Ids and attention mask of a batch as tensors (B, T)."""
    import torch

    width = max(map(len, rows))
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {
        "input_ids": torch.from_numpy(ids).to(device, non_blocking=True),
        "attention_mask": torch.from_numpy(mask).to(device, non_blocking=True),
    }


class TransformersEmbedder(Estimator):
    """Sentence vectors: the mean of an encoder's last hidden states, of length 1.

    Parameters
    ----------
    model
        A folder, or a name on the model hub.
    longest
        Tokens of a text that are read.
    batch
        Texts at a time.
    precision
        ``auto``, ``float32`` or ``bfloat16``.
    """

    device: str = "cpu"

    def __init__(self, *, model: str = "", longest: int = 128, batch: int = 64, precision: str = "auto") -> None:
        self.model = model
        self.longest = longest
        self.batch = batch
        self.precision = precision

    def fit(self, texts: Sequence[str]) -> Self:
        """Load the encoder; nothing is learned."""
        self._network: Any = None
        self._load()
        return self

    def _load(self) -> tuple[Any, Any]:
        if getattr(self, "_network", None) is None:
            network, self._tokenizer = load("AutoModel", self.model)
            self._network = network.eval()
        return self._network.to(self.device), self._tokenizer

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, float array (N, V)."""
        import torch

        network, tokenizer = self._load()
        rows = tokenize(tokenizer, texts, self.longest)
        out = np.zeros((len(rows), network.config.hidden_size))
        batches = sorted_batches([len(r) for r in rows], self.batch)
        with stage("embedding", len(rows)) as advance, torch.inference_mode(), autocast(self.device, self.precision):
            done = 0
            for some in batches:
                inputs = padded([rows[i] for i in some], tokenizer.pad_token_id, self.device)
                hidden = network(**inputs).last_hidden_state.float()
                weight = inputs["attention_mask"].unsqueeze(-1).float()
                mean = (hidden * weight).sum(dim=1) / weight.sum(dim=1)
                out[some] = torch.nn.functional.normalize(mean, dim=1).double().cpu().numpy()
                done += len(some)
                advance(done)
        return out
