"""Repetition: what a document says again, how soon, and for how long."""

from momus_critics.repetition.critic import Repetition

__all__ = ["Repetition"]
