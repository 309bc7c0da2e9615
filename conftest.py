"""Modules whose doctests are left out where the package that they are made for is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("inspect_ai") else ["adapters/momus_adapters/harnesses/inspect.py"]
