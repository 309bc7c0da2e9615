"""Words: the only sentences about results, made from their fields last."""
