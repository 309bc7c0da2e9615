"""Scores of sequences from the steps of a model, one token after another: what faster scores must equal."""

import numpy as np
import torch

from momus.sequences import Sequences, StepModel
from momus.sequences.types import log_softmax


def score_by_steps(model: StepModel, sequences: Sequences, temperature: float = 1.0) -> np.ndarray:
    """log p of each token and of the end of each sequence, concatenated."""
    values = []
    with torch.inference_mode():
        for i in range(len(sequences)):
            state, logits = model.start(Sequences.of([[]]))
            for token in sequences[i].tolist():
                values.append(log_softmax(logits, temperature)[0, token].item())
                state, logits = model.step(state, torch.tensor([token], device=model.device))
            values.append(log_softmax(logits, temperature)[0, model.end].item())
    return np.array(values)
