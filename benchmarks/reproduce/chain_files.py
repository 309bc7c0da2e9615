"""Write chains of coreference as files that the critic of coreference reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from momus import Corpus
from momus.outputs import open_temporary, replacing, write_text
from momus.text.mentions import Resolved


def write_symbols(corpus: Corpus, symbols: Sequence[Sequence[str]], path: str | Path) -> None:
    """Write the chains of a corpus as JSON Lines for the reader ``symbols:``, with ids, prompts and groups."""
    records = []
    for document, row in zip(corpus, symbols, strict=True):
        labels = {"id": document.id, "prompt_id": document.prompt, "group_id": document.group}
        known = {name: value for name, value in labels.items() if value is not None}
        records.append(json.dumps({**known, "symbols": list(row)}, ensure_ascii=False))
    write_text(Path(path), "".join(f"{record}\n" for record in records))


def write_chains(chains: dict[str, Resolved], path: str | Path) -> None:
    """Write the chains of documents, by their ids, as JSON Lines for the resolver ``given``."""
    with replacing(Path(path)) as temporary, open_temporary(temporary) as out:
        for name, r in chains.items():
            rows = zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True)
            record = {"id": name, "mentions": [list(row) for row in rows], "sentences": r.sentences.tolist()}
            if r.persons is not None:
                record["persons"] = r.persons.tolist()
            out.write(json.dumps(record).encode("ascii") + b"\n")
