"""Credentials in addresses, replaced before anything is printed or stored."""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "***"
_SECRET = r"[\w.-]*(?:key|token|secret|passw|pwd|auth|signature|credential)[\w.-]*"
# user:password@ ends at the last @ before the path, so that a password with an @ is hidden as a whole
_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#]*@")
_QUERY = re.compile(rf"([?&;](?:{_SECRET}|sig)=)[^&;#\s'\"]*", re.IGNORECASE)
_BEARER = re.compile(r"(\bbearer\s+)[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)
_SECRET_NAMES = {"api_key", "apikey", "password", "passwd", "secret", "token", "access_token", "authorization"}


def redacted(text: str) -> str:
    """Replace passwords and keys of addresses in a text by ``***``.

    >>> redacted("no answer from https://ann:pa@ss@host:8000/v1?api_key=abc&n=2#model")
    'no answer from https://***@host:8000/v1?api_key=***&n=2#model'
    >>> redacted("Authorization: Bearer abcdef123"), redacted("a@b.org, 3:4")
    ('Authorization: Bearer ***', 'a@b.org, 3:4')
    """
    if "://" in text:
        text = _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", text))
    return _BEARER.sub(rf"\1{HIDDEN}", text)


def redacted_value(value: Any, name: str = "") -> Any:
    """Replace the secrets in a JSON value: in its strings, and whole values of names such as ``api_key``.

    >>> redacted_value({"url": "http://u:p@h/v1", "options": {"api_key": "abc"}, "tokens": "words"})
    {'url': 'http://***@h/v1', 'options': {'api_key': '***'}, 'tokens': 'words'}
    """
    if isinstance(value, str):
        return HIDDEN if value and name.lower() in _SECRET_NAMES else redacted(value)
    if isinstance(value, dict):
        return {k: redacted_value(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [redacted_value(v, name) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def has_secret(text: str) -> bool:
    """Whether `redacted` would change this text.

    >>> has_secret("http://user:secret@host/v1"), has_secret("http://host/v1")
    (True, False)
    """
    return redacted(text) != text
