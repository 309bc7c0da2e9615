"""The report: one self-contained HTML file; nothing in it asks for anything from outside."""

from momus.report.page import render, write_report

__all__ = ["render", "write_report"]
