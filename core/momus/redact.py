"""Credentials, replaced before anything is printed or stored.

Names say what is secret: ``api_key``, ``--header 'x-api-key: …'``, ``HF_TOKEN=…``, ``?sig=…``. Where no name does, the
value may: the shapes of common tokens and, in settings, words that look random.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

HIDDEN = "***"

CERTAIN = {"password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "authorization", "bearer"}
CERTAIN |= {"cookie", "apikey", "accesskey", "privatekey", "apitoken", "authtoken", "accesstoken"}
"""Last words of names whose values are always hidden."""
SUFFIXES = ("password", "passwd", "passphrase", "secret", "apikey")
KEYS = {"access", "account", "api", "auth", "encryption", "master", "private", "secret", "shared", "signing"}
KEYS |= {"subscription"}
"""Words before ``key`` that make it a credential."""
TOKENS = {"access", "api", "app", "auth", "bearer", "bot", "csrf", "github", "hf", "hub", "id", "jwt", "oauth"}
TOKENS |= {"personal", "private", "refresh", "secret", "security", "session", "sas"}
"""Words before ``token`` that make it a credential and not a word of a vocabulary."""
POSSIBLE = {"key", "token", "auth", "pass", "signature", "sig", "pat", "session", "sid", "sas", "jwt", "pin"}
"""Last words of names whose values are hidden if they look random; those of addresses are hidden always."""

LONGEST = 200
"""Characters of a word that may be a credential; longer ones are data."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# user:password@ ends at the last @ before the path, so that a password with an @ is hidden as a whole
_USER = re.compile(r"((?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://)[^\s/?#]*@")
_QUERY = re.compile(r"([?&;])([\w.%-]+)=([^&;#\s'\"]*)")
# as curl takes it: -u user:password, -sSu user:password, -uuser:password, --user=user:password, quoted or not
_LOGIN = re.compile(
    r"((?<![\w-])(?:-[A-Za-z]{0,6}?[uU]|--(?:(?:proxy-)?user|auth)[= ])[ ]*[\"']?[^\s:\"']+:)(?!//)[^\s\"']+"
)
_SCHEME = re.compile(r"(\b(?:bearer|basic|digest|negotiate|aws4-hmac-sha256)\s+)[A-Za-z0-9._~+/=:-]{6,}", re.IGNORECASE)
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<open>["']?)(?P<dashes>--?)?(?P<name>[A-Za-z_][\w.-]*+)(?P<close>["']?)
        (?P<mark>\s*[=:]\s*|(?(dashes)[ ]+|(?!)))""",
    re.VERBOSE,
)
_VALUE = re.compile(
    r""""[^"]*"|'[^']*'|(?:(?:bearer|basic|token|digest|apikey)\s+)?[^\s,;&'"(){}\[\]]+""", re.IGNORECASE
)
_SHAPES = re.compile(
    r"""\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,} | \bhf_[A-Za-z0-9]{10,} | \bgh[pousr]_[A-Za-z0-9]{10,}
        | \bgithub_pat_\w{10,} | \bglpat-[\w-]{10,} | \bxox[abeoprs]-[\w-]{8,} | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
        | \bAIza[\w-]{20,} | \bya29\.[\w-]{10,} | \beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*
        | \b(?:npm|pypi|dop_v1|gsk|r8|nvapi)[-_][\w-]{16,}
        | -----BEGIN[ A-Z]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ A-Z]*-----|$)""",
    re.VERBOSE,
)  # fmt: skip
_OPTION = re.compile(r"(?P<dashes>-*)(?P<name>\w[\w.-]*)")
_RANDOM = re.compile(r"[A-Za-z0-9+]{20,}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\$\w+|\$\{\w+\}")


def redacted(text: str) -> str:
    """Replace the secrets in a text by ``***``: of addresses, of headers, of options and assignments, and known tokens.

    >>> redacted("no answer from https://ann:pa@ss@host:8000/v1?api_key=abc&n=2#model")
    'no answer from https://***@host:8000/v1?api_key=***&n=2#model'
    >>> redacted("Authorization: Bearer abcdef123"), redacted("a@b.org, 3:4")
    ('Authorization: ***', 'a@b.org, 3:4')
    >>> redacted("run --header 'x-api-key: abc' --token abc -n 3"), redacted("HF_TOKEN=abc1234 model=m")
    ("run --header 'x-api-key: ***' --token *** -n 3", 'HF_TOKEN=*** model=m')
    """
    if "://" in text:
        text = _QUERY.sub(_hide_query, _USER.sub(rf"\1{HIDDEN}@", text))
    if "=" in text or ":" in text or "--" in text:
        text = _hide_named(_LOGIN.sub(rf"\1{HIDDEN}", text))
    return _SHAPES.sub(HIDDEN, _SCHEME.sub(rf"\1{HIDDEN}", text))


def redacted_value(value: Any, name: str = "") -> Any:
    """Replace the secrets in a JSON value: by the names of tables, in lists of options and pairs, and in its strings.

    >>> redacted_value({"url": "http://u:p@h/v1", "options": {"api_key": "abc"}, "tokens": "words"})
    {'url': 'http://***@h/v1', 'options': {'api_key': '***'}, 'tokens': 'words'}
    >>> redacted_value({"env": ["OPENAI_API_KEY=abc"], "headers": [["x-api-key", "abc"]], "argv": ["--token", "abc"]})
    {'env': ['OPENAI_API_KEY=***'], 'headers': [['x-api-key', '***']], 'argv': ['--token', '***']}
    """
    certain = names_secret(name) is True
    if isinstance(value, Mapping):
        labelled = next((str(value[k]) for k in ("name", "key", "header", "variable") if k in value), "")
        return {
            k: redacted_value(v, name if certain else labelled if labelled and k == "value" else _named(str(k), name))
            for k, v in value.items()
        }
    if isinstance(value, list | tuple):
        items = [redacted_value(v, before) for v, before in zip(value, _names_before(value, name), strict=True)]
        for i, (option, login) in enumerate(pairwise(items)):
            if isinstance(option, str) and isinstance(login, str) and _LOGIN.match(f"{option} {login}"):
                items[i + 1] = _LOGIN.sub(rf"\1{HIDDEN}", f"{option} {login}")[len(option) + 1 :]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, bool) or value is None or value == "":
        return value
    if isinstance(value, str):
        if certain or (names_secret(name) is None and _opaque(value)):
            return HIDDEN
        return _RANDOM.sub(lambda word: HIDDEN if _random(word[0]) else word[0], redacted(_in_json(value)))
    return HIDDEN if certain and isinstance(value, int | float) else value


def has_secret(text: str) -> bool:
    """Whether `redacted` would change this text.

    >>> has_secret("http://user:secret@host/v1"), has_secret("http://host/v1")
    (True, False)
    """
    return redacted(text) != text


@lru_cache
def names_secret(name: str) -> bool | None:
    """Whether what has this name is a secret; None if that depends on its value.

    >>> names_secret("x-api-key"), names_secret("wandbKey"), names_secret("eos_token_id"), names_secret("max_tokens")
    (True, None, False, False)
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if words[-2:] == ["token", "id"]:  # of a vocabulary
        return False
    while words and (words[-1].isdigit() or words[-1] in ("id", "list")):
        words.pop()  # PASSWORD2, aws_access_key_id, key_list
    if not words:
        return False
    *before, last = words
    kind, several = before[-1] if before else "", last.endswith("s") and last != "pass"
    last = last.removesuffix("s") if several else last
    if last == "token" and several and kind not in TOKENS:  # max_tokens
        return False
    # PGPASSWORD is one word
    if last.endswith(SUFFIXES) or last in CERTAIN or (last == "key" and kind in KEYS):
        return True
    if last == "token" and kind in {"", *TOKENS}:
        return True
    return None if last in POSSIBLE else False


