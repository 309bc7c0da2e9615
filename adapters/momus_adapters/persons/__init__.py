"""A deterministic resolver of coreference for persons, in several passes over spaCy's parse and names."""

from momus_adapters.persons.resolver import SpacyPersons

__all__ = ["SpacyPersons"]
