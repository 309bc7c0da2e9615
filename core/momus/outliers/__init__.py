"""Documents that are odd under critics, by rank or at a stated false-discovery rate."""

from momus.outliers.flagging import flagged
from momus.outliers.listing import listed

__all__ = ["flagged", "listed"]
