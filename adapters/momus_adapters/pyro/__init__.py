"""Pyro programs as critics."""

from momus_adapters.pyro.critic import PyroCritic, PyroDraws
from momus_adapters.pyro.programs import documents

__all__ = ["PyroCritic", "PyroDraws", "documents"]
