"""``momus prepare``: documents with normalised section titles, for the critic of section order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.cli.options import Reading, Without, expanded
from momus.ownership import check_place
from momus.text.counting import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus_preparing import PreparedTexts


@expanded
def prepare(
    source: Annotated[
        str,
        typer.Argument(
            help="Documents with headings (Markdown, HTML, LaTeX, MediaWiki): a file, "
            "a folder or a pattern; or JSON or JSON Lines with sections and section_names."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .jsonl, .jsonl.gz or .jsonl.zst.")],
    least_sections: Annotated[int, typer.Option(min=1, help="Fewest sections of a document.")] = 3,
    fewest_tokens: Annotated[int, typer.Option(min=0, help="A section of fewer tokens is short, see --short.")] = 30,
    short: Annotated[
        str | None,
        typer.Option(
            help="Short sections: keep them (and mark them in the field short_sections), merge them into the section "
            "before, drop them, or drop the document; default: keep."
        ),
    ] = None,
    most_tokens: Annotated[
        int | None, typer.Option(min=1, help="Drop documents with a section of more tokens; default: no bound.")
    ] = None,
    least_documents: Annotated[
        int | None,
        typer.Option(min=1, help="Drop documents with a title that occurs in fewer documents than this; default: 1."),
    ] = None,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="The filters of Deng et al. (2022): --short document --most-tokens 2000 --least-documents 5.",
        ),
    ] = False,
    language: Annotated[
        str, typer.Option(help="Language of the titles, for lemmatising; '' does not lemmatise.")
    ] = "en",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file in --out.")] = False,
    reading: Annotated[Reading, Without("language")] = Reading(turns="all"),
) -> None:
    """Turn documents with headings into titled sections.

    Prepares texts for the critic of section order. Titles are put in lower case
    and lemmatised, numbering and digits are removed, and spelling variants are
    unified. Sections such as "see also" and "references" are dropped. Everything
    dropped is counted by reason, with the option that would keep it. The source
    is read as a stream.

    Example:

      [bold]momus prepare docs/ --out docs.jsonl.gz --short merge[/bold]

    Next: prepare real and generated text alike, then run
    `momus compare -c sections` on them.
    """
    from dataclasses import replace

    from momus.checks.notes import reading_notes
    from momus.progress import default_reporter, reporting
    from momus.visible import safe_console
    from momus_preparing import Filters
    from momus_preparing import prepare as run

    check_place(out, [source])
    limits: dict[str, Any] = {"short": short, "most_tokens": most_tokens, "least_documents": least_documents}
    filters = replace(
        Filters.published(least_sections, language) if published else Filters(least_sections, language=language),
        fewest_tokens=fewest_tokens,
        **{name: value for name, value in limits.items() if value is not None},
    )
    with reporting(default_reporter()):
        options = replace(reading, fmt=reading.fmt or _format(source)).options()
        from momus.reading import as_corpus

        corpus = as_corpus(source, reading=options)
        options.check_kept([corpus])
        prepared = run(corpus, out, filters, overwrite)
    notes = reading_notes(corpus)
    if others := corpus.left_out.others:
        kinds = ", ".join(f"{n:,} × {suffix}" for suffix, n in others.items())
        notes.append(f"Not read: {counted(sum(others.values()), 'file')} of other kinds ({kinds})")
    safe_console(highlight=False).print(prepared_view(prepared, out, notes))


def _format(source: str) -> str | None:
    """How to read a source that no option says it of; None: as its name and content say."""
    from momus.reading.options import Source
    from momus_preparing.pipeline import holds_markup

    place = Source.parse(source)
    if place.reader is not None:
        return None
    if holds_markup(place):
        return "markup"
    return "jsonl" if Path(place.path).suffix == ".txt" else None  # the files of Cohan et al. are JSON Lines named .txt


def prepared_view(prepared: PreparedTexts, out: Path, notes: Sequence[str] = ()) -> RenderableType:
    """Show how many documents were kept, why the others were dropped and left out, and how titles were changed."""
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
    kept = [f"{option} would keep {counted(n, 'more document')}" for option, n in prepared.regained.most_common()]
    lines += [f"\n{escape(line)}" for line in [*notes, *kept]]
    if prepared.short:
        lines.append(f"\nSections of fewer tokens than --fewest-tokens: {prepared.short:,} (see --short)")
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
