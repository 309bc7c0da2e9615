"""Maximum-likelihood fits that several critics share: Zipf, Heaps, clusters."""
