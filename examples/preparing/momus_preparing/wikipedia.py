"""Stream the articles of a Wikipedia dump as titled documents, with ``mwxml`` and ``mwparserfromhell``.

Sections are the top-level ones. Redirects, disambiguation pages and pages outside of the article namespace are skipped
and counted. Links become plain text; files, images, tables and templates are removed.
"""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from momus.errors import ReadingError, UsageError
from momus_adapters.markups.mediawiki import parts_of
from momus_preparing import Titled

_DISAMBIGUATION = re.compile(r"\{\{\s*(?:[\w\s]*disambig\w*|dab|hndis|geodis)\s*[|}]", re.IGNORECASE)


def articles(path: str | Path) -> Iterator[Titled]:
    """Stream the articles of a dump: ``.xml``, ``.xml.bz2`` or ``.xml.gz``, current revisions.

    Raises
    ------
    ReadingError
        The file is no dump, or is truncated.
    """
    import mwxml

    with _opened(Path(path)) as stream:
        try:
            for page in mwxml.Dump.from_file(stream):
                yield _document(page)
        except (ReadingError, UsageError):
            raise
        except Exception as error:  # mwxml, the XML parser and the decompressors raise different errors
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ReadingError(
                f"{path}: not readable as a Wikipedia dump: {reason}",
                hint="give a complete pages-articles dump (.xml, .xml.bz2, .xml.gz)",
            ) from error


def _opened(path: Path) -> IO[bytes]:
    try:
        if path.suffix == ".bz2":
            return bz2.open(path, "rb")
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
    except OSError as error:
        raise ReadingError(f"{path}: {error.strerror or error}", hint="name a dump file") from error


def _document(page: Any) -> Titled:
    name = str(page.title)
    if page.namespace not in (0, None):
        return Titled(name, [], "not in the article namespace")
    if page.redirect:
        return Titled(name, [], "a redirect")
    text = ""
    for revision in page:  # keep the last one
        text = revision.text or ""
    if _DISAMBIGUATION.search(text):
        return Titled(name, [], "a disambiguation page")
    return Titled(name, sections(text))


def sections(markup: str) -> list[tuple[str | None, str]]:
    r"""(title, text) of the top-level sections of an article's markup; the title of the lead is ``abstract``.

    >>> sections("'''Ada''' wrote.\n== Life ==\nBorn.\n=== Youth ===\nSmall.{{x}}")
    [('abstract', 'Ada wrote.'), ('Life', 'Born.\n\nSmall.')]
    """
    titled: list[tuple[str | None, str]] = []
    for passage in parts_of(markup):
        if passage.level in (0, 2):
            titled.append((passage.title if passage.level else "abstract", passage.text))
        elif passage.level > 2 and titled:
            title, text = titled[-1]
            titled[-1] = title, "\n\n".join(filter(None, (text, passage.text)))
    return titled
