"""Corpora in external formats: treebanks, Wikipedia dumps."""
