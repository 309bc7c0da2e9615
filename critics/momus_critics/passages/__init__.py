"""Order of passages in text without titles or section breaks."""

from momus_critics.passages.critic import Passages

__all__ = ["Passages"]
