"""Choose an engine by name.

An engine is registered under ``momus.adapters`` as ``engine.NAME``: a callable that takes a `Job`, a number of workers
and an address, and returns an `Engine`. The one of this machine is `momus.engine.pool.Pool`.
"""

from __future__ import annotations

from momus.engine.interface import Engine, Job
from momus.engine.pool import Pool
from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin

LOCAL = "local"


def make_engine(name: str, job: Job, workers: int, address: str | None) -> Engine:
    """Make an engine by name.

    Raises
    ------
    UsageError
        An address is given to the engine of this machine.
    PluginError
        There is no such engine.
    MissingExtraError
        It needs packages that are not installed.
    """
    if name != LOCAL:
        engine: Engine = load_plugin(ADAPTERS, f"engine.{name}")(job, workers, address)
        return engine
    if address is not None:
        raise UsageError("--address is that of a cluster", hint="name its engine too, e.g. --engine ray")
    return Pool(job, workers)
