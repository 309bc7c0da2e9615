"""Topics and the company they keep."""

from momus_critics.topics.critic import Topics

__all__ = ["Topics"]
