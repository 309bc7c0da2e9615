"""Models of other tools, saved and named without pickling."""
