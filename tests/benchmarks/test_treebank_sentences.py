"""Sentences drawn from rules have the probabilities of the grammar."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

from treebank_sentences import SentenceSampler

from momus.errors import FittingError
from momus_critics.pcfg.grammar import Grammar, RuleCounts, parse_trees

RECURSIVE = "(S (A a) (S (A a) (B b))) (S (A a) (B b)) (S (A a) (B c)) (S (B b) (A a))"


def counted_rules(text):
    rules = RuleCounts()
    for tree in parse_trees(text):
        rules.add(tree)
    return rules


def test_sampled_sentences_have_the_probabilities_of_the_grammar():
    rules, n = counted_rules(RECURSIVE), 20_000
    sampled = SentenceSampler(rules).sample(n, seed=3)
    assert len(sampled.sentences) == n
    assert sampled.too_long == 0
    grammar = Grammar.of_rules(rules, flat=0.0)
    # `Grammar` reads c, which occurs once, as an unknown word; the sampler writes it
    frequent = Counter(tuple(s) for s in sampled.sentences).most_common(8)
    p = np.exp(grammar.log_likelihood([grammar.encode(words) for words, _ in frequent]))
    observed = np.array([count for _, count in frequent]) / n
    np.testing.assert_array_less(np.abs(observed - p), 4 * np.sqrt(p * (1 - p) / n))
    # length: E = 2 P(S → no S) + (1 + E) P(S → A S), with P(S → A S) = 1/5
    lengths = np.array([len(s) for s in sampled.sentences])
    assert abs(lengths.mean() - (2 * 4 / 5 + 1 / 5) / (4 / 5)) < 4 * lengths.std() / np.sqrt(n)


def test_sampled_sentences_depend_on_the_seed_and_respect_the_longest():
    sampler = SentenceSampler(counted_rules(RECURSIVE))
    assert sampler.sample(50, seed=1) == sampler.sample(50, seed=1) != sampler.sample(50, seed=2)
    short = sampler.sample(500, seed=0, longest=3)
    assert max(map(len, short.sentences)) == 3
    assert short.too_long > 0
    with pytest.raises(FittingError, match="no rules"):
        SentenceSampler(RuleCounts())
