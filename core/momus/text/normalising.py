"""One spelling for white space, quotation marks and dashes, where texts were stored in different ways.

Human text is often kept as a tokeniser left it, on one line; generated text as it was written. Critics of marks and of
layout then tell how texts were stored. A comparison that normalises both sides no longer sees these marks at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa

from momus.errors import UsageError
from momus.numeric.ragged import offsets_of
from momus.text.corpus import SCHEMA, Corpus

_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r" +(?=[.,;:!?…)\]}%](?:\s|$|[\"”’)\].,;:!?])|n['’]t\b|['’](?:s|m|d|re|ve|ll)\b)", re.IGNORECASE)
_AFTER = re.compile(r"(?<=[(\[{])\s+")
_DOUBLE, _SINGLE = re.compile("[“”„‟«»″]|``|''"), re.compile("[‘’‚‛ʼ`´]")
_DASH = re.compile("\\s*(?:[–—―‒]|(?<!-)-{2,3}(?!-))\\s*")


def _whitespace(text: str) -> str:
    return _AFTER.sub("", _BEFORE.sub("", _SPACE.sub(" ", text.strip())))


def _quotes(text: str) -> str:
    return _SINGLE.sub("'", _DOUBLE.sub('"', text))


def _dashes(text: str) -> str:
    return _DASH.sub(" - ", text.replace("‐", "-").replace("‑", "-"))


NORMALISERS: dict[str, Callable[[str], str]] = {"whitespace": _whitespace, "quotes": _quotes, "dashes": _dashes}
"""What can be normalised, and how."""


def normalise(text: str, kinds: Sequence[str]) -> str:
    r"""Give a text one spelling of these kinds.

    ``whitespace`` joins lines, and removes the spaces of tokenisers before punctuation; ``quotes`` makes quotation
    marks and apostrophes straight; ``dashes`` turns dashes into hyphens with a space on both sides.

    >>> normalise("It did n't rain ,\n\nhe said .", ["whitespace"])
    "It didn't rain, he said."
    >>> normalise("“It’s late”—so he left.", ["quotes", "dashes"])
    '"It\'s late" - so he left.'
    """
    for kind in kinds:
        text = NORMALISERS[kind](text)
    return text


def check_kinds(kinds: Sequence[str]) -> None:
    """Raise `UsageError` unless all of these can be normalised."""
    for kind in kinds:
        if kind not in NORMALISERS:
            raise UsageError(f"cannot normalise {kind!r}", hint=f"choose among {', '.join(NORMALISERS)}")


def normalised(corpus: Corpus, kinds: Sequence[str]) -> Corpus:
    r"""The corpus with one spelling of these kinds in all of its texts; itself for none.

    >>> normalised(Corpus.from_texts(["So ,\nit was ."]), ["whitespace"])[0].text
    'So, it was.'
    """
    check_kinds(kinds)
    if not kinds:
        return corpus
    texts = [normalise(t, kinds) for t in corpus.section_texts.to_pylist()]
    sections = pa.ListArray.from_arrays(
        offsets_of(corpus.section_counts).astype("int32"), pa.array(texts, pa.large_string())
    )
    column = SCHEMA.get_field_index("sections")
    table = corpus.table.set_column(column, SCHEMA.field("sections"), sections)
    return Corpus(table, corpus.name).read_as(corpus)
