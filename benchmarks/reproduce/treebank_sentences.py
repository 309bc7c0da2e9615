"""Sentences drawn from the rules of a treebank: text with grammar and no memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from momus.errors import FittingError
from momus_critics.pcfg.grammar import RuleCounts

T = TypeVar("T")
Expansion = tuple[str, str] | tuple[str]
"""Two labels, or a word."""


@dataclass(frozen=True)
class SampledSentences:
    """Words of each sentence, and how many sentences were drawn again because they were too long."""

    sentences: list[list[str]]
    too_long: int


class SentenceSampler:
    """Draws sentences from the rules of a treebank at their relative frequencies, as a control without any context.

    Sentences are independent, and relative frequencies of a treebank end every derivation with probability 1 (Chi &
    Geman 1998). Unlike `momus_critics.pcfg.Grammar`, it neither smooths nor merges labels and rare words, so it only
    writes what the rules can derive.

    Parameters
    ----------
    rules
        Counts of rules, see `RuleCounts.add`.

    Raises
    ------
    FittingError
        There are no rules.

    >>> from momus_critics.pcfg.grammar import parse_trees
    >>> rules = RuleCounts()
    >>> for tree in parse_trees("(S (N it) (V is)) (S (N she) (V was))"):
    ...     rules.add(tree)
    >>> SentenceSampler(rules).sample(3, seed=0).sentences
    [['it', 'is'], ['she', 'is'], ['she', 'was']]
    """

    def __init__(self, rules: RuleCounts) -> None:
        if not rules.top:
            raise FittingError("there are no rules to sample from", hint="add trees to the rules")
        expansions: dict[str, Counter[Expansion]] = {}
        for (label, left, right), n in rules.binary.items():
            expansions.setdefault(label, Counter())[left, right] += n
        for (label, word), n in rules.lexical.items():
            expansions.setdefault(label, Counter())[(word,)] += n
        self._top = _Choice(rules.top)
        self._expansions: Mapping[str, _Choice[Expansion]] = {k: _Choice(c) for k, c in expansions.items()}

    def sample(self, sentences: int, seed: int, longest: int = 1000) -> SampledSentences:
        """Draw sentences of at most ``longest`` words; longer ones are drawn again, and counted."""
        random = Random(seed)
        out: list[list[str]] = []
        too_long = 0
        while len(out) < sentences:
            words = self._sentence(random, longest)
            if words is None:
                too_long += 1
            else:
                out.append(words)
        return SampledSentences(out, too_long)

    def _sentence(self, random: Random, longest: int) -> list[str] | None:
        """Words of one derivation from left to right, or None once it has more than ``longest``."""
        stack, words = [self._top.draw(random)], list[str]()
        while stack:
            expansion = self._expansions[stack.pop()].draw(random)
            if len(expansion) == 2:
                stack += [expansion[1], expansion[0]]
            else:
                words.append(expansion[0])
            if len(words) + len(stack) > longest:  # each label on the stack becomes one word at least
                return None
        return words


class _Choice(Generic[T]):
    """Draws things in proportion to their counts; the order of ``counts`` does not matter."""

    def __init__(self, counts: Mapping[T, int]) -> None:
        self.things = sorted(counts, key=str)
        self.ends = list(accumulate(counts[x] for x in self.things))

    def draw(self, random: Random) -> T:
        return self.things[bisect_right(self.ends, random.random() * self.ends[-1])]
