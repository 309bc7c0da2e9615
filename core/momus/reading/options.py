"""Options of reading, in one value that commands and `momus.compare` pass along."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from momus.progress import Reporter, Silent
from momus.reading.reader import read_corpus
from momus.text.corpus import Corpus


@dataclass(frozen=True)
class ReadingOptions:
    """Options of `momus.read_corpus` that apply to all texts of a command.

    >>> ReadingOptions(fmt="lines").fmt
    'lines'
    """

    field: str | None = None
    fmt: str | None = None
    encoding: str = "utf-8"
    skip_bad_lines: bool = False

    def read(self, path: str | Path, name: str | None = None, reporter: Reporter | None = None) -> Corpus:
        """Read a path with these options; a stage reports the percentage of its bytes that is read."""

        def report(done: int, total: int | None) -> None:
            advance(round(100 * done / total) if total else 0)

        with (reporter or Silent()).stage(f"reading {name or path}", 100) as advance:
            return read_corpus(path, name=name, progress=report, **asdict(self))
