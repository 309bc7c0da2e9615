"""Critics and posteriors made of scikit-learn models."""
