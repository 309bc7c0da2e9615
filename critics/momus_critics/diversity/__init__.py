"""Diversity: how much the answers to one prompt differ from each other."""

from momus_critics.diversity.critic import Diversity

__all__ = ["Diversity"]
