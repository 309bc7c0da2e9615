"""Switches within a document: its most probable spans of one topic each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats


@dataclass(frozen=True)
class Span:
    """Tokens ``start`` to ``stop`` (excluded) of a document, in one topic."""

    topic: int
    start: int
    stop: int


def decode(log_phi: Floats, codes: NDArray[np.integer], span: int) -> list[Span]:
    """Find the best spans by the Viterbi algorithm; topics last ``span`` tokens on average, code −1 is no evidence.

    >>> decode(np.log([[0.9, 0.1], [0.1, 0.9]]), np.array([0, 0, -1, 0, 1, 1, 1, 0, 1]), 5)
    [Span(topic=0, start=0, stop=4), Span(topic=1, start=4, stop=9)]
    """
    k, n = len(log_phi), len(codes)
    if not n:
        return []
    log_likelihood = np.where(codes[:, None] >= 0, log_phi.T[np.maximum(codes, 0)], 0.0)  # (n, K)
    stay, switch = np.log1p(-1 / max(span, 2)), -np.log(max(span, 2) * max(k - 1, 1))
    back = np.zeros((n, k), dtype=np.int64)  # the best previous topic, for each token and topic
    score = log_likelihood[0]
    for i in range(1, n):
        best = int(score.argmax())
        leave = score[best] + switch
        keep = score + stay
        back[i] = np.where(keep >= leave, np.arange(k), best)
        score = np.maximum(keep, leave) + log_likelihood[i]
    path = np.zeros(n, dtype=np.int64)
    path[-1] = score.argmax()
    for i in range(n - 1, 0, -1):
        path[i - 1] = back[i, path[i]]
    starts = np.flatnonzero(np.concatenate([[True], path[1:] != path[:-1]]))
    stops = np.append(starts[1:], n)
    return [Span(int(path[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
