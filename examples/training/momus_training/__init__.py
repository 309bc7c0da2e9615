"""Trackers that results go to: `services` has one class per tracker, and `tracked` says what one is."""
