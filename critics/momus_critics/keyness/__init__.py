"""Keyness: the words and phrases that one text uses in more documents than another."""

from momus_critics.keyness.critic import Keyness

__all__ = ["Keyness"]
