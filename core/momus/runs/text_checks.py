"""Checks of the texts that a comparison is given, and how the real one is split."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from momus.arguments import arg
from momus.errors import UsageError
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.splitting import Units

FIT_SHARE = 0.5
"""Without a corpus to fit on, this share of the real one is set apart for it."""


def check_named(generated: object) -> None:
    """Check that the generated texts come as a dict of names and texts.

    Raises
    ------
    UsageError
        They have no names, names that differ by invisible characters only, or there are none.
    """
    if not isinstance(generated, Mapping):
        kind = type(generated).__name__
        raise UsageError(f"the generated text is {kind}, expected a dict of names and texts", hint='{"model": texts}')
    if not generated:
        raise UsageError("there is no generated text to compare", hint="give at least one corpus by name")
    seen: dict[str, object] = {}
    for name in generated:
        plain = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
        if not plain:
            raise UsageError(f"a corpus is called {name!r}", hint="give each text a name of visible characters")
        if plain in seen:
            raise UsageError(
                f"two corpora are called {seen[plain]!r} and {name!r}, which readers cannot tell apart",
                hint="give each text a different name",
            )
        seen[plain] = name


def check_filled(corpora: Sequence[Corpus]) -> None:
    """Make sure that these corpora have documents.

    Raises
    ------
    UsageError
        One has none.
    """
    for corpus in corpora:
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")


def split_warning(units: Units, seed: int, fitted: int, compared: int) -> str:
    """Say how the real text was split.

    >>> import numpy as np
    >>> split_warning(Units(np.arange(3), 0, 0, 3), 7, 1, 2)
    'No text to fit on was given: the real text was split by seed 7 into 1 document to fit on and 2 to compare with.'
    """
    words = units.words()
    return (
        f"No text to fit on was given: the real text was split by {f'{words} and ' if words else ''}seed {seed} "
        f"into {counted(fitted, 'document')} to fit on and {compared:,} to compare with."
    )


def check_splittable(name: str, documents: int, filled: int) -> None:
    """Make sure that a real text can be split into two.

    Parameters
    ----------
    filled
        How many of its documents hold text.

    Raises
    ------
    UsageError
        Fewer than two documents do.
    """
    if filled >= 2:
        return
    holds = counted(documents, "document") + (f", {filled:,} of them with text" if filled < documents else "")
    raise UsageError(
        f"{name!r} has {holds}: half of its documents cannot be set apart to fit critics on",
        hint=f"read each paragraph of a file as a document with {arg('fmt', 'paragraphs')} "
        f"(or each line with {arg('fmt', 'lines')}), or give another text to fit on with {arg('fit')}",
    )
