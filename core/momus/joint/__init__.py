"""Analyses of all axes of a run at once: ranks, attribution, adjustment, subgroups, planning."""
