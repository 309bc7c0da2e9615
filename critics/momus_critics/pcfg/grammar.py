"""A probabilistic context-free grammar in Chomsky normal form, and log p of sentences by the inside algorithm.

Its rules are counted in bracketed trees, binarised.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.errors import ReadingError
from momus.numeric.types import Floats

if TYPE_CHECKING:
    from torch import Tensor


_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION = re.compile(r"(?<=[A-Z])[-=|].*")
DEEPEST = 400
"""Maximum nesting depth of brackets."""


@dataclass
class Tree:
    """A node: a label, and either children or a word."""

    label: str
    children: list[Tree] = field(default_factory=list)
    word: str | None = None


def read_trees(path: str | Path) -> Iterator[Tree]:
    """Read bracketed trees, in the format of the Penn Treebank and of NLTK's sample.

    Traces (``-NONE-``) and the function tags after a hyphen are dropped.

    Raises
    ------
    ReadingError
        The file cannot be read, holds no tree, or has unbalanced brackets or more than 400 nested ones.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadingError(f"{path} cannot be read: {error}", hint="give a file of bracketed trees") from error
    empty = True
    for tree in parse_trees(text, str(path)):
        empty = False
        yield tree
    if empty:
        raise ReadingError(f"{path} holds no tree", hint="write trees as (S (NP (PRP it)) (VP (VBZ is)))")


def parse_trees(text: str, place: str = "trees") -> Iterator[Tree]:
    """Parse bracketed trees from text; ``place`` names the source in error messages.

    >>> (tree,) = parse_trees("( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat))) )")
    >>> tree.label, [c.label for c in tree.children]
    ('S', ['NP', 'VP'])
    """
    stack: list[Tree] = []
    expects_label = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "(":
            if len(stack) >= DEEPEST:
                raise ReadingError(f"{place}: more than {DEEPEST} nested brackets at character {match.start()}")
            stack.append(Tree(""))
            expects_label = True
            continue
        if not stack:
            raise ReadingError(f"{place}: {token!r} outside of brackets at character {match.start()}")
        if token != ")":
            if expects_label:
                stack[-1].label = token if token[0] == "-" else _FUNCTION.sub("", token)
            else:
                stack[-1].word = token
            expects_label = False
            continue
        expects_label = False
        node = stack.pop()
        usable = node.word is not None and node.label != "-NONE-"
        if not node.label and node.word is None and len(node.children) == 1:  # brackets without a label around a tree
            node, usable = node.children[0], True
        if not (usable or node.children):
            continue
        if stack:
            stack[-1].children.append(node)
        else:
            yield node
    if stack:
        raise ReadingError(f"{place}: {len(stack)} unclosed brackets")


@dataclass
class RuleCounts:
    """Counts of the rules ``A → B C`` and ``A → word``, and of the labels at the top of trees."""

    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    lexical: Counter[tuple[str, str]] = field(default_factory=Counter)
    top: Counter[str] = field(default_factory=Counter)

    def add(self, tree: Tree) -> None:
        """Count the rules of a tree.

        Unary chains are collapsed to the top label. Nodes with more than two children are binarised from the left; the
        label of the remaining children combines their parent and left neighbour (Klein & Manning 2003).
        """
        self.top[tree.label] += 1
        stack: list[tuple[str, Sequence[Tree]]] = [(tree.label, [tree])]  # a label and the sequence it rewrites to
        while stack:
            label, nodes = stack.pop()
            while len(nodes) == 1 and nodes[0].word is None and len(nodes[0].children) == 1:
                nodes = nodes[0].children
            if len(nodes) == 1:
                (node,) = nodes
                if node.word is not None:
                    self.lexical[label, node.word] += 1
                    continue
                nodes = node.children
            first, rest = nodes[0], nodes[1:]
            parent = label.split("|")[0]
            other = rest[0].label if len(rest) == 1 else f"{parent}|{first.label}"
            self.binary[label, first.label, other] += 1
            stack += [(first.label, [first]), (other, rest)]


UNKNOWN = "<unk>"


