"""Discourse: connectives, questions and speech, and the order in which they follow each other."""

from momus_critics.discourse.critic import Discourse

__all__ = ["Discourse"]
