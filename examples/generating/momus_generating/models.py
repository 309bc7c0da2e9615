"""Texts that a model writes, by any decoding."""

from __future__ import annotations

from collections.abc import Sequence

from momus.sequences import StepModel
from momus_generating.decoding import sample
from momus_generating.methods import Decoding


def write(model: StepModel, prompts: Sequence[str], decoding: Decoding, seeds: Sequence[int]) -> list[str]:
    """Write one document per prompt, in batches of the model's size, and return the texts without the prompts.

    Each depends on its prompt and its seed, not on the other documents.

    Parameters
    ----------
    prompts
        Beginnings of the documents, which may be empty.
    seeds
        A seed for each document, see `momus_generating.document_seeds`.

    >>> from momus import Corpus
    >>> from momus.sequences.ngram_text import NGramText
    >>> from momus.text.tokens import get_tokenizer
    >>> model = NGramText(2, get_tokenizer("whitespace"), unknown=False).fit_corpus(Corpus.from_texts(["a b", "a b"]))
    >>> len(write(model, ["", "a"], Decoding(longest=5), [1, 2]))
    2
    """
    encoded = list(set(prompts) - {""})
    longest = decoding.longest + (int(model.encode(encoded).lengths.max()) if encoded else 0)
    size = model.at_once(longest, decoding.beams)
    texts: list[str] = []
    for start in range(0, len(prompts), size):
        batch = list(prompts[start : start + size])
        begun = model.encode(batch) if any(batch) else None
        drawn = sample(model, begun, decoding, seeds[start : start + size])
        texts += model.continuations(begun, drawn.sequences)
    return texts
