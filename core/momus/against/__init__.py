"""What changed from one model to another: versions, things that came or vanished, and bands of a model's own text."""
