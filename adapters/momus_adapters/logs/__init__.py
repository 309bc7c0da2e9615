"""Readers of logs, one module per harness: lm-evaluation-harness, Inspect."""
