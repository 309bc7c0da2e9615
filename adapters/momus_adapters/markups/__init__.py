"""Parsers of markups, registered under ``momus.markups``: each finds the headings of a document, and its plain text."""
