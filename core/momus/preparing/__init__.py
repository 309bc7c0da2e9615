"""Titled documents made ready for the critic of section order: one spelling of titles, unfit documents counted out.

The filters are those of Deng et al. (2022, appendix E).
"""

from momus.preparing.pipeline import Filters, Prepared, Titled, prepare, titled_documents

__all__ = ["Filters", "Prepared", "Titled", "prepare", "titled_documents"]
