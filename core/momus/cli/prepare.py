"""``momus prepare``: titled documents for the critic of section order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.preparing import Prepared


def prepare(
    source: Annotated[str, typer.Argument(help="JSON or JSON Lines with sections and section_names, or a dump.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .jsonl, .jsonl.gz or .jsonl.zst.")],
    wikipedia: Annotated[
        bool, typer.Option("--wikipedia", help="The source is a Wikipedia dump (.xml, .xml.bz2, .xml.gz).")
    ] = False,
    least_sections: Annotated[
        int | None, typer.Option(min=1, help="Fewest sections; default: 3, of Wikipedia 4.")
    ] = None,
    fewest_tokens: Annotated[int, typer.Option(min=0, help="Fewest tokens of a section.")] = 30,
    most_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a section.")] = 2000,
    least_documents: Annotated[
        int, typer.Option(min=1, help="Drop documents that hold a title found in fewer documents.")
    ] = 5,
    language: Annotated[str, typer.Option(help="Of the lemmas of titles; '' for no lemmas.")] = "en",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file in --out.")] = False,
    field: Annotated[str | None, typer.Option(help="The field that holds the sections.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the source.")] = "utf-8",
    skip_bad_lines: Annotated[bool, typer.Option("--skip-bad-lines", help="Count lines that are no JSON.")] = False,
) -> None:
    """Bring titles into one spelling, drop what is unfit, and say how much and why.

    Titles are lower-cased, freed of numbering and digits, lemmatised, and spelling variants unified; "see also",
    "references" and the like are dropped (the filters of Deng et al. 2022). The source is read as a stream.

    Example: [bold]momus prepare train.txt --out train.jsonl.gz --least-documents 200[/bold]
    """
    from collections.abc import Iterable

    from rich.console import Console

    from momus.plugins import ADAPTERS, load_plugin
    from momus.preparing import Filters, Titled, titled_documents
    from momus.preparing import prepare as run
    from momus.progress import default_reporter, reporting
    from momus.reading import read_corpus

    least = (4 if wikipedia else 3) if least_sections is None else least_sections
    filters = Filters(least, fewest_tokens, most_tokens, least_documents, language)
    with reporting(default_reporter()):
        documents: Iterable[Titled]
        if wikipedia:
            documents = load_plugin(ADAPTERS, "documents.wikipedia")(source)
        else:
            fmt = "jsonl" if Path(source).suffix == ".txt" else None  # as the files of Cohan et al. are called
            read = read_corpus(source, field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
            documents = titled_documents(read)
        found = run(documents, out, filters, overwrite)
    Console(highlight=False).print(prepared_view(found, out))


def prepared_view(found: Prepared, out: Path) -> RenderableType:
    """Show what was kept, and everything that was dropped and why."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("documents", justify="right")
    table.add_column("what became of them")
    table.add_row(f"{found.read:,}", "read")
    for reason, n in found.dropped.most_common():
        table.add_row(f"{n:,}", f"dropped: {escape(reason)}")
    table.add_row(f"{found.kept:,}", f"kept → {escape(str(out))}")
    lines: list[RenderableType] = [table]
    if found.sections:
        each = ", ".join(f"{escape(t)} {n:,}" for t, n in found.sections.most_common())
        lines.append(f"\nSections dropped: {found.sections.total():,} ({each})")
    if found.merged:
        each = ", ".join(f"{escape(a)} → {escape(b)}" for a, b in sorted(found.merged.items())[:12])
        lines.append(
            f"Spelling variants unified: {len(found.merged):,} ({each}{', …' if len(found.merged) > 12 else ''})"
        )
    if found.titles:
        each = ", ".join(f"{escape(t)} {n:,}" for t, n in found.titles.most_common(15))
        lines.append(f"{len(found.titles):,} titles: {each}{', …' if len(found.titles) > 15 else ''}")
    return Group(*lines)
