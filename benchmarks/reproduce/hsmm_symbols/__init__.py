"""Learn an HSMM from raw symbols: segments, their clusters, then EM. Used only by `synthetic.py`."""
