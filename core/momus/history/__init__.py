"""Runs against runs: what changed between two runs, and gates for continuous integration."""
