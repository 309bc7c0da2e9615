"""Read prompts from files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from momus.errors import ReadingError
from momus.sequences import Prompt
from momus.text.counting import counted


def read_prompts(path: str | Path, field: str | None = None) -> list[Prompt]:
    """Read prompts: the texts of a corpus file, or the lines of a plain text file.

    Raises
    ------
    ReadingError
        There is no prompt, or one cannot be read.
    """
    from momus.reading import read_corpus

    plain = Path(path).suffix in (".txt", "")
    corpus = read_corpus(
        str(path), name="prompts", field=field, fmt="lines" if plain and Path(path).is_file() else None
    )
    if not len(corpus):
        raise ReadingError(f"{path} has no prompt", hint='write one per line, or JSON Lines with "id" and "text"')
    broken = [f"{d.id} ({d.problem})" for d in corpus if d.problem is not None]
    if broken:
        raise ReadingError(f"{path}: {counted(len(broken), 'prompt')} cannot be read; the first is {broken[0]}")
    return [Prompt(d.prompt or d.id, d.text) for d in corpus]


def fingerprint(prompts: Sequence[Prompt]) -> str:
    """Hash the ids and texts of prompts, in order.

    >>> fingerprint([Prompt("a", "b")]) == fingerprint([Prompt("a", "b")]) != fingerprint([Prompt("ab", "")])
    True
    """
    digest = hashlib.sha256()
    for p in prompts:
        for value in (p.id, p.text):
            data = value.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]
