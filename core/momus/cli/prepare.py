"""``momus prepare``: documents with normalised section titles, for the critic of section order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momus.cli.options import Encoding, Field, Keep, MaxDocument, SkipBad, chosen_fields, kept_fields, limits_of
from momus.cli.outputs import check_output

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.preparing import Prepared


def prepare(
    source: Annotated[
        str, typer.Argument(help="JSON or JSON Lines with sections and section_names, or a Wikipedia dump.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .jsonl, .jsonl.gz or .jsonl.zst.")],
    wikipedia: Annotated[
        bool, typer.Option("--wikipedia", help="The source is a Wikipedia dump (.xml, .xml.bz2, .xml.gz).")
    ] = False,
    least_sections: Annotated[
        int | None, typer.Option(min=1, help="Fewest sections of a document; default: 3, for Wikipedia 4.")
    ] = None,
    fewest_tokens: Annotated[int, typer.Option(min=0, help="Fewest tokens of a section.")] = 30,
    most_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a section.")] = 2000,
    least_documents: Annotated[
        int, typer.Option(min=1, help="Drop documents with a title that occurs in fewer documents than this.")
    ] = 5,
    language: Annotated[
        str, typer.Option(help="Language of the titles, for lemmatising; '' does not lemmatise.")
    ] = "en",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file in --out.")] = False,
    field: Field = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
    keep: Keep = None,
    max_document: MaxDocument = None,
) -> None:
    """Normalise section titles and drop unusable documents.

    Prepares texts for the critic of section order. Titles are put in lower case
    and lemmatised, numbering and digits are removed, and spelling variants are
    unified. Sections such as "see also" and "references" are dropped (the filters
    of Deng et al. 2022). Everything dropped is counted by reason. The source is
    read as a stream.

    Example:

      [bold]momus prepare train.txt --out train.jsonl.gz --least-documents 200[/bold]

    Next: prepare real and generated text alike, then run
    `momus compare -c sections` on them.
    """
    from collections.abc import Iterable

    from momus.plugins import ADAPTERS, load_plugin
    from momus.preparing import Filters, Titled, titled_documents
    from momus.preparing import prepare as run
    from momus.progress import default_reporter, reporting
    from momus.reading import ReadingOptions
    from momus.visible import safe_console

    check_output(out, [source])
    least = (4 if wikipedia else 3) if least_sections is None else least_sections
    filters = Filters(least, fewest_tokens, most_tokens, least_documents, language)
    with reporting(default_reporter()):
        documents: Iterable[Titled]
        if wikipedia:
            documents = load_plugin(ADAPTERS, "documents.wikipedia")(source)
        else:
            fmt = (
                "jsonl" if Path(source).suffix == ".txt" else None
            )  # the files of Cohan et al. are JSON Lines named .txt
            options = ReadingOptions(
                chosen_fields(field), fmt, encoding, skip_bad_lines, kept_fields(keep), limits_of(max_document)
            )
            corpus = options.read(source)
            options.check_kept([corpus])
            documents = titled_documents(corpus)
        prepared = run(documents, out, filters, overwrite)
    safe_console(highlight=False).print(prepared_view(prepared, out))


def prepared_view(prepared: Prepared, out: Path) -> RenderableType:
    """Show how many documents were kept, how many were dropped for which reason, and how titles were changed."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("documents", justify="right")
    table.add_column("outcome")
    table.add_row(f"{prepared.read:,}", "read")
    for reason, n in prepared.dropped.most_common():
        table.add_row(f"{n:,}", f"dropped: {escape(reason)}")
    table.add_row(f"{prepared.kept:,}", f"kept → {escape(str(out))}")
    lines: list[RenderableType] = [table]
    if prepared.sections:
        titles = ", ".join(f"{escape(t)} {n:,}" for t, n in prepared.sections.most_common())
        lines.append(f"\nSections dropped: {prepared.sections.total():,} ({titles})")
    if prepared.merged:
        pairs = ", ".join(f"{escape(a)} → {escape(b)}" for a, b in sorted(prepared.merged.items())[:12])
        more = ", …" if len(prepared.merged) > 12 else ""
        lines.append(f"Spelling variants unified: {len(prepared.merged):,} ({pairs}{more})")
    if prepared.titles:
        titles = ", ".join(f"{escape(t)} {n:,}" for t, n in prepared.titles.most_common(15))
        more = ", …" if len(prepared.titles) > 15 else ""
        lines.append(f"{len(prepared.titles):,} titles: {titles}{more}")
    return Group(*lines)
