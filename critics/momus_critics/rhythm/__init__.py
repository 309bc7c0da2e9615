"""Rhythm: how long the sentences of a document are, one after another."""

from momus_critics.rhythm.critic import Rhythm

__all__ = ["Rhythm"]
