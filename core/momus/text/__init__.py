"""Documents, tokens, and what is known about them."""
