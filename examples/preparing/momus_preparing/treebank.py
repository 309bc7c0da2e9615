"""Treebanks from spaCy's dependency parses, written as trees in brackets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from momus.outputs import open_temporary, replacing
from momus.progress import stage
from momus_adapters.tagging import load_pipeline

ESCAPED = {"(": "-LRB-", ")": "-RRB-"}


def write_treebank(texts: Iterable[str], path: str | Path, model: str = "", *, split: bool = True) -> int:
    """Parse texts, and write one tree per line, for each sentence whose dependencies do not cross.

    A word with dependents becomes a phrase named after its part of speech (``NOUN`` → ``NOUNP``), which contains the
    phrases of its dependents and the word itself, in sentence order. The parser makes errors, and a grammar of these
    trees is not that of a hand-made treebank: use it to compare texts with one another, not with published figures.

    Parameters
    ----------
    model
        spaCy pipeline; an empty name means the small English one.
    split
        Whether the pipeline splits texts into words; otherwise their words are what lies between white space.

    Returns
    -------
    Number of trees.

    Raises
    ------
    MissingExtraError
        spaCy or the pipeline is not installed.
    """
    nlp = load_pipeline(model)
    from spacy.tokens import Doc

    n = 0
    with replacing(Path(path)) as temporary, open_temporary(temporary) as out, stage("parsing") as advance:
        documents = texts if split else (Doc(nlp.vocab, words=text.split()) for text in texts)
        for i, document in enumerate(nlp.pipe(documents, batch_size=32)):
            for sentence in document.sents:
                words = [t for t in sentence if not t.is_space]
                if words and _projective(sentence):
                    out.write((_bracketed(sentence.root) + "\n").encode("utf-8"))
                    n += 1
            advance(i + 1)
    return n


def _projective(sentence: Any) -> bool:
    """Whether the subtree of each word is contiguous."""
    return all(t.right_edge.i - t.left_edge.i + 1 == sum(1 for _ in t.subtree) for t in sentence)


def _bracketed(token: Any) -> str:
    word = ESCAPED.get(token.text, token.text.replace("(", "-LRB-").replace(")", "-RRB-"))
    leaf = f"({token.pos_} {word})"
    children = [leaf if t is token else _bracketed(t) for t in [*token.lefts, token, *token.rights] if not t.is_space]
    return leaf if len(children) == 1 else f"({token.pos_}P {' '.join(children)})"
