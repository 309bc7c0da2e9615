"""The Markov chain of states that critics of sections and of passages share."""
