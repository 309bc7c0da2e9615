"""A probabilistic context-free grammar in Chomsky's normal form, and log p of sentences by the inside algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.numeric.types import Floats
from momus_critics.pcfg.trees import Rules

if TYPE_CHECKING:
    from torch import Tensor

UNKNOWN = "<unk>"


class Grammar:
    """Relative frequencies of rules, smoothed so that every sentence has a derivation.

    Each label rewrites to two labels or to a word. Of its mass, ``flat`` is spread evenly: half of it over all pairs of
    labels, half over all words. Words that occur once in the trees are one word, ``<unk>``, which stands for all that
    are not known.

    Attributes
    ----------
    labels, words
        K labels and V words, ``<unk>`` last.
    top
        float64 (K,): P(the top label).
    binary
        float64 (K, K, K): P(A → B C).
    lexical
        float64 (K, V): P(A → word); each label's two parts sum to 1.
    """

    def __init__(
        self, labels: Sequence[str], words: Sequence[str], top: Floats, binary: Floats, lexical: Floats
    ) -> None:
        self.labels, self.words = list(labels), list(words)
        self.top, self.binary, self.lexical = top, binary, lexical
        self._index = {w: i for i, w in enumerate(self.words)}

    @classmethod
    def of_rules(cls, rules: Rules, flat: float = 1e-3, lower: bool = True, labels: int = 50) -> Grammar:
        """Estimate from counts; of more than ``labels`` labels the rarest are one.

        >>> rules = Rules()
        >>> from momus_critics.pcfg.trees import parse_trees
        >>> for tree in parse_trees("(S (N it) (V is)) (S (N she) (V is))"):
        ...     rules.add(tree)
        >>> grammar = Grammar.of_rules(rules)
        >>> float(np.round(grammar.binary.sum(axis=(1, 2)) + grammar.lexical.sum(axis=1), 9).min())
        1.0
        """
        counts: dict[str, int] = {}
        for (a, b, c), n in rules.binary.items():
            for x in (a, b, c):
                counts[x] = counts.get(x, 0) + n
        for (a, _), n in rules.lexical.items():
            counts[a] = counts.get(a, 0) + n
        names = sorted(counts, key=lambda x: (-counts[x], x))
        if len(names) > labels:
            names = [*names[: labels - 1], "<rare>"]
        number = {x: i for i, x in enumerate(names)}
        k = len(names)
        seen: dict[str, int] = {}
        for (_, w), n in rules.lexical.items():
            word = w.lower() if lower else w
            seen[word] = seen.get(word, 0) + n
        words = [*sorted(w for w, n in seen.items() if n > 1), UNKNOWN]
        place = {w: i for i, w in enumerate(words)}
        binary, lexical, top = np.zeros((k, k, k)), np.zeros((k, len(words))), np.zeros(k)
        for (a, b, c), n in rules.binary.items():
            binary[tuple(number.get(x, k - 1) for x in (a, b, c))] += n
        for (a, w), n in rules.lexical.items():
            lexical[number.get(a, k - 1), place.get(w.lower() if lower else w, len(words) - 1)] += n
        for a, n in rules.top.items():
            top[number.get(a, k - 1)] += n
        used = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
        binary = (1 - flat) * binary / used[:, None, None] + flat / 2 / k**2
        lexical = (1 - flat) * lexical / used[:, None] + flat / 2 / len(words)
        top = (1 - flat) * top / top.sum() + flat / k
        return cls(names, words, top, binary, lexical)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Word numbers; unknown words get the last."""
        last = len(self.words) - 1
        return [self._index.get(w, last) for w in words]

    def log_likelihood(self, sentences: Sequence[Sequence[int]], device: str = "cpu") -> Floats:
        """log p of each sentence in nats, float64 (n,); sentences of equal length are parsed together."""
        import torch

        out = np.zeros(len(sentences))
        lengths = np.array([len(s) for s in sentences])
        # what all rules have alike needs no sum over pairs: only pairs of labels that some rule prefers are listed
        alike = float(self.binary.min())
        left, right = np.nonzero((self.binary > alike).any(axis=0))
        pairs = np.ascontiguousarray((self.binary[:, left, right] - alike).T)
        rules = [torch.from_numpy(x).to(device) for x in (self.top, pairs, left, right, self.lexical)]
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            room = max(1, 4_000_000 // (int(length) * max(len(left), int(length) * len(self.labels))))
            for a in range(0, len(rows), room):
                some = rows[a : a + room]
                ids = torch.tensor([list(sentences[i]) for i in some], dtype=torch.int64, device=device)
                out[some] = _inside(ids, alike, *rules).cpu().numpy()
        return out


def _inside(
    ids: Tensor, alike: float, top: Tensor, pairs: Tensor, left: Tensor, right: Tensor, lexical: Tensor
) -> Tensor:
    """The inside algorithm over a batch (B, n) of sentences of one length.

    Each cell (span) holds P(words | label) divided by its largest value, whose logarithm is kept beside it. A rule
    A → B C has the probability ``alike``, plus ``pairs`` (P, K) where (B, C) is among the P pairs ``left``, ``right``.
    """
    import torch

    b, n = ids.shape
    values: dict[int, Tensor] = {}
    scales: dict[int, Tensor] = {}
    values[1], scales[1] = _scaled(lexical.T[ids])  # (B, n, K), (B, n)
    for width in range(2, n + 1):
        cells = n - width + 1
        splits = range(1, width)
        log_scale = torch.stack([scales[s][:, :cells] + scales[width - s][:, s : s + cells] for s in splits])
        highest = log_scale.amax(dim=0)
        weight = (log_scale - highest).exp()
        sums = torch.zeros((b, cells, len(left)), dtype=top.dtype, device=top.device)
        rest = torch.zeros((b, cells), dtype=top.dtype, device=top.device)
        for i, s in enumerate(splits):
            first = values[s][:, :cells] * weight[i][:, :, None]
            second = values[width - s][:, s : s + cells]
            sums.addcmul_(first[:, :, left], second[:, :, right])
            rest.addcmul_(first.sum(dim=2), second.sum(dim=2))
        cell, scale = _scaled(sums @ pairs + alike * rest[:, :, None])
        values[width], scales[width] = cell, scale + highest
    return (values[n][:, 0] @ top).log() + scales[n][:, 0]


def _scaled(x: Tensor) -> Any:
    largest = x.amax(dim=-1).clamp(min=1e-300)
    return x / largest[..., None], largest.log()
