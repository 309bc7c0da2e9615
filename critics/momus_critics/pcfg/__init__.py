"""Likelihood under a probabilistic context-free grammar."""

from momus_critics.pcfg.critic import Pcfg
from momus_critics.pcfg.grammar import Grammar, SentenceSampler
from momus_critics.pcfg.trees import Rules, parse_trees, read_trees

__all__ = ["Grammar", "Pcfg", "Rules", "SentenceSampler", "parse_trees", "read_trees"]
