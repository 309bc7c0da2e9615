"""Questions about texts that a language model answers: its answers are labels, and so an axis."""
