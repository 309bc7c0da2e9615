"""The papers' tables: what each printed, the settings that it used, and the same figures on other texts."""

from papers.reproduce import Cell, MeasuredRow, Reproduction, as_json, reproduce
from papers.table import Column, Paper, PaperTable, find_table, paper_tables

__all__ = [
    "Cell",
    "Column",
    "MeasuredRow",
    "Paper",
    "PaperTable",
    "Reproduction",
    "as_json",
    "find_table",
    "paper_tables",
    "reproduce",
]
