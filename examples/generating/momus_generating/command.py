"""``momus generate``: write documents with a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.cli.options import Device
from momus.cli.printing import echo
from momus.errors import UsageError
from momus.limits import MOST_SEED
from momus.ownership import check_place
from momus.plugins import ADAPTERS, load_plugin
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.text.corpus import Corpus
    from momus_generating.models import Generator


def generate(
    model: Annotated[
        str,
        typer.Argument(
            help="Folder, hub name or .gguf file for transformers; 3-gram or the like (with --fit); or a server, as "
            "http://host:port/v1#name."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSON Lines file to write.")],
    decoding: Annotated[
        str, typer.Option("--decoding", "-d", help="ancestral, temperature, nucleus, or beam-sampling.")
    ] = "ancestral",
    prompts: Annotated[
        Path | None,
        typer.Option("--prompts", "-p", help="Text file with one prompt per line, or a corpus file; default: none."),
    ] = None,
    per_prompt: Annotated[int, typer.Option("--each", "-n", min=1, help="Documents per prompt.")] = 1,
    temperature: Annotated[float, typer.Option("--temperature", "-t", help="Logits are divided by it.")] = 1.0,
    top_p: Annotated[float | None, typer.Option(help="Probability mass of the nucleus; default: 0.9.")] = None,
    beams: Annotated[int | None, typer.Option(help="Hypotheses of beam sampling; default: 5.")] = None,
    longest: Annotated[int, typer.Option(min=1, help="Maximum length of a document, in tokens.")] = 512,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="Random seed; the seed of each document is derived from it.")
    ] = 0,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Documents per batch, by default as many as memory allows; for a server, concurrent requests, 16.",
        ),
    ] = None,
    device: Device = "auto",
    precision: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")] = "auto",
    window: Annotated[int, typer.Option(min=0, help="Tokens of context; 0: as many as the model takes.")] = 0,
    begin: Annotated[str, typer.Option(help="Token that begins a document; default: that of the tokenizer.")] = "",
    end: Annotated[str, typer.Option(help="Token that ends a document; default: that of the tokenizer.")] = "",
    fit: Annotated[
        Path | None,
        typer.Option("--fit", "-f", help="Text to fit an n-gram model on; a .txt file has one document per line."),
    ] = None,
    chat: Annotated[bool, typer.Option("--chat", help="Use the server's chat endpoint.")] = False,
    keep_prompt: Annotated[bool, typer.Option("--keep-prompt", help="Let each text begin with its prompt.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file in --out.")] = False,
    field: Annotated[str | None, typer.Option(help="Field of --prompts that holds the text.")] = None,
) -> None:
    """Write documents with a language model, ready to be compared.

    Each document is stored with its prompt, seed and decoding. The same seed
    gives the same documents, whatever the batch; --resume resumes an interrupted
    run. The key of a server is read from the environment variable OPENAI_API_KEY
    and written nowhere.

    Examples (the second needs no model: it fits a trigram model on text):

      [bold]momus generate ./my-model -d nucleus -p prompts.txt -n 4 -o a.jsonl[/bold]
      [bold]momus generate 3-gram --fit train.jsonl -n 200 -o trigram.jsonl[/bold]

    Next: `momus compare --real real.jsonl --generated mine=a.jsonl --out run`;
    documents of one prompt are compared in pairs.
    """
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter
    from momus.reading import read_corpus
    from momus_generating import Decoding, Prompt
    from momus_generating.writing import read_prompts, write_documents

    check_place(out, [prompts, fit, model])
    mass = (0.9 if decoding == "nucleus" else 1.0) if top_p is None else top_p
    hypotheses = (5 if decoding == "beam-sampling" else 1) if beams is None else beams
    decoder = Decoding(
        decoding,  # type: ignore[arg-type]  # `Decoding` checks it
        temperature,
        mass,
        hypotheses,
        longest,
    )
    chosen_prompts = [Prompt("")] if prompts is None else read_prompts(prompts, field)
    server, ngram = model.startswith(("http://", "https://")), bool(NGRAM.fullmatch(model))
    transformers_only = {"precision": precision != "auto", "window": window, "begin": begin, "end": end}
    unused = [name for name, value in transformers_only.items() if value and (server or ngram)]
    if chat and not server:
        unused.append("chat")
    if unused:
        raise UsageError(f"{model} does not take --{unused[0]}", hint="leave it out")
    options: dict[str, Any]
    if server:
        options = {"concurrency": batch or 16, "chat": chat}
    elif ngram:
        options = {"batch": batch} if batch else {}
    else:
        options = {"device": resolve_device(device), "precision": precision, "batch": batch or 0, "window": window}
        options |= {"begin": begin, "end": end}
    fmt = "lines" if fit is not None and fit.suffix == ".txt" else None
    fitting = None if fit is None else read_corpus(str(fit), name="fit", fmt=fmt)
    generator = open_model(model, fit=fitting, **options)
    reporter = default_reporter()
    try:
        outcome = write_documents(
            out,
            generator,
            chosen_prompts,
            decoder,
            per_prompt=per_prompt,
            seed=seed,
            keep_prompt=keep_prompt,
            resume=resume,
            overwrite=overwrite,
            reporter=reporter,
        )
    except KeyboardInterrupt:
        echo(f"\nInterrupted. The documents written so far are in {out}; resume with --resume.", err=True)
        raise
    before = f" ({outcome.before:,} already there)" if outcome.before else ""
    echo(f"{counted(outcome.written, 'document')} written{before}, seed {seed}, {decoder.record()} → {out}")
    if outcome.failed:
        for name, reason in list(outcome.failed.items())[:10]:
            echo(f"not written: {name} ({reason})", err=True)
        echo(f"{counted(len(outcome.failed), 'document')} missing; ask again with --resume.", err=True)
        raise typer.Exit(1)


NGRAM = re.compile(r"(\d+)-gram")


def open_model(model: str, *, fit: Corpus | None = None, tokens: str = "whitespace", **options: Any) -> Generator:
    """Open a model that writes documents.

    Parameters
    ----------
    model
        ``3-gram`` and the like (fitted on ``fit``, with Kneser–Ney smoothing); ``http://host:port/v1#name`` for a
        server; otherwise a model for ``transformers``.
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
    >>> open_model("2-gram", fit=Corpus.from_texts(["a b"])).name
    '2-gram'
    """
    from momus_generating.models import ModelSampler, ServerGenerator

    ngram = NGRAM.fullmatch(model)
    if ngram:
        from momus.sequences.ngram_text import NGramText
        from momus.text.tokens import get_tokenizer

        if fit is None:
            raise UsageError(f"a {model} model needs text to fit on", hint="pass it with --fit")
        fitted = NGramText(int(ngram[1]), get_tokenizer(tokens, lower=False), unknown=False).fit_corpus(fit)
        fitted.batch = options.get("batch", fitted.batch)
        return ModelSampler(fitted)
    if fit is not None:
        raise UsageError("only n-gram models can be fitted", hint="leave out --fit, or name a model such as 3-gram")
    if model.startswith(("http://", "https://")):
        address, _, name = model.partition("#")
        if not name:
            raise UsageError(
                f"{model} does not name a model of the server", hint="write http://host:port/v1#model-name"
            )
        return ServerGenerator(address, name, **options)
    return ModelSampler(load_plugin(ADAPTERS, "scorer.transformers")(model, **options))
