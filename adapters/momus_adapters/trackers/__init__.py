"""Experiment trackers that results are sent to, one module each; `momus.report.tracking` says what a tracker is."""
