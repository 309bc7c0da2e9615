"""Changes of signs that leave the prose of a text as it is: what each critic makes of them.

`CHANGES` maps the name of a change to a function of a text. They change Markdown as models write it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

FENCED = re.compile(r"(?ms)^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1[^\S\n]*$|\Z)")


def outside_code(change: Callable[[str], str]) -> Callable[[str], str]:
    """Apply a change to what stands outside of fenced code."""

    def changed(text: str) -> str:
        pieces, at = [], 0
        for match in FENCED.finditer(text):
            pieces += [change(text[at : match.start()]), match[0]]
            at = match.end()
        return "".join([*pieces, change(text[at:])])

    return changed


def _sub(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    compiled = re.compile(pattern, re.MULTILINE)
    return outside_code(lambda text: compiled.sub(by, text))


def _wrapped(text: str) -> str:
    """Wrap paragraphs at 80 characters; other lines stay as they are."""
    special = re.compile(r"\s*(?:[-*+•|>#]|\d+[.)]|\*\*|\S{1,3}$)|.*\||\s")
    return "\n".join(
        line
        if special.match(line) or len(line) < 160
        else "\n".join(textwrap.wrap(line, 80, break_long_words=False, break_on_hyphens=False))
        for line in text.split("\n")
    )


def _lettered(text: str) -> str:
    """Number items by letters in brackets, where none of them has two digits."""
    if re.search(r"^[^\S\n]*\d{2,}[.)]\s", text, re.MULTILINE):
        return text
    return re.sub(r"^(\d)\.(?=\s)", lambda m: f"({'abcdefghij'[int(m[1])]})", text, flags=re.MULTILINE)


CHANGES: dict[str, Callable[[str], str]] = {
    "bullets *": _sub(r"^(\s*)[-+•] (?=\S)", r"\1* "),
    "bullets -": _sub(r"^(\s*)[*+•] (?=\S)", r"\1- "),
    "bullets +": _sub(r"^(\s*)[-*•] (?=\S)", r"\1+ "),
    "bullets •": _sub(r"^(\s*)[-*+] (?=\S)", r"\1• "),
    "numbers )": _sub(r"^(\s*\d+)\. (?=\S)", r"\1) "),
    "numbers as letters": outside_code(_lettered),
    "blank lines between items": _sub(r"(?<=\S)\n(?=(?:[-*+•]|\d+[.)]) )", "\n\n"),
    "strong __": _sub(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?!\w)", r"__\1__"),
    "no strong": _sub(r"(?<!^)\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?!$)", r"\1"),
    "emphasis _": _sub(r"(?<![*\w])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![*\w])", r"_\1_"),
    "headings underlined": _sub(r"^# (.+)$", lambda m: f"{m[1]}\n{'=' * len(m[1])}"),
    "headings closed": _sub(r"^(#{1,6}) (.+?)\s*$", r"\1 \2 \1"),
    "deeper headings": _sub(r"^(#{1,5}) ", r"#\1 "),
    "curled quotes": _sub(r'"(?=\w)([^"\n]*)"', r"“\1”"),
    "straight quotes": _sub("[“”]", '"'),
    "curled apostrophes": _sub(r"(?<=\w)'(?=\w)", "’"),
    "straight apostrophes": _sub("’", "'"),
    "dashes --": _sub(r"(?<=\w) ?— ?(?=\w)", "--"),
    "spaced dashes": _sub(r"(?<=\w) ?— ?(?=\w)", " – "),
    "no-break spaces": _sub(r"(?<=\w) (?=\d)", "\u00a0"),
    "two spaces after a stop": _sub(r"(?<=[.!?]) (?=[A-Z])", "  "),
    "trailing spaces": _sub(r"(?<=\S)$", "  "),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "wrapped at 80": outside_code(_wrapped),
    "entities": _sub("&(?!\\w+;|#)", "&amp;"),
    "ellipses": _sub(r"(?<!\.)\.\.\.(?!\.)", "…"),
    "ligatures": _sub("fi(?=[a-z])", "ﬁ"),
    "tables without outer bars": _sub(r"^\| (.+) \|$", r"\1"),
    "fences ~~~": lambda text: re.sub(r"(?m)^([^\S\n]*)```", r"\1~~~", text),
    "a fence that is not closed": lambda text: re.sub(r"\n```\s*\Z", "\n", text),
    "soft hyphens": _sub(r"(?<=[a-z]{4})(?=[a-z]{4})", "\u00ad"),
}
"""A text as it would stand with another sign, by the name of the change."""
