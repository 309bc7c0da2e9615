"""Critics inside other runs: trainings that they watch, harnesses that they score in, trackers that results go to.

`callback.CriticCallback` watches a training; `inspect.momus_scorer` and `lm_eval.critic_metric` score answers;
`services` has one class per tracker, and `momus.report.tracking` says what a tracker is.
"""