def _named(key: str, table: str) -> str:
    """What names the value of a key: the key, or a table of keys, such as ``keys``, if the key itself says nothing."""
    several = table.lower().endswith("keys") and names_secret(table) is None
    return table if several and names_secret(key) is False else key


def _names_before(items: Sequence[Any], name: str) -> Iterator[str]:
    """The name that each item of a list goes by: that of the list, or the option or header before it."""
    for before in ["", *items][: len(items)]:
        option = _OPTION.fullmatch(before) if isinstance(before, str) else None
        paired = option is not None and (option["dashes"] or len(items) == 2)
        yield option["name"] if option and paired and names_secret(option["name"]) is not False else name


def _hide_query(match: re.Match[str]) -> str:
    start, name, value = match.groups()
    return f"{start}{name}={value if names_secret(name) is False else HIDDEN}"


def _hide_named(text: str) -> str:
    """Hide the values of options, assignments and headers whose names say that they are secret."""
    pieces: list[str] = []
    end = 0
    for named in _NAMED.finditer(text):
        if named.start() < end or names_secret(named["name"]) is False:
            continue
        quote = named["open"] if not named["close"] else ""  # a quoted header ends with its quote
        closed = text.find(quote, named.end()) if quote else -1
        value = _VALUE.match(text, named.end(), *([closed] if closed >= 0 else []))
        stop = closed if closed >= 0 else value.end() if value else named.end()
        inner = text[named.end() : stop].strip("\"'")
        if inner and _is_hidden(named, inner):
            pieces += [text[end : named.end()], text[named.end() : stop].replace(inner, HIDDEN)]
            end = stop
    return "".join([*pieces, text[end:]])


def _is_hidden(named: re.Match[str], value: str) -> bool:
    """Whether the value is a secret: in prose, "password: expected a text" holds none.

    A bare name before a colon needs a value that looks like a secret, and so does a name that may be another.
    """
    plain = not re.search(r"[-_]", named["name"]) and named["name"].lower() != "authorization"
    prose = named["mark"].strip() == ":" and not named["close"] and plain
    return _opaque(value) or not (prose or names_secret(named["name"]) is None)


def _opaque(value: str) -> bool:
    """Whether a value looks like no word: letters with digits in it; and no name of a variable."""
    if _VARIABLE.fullmatch(value) or not re.fullmatch(r"[\w+/=.~!@#$%^*-]{6,}", value):
        return False
    return bool(re.search(r"[A-Za-z]", value) and re.search(r"\d", value)) or len(value) >= 20


def _random(word: str) -> bool:
    """Whether a word looks drawn at random: upper and lower case and digits mixed, four bits and more per character.

    Hexadecimal digests, which identify files and texts, do not.
    """
    kinds = [bool(re.search(pattern, word)) for pattern in ("[a-z]", "[A-Z]", r"\d")]
    if not all(kinds) or len(word) > LONGEST:
        return False
    changes = sum(_kind(a) != _kind(b) for a, b in pairwise(word))
    entropy = -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())
    return entropy >= 4 and changes >= len(word) / 3


def _kind(character: str) -> int:
    return 0 if character.islower() else 1 if character.isupper() else 2 if character.isdigit() else 3


def _in_json(text: str) -> str:
    """Redact JSON within a string; any other string stays."""
    if text[:1] in ("{", "["):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return text
        clean = redacted_value(content)
        return text if clean == content else json.dumps(clean, ensure_ascii=False)
    return text
