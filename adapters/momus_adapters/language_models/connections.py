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
from momus.limits import Limits, size_text
from momus.text.counting import counted
from momus.version import extra


class Failed(Exception):
    """A request failed for good; the message gives the reason."""


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

    def post(self, address: str, body: Mapping[str, Any], limits: Limits) -> Answer:
        """Send JSON, and return the answer.

        Raises
        ------
        Failed
            The answer was not complete in time, from the start of the request on, or is larger than allowed.
        httpx.HTTPError
            The connection failed.
        """
        with self._starting:
            loop = self._loop
        request = asyncio.wait_for(self._posted(address, body, limits), limits.answer_seconds)
        try:
            return asyncio.run_coroutine_threadsafe(request, loop).result()
        except TimeoutError as error:
            raise Failed(f"the answer took longer than {counted(limits.answer_seconds, 'second')}") from error

    async def _posted(self, address: str, body: Mapping[str, Any], limits: Limits) -> Answer:
        chunks, size, timeout = [], 0, min(self._timeout, limits.answer_seconds)
        async with self._client.stream("POST", address, json=body, timeout=timeout) as answer:
            async for chunk in answer.aiter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.answer:
                    raise Failed(f"the answer is larger than {size_text(limits.answer)}")
            return Answer(answer.status_code, answer.headers, b"".join(chunks))
