"""A deterministic coreference resolver for persons: several passes over spaCy's parse and named entities."""

from momus_adapters.persons.resolver import SpacyPersons

__all__ = ["SpacyPersons"]
