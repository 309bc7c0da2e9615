"""Answers of servers, read within an overall deadline and a limit of size.

HTTP libraries limit the time between two bytes: a server that drips headers or content keeps a client for ever. Here
requests run in an event loop of their own, which cancels them at the deadline, wherever the answer has got to.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from momus.errors import MissingExtraError
from momus.version import extra


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
    """Connections that threads share; those of whole answers are kept for the next request.

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
        self._client = httpx.AsyncClient(headers=dict(headers))
        self._timeout = timeout
        self._starting = threading.Lock()

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of all requests, in a thread that ends with the program."""
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        return loop

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
        with self._starting:
            loop = self._loop
        request = asyncio.wait_for(self._posted(address, body, min(self._timeout, seconds), most_bytes), seconds)
        try:
            return asyncio.run_coroutine_threadsafe(request, loop).result()
        except TimeoutError as error:
            raise TooLate from error

    async def _posted(self, address: str, body: Mapping[str, Any], timeout: float, most_bytes: int) -> Answer:
        chunks, size = [], 0
        async with self._client.stream("POST", address, json=body, timeout=timeout) as answer:
            async for chunk in answer.aiter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if size > most_bytes:
                    raise TooLarge
            return Answer(answer.status_code, answer.headers, b"".join(chunks))
