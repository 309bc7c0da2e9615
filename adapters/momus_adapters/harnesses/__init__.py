"""Saved critics as scorers and metrics of evaluation harnesses, one module each."""
