"""Open generators by name: a folder, a hub name, a GGUF file, the address of a server, or an n-gram model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin

if TYPE_CHECKING:
    from momus.sequences import Generator
    from momus.sequences.ngram import Smoothing
    from momus.text.corpus import Corpus

NGRAM = re.compile(r"(\d+)-gram(?:-(katz|pitman-yor))?")

SMOOTHINGS: dict[str | None, Smoothing] = {None: "kneser-ney", "katz": "katz", "pitman-yor": "pitman-yor"}
"""Smoothing of an n-gram model, by what follows its name."""


def open_model(model: str, *, fit: Corpus | None = None, tokens: str = "whitespace", **options: Any) -> Generator:
    """Open a model that writes documents.

    Parameters
    ----------
    model
        ``3-gram`` and the like (fitted on ``fit``, with Kneser–Ney smoothing; ``3-gram-katz`` and ``3-gram-pitman-yor``
        have another); ``http://host:port/v1#name`` for a server; otherwise a model for
        ``transformers``.
    fit
        Text to fit n-gram models on.
    tokens
        Tokenizer of n-gram models, by name.
    options
        Keyword parameters of the adapter; n-gram models take only ``batch``.

    Raises
    ------
    UsageError
        The model cannot be opened, or does not accept an option.

    >>> from momus.text.corpus import Corpus
    >>> [open_model(name, fit=Corpus.from_texts(["a b"])).name for name in ("2-gram", "2-gram-katz")]
    ['2-gram', '2-gram-katz']
    """
    ngram = NGRAM.fullmatch(model)
    if ngram:
        from momus.sequences.ngram_text import NGramText
        from momus.text.tokens import get_tokenizer

        if fit is None:
            raise UsageError(f"a {model} model needs text to fit on", hint="pass it with --fit")
        tokenizer, smoothing = get_tokenizer(tokens, lower=False), SMOOTHINGS[ngram[2]]
        fitted = NGramText(int(ngram[1]), tokenizer, smoothing, unknown=False).fit_corpus(fit)
        fitted.batch = options.get("batch", fitted.batch)
        return fitted
    if fit is not None:
        raise UsageError("only n-gram models can be fitted", hint="leave out --fit, or name a model such as 3-gram")
    adapter, location = "generator.transformers", model
    if model.startswith(("http://", "https://")):
        location, _, name = model.partition("#")
        if not name:
            raise UsageError(
                f"{model} does not name a model of the server", hint="write http://host:port/v1#model-name"
            )
        adapter, options = "generator.openai", {**options, "model": name}
    opened: Generator = load_plugin(ADAPTERS, adapter)(location, **options)
    return opened
