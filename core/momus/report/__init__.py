"""The report: one self-contained HTML file that loads nothing from outside."""
