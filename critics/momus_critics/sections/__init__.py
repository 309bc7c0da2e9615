"""Section coherence: a chain of section types, inferred from the text of sections."""

from momus_critics.sections.critic import Sections

__all__ = ["Sections"]
