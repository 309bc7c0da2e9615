"""Write chains of coreference as files that the critic of coreference reads."""

from __future__ import annotations

import json
from pathlib import Path

from momus.outputs import open_temporary, replacing
from momus.text.mentions import Resolved


def write_chains(chains: dict[str, Resolved], path: str | Path) -> None:
    """Write the chains of documents, by their ids, as JSON Lines for the resolver ``given``."""
    with replacing(Path(path)) as temporary, open_temporary(temporary) as out:
        for name, r in chains.items():
            rows = zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True)
            record = {"id": name, "mentions": [list(row) for row in rows], "sentences": r.sentences.tolist()}
            if r.persons is not None:
                record["persons"] = r.persons.tolist()
            out.write(json.dumps(record).encode("ascii") + b"\n")
