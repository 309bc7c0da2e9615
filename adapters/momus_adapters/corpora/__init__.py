"""Corpora in the formats of others: CoNLL files, treebanks, Wikipedia dumps."""
