"""Section coherence: a chain of section types, seen through a posterior learned from the sections' text."""

from momus_critics.sections.critic import Sections

__all__ = ["Sections"]
