"""The report: one self-contained HTML file; nothing in it asks for anything from outside."""

from momus.report.data import read_comparison
from momus.report.page import render, write_report

__all__ = ["read_comparison", "render", "write_report"]
