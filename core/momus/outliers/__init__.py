"""Documents that are odd under critics: conformal p-values, and filters at a stated false-discovery rate."""
