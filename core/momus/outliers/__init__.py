"""Documents that are odd under critics: conformal p-values, and filters at a stated false-discovery rate.

>>> from momus.outliers import flagged, listed
>>> from momus.outliers.filtering import filter_text
"""

from momus.outliers.flagging import flagged
from momus.outliers.listing import faulty, listed

__all__ = ["faulty", "flagged", "listed"]
