"""``momus generate``: documents from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def generate(
    model: Annotated[
        str,
        typer.Argument(
            help="A folder, hub name or .gguf file for transformers; 3-gram (with --fit); or http://host:port/v1#name."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSON Lines file to write.")],
    decoding: Annotated[
        str, typer.Option("--decoding", "-d", help="ancestral, temperature, nucleus, or beam-sampling.")
    ] = "ancestral",
    prompts: Annotated[
        Path | None, typer.Option("--prompts", "-p", help="One prompt a line, or a corpus file; default: no prompt.")
    ] = None,
    each: Annotated[int, typer.Option("--each", "-n", min=1, help="Documents for each prompt.")] = 1,
    temperature: Annotated[float, typer.Option("--temperature", "-t", help="Logits are divided by it.")] = 1.0,
    top_p: Annotated[float | None, typer.Option(help="Mass of the nucleus; default: 0.9.")] = None,
    beams: Annotated[int | None, typer.Option(help="Hypotheses of beam sampling; default: 5.")] = None,
    longest: Annotated[int, typer.Option(min=1, help="Tokens after which a document is cut.")] = 512,
    seed: Annotated[int, typer.Option(help="Each document's own seed is made from it.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Documents at a time (requests at a time, of a server).")] = 16,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    precision: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")] = "auto",
    window: Annotated[int, typer.Option(min=0, help="Tokens of context; 0 takes the model's own.")] = 0,
    begin: Annotated[str, typer.Option(help="Token that begins a document, where not the tokenizer's own.")] = "",
    end: Annotated[str, typer.Option(help="Token that ends a document, where not the tokenizer's own.")] = "",
    fit: Annotated[
        Path | None,
        typer.Option("--fit", "-f", help="Text that an n-gram model is fitted on; of a .txt, a document a line."),
    ] = None,
    chat: Annotated[bool, typer.Option("--chat", help="Ask a server's chat endpoint.")] = False,
    keep_prompt: Annotated[bool, typer.Option("--keep-prompt", help="Begin each text with its prompt.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file in --out.")] = False,
    field: Annotated[str | None, typer.Option(help="The field of --prompts that holds the text.")] = None,
) -> None:
    """Write documents with a model, each with its prompt, seed and decoding beside it.

    The same seed gives the same documents, whatever the batch; an interrupted run goes on with --resume. The file is
    ready for [bold]momus compare --generated mine=FILE[/bold]; documents of one prompt are compared in pairs.

    The key of a server is read from the environment variable OPENAI_API_KEY and written nowhere.

    Example: [bold]momus generate ./my-model -d nucleus --top-p 0.9 -p prompts.txt -n 4 -o nucleus.jsonl[/bold]
    """
    from momus.errors import UsageError
    from momus.generating import read_prompts, write_documents
    from momus.generating.models import NGRAM, open_model
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter
    from momus.reading import read_corpus
    from momus.sequences import Decoding, Prompt

    mass = (0.9 if decoding == "nucleus" else 1.0) if top_p is None else top_p
    k = (5 if decoding == "beam-sampling" else 1) if beams is None else beams
    how = Decoding(
        decoding,  # type: ignore[arg-type]  # checked there
        temperature,
        mass,
        k,
        longest,
    )
    given = [Prompt("")] if prompts is None else read_prompts(prompts, field)
    options: dict[str, Any]
    local = not (model.startswith(("http://", "https://")) or NGRAM.fullmatch(model))
    given_options = {"precision": precision != "auto", "window": window, "begin": begin, "end": end}
    unused = [name for name, value in given_options.items() if value and not local]
    if chat and not model.startswith(("http://", "https://")):
        unused.append("chat")
    if unused:
        raise UsageError(f"{model} does not take --{unused[0]}", hint="leave it out")
    if model.startswith(("http://", "https://")):
        options = {"concurrency": batch, "chat": chat}
    elif NGRAM.fullmatch(model):
        options = {"batch": batch}
    else:
        place = resolve_device(device)
        options = {"device": place, "precision": precision, "batch": batch, "window": window}
        options |= {"begin": begin, "end": end}
    lines = "lines" if fit is not None and fit.suffix == ".txt" else None
    text = None if fit is None else read_corpus(str(fit), name="fit", fmt=lines)
    opened = open_model(model, fit=text, **options)
    reporter = default_reporter()
    try:
        outcome = write_documents(
            out,
            opened,
            given,
            how,
            each=each,
            seed=seed,
            keep_prompt=keep_prompt,
            resume=resume,
            overwrite=overwrite,
            reporter=reporter,
        )
    except KeyboardInterrupt:
        typer.echo(f"\nInterrupted; what is written is kept in {out}: run again with --resume.", err=True)
        raise
    kept = f" ({outcome.before:,} were there)" if outcome.before else ""
    typer.echo(f"{outcome.written:,} documents written{kept}, seed {seed}, {how.record()} → {out}")
    if outcome.failed:
        for name, reason in list(outcome.failed.items())[:10]:
            typer.echo(f"not written: {name} ({reason})", err=True)
        typer.echo(f"{len(outcome.failed):,} documents are missing: run again with --resume.", err=True)
        raise typer.Exit(1)
