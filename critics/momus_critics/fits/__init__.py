"""Maximum-likelihood fits of critics: types of documents, known words, clusters."""
