"""``transformers`` encoders and classifiers as posteriors and embedders, and a training callback."""
