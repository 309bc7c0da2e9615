"""Parsers of markups, registered under ``momus.markups``: each finds the headings of a document, and its plain text."""

from momus.errors import MissingExtraError
from momus.version import extra


def missing(markup: str, package: str) -> MissingExtraError:
    """The error for a markup whose parser is not installed.

    >>> print(missing("HTML", "lxml"))
    reading HTML needs the package lxml
      → pip install -e '.[markup]'
    """
    return MissingExtraError(f"reading {markup} needs the package {package}", extra("markup"))
