"""Maximum-likelihood fits of critics: Zipf, Heaps, shares, clusters."""
