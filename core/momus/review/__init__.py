"""Whether a text is odd among its like, where, and how often that would be said of a human text.

>>> from momus.review import fit_body, review
"""

from momus.review.body import Body, fit_body
from momus.review.forced import Choice, Pair, choose
from momus.review.judging import Review, Reviewed, review

__all__ = ["Body", "Choice", "Pair", "Review", "Reviewed", "choose", "fit_body", "review"]