class Grammar:
    """Relative frequencies of rules, smoothed to give every sentence a derivation.

    Each label rewrites to two labels or to a word. A share ``flat`` of its mass is spread evenly: half of it over all
    pairs of labels, half over all words. Words that occur once in the trees are mapped to ``<unk>``, as are unknown
    words.

    Attributes
    ----------
    labels, words
        K labels and V words, ``<unk>`` last.
    top
        float64 (K,): P(label at the top of a tree).
    binary
        float64 (K, K, K): P(A → B C).
    lexical
        float64 (K, V): P(A → word); for each label, binary and lexical probabilities sum to 1.
    """

    def __init__(
        self, labels: Sequence[str], words: Sequence[str], top: Floats, binary: Floats, lexical: Floats
    ) -> None:
        self.labels, self.words = list(labels), list(words)
        self.top, self.binary, self.lexical = top, binary, lexical
        self._index = {w: i for i, w in enumerate(self.words)}

    @classmethod
    def of_rules(cls, rules: RuleCounts, flat: float = 1e-3, lower: bool = True, labels: int = 50) -> Grammar:
        """Estimate from counts of rules; the rarest labels are merged if there are more than ``labels``.

        >>> rules = RuleCounts()
        >>> from momus_critics.pcfg.grammar import parse_trees
        >>> for tree in parse_trees("(S (N it) (V is)) (S (N she) (V is))"):
        ...     rules.add(tree)
        >>> grammar = Grammar.of_rules(rules)
        >>> float(np.round(grammar.binary.sum(axis=(1, 2)) + grammar.lexical.sum(axis=1), 9).min())
        1.0
        """
        # labels by frequency, and the number of each
        counts: Counter[str] = Counter()
        for rule, n in rules.binary.items():
            for x in rule:
                counts[x] += n
        for (a, _), n in rules.lexical.items():
            counts[a] += n
        names = sorted(counts, key=lambda x: (-counts[x], x))
        if len(names) > labels:
            names = [*names[: labels - 1], "<rare>"]
        number = {x: i for i, x in enumerate(names)}
        k = len(names)
        # words that occur at least twice, and the number of each
        word_counts: Counter[str] = Counter()
        for (_, w), n in rules.lexical.items():
            word_counts[w.lower() if lower else w] += n
        words = [*sorted(w for w, n in word_counts.items() if n > 1), UNKNOWN]
        word_number = {w: i for i, w in enumerate(words)}
        binary, lexical, top = np.zeros((k, k, k)), np.zeros((k, len(words))), np.zeros(k)
        for (a, b, c), n in rules.binary.items():
            binary[tuple(number.get(x, k - 1) for x in (a, b, c))] += n
        for (a, w), n in rules.lexical.items():
            lexical[number.get(a, k - 1), word_number.get(w.lower() if lower else w, len(words) - 1)] += n
        for a, n in rules.top.items():
            top[number.get(a, k - 1)] += n
        totals = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)  # expansions of each label, (K,)
        binary = (1 - flat) * binary / totals[:, None, None] + flat / 2 / k**2  # never 0
        lexical = (1 - flat) * lexical / totals[:, None] + flat / 2 / len(words)
        top = (1 - flat) * top / top.sum() + flat / k
        return cls(names, words, top, binary, lexical)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Word numbers; unknown words get that of ``<unk>``, the last."""
        last = len(self.words) - 1
        return [self._index.get(w, last) for w in words]

    def log_likelihood(self, sentences: Sequence[Sequence[int]], device: str = "cpu") -> Floats:
        """log p of each sentence in nats, float64 (n,); sentences of equal length are parsed together."""
        import torch

        out = np.zeros(len(sentences))
        lengths = np.array([len(s) for s in sentences])
        # every rule has at least the probability `base`, whose part needs no sum over pairs of labels; only the P pairs
        # above it for some label are listed, with the excess over `base`, (P, K)
        base = float(self.binary.min())
        left, right = np.nonzero((self.binary > base).any(axis=0))  # (P,) each
        pairs = np.ascontiguousarray((self.binary[:, left, right] - base).T)
        rules = [torch.from_numpy(x).to(device) for x in (self.top, pairs, left, right, self.lexical)]
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            # bounds the largest arrays of a batch: (B, cells, P), and (B, cells, K) of all widths
            size = max(1, 4_000_000 // (int(length) * max(len(left), int(length) * len(self.labels))))
            for a in range(0, len(rows), size):
                batch = rows[a : a + size]
                ids = torch.tensor([list(sentences[i]) for i in batch], dtype=torch.int64, device=device)
                out[batch] = _inside(ids, base, *rules).cpu().numpy()
        return out


def _inside(
    ids: Tensor, base: float, top: Tensor, pairs: Tensor, left: Tensor, right: Tensor, lexical: Tensor
) -> Tensor:
    """log p of a batch (B, n) of sentences of one length, (B,), by the inside algorithm.

    Each cell (span) holds P(words | label), (B, cells, K), divided by its maximum over labels, and the logarithm of
    that maximum, (B, cells). A rule A → B C has probability ``base``, plus ``pairs`` (P, K) if (B, C) is among the P
    pairs ``left``, ``right``.
    """
    import torch

    b, n = ids.shape
    values: dict[int, Tensor] = {}
    scales: dict[int, Tensor] = {}
    values[1], scales[1] = _scaled(lexical.T[ids])  # (B, n, K), (B, n)
    for width in range(2, n + 1):
        cells = n - width + 1
        splits = range(1, width)
        # the scales of both halves, for each split, (splits, B, cells); weights are relative to the largest of a cell
        log_scale = torch.stack([scales[s][:, :cells] + scales[width - s][:, s : s + cells] for s in splits])
        highest = log_scale.amax(dim=0)
        weight = (log_scale - highest).exp()
        sums = torch.zeros((b, cells, len(left)), dtype=top.dtype, device=top.device)
        rest = torch.zeros((b, cells), dtype=top.dtype, device=top.device)
        for i, s in enumerate(splits):
            # cell i of width s begins at word i; its right neighbour begins s words later
            first = values[s][:, :cells] * weight[i][:, :, None]
            second = values[width - s][:, s : s + cells]
            sums.addcmul_(first[:, :, left], second[:, :, right])
            rest.addcmul_(first.sum(dim=2), second.sum(dim=2))  # over all pairs of labels
        cell, scale = _scaled(sums @ pairs + base * rest[:, :, None])
        values[width], scales[width] = cell, scale + highest
    return (values[n][:, 0] @ top).log() + scales[n][:, 0]  # width n has one cell


def _scaled(x: Tensor) -> Any:
    """Values divided by their maximum over the last dimension, and the logarithm of that maximum."""
    largest = x.amax(dim=-1).clamp(min=1e-300)
    # probabilities of long spans underflow: each cell keeps its scale apart
    return x / largest[..., None], largest.log()
