"""Consistency: whether each section belongs to its document."""

from momus_critics.consistency.critic import Consistency

__all__ = ["Consistency"]
