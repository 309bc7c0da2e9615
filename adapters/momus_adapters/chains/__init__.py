"""Markov chains over classes that other models give: their posteriors, and critics of them."""
