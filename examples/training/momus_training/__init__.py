"""Critics that watch a training, and trackers that results go to.

`callback.CriticCallback` watches a training; `services` has one class per tracker, and `momus.report.tracking` says
what a tracker is.
"""
