"""Experiment trackers that results are sent to, one module each; see `momus.report.tracking`."""
