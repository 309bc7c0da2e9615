"""Encoders and classifiers of transformers as posteriors and embedders, and a training callback."""
