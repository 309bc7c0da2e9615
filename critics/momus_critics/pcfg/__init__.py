"""Likelihood under a probabilistic context-free grammar."""

from momus_critics.pcfg.critic import Pcfg
from momus_critics.pcfg.grammar import Grammar, Rules, parse_trees, read_trees

__all__ = ["Grammar", "Pcfg", "Rules", "parse_trees", "read_trees"]
