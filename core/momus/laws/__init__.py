"""Laws of running text: their declaration, standard errors, and relabellings of two texts."""
