"""Prepare titled documents in two passes: clean and spool; then, with all titles counted, drop rare ones and write."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from momus.arguments import arg
from momus.errors import UsageError
from momus.outputs import replacing_own
from momus.ownership import check_output
from momus.progress import stage
from momus.reading.folders import files_in
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.options import Source
from momus.reading.streams import SUFFIXES, TEXTUAL, split_name
from momus.text.counting import counted
from momus_preparing.filters import Filters, PreparedTexts, clean, lemmatizer, spelling_variants

if TYPE_CHECKING:
    from momus.text.documents import Document

PREPARED = "a file of `momus prepare`"
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""How files are compressed, by the last suffix of their names."""


def prepare(
    documents: Iterable[Document], out: Path, filters: Filters | None = None, overwrite: bool = False
) -> PreparedTexts:
    """Write the documents that pass the filters as JSON Lines: ``id``, ``section_names``, ``sections``.

    Documents with short sections that are kept have the field ``short_sections`` too: their numbers, from 0.

    Parameters
    ----------
    documents
        Read once, one document in memory at a time.
    out
        A ``.jsonl`` file, or ``.jsonl.gz`` or ``.jsonl.zst``; it appears only when all documents are written.

    Raises
    ------
    UsageError
        The file exists already, its folder does not exist, or no document passes; nothing is written then.
    StoreError
        The file was not written by Momus, or was changed since.
    """
    chosen = filters or Filters()
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists already", hint=f"choose another name, or pass {arg('overwrite', True)}")
    check_output(out, PREPARED)
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is not a folder", hint="create it first")
    tally = PreparedTexts()
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=out.parent) as spool:
        title_counts = _first_pass(documents, chosen, tally, spool)
        spool.seek(0)
        with replacing_own(out, PREPARED) as partial:
            _second_pass(spool, partial, COMPRESSIONS.get(out.suffix), chosen, title_counts, tally)
            if not tally.kept:
                raise nothing_kept(tally)
    return tally


def _first_pass(documents: Iterable[Document], filters: Filters, tally: PreparedTexts, spool: IO[str]) -> Counter[str]:
    """Spool the documents that pass all filters but that of rare titles; return how many of them hold each title."""
    lemma = lemmatizer(filters.language)
    title_counts: Counter[str] = Counter()
    with stage("reading documents") as advance:
        for document in documents:
            tally.read += 1
            if tally.read % 500 == 0:
                advance(tally.read)
            cleaned = clean(document, filters, lemma, tally)
            if cleaned is None:
                continue
            sections, short = cleaned
            title_counts.update({title for title, _ in sections})
            labels = {"prompt_id": document.prompt, "group_id": document.group}
            beside = {**document.fields, **{name: value for name, value in labels.items() if value is not None}}
            row = [document.id, sections, short, beside]
            spool.write(json.dumps(row, ensure_ascii=False) + "\n")
    return title_counts


def nothing_kept(prepared: PreparedTexts) -> UsageError:
    """The error for a source of which no document is kept: why, and which option would keep most."""
    reasons = ", ".join(f"{n:,} × {reason}" for reason, n in prepared.dropped.most_common())
    if not prepared.regained:
        hint = "documents need headings, or the fields `sections` and `section_names`"
    else:
        option, n = prepared.regained.most_common(1)[0]
        hint = f"{option} would keep {n:,} of them"
    return UsageError(f"none of {counted(prepared.read, 'document')} is kept: {reasons or 'the source is empty'}", hint)


def _second_pass(
    spool: IO[str],
    out: Path,
    compression: str | None,
    filters: Filters,
    title_counts: Counter[str],
    tally: PreparedTexts,
) -> None:
    """Write the spooled documents that hold no rare title, spelling variants replaced."""
    import pyarrow as pa

    tally.merged = spelling_variants(title_counts)
    totals: Counter[str] = Counter()
    for title, n in title_counts.items():
        totals[tally.merged.get(title, title)] += n
    spooled = tally.read - tally.dropped.total()
    with stage("writing documents", spooled) as advance, pa.output_stream(str(out), compression=compression) as sink:
        for done, line in enumerate(spool, start=1):
            id_, sections, short, metadata = json.loads(line)
            names = [tally.merged.get(title, title) for title, _ in sections]
            if any(totals[name] < filters.least_documents for name in names):
                rare = f"a title in fewer than {counted(filters.least_documents, 'document')}"
                tally.drop({rare: arg("least_documents", 1)})
                continue
            record = {**metadata, "id": id_, "section_names": names, "sections": [text for _, text in sections]}
            if short:
                record["short_sections"] = short
            sink.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
            tally.kept += 1
            tally.titles.update(set(names))
            if done % 500 == 0:
                advance(done)


def holds_markup(source: Source) -> bool:
    """Whether a source is a document with headings, or holds more of these than of records.

    >>> holds_markup(Source.parse("docs/use.md")), holds_markup(Source.parse("docs.jsonl"))
    (True, False)
    """
    top = source.top
    listing = files_in(top)
    files = [top] if listing is None else listing[0]
    suffixes = Counter(suffix for file in files if (suffix := split_name(file.name or PurePath())[1]))
    records = sum(n for suffix, n in suffixes.items() if SUFFIXES.get(suffix, "text") not in TEXTUAL)
    return sum(suffixes[suffix] for suffix in MARKUP) > records
