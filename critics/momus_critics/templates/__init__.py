"""Sentence templates: sequences of parts of speech."""

from momus_critics.templates.critic import Templates

__all__ = ["Templates"]
