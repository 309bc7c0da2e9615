"""Answers of servers, read within an overall deadline and a limit of size.

HTTP libraries limit the time between two bytes: a server that drips headers or content keeps a client for ever. Here a
timer shuts the socket down at the deadline, wherever the answer has got to.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from momus.errors import MissingExtraError
from momus.version import extra

_T = TypeVar("_T")


class TooLate(Exception):
    """The answer was not complete at the deadline."""


class TooLarge(Exception):
    """The answer has more bytes than allowed."""


@dataclass(frozen=True)
class Answer:
    """The answer of a server: status, headers by name, and content."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Connections:
    """Connections that threads share; each serves one request at a time, and is kept for the next.

    Parameters
    ----------
    headers
        Sent with every request.
    timeout
        Seconds without a byte, or for a connection, after which a request fails.

    Raises
    ------
    MissingExtraError
        httpx is not installed.
    """

    def __init__(self, headers: Mapping[str, str], timeout: float) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("requests to servers need httpx", extra("http")) from error
        context = httpx.create_ssl_context()  # reads the certificates once, not once per connection
        self._make: Callable[[], Any] = lambda: httpx.Client(headers=dict(headers), verify=context)
        self._timeout = timeout
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()

    def post(self, address: str, body: Mapping[str, Any], seconds: float, most_bytes: int) -> Answer:
        """Send JSON, and return the answer.

        Parameters
        ----------
        seconds
            From the start of the request to the end of the answer.
        most_bytes
            Of the content of the answer.

        Raises
        ------
        TooLate, TooLarge
            The answer was not complete in time, or is larger than allowed.
        httpx.HTTPError
            The connection failed.
        """
        with self._connection() as connection:
            timeout = min(self._timeout, seconds)
            return connection.within(seconds, lambda: connection.post(address, body, timeout, most_bytes))

    @contextmanager
    def _connection(self) -> Iterator[_Connection]:
        """A connection that no other thread uses; after a failure it is closed."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or _Connection(self._make())
        try:
            yield connection
        except BaseException:
            connection.client.close()
            raise
        with self._lock:
            self._idle.append(connection)


class _Connection:
    """A client with one connection at a time, whose socket a timer can shut down."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._socket: socket.socket | None = None
        self._late = False

    def within(self, seconds: float, work: Callable[[], _T]) -> _T:
        """Do the work; raise `TooLate` if it has not ended after so many seconds."""
        self._late = False
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            return work()
        except Exception as error:  # a connection that is cut fails in whatever call is waiting
            if self._late:
                raise TooLate from error
            raise
        finally:
            timer.cancel()

    def _cut(self) -> None:
        self._late = True
        if self._socket is not None:
            with suppress(OSError):  # closed already
                self._socket.shutdown(socket.SHUT_RDWR)

    def _seen(self, event: str, info: Mapping[str, Any]) -> None:
        """Note the socket when it is connected, and when it is wrapped by TLS; stop what begins after the deadline."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
        if self._late and event.endswith((".started", ".complete")):
            raise TooLate

    def post(self, address: str, body: Mapping[str, Any], timeout: float, most_bytes: int) -> Answer:
        """Send a request and read its answer."""
        chunks, size = [], 0
        options = {"json": body, "timeout": timeout, "extensions": {"trace": self._seen}}
        with self.client.stream("POST", address, **options) as answer:
            for chunk in answer.iter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if size > most_bytes:
                    raise TooLarge
            return Answer(answer.status_code, answer.headers, b"".join(chunks))
