"""Prepare titled documents for the critic of section order: normalise titles, drop and count unusable documents.

`Filters.published` are the filters of Deng et al. (2022, appendix E); the default ones keep documents with short
sections, long sections and rare titles.
"""

from momus_preparing.filters import Filters, PreparedTexts
from momus_preparing.pipeline import prepare

__all__ = ["Filters", "PreparedTexts", "prepare"]
