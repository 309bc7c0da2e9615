"""Corpora, tokens, running text, vocabularies, titles, and mentions of persons."""
