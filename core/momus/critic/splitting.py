"""Documents that a critic can be fitted on, and the version of ICU that splits their words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.arguments import arg
from momus.critic.hooks import tokenizer_of
from momus.critic.powers import fields_read
from momus.errors import FittingError, MissingExtraError
from momus.numeric.types import Bools
from momus.text.counting import counted
from momus.text.words import EXTRA, has_icu, icu_version

if TYPE_CHECKING:
    from momus.critic.base import Critic
    from momus.text.corpus import Corpus
    from momus.text.tokens import Tokenizer

UNSPLIT = "its words need ICU (the extra 'languages')"
"""Why a document in Chinese, Japanese, Thai, Lao, Khmer or Burmese script is not scored without ``icu4py``."""


def unsplit(tokenizer: Tokenizer | None, corpus: Corpus) -> Bools:
    """Whether the words of each document cannot be found for want of ICU: bool (documents,).

    >>> from momus import Corpus
    >>> from momus.text.tokens import get_tokenizer
    >>> unsplit(get_tokenizer("whitespace"), Corpus.from_texts(["我们 在 北京"])).tolist()
    [False]
    """
    if tokenizer is None or not tokenizer.dictionaries or has_icu():
        return np.zeros(len(corpus), dtype=bool)
    return corpus.unspaced


def splitting_of(tokenizer: Tokenizer | None, corpus: Corpus) -> dict[str, str]:
    """What a fitted critic keeps of its tokenizer: its versioned signature if ICU split any of the text.

    >>> from momus import Corpus
    >>> from momus.text.tokens import get_tokenizer
    >>> splitting_of(get_tokenizer("words"), Corpus.from_texts(["plain English"]))
    {}
    """
    if tokenizer is None or not tokenizer.dictionaries or not icu_version():
        return {}
    if tokenizer.name == "words" and not corpus.unspaced.any():
        return {}
    return {"tokenizer": tokenizer.versioned}


def icu_of(corpora: Iterable[Corpus]) -> dict[str, str]:
    """What a run keeps of ICU: its version if a text has a script that it splits.

    >>> from momus import Corpus
    >>> icu_of([Corpus.from_texts(["plain English"])])
    {}
    """
    version = icu_version()
    return {"icu": version} if version and any(corpus.unspaced.any() for corpus in corpora) else {}


def other_splitting(critic: Critic[Any]) -> str:
    """How the words of a fitted critic differ from those that text is split into now; empty if they do not.

    A critic that was fitted on text which ICU split notes the version. Another version may have other dictionaries.
    """
    fitted = critic.fitted_on_.get("tokenizer") if hasattr(critic, "fitted_on_") else None
    tokenizer = tokenizer_of(critic)
    if not isinstance(fitted, str) or tokenizer is None:
        return ""
    now = tokenizer.versioned
    if fitted == now:
        return ""
    return (
        f"It was fitted on words of {fitted!r}, and text is now split by {now!r}, which may find other words in "
        "Chinese, Japanese, Thai, Lao, Khmer and Burmese text: fit it again, or install that version of ICU."
    )


def documents_to_fit(critic: Critic[Any], real: Corpus) -> tuple[Corpus, int]:
    """The documents that a critic can be fitted on, and how many others lack nothing but a way to split their words."""
    filled = usable_documents(real, critic._textless)
    for name in fields_read(critic):
        filled = filled.take(np.flatnonzero([value is not None for value in filled.field(name)]))
    lacking = unsplit(tokenizer_of(critic), filled)
    return (filled.take(np.flatnonzero(~lacking)) if lacking.any() else filled), int(lacking.sum())


def check_enough(critic: Critic[Any], name: str, usable: int, total: int, lacking: int) -> None:
    """Make sure that ``usable`` of the documents given suffice to fit a critic.

    Raises
    ------
    MissingExtraError
        They would if the words of those that are ``lacking`` could be found.
    FittingError
        They do not.
    """
    if usable >= critic.min_documents:
        return
    if usable + lacking >= critic.min_documents:
        raise MissingExtraError(
            f"critic {critic.name!r} cannot find the words of {counted(lacking, 'document')} of {name!r}, in a "
            "script that writes words together: ICU is not installed",
            EXTRA,
        )
    needs = fields_read(critic)
    beside = "".join(f" and a field {field!r}" for field in needs)
    fields = arg("keep", [f"{field}=FIELD" for field in needs])
    error = FittingError(
        f"critic {critic.name!r} needs at least {counted(critic.min_documents, 'document')} with text{beside} to be "
        f"fitted; {name!r} has {usable} of {total}",
        hint=f"name the field of its records with {fields}" if needs else f"give more real text with {arg('fit')}",
    )
    error.critic = critic.name
    raise error


def lacking(field: str) -> str:
    """Why a document without a field that a critic reads beside the text is not scored.

    >>> lacking("prompt_text"), lacking("reference")
    ('no prompt', 'no reference')
    """
    return f"no {field.removesuffix('_text')}"


def usable_documents(corpus: Corpus, textless: bool = False) -> Corpus:
    """The documents that hold text; ``textless``: all that could be read."""
    broken = np.asarray([p is not None for p in corpus.problems], dtype=bool)
    keep = ~(broken | (corpus.blank & (not textless)))
    return corpus if keep.all() else corpus.take(np.flatnonzero(keep))
