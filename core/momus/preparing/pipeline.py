"""Prepare titled documents in two passes: clean and spool; then, with all titles counted, drop rare ones and write."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from momus.errors import UsageError
from momus.files import replacing
from momus.preparing.titles import lemmatizer, spelling_variants, standard_title
from momus.progress import stage
from momus.text.counting import counted
from momus.text.tokens import get_tokenizer

if TYPE_CHECKING:
    from momus.text.corpus import Corpus

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""How files are compressed, by the last suffix of their names."""
APPARATUS = ("see also", "external link", "reference", "further reading", "note", "source")


@dataclass(frozen=True)
class Titled:
    """A document as read: sections as (title, text); ``problem`` says why it is unusable, if it is.

    ``metadata`` (prompt, group, kept fields) is written beside the sections.
    """

    id: str
    sections: list[tuple[str | None, str]]
    problem: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Filters:
    """Conditions that sections and documents must meet.

    Attributes
    ----------
    least_sections
        Smallest number of sections of a document, not counting apparatus (3; 4 for Wikipedia).
    fewest_tokens, most_tokens
        Bounds on the length of every section, in word tokens.
    least_documents
        Drop documents with a title that occurs in fewer documents than this.
    language
        Language in which titles are lemmatised; empty for no lemmas.
    apparatus
        Titles (as lemmas) of sections to drop.
    """

    least_sections: int = 3
    fewest_tokens: int = 30
    most_tokens: int = 2000
    least_documents: int = 5
    language: str = "en"
    apparatus: tuple[str, ...] = APPARATUS


@dataclass
class Prepared:
    """Counts of documents, sections and titles, kept and dropped.

    Attributes
    ----------
    read, kept
        Numbers of documents.
    dropped
        Documents dropped, by reason.
    sections
        Apparatus sections dropped, by title.
    titles
        Number of kept documents that hold each title.
    merged
        The title that replaced each spelling variant.
    """

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    merged: dict[str, str] = field(default_factory=dict)


def titled_documents(corpus: Corpus) -> Iterator[Titled]:
    """Yield the documents of a corpus that `momus.read_corpus` read."""
    for document in corpus:
        problem = document.problem or (None if document.sectioned else "no sections")
        labels = {"prompt_id": document.prompt, "group_id": document.group}
        metadata = {**document.fields, **{k: v for k, v in labels.items() if v is not None}}
        yield Titled(document.id, [(s.title, s.text) for s in document.sections], problem, metadata)


def prepare(
    documents: Iterable[Titled], out: Path, filters: Filters | None = None, overwrite: bool = False
) -> Prepared:
    """Write the documents that pass the filters as JSON Lines: ``id``, ``section_names``, ``sections``.

    Parameters
    ----------
    documents
        Read once, one document in memory at a time.
    out
        A ``.jsonl`` file, or ``.jsonl.gz`` or ``.jsonl.zst``; it appears only when all documents are written.

    Raises
    ------
    UsageError
        The file exists already, or its folder does not exist.
    """
    chosen = filters or Filters()
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists already", hint="choose another name, or pass --overwrite")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is not a folder", hint="create it first")
    tally = Prepared()
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=out.parent) as spool:
        title_counts = _first_pass(documents, chosen, tally, spool)
        spool.seek(0)
        with replacing(out) as partial:
            _second_pass(spool, partial, COMPRESSIONS.get(out.suffix), chosen, title_counts, tally)
    return tally


def _first_pass(documents: Iterable[Titled], filters: Filters, tally: Prepared, spool: IO[str]) -> Counter[str]:
    """Spool the documents that pass all filters but that of rare titles; return how many of them hold each title."""
    lemma = lemmatizer(filters.language)
    title_counts: Counter[str] = Counter()
    with stage("reading documents") as advance:
        for document in documents:
            tally.read += 1
            if tally.read % 500 == 0:
                advance(tally.read)
            sections, reason = _clean(document, filters, lemma, tally)
            if reason:
                tally.dropped[reason] += 1
                continue
            title_counts.update({title for title, _ in sections})
            spool.write(json.dumps([document.id, sections, dict(document.metadata)], ensure_ascii=False) + "\n")
    return title_counts


def _clean(
    document: Titled, filters: Filters, lemma: object, tally: Prepared
) -> tuple[list[tuple[str, str]], str | None]:
    """Return the sections with standard titles and without apparatus, and why the document is dropped, if it is."""
    if document.problem:
        return [], document.problem
    sections = []
    for title, text in document.sections:
        name = standard_title(title, lemma)  # type: ignore[arg-type]
        if name in filters.apparatus:
            tally.sections[name] += 1
        else:
            sections.append((name, text))
    if not any(name for name, _ in sections):
        return [], "no titles"
    if len(sections) < filters.least_sections:
        return [], f"fewer than {counted(filters.least_sections, 'section')}"
    split = get_tokenizer("words", True).split
    lengths = [len(split(text)) for _, text in sections]
    if min(lengths) < filters.fewest_tokens:
        return [], f"a section of fewer than {counted(filters.fewest_tokens, 'token')}"
    if max(lengths) > filters.most_tokens:
        return [], f"a section of more than {counted(filters.most_tokens, 'token')}"
    if not all(name for name, _ in sections):
        return [], "a section without a title"
    return sections, None


def _second_pass(
    spool: IO[str],
    out: Path,
    compression: str | None,
    filters: Filters,
    title_counts: Counter[str],
    tally: Prepared,
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
            id_, sections, metadata = json.loads(line)
            names = [tally.merged.get(title, title) for title, _ in sections]
            if any(totals[name] < filters.least_documents for name in names):
                tally.dropped[f"a title in fewer than {counted(filters.least_documents, 'document')}"] += 1
                continue
            record = {**metadata, "id": id_, "section_names": names, "sections": [text for _, text in sections]}
            sink.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
            tally.kept += 1
            tally.titles.update(set(names))
            if done % 500 == 0:
                advance(done)
