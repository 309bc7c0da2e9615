"""Verdicts: every statistic of a critic tested between two texts, with the human band."""
