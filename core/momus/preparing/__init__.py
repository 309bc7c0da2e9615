"""Prepare titled documents for the critic of section order: normalise titles, drop and count unusable documents.

The filters are those of Deng et al. (2022, appendix E).
"""

from momus.preparing.pipeline import Filters, Prepared, Titled, prepare, titled_documents

__all__ = ["Filters", "Prepared", "Titled", "prepare", "titled_documents"]
