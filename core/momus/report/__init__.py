"""The report: one self-contained HTML file that loads nothing from outside."""

from momus.report.page import render, write_report

__all__ = ["render", "write_report"]
