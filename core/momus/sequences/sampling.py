"""Drawing sequences: ancestral, with a temperature, from the nucleus, and by beam sampling.

Each sequence takes its random numbers from its own seed and the place in it, so that what is drawn depends neither on
the batch nor on the order, but for ties within the rounding of a model's logits: a few tokens in a million in single
precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.sequences.decoding import Decoding, draw, gumbels, log_softmax
from momus.sequences.types import Sequences

if TYPE_CHECKING:
    from torch import Tensor

    from momus.sequences.model import StepModel


@dataclass(frozen=True)
class Drawn:
    """Sequences that were drawn.

    Attributes
    ----------
    sequences
        Without begin and end symbols.
    finished
        bool (n,): whether the end symbol was drawn.
    log_probabilities
        float64 (n,): log p under the model at temperature 1, the end symbol included where it was drawn.
    """

    sequences: Sequences
    finished: NDArray[np.bool_]
    log_probabilities: Floats


def document_seed(seed: int, number: int) -> int:
    """The seed of one document: more documents leave the first ones as they are.

    >>> document_seed(0, 1) == document_seed(0, 1) != document_seed(0, 2)
    True
    """
    return document_seeds(seed, number + 1, number)[0]


def document_seeds(seed: int, stop: int, start: int = 0) -> list[int]:
    """The seeds of the documents ``start`` … ``stop`` − 1, up to 63 bits each.

    >>> document_seeds(0, 3)[1] == document_seed(0, 1)
    True
    """
    import torch

    from momus.numeric.draws import hashed

    found = hashed(torch.tensor([seed]), torch.arange(start, stop)) & 0x7FFFFFFFFFFFFFFF
    return [int(s) for s in found.tolist()]


def sample(model: StepModel, prompts: Sequences | None, decoding: Decoding, seeds: Sequence[int]) -> Drawn:
    """Draw one sequence for each seed.

    Parameters
    ----------
    prompts
        What each begins with; None for nothing.
    seeds
        n whole numbers of up to 63 bits.

    Returns
    -------
    Drawn
        n sequences, in order.
    """
    import torch

    begun = Sequences.of([[]] * len(seeds)) if prompts is None else prompts
    keys = torch.tensor(list(seeds), dtype=torch.int64, device=model.device)
    with torch.inference_mode():
        if decoding.method == "beam-sampling":
            return _beams(model, begun, decoding, keys)
        return _plain(model, begun, decoding, keys)


def _plain(model: StepModel, prompts: Sequences, decoding: Decoding, keys: Tensor) -> Drawn:
    import torch

    n = len(prompts)
    words = torch.arange(model.size, device=keys.device)
    state, logits = model.start(prompts)
    alive = torch.arange(n, device=keys.device)
    total = torch.zeros(n, dtype=torch.float64, device=keys.device)
    finished = torch.zeros(n, dtype=torch.bool, device=keys.device)
    owners, tokens = [], []
    for t in range(decoding.longest):
        scaled = log_softmax(logits, decoding.temperature)
        chosen = draw(scaled, decoding.top_p, gumbels(keys[alive, None], t, words))
        known = scaled if decoding.temperature == 1.0 else log_softmax(logits)
        total[alive] += known.gather(1, chosen[:, None])[:, 0]
        ended = chosen == model.end
        finished[alive[ended]] = True
        keep = torch.nonzero(~ended)[:, 0]
        if not len(keep):
            break
        alive, chosen = alive[keep], chosen[keep]
        owners.append(alive.cpu().numpy())
        tokens.append(chosen.cpu().numpy())
        if t + 1 == decoding.longest:
            break
        if len(keep) < len(ended):
            state = model.select(state, keep)
        state, logits = model.step(state, chosen)
    return Drawn(_gathered(n, owners, tokens), finished.cpu().numpy(), total.cpu().numpy())


def _gathered(n: int, owners: list[NDArray[np.int64]], tokens: list[NDArray[np.int64]]) -> Sequences:
    if not owners:
        return Sequences.of([[]] * n)
    owner, token = np.concatenate(owners), np.concatenate(tokens)
    order = np.argsort(owner, kind="stable")
    offsets = offsets_of(np.bincount(owner, minlength=n))
    return Sequences(token[order], offsets)


def _beams(model: StepModel, prompts: Sequences, decoding: Decoding, keys: Tensor) -> Drawn:
    """Beam sampling: k draws from each of k hypotheses, of which the k most probable remain.

    Draws are independent, so the same extension can be drawn twice and then takes two places. A hypothesis that has
    ended is one of the items that compete, with the probability that it has; at the first step there is one
    hypothesis and all of its draws remain. Ties go to the earlier item. The most probable hypothesis is returned.
    """
    import torch

    n, k = len(prompts), decoding.beams
    state, logits = model.start(prompts)
    device = keys.device
    each = torch.arange(n, device=device)
    state, logits = model.select(state, each.repeat_interleave(k)), logits.repeat_interleave(k, dim=0)
    total = torch.full((n, k), -torch.inf, dtype=torch.float64, device=device)
    total[:, 0] = 0.0
    ended = torch.zeros((n, k), dtype=torch.bool, device=device)
    history = torch.zeros((n, k, 0), dtype=torch.int64, device=device)
    hypotheses = torch.arange(k, device=device)
    words = torch.arange(model.size, device=device)
    for t in range(decoding.longest):
        scaled = log_softmax(logits, decoding.temperature)
        each_draw = []
        for i in range(k):
            noise = gumbels(keys[:, None, None], t, hypotheses[:, None] * k + i, words).view(n * k, -1)
            each_draw.append(draw(scaled, 1.0, noise))
        chosen = torch.stack(each_draw, dim=1).view(n, k, k)
        known = scaled if decoding.temperature == 1.0 else log_softmax(logits)
        gain = known.gather(1, chosen.view(n * k, k)).view(n, k, k)
        items = total[:, :, None] + gain
        waiting = torch.where(torch.arange(k, device=device) == 0, total[:, :, None], -torch.inf)
        items = torch.where(ended[:, :, None], waiting, items)
        chosen = torch.where(ended[:, :, None], model.end, chosen)
        value, best = torch.sort(items.view(n, k * k), dim=1, descending=True, stable=True)
        total, best = value[:, :k], best[:, :k]
        parent = best // k
        token = chosen.view(n, k * k).gather(1, best)
        history = torch.cat([history.gather(1, parent[:, :, None].expand(-1, -1, t)), token[:, :, None]], dim=2)
        ended = token == model.end
        if bool((ended | (total == -torch.inf)).all()) or t + 1 == decoding.longest:
            break
        state = model.select(state, (each[:, None] * k + parent).view(-1))
        state, logits = model.step(state, token.view(-1))
    rows = history[:, 0].cpu().numpy()
    stop = np.where((rows == model.end).any(axis=1), (rows == model.end).argmax(axis=1), rows.shape[1])
    sequences = Sequences.of([row[:s] for row, s in zip(rows, stop, strict=True)])
    return Drawn(sequences, ended[:, 0].cpu().numpy(), total[:, 0].cpu().numpy())
