"""Layout: headings, paragraphs, lists, code, tables and breaks, in their order."""
