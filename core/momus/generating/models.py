"""From what users write to a model: a folder, a hub name, a GGUF file, a server's address, or an n-gram model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin

if TYPE_CHECKING:
    from momus.sequences import Generator
    from momus.text.corpus import Corpus

NGRAM = re.compile(r"(\d+)-gram")


def open_model(model: str, *, fit: Corpus | None = None, tokens: str = "whitespace", **options: Any) -> Generator:
    """Open a model that writes documents.

    Parameters
    ----------
    model
        ``3-gram`` and the like (fitted on ``fit``); ``http://host:port/v1#name`` for a server; else what
        ``transformers`` loads.
    fit
        Text for n-gram models.
    options
        Keyword parameters of the adapter; n-gram models take ``batch`` alone.

    Raises
    ------
    UsageError
        The model cannot be opened, or an option does not belong to it.

    >>> from momus.text.corpus import Corpus
    >>> open_model("2-gram", fit=Corpus.from_texts(["a b"])).name
    '2-gram'
    """
    found = NGRAM.fullmatch(model)
    if found:
        from momus.sequences.ngram_text import NGramText
        from momus.text.tokens import get_tokenizer

        if fit is None:
            raise UsageError(f"a {model} model needs text to be fitted on", hint="name it with --fit")
        made = NGramText(int(found[1]), get_tokenizer(tokens, lower=False), unknown=False).fit_corpus(fit)
        made.batch = options.get("batch", made.batch)
        return made
    if fit is not None:
        raise UsageError("only n-gram models are fitted", hint="leave --fit out, or write the model as 3-gram")
    adapter, place = "generator.transformers", model
    if model.startswith(("http://", "https://")):
        place, _, name = model.partition("#")
        if not name:
            raise UsageError(f"{model} does not say which model", hint="write http://host:port/v1#model-name")
        adapter, options = "generator.openai", {**options, "model": name}
    opened: Generator = load_plugin(ADAPTERS, adapter)(place, **options)
    return opened
