"""Readers of logs, one module per harness: lm-evaluation-harness, Inspect, lighteval, TRL, Every Eval Ever."""
