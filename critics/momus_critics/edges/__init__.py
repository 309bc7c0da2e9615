"""Edges of documents: how they open, and how they end."""
