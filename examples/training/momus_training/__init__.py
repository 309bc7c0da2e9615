"""Training and its records: critics that watch a model while it is trained, and experiment trackers for results.

`momus_training.callback.CriticCallback` is the callback, `momus_training.services` has one class per tracker;
`momus.report.tracking` says what a tracker is.
"""
