"""Learning an HSMM from bare symbols: segments, their clusters, then EM. Only `synthetic.py` uses it."""
