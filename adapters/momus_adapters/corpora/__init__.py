"""Corpora in external formats: CoNLL files, treebanks, Wikipedia dumps."""
