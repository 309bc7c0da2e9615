"""The tagger ``spacy``: parts of speech of tokens that were split elsewhere, by a spaCy pipeline without its parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from momus.critic.resources import resource
from momus.estimator import Estimator, parametrized
from momus_adapters.persons.parsing import load_pipeline

LONGEST = 5_000
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
            for start in range(0, len(words), LONGEST):
                doc = Doc(nlp.vocab, words=list(words[start : start + LONGEST]))
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
