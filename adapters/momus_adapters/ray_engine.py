"""Parts scored on a Ray cluster: one actor per worker, each with the fitted critics in memory.

Ray starts processes on the nodes and says when one is lost; which parts are finished is what the files in the folder
say, as on one machine. All nodes must see the folder and the texts under the same paths.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any

from momus.arguments import arg
from momus.engine.worker import Done, Job
from momus.errors import MomusError, StoreError, UsageError
from momus.processes import TRIES

STORE_BYTES = 300_000_000
"""Object store of a cluster that is started here: parts go to files, so that next to nothing passes through it."""
START_SECONDS = 120.0
"""How long to wait for the first worker before saying that nothing can be scheduled."""
SLOW_START = 10
"""How many times longer to wait where there was a free place: a busy node may take minutes to start a process."""
LOOKED_EVERY = 1.0
CONNECT_SECONDS = 10.0


class RayEngine:
    """Scores parts by actors on a Ray cluster.

    Parameters
    ----------
    workers
        Number of actors at most: as many as there are free CPUs work, the others wait.
    address
        The cluster, as ``ray.init`` takes it (``auto``, ``host:6379``); None starts one on this machine.
    start_seconds
        How long to wait for the first worker.
    """

    def __init__(self, job: Job, workers: int, address: str | None, start_seconds: float = START_SECONDS) -> None:
        self.job, self.workers, self.address, self.start_seconds = job, workers, address, start_seconds

    def run(self, parts: Sequence[int]) -> Iterator[Done]:
        """Yield finished parts; see `momus.engine.worker.Engine`."""
        import ray

        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        try:
            yield from _Actors(ray, self).run(parts)
        finally:
            if ours:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        """Connect to the cluster, or start one.

        Raises
        ------
        UsageError
            There is no cluster at the address.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        _check_listens(self.address)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if self.address is None:
            # a CPU more than there are workers: an actor that takes the last one leaves none to replace another
            options |= {"num_cpus": self.workers + 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        try:
            ray.init(address=self.address, **options)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise UsageError(
                f"no Ray cluster at {self.address or 'this machine'} ({str(error).splitlines()[0]})",
                hint=f"start one with `ray start`, and name its address: {arg('address', 'HOST:6379')}",
            ) from error


def _check_listens(address: str | None) -> None:
    """Make sure that something listens at an address with a port: Ray would try for minutes.

    Raises
    ------
    UsageError
        Nothing does.
    """
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray cluster at {address} ({error})",
            hint=f"start one with `ray start`, and name its address: {arg('address', 'HOST:6379')}",
        ) from error


class _Actors:
    """The actors of one run: those that are ready, and those that wait for a place."""

    def __init__(self, ray: Any, engine: RayEngine) -> None:
        self.ray, self.engine = ray, engine
        gpus = 1 if engine.job.device.startswith("cuda") else 0
        self._kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(_Scorer)
        self._starting: dict[Any, Any] = {}
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[int, Any]] = {}

    def run(self, parts: Sequence[int]) -> Iterator[Done]:
        waiting, begun = deque(parts), Counter[int]()
        patience = self.engine.start_seconds * (SLOW_START if self._free() >= 1 else 1)
        for _ in range(min(self.engine.workers, len(parts))):
            self._start()
        last = time.monotonic()
        try:
            while waiting or self._running:
                while waiting and self._idle:
                    part, actor = waiting.popleft(), self._idle.pop()
                    begun[part] += 1
                    self._running[actor.score.remote(part)] = part, actor
                watched = [*self._starting, *self._running]
                finished, _ = self.ray.wait(watched, num_returns=1, timeout=LOOKED_EVERY) if watched else ([], [])
                for reference in finished:
                    last = time.monotonic()
                    if reference in self._starting:
                        self._begun(reference)
                        continue
                    part, actor = self._running.pop(reference)
                    done = self._result(reference)
                    if done is None:  # its actor or node was lost, and the part with it
                        if begun[part] >= TRIES:
                            raise StoreError(
                                f"part {part}: its process was lost {TRIES} times, perhaps for its memory",
                                hint=f"use a smaller {arg('part_size')}; finished parts stay for {arg('resume', True)}",
                            )
                        waiting.append(part)
                        self._start()
                        continue
                    self._idle.append(actor)
                    yield done
                if not self._running and not self._idle and time.monotonic() - last > patience:
                    raise self._nothing_scheduled(patience)
        finally:
            for actor in [*self._idle, *self._starting.values(), *(a for _, a in self._running.values())]:
                self.ray.kill(actor)

    def _start(self) -> None:
        actor = self._kind.remote(self.engine.job)
        self._starting[actor.begin.remote()] = actor

    def _begun(self, reference: Any) -> None:
        """Take an actor that has loaded its critics, or start another if its node was lost meanwhile.

        Raises
        ------
        MomusError
            A critic cannot be loaded, or the node does not see the folder.
        """
        actor = self._starting.pop(reference)
        if self._result(reference) is None:
            self._start()
        else:
            self._idle.append(actor)

    def _result(self, reference: Any) -> Any:
        """What a task returned; None if its process was lost.

        Raises
        ------
        MomusError
            The task failed with it.
        """
        try:
            result = self.ray.get(reference)
        except (
            self.ray.exceptions.RayActorError,
            self.ray.exceptions.WorkerCrashedError,
            self.ray.exceptions.ObjectLostError,
            self.ray.exceptions.OutOfMemoryError,
        ):
            return None
        if isinstance(result, MomusError):
            raise result
        return result

    @property
    def _place(self) -> str:
        """What a worker takes one of."""
        return "GPU" if self.engine.job.device.startswith("cuda") else "CPU"

    def _free(self) -> float:
        return float(self.ray.available_resources().get(self._place, 0))

    def _nothing_scheduled(self, waited: float) -> StoreError:
        """The error for a cluster without a free place, which would otherwise wait in silence."""
        there = self.ray.cluster_resources().get(self._place, 0)
        return StoreError(
            f"no worker could be started within {waited:.0f} s: the cluster has "
            f"{there:g} {self._place}s, {self._free():g} of them free",
            hint=f"add nodes, or end what else runs on the cluster; finished parts stay for {arg('resume', True)}",
        )


class _Scorer:
    """The actor: loads the critics once; errors with words are values, so that they arrive with their hints."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.scorer: Any = None

    def begin(self) -> bool | MomusError:
        """Load the critics."""
        from momus.engine.worker import PartScorer

        os.environ.setdefault("OMP_NUM_THREADS", "1")
        try:
            self.scorer = PartScorer(self.job)
        except MomusError as error:
            return error
        return True

    def score(self, part: int) -> Done | MomusError:
        """Score one part."""
        try:
            done: Done = self.scorer.score(part)
        except MomusError as error:
            return error
        return done
