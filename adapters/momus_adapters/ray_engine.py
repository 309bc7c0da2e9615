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
        self._place = "GPU" if job.device.startswith("cuda") else "CPU"
        self._idle: list[Any] = []
        # by task, its actor and the part that it scores; None while it loads the critics
        self._tasks: dict[Any, tuple[Any, int | None]] = {}

    def run(self, parts: Sequence[int]) -> Iterator[Done]:
        """Yield finished parts; see `momus.engine.worker.Engine`."""
        import ray

        self._ray: Any = ray
        ours = not ray.is_initialized()
        if ours:
            self._connect()
        try:
            yield from self._run(parts)
        finally:
            for actor in [*self._idle, *(actor for actor, _ in self._tasks.values())]:
                ray.kill(actor)
            if ours:
                ray.shutdown()

    def _connect(self) -> None:
        """Connect to the cluster, or start one.

        Raises
        ------
        UsageError
            There is no cluster at the address.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if self.address is None:
            # a CPU more than there are workers: an actor that takes the last one leaves none to replace another
            options |= {"num_cpus": self.workers + 1, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        host, _, port = (self.address or "").rpartition("://")[2].rpartition(":")
        try:
            if host and port.isdecimal():  # where nothing listens, Ray would try for minutes
                socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            self._ray.init(address=self.address, **options)
        except (ConnectionError, ValueError, RuntimeError, OSError, OverflowError) as error:
            raise UsageError(
                f"no Ray cluster at {self.address or 'this machine'} ({str(error).splitlines()[0]})",
                hint=f"start one with `ray start`, and name its address: {arg('address', 'HOST:6379')}",
            ) from error

    def _run(self, parts: Sequence[int]) -> Iterator[Done]:
        waiting, begun = deque(parts), Counter[int]()
        patience = self.start_seconds * (SLOW_START if self._free() >= 1 else 1)
        for _ in range(min(self.workers, len(parts))):
            self._start()
        last = time.monotonic()
        while waiting or self._scoring():
            while waiting and self._idle:
                part, actor = waiting.popleft(), self._idle.pop()
                begun[part] += 1
                self._tasks[actor.score.remote(part)] = actor, part
            finished, _ = self._ray.wait([*self._tasks], num_returns=1, timeout=LOOKED_EVERY)
            for reference in finished:
                last = time.monotonic()
                actor, scored = self._tasks.pop(reference)
                done = self._result(reference)
                if done is not None:
                    self._idle.append(actor)
                    if scored is not None:
                        yield done
                    continue
                self._start()  # the actor or its node was lost, and the part with it
                if scored is not None and begun[scored] >= TRIES:
                    raise StoreError(
                        f"part {scored}: its process was lost {TRIES} times, perhaps for its memory",
                        hint=f"use a smaller {arg('part_size')}; finished parts stay for {arg('resume', True)}",
                    )
                waiting += [] if scored is None else [scored]
            if not self._scoring() and not self._idle and time.monotonic() - last > patience:
                raise self._nothing_scheduled(patience)

    def _start(self) -> None:
        gpus = int(self._place == "GPU")
        actors = self._ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(_Scorer)
        actor = actors.remote(self.job)
        self._tasks[actor.begin.remote()] = actor, None

    def _scoring(self) -> bool:
        return any(part is not None for _, part in self._tasks.values())

    def _result(self, reference: Any) -> Any:
        """What a task returned; None if its process was lost.

        Raises
        ------
        MomusError
            The task failed with it.
        """
        try:
            result = self._ray.get(reference)
        except (
            self._ray.exceptions.RayActorError,
            self._ray.exceptions.WorkerCrashedError,
            self._ray.exceptions.ObjectLostError,
            self._ray.exceptions.OutOfMemoryError,
        ):
            return None
        if isinstance(result, MomusError):
            raise result
        return result

    def _free(self) -> float:
        return float(self._ray.available_resources().get(self._place, 0))

    def _nothing_scheduled(self, waited: float) -> StoreError:
        """The error for a cluster without a free place, which would otherwise wait in silence."""
        there = self._ray.cluster_resources().get(self._place, 0)
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
            done: Done = self.scorer(part)
        except MomusError as error:
            return error
        return done
