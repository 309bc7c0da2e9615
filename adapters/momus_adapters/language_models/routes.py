"""Whether a key may travel to a server: never unencrypted, unless the user says so."""

from __future__ import annotations

import ipaddress
import os
import urllib.request
import warnings
from urllib.parse import urlsplit

from momus.errors import UsageError
from momus.redact import HIDDEN, has_secret, redacted

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


def check_route(url: str, has_key: bool, allow_plain_http: bool = False) -> None:
    """Refuse to send a key unencrypted, and warn if a proxy would see it.

    Parameters
    ----------
    url
        Address of the server; credentials in it count as a key.
    has_key
        Whether requests carry a key.
    allow_plain_http
        Whether a key may be sent over ``http://``; the environment variable ``MOMUS_ALLOW_PLAIN_HTTP`` allows it, too.

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
        raise UsageError(f"{url}: its password or key was not stored", hint="give the address again, with --config")
    has_key = has_key or has_secret(url)
    if not has_key or parts.scheme != "http":
        return
    if not is_loopback(host) and not allow_plain_http and os.environ.get(ALLOWED) != "1":
        raise UsageError(
            f"the key would be sent unencrypted to {url}",
            hint=f"use https://, unset the key, or allow it: allow_plain_http = true, or {ALLOWED}=1",
        )
    proxy = proxy_of(url)
    if proxy:
        warnings.warn(
            f"the key goes unencrypted through the proxy {redacted(proxy)}, which can read it; use https://, or set "
            "NO_PROXY for this server",
            stacklevel=3,
        )
