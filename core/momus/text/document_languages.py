"""The language of each document: one for all, that of a field, or as ``lingua`` detects it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pyarrow as pa

from momus.errors import MissingExtraError, UsageError
from momus.text.corpus import SCHEMA, Corpus
from momus.version import extra

FIELD = "language"
"""The metadata field that holds a document's language; `Corpus.languages` reads it."""
DETECT, OF_FIELD = "detect", "field:"
READ = 2000
"""Characters of a document that are read to detect its language."""
_CODE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]+)*", re.IGNORECASE)


def check_language(language: str | None) -> None:
    """Refuse what is neither a language code, nor ``field:NAME``, nor ``detect``.

    >>> check_language("zh-Hans"), check_language("field:lang"), check_language("detect")
    (None, None, None)
    """
    if language is None or language == DETECT:
        return
    if language.startswith(OF_FIELD) and language != OF_FIELD:
        return
    if not _CODE.fullmatch(language):
        raise UsageError(
            f"language is {language!r}",
            hint="give a code such as de or zh, field:NAME for the field that holds each document's code, or detect",
        )


def kept_field(language: str | None) -> tuple[str, ...]:
    """The field that must be kept while documents are read, to know their languages.

    >>> kept_field("field:meta.lang"), kept_field("de")
    (('meta.lang',), ())
    """
    return (language.removeprefix(OF_FIELD),) if language is not None and language.startswith(OF_FIELD) else ()


def with_languages(corpus: Corpus, language: str | None) -> Corpus:
    """Return the corpus with each document's language in its field ``language``; itself for None.

    Raises
    ------
    UsageError
        The language is none of those of `check_language`.
    MissingExtraError
        Languages are to be detected, and ``lingua`` is not installed.

    >>> with_languages(Corpus.from_texts(["Guten Tag", "Auf Wiedersehen"]), "de-AT").languages
    ['de', 'de']
    """
    check_language(language)
    if language is None:
        return corpus
    codes: list[str | None]
    if language == DETECT:
        codes = [_detected(document.text) for document in corpus]
    elif language.startswith(OF_FIELD):
        codes = corpus.field(language.removeprefix(OF_FIELD))
    else:
        codes = [language] * len(corpus)
    fields = [
        [*((key, value) for key, value in (row or ()) if key != FIELD), *([(FIELD, code)] if code else [])]
        for row, code in zip(corpus.table["fields"].to_pylist(), codes, strict=True)
    ]
    column = SCHEMA.get_field_index("fields")
    table = corpus.table.set_column(column, SCHEMA.field("fields"), pa.array(fields, SCHEMA.field("fields").type))
    return Corpus(table, corpus.name).read_as(corpus)


def _detected(text: str) -> str | None:
    """The ISO 639-1 code that ``lingua`` gives a text; None where it decides for none."""
    language = _detector().detect_language_of(text[:READ])
    return None if language is None else str(language.iso_code_639_1.name).lower()


@cache
def _detector() -> Any:
    """The detector, with trigram models alone: all models of its 75 languages take about a gigabyte."""
    try:
        from lingua import LanguageDetectorBuilder
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "detecting languages needs the module 'lingua', which is not installed", extra("detect")
        ) from error
    return LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()
