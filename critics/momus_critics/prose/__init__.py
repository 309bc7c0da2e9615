"""Words, sentences and paragraphs of running text as arrays, for critics that ask where in a text something stands."""
