"""Analyses of all axes of a run at once: global tests, ranks, attribution, adjustment, subgroups, planning."""
