"""Topic co-occurrence: the correlated topic model as a critic."""

from momus_critics.topics.critic import Topics

__all__ = ["Topics"]
