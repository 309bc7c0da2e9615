"""Chains of mentions of persons: who is spoken of, by name or pronoun, in what order."""

from momus_critics.coreference.critic import Coreference

__all__ = ["Coreference"]
