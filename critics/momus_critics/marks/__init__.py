"""Marks and letter case: dashes, quotation marks, capitals, digits, and how often each stands in a document."""

from momus_critics.marks.critic import Marks

__all__ = ["Marks"]
