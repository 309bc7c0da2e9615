"""Momus."""
