"""Servers with the OpenAI protocol (vLLM, llama.cpp and others): log p of texts.

If a server fails, hangs or sends invalid JSON, the request is repeated with growing pauses. The key is read from the
environment and written nowhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import random
import threading
import time
import urllib.request
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from momus.arguments import arg
from momus.errors import MissingExtraError, UsageError
from momus.limits import Limits, size_text
from momus.numeric.ragged import offsets_of
from momus.redact import HIDDEN, has_secret, redacted
from momus.sequences import SequenceScores
from momus.text.counting import clipped, counted
from momus.version import extra

RETRIED = {408, 409, 425, 429, 500, 502, 503, 504}
SHOWN = 200  # characters of what a server says


class Failed(Exception):
    """A request failed for good; the message gives the reason."""


class Refused(Failed):
    """The server will not answer this request, however often it is sent."""


class Answer(NamedTuple):
    """The answer of a server: status, headers by name, and content."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def _reason(content: bytes) -> str:
    """Why a server refuses a request, as it says; empty if it does not.

    >>> _reason(b'{"error": {"message": "at most 4096 tokens", "code": 400}}'), _reason(b"Bad Request")
    (': at most 4096 tokens', '')
    """
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        said = said[name] if isinstance(said, dict) and name in said else said
    return f": {clipped(' '.join(redacted(said).split()), SHOWN)}" if isinstance(said, str) and said else ""


class Connections:
    """Connections that threads share; those of whole answers are kept for the next request.

    HTTP libraries limit the time between two bytes: a server that drips headers or content keeps a client for ever.
    Here requests run in an event loop, which cancels them at the deadline, wherever the answer has got to.

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


class OpenAIServer:
    """A completion server as scorer.

    Parameters
    ----------
    url
        Address of the server, up to and including ``/v1``.
    model
        The model's name on the server.
    key
        Environment variable that holds the key; it may be unset.
    concurrency
        Number of concurrent requests.
    retries
        How often a failed request is repeated.
    timeout
        Seconds without an answer after which a request counts as failed.
    wait
        Seconds before the first repetition; they double each time, up to a minute.

    Raises
    ------
    UsageError
        The address is invalid, a key would be sent unencrypted, or the server refuses the key or the model.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "OPENAI_API_KEY",
        concurrency: int = 8,
        retries: int = 5,
        timeout: float = 120.0,
        wait: float = 1.0,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"{url!r} is no server address", hint="write http://host:port/v1")
        if concurrency < 1 or retries < 0 or timeout <= 0:
            raise UsageError("concurrency must be at least 1, retries at least 0, and timeout above 0 seconds")
        self.name, self.url, self.model = model, url.rstrip("/"), model
        self.concurrency, self.retries, self.wait = concurrency, retries, wait
        token = os.environ.get(key, "")
        check_route(url, bool(token))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connections = Connections(headers, timeout)
        self._limits = Limits.current()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The JSON object that the server answers; failures that may pass are repeated, for a limited time."""
        import httpx

        reason, end = "", time.monotonic() + self._limits.retry_seconds
        parts = urlsplit(self.url)
        address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()
        for attempt in range(self.retries + 1):
            pause = min(60.0, self.wait * 2**attempt) * (0.5 + random.random())
            try:
                answer = self._connections.post(address, body, self._limits)
                status = answer.status
                if status == 200:
                    content = json.loads(answer.content)
                    if isinstance(content, dict):
                        return content
                    reason = "the answer is no JSON object"
                elif status in (401, 403, 404):
                    raise UsageError(
                        f"{self.url} answered {status} for model {self.model!r}",
                        hint="check the address, the model's name, and the key in the environment",
                    )
                elif status not in RETRIED:
                    raise Refused(f"the server answered {status}{_reason(answer.content)}")
                else:
                    reason = f"the server answered {status}"
                    after = answer.headers.get("retry-after", "")
                    pause = min(60.0, float(after)) if after.isdecimal() and len(after) < 9 else pause
            except httpx.TimeoutException:
                reason = "the server did not answer in time"
            except httpx.HTTPError as error:
                reason = f"no connection ({type(error).__name__})"
            except (ValueError, RecursionError):
                reason = "the answer is no JSON"
            if time.monotonic() + pause > end:
                raise Failed(f"{reason}, for {counted(self._limits.retry_seconds, 'second')}")
            if attempt < self.retries:
                time.sleep(pause)
        raise Failed(f"{reason}, {counted(self.retries + 1, 'time')}")

    def score_texts(self, texts: Sequence[str]) -> SequenceScores:
        """log p of each of the server's tokens except the first of each text, in nats.

        Uses ``echo`` with ``logprobs``, which vLLM and llama.cpp support but many public servers do not.

        Raises
        ------
        UsageError
            The server does not send log-probabilities of prompts.
        """
        pool = ThreadPoolExecutor(self.concurrency)
        try:
            rows = list(pool.map(self._score_one, texts))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        values = np.concatenate(rows) if rows else np.zeros(0)
        return SequenceScores(values, offsets_of([len(r) for r in rows]))

    def _score_one(self, text: str) -> np.ndarray:
        body = {"model": self.model, "prompt": text, "max_tokens": 1, "echo": True, "logprobs": 1, "temperature": 0}
        if not text:
            return np.zeros(0)
        try:
            logprobs = self.post("completions", body)["choices"][0]["logprobs"]
            values, starts = logprobs["token_logprobs"], logprobs["text_offset"]
            inside = [v for v, start in zip(values, starts, strict=True) if start < len(text)]  # not the new token
            return np.array([float(v) for v in inside[1:]])
        except Failed as error:
            raise UsageError(f"{self.url}: {error}", hint="run it again when the server is available") from error
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise UsageError(
                f"{self.url} sends no log-probabilities of prompts",
                hint="serve the model with vLLM, or load it with transformers",
            ) from error


ALLOWED = "MOMUS_ALLOW_PLAIN_HTTP"
"""Environment variable that allows keys over ``http://`` if it is 1."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("localhost.example.org")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() in ("localhost", "localhost.localdomain")


def proxy_of(url: str) -> str:
    """The proxy that requests to this address take, by the environment; empty without one."""
    parts = urlsplit(url)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return ""
    proxies = urllib.request.getproxies()
    return str(proxies.get(parts.scheme) or proxies.get("all") or "")


def check_route(url: str, has_key: bool) -> None:
    """Refuse to send a key unencrypted, and warn if a proxy would see it.

    Parameters
    ----------
    url
        Address of the server; credentials in it count as a key.
    has_key
        Whether requests carry a key.

    Raises
    ------
    UsageError
        The address is malformed, was stored without its password, or is ``http://`` on another machine and there is a
        key.

    >>> check_route("http://localhost:8000/v1", has_key=True)
    >>> check_route("http://10.0.0.5/v1", has_key=False)
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise UsageError(f"{url!r} is no server address ({error})", hint="write http://host:port/v1") from None
    if HIDDEN in url:
        raise UsageError(
            f"{url}: its password or key was not stored", hint=f"give the address again, with {arg('config')}"
        )
    has_key = has_key or has_secret(url)
    if not has_key or parts.scheme != "http":
        return
    if not is_loopback(host) and os.environ.get(ALLOWED) != "1":
        raise UsageError(
            f"the key would be sent unencrypted to {url}",
            hint=f"use https://, unset the key, or allow it: {ALLOWED}=1",
        )
    proxy = proxy_of(url)
    if proxy:
        warnings.warn(
            f"the key goes unencrypted through the proxy {redacted(proxy)}, which can read it; use https://, or set "
            "NO_PROXY for this server",
            stacklevel=3,
        )
