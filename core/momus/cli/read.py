"""``momus read``: what would be read of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from momus.cli.options import Json, Reading, expanded
from momus.cli.printing import echo, print_json


@expanded
def read(
    path: Annotated[str, typer.Argument(metavar="PATH", help="File, folder, pattern or address, as for `compare`.")],
    reading: Reading = Reading(),
    as_json: Json = False,
) -> None:
    """Show what would be read of a file: its format, fields, counts, three documents.

    Takes the options of `momus compare` that say how texts are read, and
    computes nothing. If the text is in another field than Momus takes it from,
    name it with --field, and try again.

    Examples (the second names the text by a path):

      [bold]momus read samples.jsonl[/bold]
      [bold]momus read train.jsonl --field 'sections[[0]]'[/bold]

    Next: `momus compare` with the same options.
    """
    from momus.checks.notes import reading_notes
    from momus.reading.options import Source
    from momus.reading.reader import read_source
    from momus.report.words.texts import text_lines

    options = reading.options()
    corpus, seen = read_source(Source.parse(path, options.fmt is None), options.of_text(None))
    corpus = options.of_documents(corpus)
    content: dict[str, Any] = {
        "read_as": corpus.origin.read_as if corpus.origin is not None else "",
        "documents": len(corpus),
        "unread": sum(problem is not None for problem in corpus.problems),
        "prompts": len(set(corpus.prompts) - {None}),
        "groups": len(set(corpus.groups) - {None}),
        "characters": sum(map(len, (document.text for document in corpus))),
        "fields": dict(seen.types),
        "texts": {name: seen.texts[name].first for name in seen.with_text()},
        "notes": reading_notes(corpus),
        "first": [
            {"id": d.id, "prompt": d.prompt, "text": d.text, "problem": d.problem}
            for d in (corpus[i] for i in range(min(3, len(corpus))))
        ],
    }
    if as_json:
        print_json(content)
    else:
        echo("\n".join(text_lines(content)))
