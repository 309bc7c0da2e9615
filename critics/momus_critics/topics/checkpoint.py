"""Checkpoints of a fit as safetensors: an interrupted fit resumes from its last step of EM."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from momus.errors import StoreError
from momus_critics.topics.fitting import Model

NAME = "topics.safetensors"


def save_checkpoint(folder: Path, model: Model, signature: str) -> None:
    """Write a model; replace an older one only when the new file is complete.

    Raises
    ------
    StoreError
        The folder cannot be made.
    """
    from safetensors.numpy import save_file

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"topics: checkpoint {folder} cannot be written ({error.strerror})", hint="name another folder"
        ) from error
    arrays = {
        n: np.ascontiguousarray(getattr(model, n)) for n in ("phi", "weights", "mean", "covariance", "lam", "var")
    }
    partial = folder / f".partial-{NAME}"
    save_file(arrays, partial, metadata={"signature": signature, "curve": json.dumps([model.divergence, *model.curve])})
    partial.replace(folder / NAME)


def load_checkpoint(folder: Path, signature: str) -> Model | None:
    """Read a model; None if there is none, or if its signature (of corpus and parameters) differs."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / NAME, framework="numpy") as tensors:
            metadata = tensors.metadata() or {}
            if metadata.get("signature") != signature:
                return None
            arrays = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 (no mapping)
    except (OSError, SafetensorError):
        return None
    divergence, *curve = json.loads(metadata["curve"])
    return Model(**arrays, divergence=divergence, curve=curve)
