"""Runs against runs: what changed between two runs, gates for continuous integration, baselines, and histories."""
