"""Two passes over titled documents: read, clean and spool; then drop rare titles, which need all counts, and write."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from momus.errors import UsageError
from momus.preparing.titles import lemmatizer, spelling_variants, standard_title
from momus.progress import stage
from momus.text.tokens import get_tokenizer

if TYPE_CHECKING:
    from momus.text.corpus import Corpus

APPARATUS = ("see also", "external link", "reference", "further reading", "note", "source")


@dataclass(frozen=True)
class Titled:
    """A document as it was found: sections as (title, text), and why it is none, if so."""

    id: str
    sections: list[tuple[str | None, str]]
    problem: str | None = None


@dataclass(frozen=True)
class Filters:
    """What is kept.

    Attributes
    ----------
    least_sections
        Fewest sections of a document, after apparatus is dropped (3; 4 for Wikipedia).
    fewest_tokens, most_tokens
        Length of every section, in word tokens.
    least_documents
        A document that holds a title found in fewer documents is dropped.
    language
        Of the lemmas of titles; empty for none.
    apparatus
        Titles (as lemmas) of sections that are dropped.
    """

    least_sections: int = 3
    fewest_tokens: int = 30
    most_tokens: int = 2000
    least_documents: int = 5
    language: str = "en"
    apparatus: tuple[str, ...] = APPARATUS


@dataclass
class Prepared:
    """What became of the documents.

    Attributes
    ----------
    read, kept
        Numbers of documents.
    dropped
        Documents dropped, by reason.
    sections
        Sections dropped from documents that stay in the running, by reason.
    titles
        How many kept documents hold each title.
    merged
        Spelling variants, and the title that each became.
    """

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    merged: dict[str, str] = field(default_factory=dict)


def titled_documents(corpus: Corpus) -> Iterator[Titled]:
    """Go through a corpus that `momus.read_corpus` read."""
    for document in corpus:
        problem = document.problem or (None if document.sectioned else "no sections")
        yield Titled(document.id, [(s.title, s.text) for s in document.sections], problem)


def prepare(
    documents: Iterable[Titled], out: Path, filters: Filters | None = None, overwrite: bool = False
) -> Prepared:
    """Write the documents that pass the filters as JSON Lines: ``id``, ``section_names``, ``sections``.

    Parameters
    ----------
    documents
        Read once, and held in memory one at a time.
    out
        A ``.jsonl`` file, or ``.jsonl.gz`` or ``.jsonl.zst``; it appears when everything is done.

    Raises
    ------
    UsageError
        The file is there already, or its folder is not.
    """
    chosen = filters or Filters()
    if out.exists() and not overwrite:
        raise UsageError(f"{out} is there already", hint="take another name, or --overwrite")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is no folder", hint="make it first")
    found = Prepared()
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=out.parent) as spool:
        counts = _first_pass(documents, chosen, found, spool)
        spool.seek(0)
        partial = out.with_name(f".partial-{os.getpid()}-{out.name}")
        try:
            _second_pass(spool, partial, chosen, counts, found)
            partial.replace(out)
        finally:
            partial.unlink(missing_ok=True)
    return found


def _first_pass(documents: Iterable[Titled], filters: Filters, found: Prepared, spool: IO[str]) -> Counter[str]:
    lemma = lemmatizer(filters.language)
    counts: Counter[str] = Counter()
    with stage("reading documents") as advance:
        for document in documents:
            found.read += 1
            if found.read % 500 == 0:
                advance(found.read)
            sections, reason = _clean(document, filters, lemma, found)
            if reason:
                found.dropped[reason] += 1
                continue
            counts.update({t for t, _ in sections})
            spool.write(json.dumps([document.id, sections], ensure_ascii=False) + "\n")
    return counts


def _clean(
    document: Titled, filters: Filters, lemma: object, found: Prepared
) -> tuple[list[tuple[str, str]], str | None]:
    """Sections with standard titles and without apparatus, or why the document is dropped."""
    if document.problem:
        return [], document.problem
    sections = []
    for title, text in document.sections:
        name = standard_title(title, lemma)  # type: ignore[arg-type]
        if name in filters.apparatus:
            found.sections[name] += 1
        else:
            sections.append((name, text))
    if not any(name for name, _ in sections):
        return [], "no titles"
    if len(sections) < filters.least_sections:
        return [], f"fewer than {filters.least_sections} sections"
    split = get_tokenizer("words", True).split
    lengths = [len(split(text)) for _, text in sections]
    if min(lengths) < filters.fewest_tokens:
        return [], f"a section of fewer than {filters.fewest_tokens} tokens"
    if max(lengths) > filters.most_tokens:
        return [], f"a section of more than {filters.most_tokens:,} tokens"
    if not all(name for name, _ in sections):
        return [], "a section without title"
    return sections, None


def _second_pass(spool: IO[str], out: Path, filters: Filters, counts: Counter[str], found: Prepared) -> None:
    import pyarrow as pa

    found.merged = spelling_variants(counts)
    totals: Counter[str] = Counter()
    for title, n in counts.items():
        totals[found.merged.get(title, title)] += n
    kind = {".gz": "gzip", ".zst": "zstd"}.get(out.suffix)
    waiting = found.read - found.dropped.total()
    with stage("writing documents", waiting) as advance, pa.output_stream(str(out), compression=kind) as sink:
        for done, line in enumerate(spool, start=1):
            id_, sections = json.loads(line)
            names = [found.merged.get(t, t) for t, _ in sections]
            if any(totals[t] < filters.least_documents for t in names):
                found.dropped[f"a title in fewer than {filters.least_documents} documents"] += 1
                continue
            record = {"id": id_, "section_names": names, "sections": [text for _, text in sections]}
            sink.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
            found.kept += 1
            found.titles.update(set(names))
            if done % 500 == 0:
                advance(done)
