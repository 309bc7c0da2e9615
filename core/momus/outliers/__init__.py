"""Documents that are odd under critics: conformal p-values, and filters at a stated false-discovery rate.

>>> from momus.outliers import flagged, listed, odd_on_several
>>> from momus.outliers.filtering import filter_text
"""

from momus.outliers.flagging import flagged
from momus.outliers.listing import listed
from momus.outliers.several import odd_on_several

__all__ = ["flagged", "listed", "odd_on_several"]
