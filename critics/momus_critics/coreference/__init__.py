"""Coreference of persons: sequences of mentions, by name or pronoun."""

from momus_critics.coreference.critic import Coreference

__all__ = ["Coreference"]
