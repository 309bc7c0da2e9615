"""Register: dimensions of variation over grammatical features, such as involved against informational."""
