"""Where a fit stands, on disk: arrays as safetensors, so that an interrupted fit goes on from its last step of EM."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from momus_critics.topics.fitting import Model

NAME = "topics.safetensors"


def save_checkpoint(folder: Path, model: Model, signature: str) -> None:
    """Write a model; an older one is replaced when the new one is complete."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        n: np.ascontiguousarray(getattr(model, n)) for n in ("phi", "weights", "mean", "covariance", "lam", "var")
    }
    partial = folder / f".partial-{NAME}"
    save_file(arrays, partial, metadata={"signature": signature, "curve": json.dumps([model.divergence, *model.curve])})
    partial.replace(folder / NAME)


def load_checkpoint(folder: Path, signature: str) -> Model | None:
    """Read a model back, None where there is none, or one of another corpus or of other parameters."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / NAME, framework="numpy") as found:
            about = found.metadata() or {}
            if about.get("signature") != signature:
                return None
            arrays = {name: found.get_tensor(name) for name in found.keys()}  # noqa: SIM118 (no mapping)
    except (OSError, SafetensorError):
        return None
    divergence, *curve = json.loads(about["curve"])
    return Model(**arrays, divergence=divergence, curve=curve)
