"""Studies with people: blinded passages to judge, their answers, and what these say about corpora and critics."""
