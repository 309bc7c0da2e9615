"""Rows of texts that were scored part by part: their plan, folder, tables and sums, and what a run keeps of them."""
