"""Analyses of all axes of a run at once: ranks, adjustment, slices, planning."""
