"""Critics and posteriors from scikit-learn models."""
