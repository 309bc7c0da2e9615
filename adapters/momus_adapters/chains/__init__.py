"""Markov chains over the classes or states of other models: posteriors and critics."""
