"""Order in text without any marks."""

from momus_critics.passages.critic import Passages

__all__ = ["Passages"]
