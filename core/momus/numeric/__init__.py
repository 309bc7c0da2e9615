"""Array types, ragged arrays, counter-based random numbers, temperatures, devices."""
