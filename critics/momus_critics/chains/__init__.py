"""The Markov chain of states shared by the critics of sections and of passages."""
