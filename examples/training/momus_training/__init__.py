"""Critics that watch a training, and trackers that results go to.

`callback.CriticCallback` watches a training; `services` has one class per tracker, and `tracked` says what one is.
"""
