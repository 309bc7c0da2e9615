"""Refuse what would be read wrong: files without a document, texts of several writers, two texts in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momus.arguments import arg
from momus.errors import ReadingError
from momus.reading.fields import LABELS
from momus.reading.formats import Format
from momus.reading.location import Location, NoDocumentsError, shorten
from momus.reading.markup import NO_HEADINGS
from momus.reading.paths import check_path
from momus.reading.records import shortened
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.reading.gathering import Rows

LEFT = "check the condition, or give a file that holds answers"


def check(reading: Rows, top: Location) -> None:
    """Raise an error if no record is a document."""
    rows = reading.builder.rows
    if not rows:
        if reading.left_out:
            reason, count = reading.left_out.most_common(1)[0]
            raise top.error(f"no record is left to read: {count:,} are left out, {reason}", LEFT, 0)
        raise top.error("no documents found", "give a file that holds documents", 0)
    check_models(reading, top)
    check_documents(reading, top)


def check_documents(reading: Rows, top: Location) -> None:
    """Raise an error if no row is a document; it names the fields, and the hint the one that looks like answers."""
    rows = reading.builder.rows
    if reading.problems.total() < rows:
        if not reading.filled and rows > 1 and reading.read_as:
            raise top.error(
                f"all {rows:,} documents are empty (read as {reading.read_as})",
                f"the text may stand in another field: name it with {arg('field')}; of chats, {arg('turns', 'all')} "
                "reads all turns",
                0,
            )
        return
    reason, count = reading.problems.most_common(1)[0]
    if reason == NO_HEADINGS:
        raise top.error(
            f"none of {counted(rows, 'document')} has headings" if rows > 1 else "the document has no headings",
            "headings are those of the markup (in Markdown, lines that begin with #); to read running text, pass "
            f"{arg('fmt', 'text')}",
            0,
        )
    if reading.field is not None:
        check_path(reading.field, "field")
    seen = reading.looked
    # of a log, the reader has put what it found under the names that every log has
    reserved = ("id", "prompt_id", "text") if reading.abouts else ()
    types = ", ".join(f"{shorten(k)} ({v})" for k, v in seen.types.items() if k not in reserved)
    fields = f"; the fields are {types}" if types else ""
    if seen.records and not reading.abouts:
        fields += f"; the first record is {shortened(seen.first)}"
    tried = reading.field or ("sections" if "sections" in seen.types else "text")
    texts = seen.with_text((*LABELS, *reserved, tried))
    hint = seen.hint(texts, "no field holds text: give another file")
    if reading.abouts and texts:
        hint = "name another field after #, such as #" + " or #".join(texts[:4])
    unit, position = reading.starts[0][1].unit, reading.positions[0]
    start = f" (the first in {unit} {position})" if position else ""
    fault = f"none of the {rows:,} records is a document" if rows > 1 else "the only record is not a document"
    message = f"{top.label}: {fault}: {reason}{f' ({count:,} times)' if count > 1 else ''}{start}{fields}"
    raise ReadingError(message, hint) if reading.abouts else NoDocumentsError(message, hint, record=seen.first)


def check_models(reading: Rows, top: Location) -> None:
    """Raise an error if the answers are of several models, unless these are kept as a field, or split by."""
    models, paths = reading.models, reading.writers
    if len(models) < 2 or any(path in reading.shaper.keep for path in paths):
        return
    path = next(iter(paths))
    listed = ", ".join(f"{shorten(name)} ({count:,})" for name, count in models.most_common(4))
    more = f" and {len(models) - 4:,} more" if len(models) > 4 else ""
    title = f"this is {reading.read_as}: " if reading.read_as else ""
    raise top.error(
        f"{title}{path!r} names {len(models)} writers of these texts: {listed}{more}",
        f"compare them with {arg('split_by', path)}, read one of them with "
        f"{arg('where', f'{path}={models.most_common(1)[0][0]}')}, or all as one text with {arg('keep', [path])}",
        0,
    )


class TwoTextsError(ReadingError):
    """A file holds two texts of the same prompts, whose names are ``sides``."""

    def __init__(self, message: str, hint: str, sides: tuple[str, str]) -> None:
        super().__init__(message, hint)
        self.sides = sides


def two_texts(location: Location, known: Format) -> TwoTextsError:
    """Make the error for a file with two texts of the same prompts."""
    first, second = known.sides
    return TwoTextsError(
        f"{location.label}: the file holds two texts, {first!r} and {second!r} ({known.title})",
        f"read one of them with {arg('field', first)} or {arg('field', second)}, or compare both in pairs with "
        f"{arg('pairs', location.label)} of momus compare",
        (first, second),
    )
