"""Read the completions that TRL's online trainers log: ``completions/completions_STEP.parquet`` of ``log_completions``.

Each row is one rollout, with the columns ``step``, ``prompt``, ``completion`` (texts, or lists of chat messages), one
column per reward function, and ``advantage``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.paths import as_string
from momus_adapters.logs.fields import known, samples, value_at


class TrlReader(LogReader):
    """Completions of TRL; prompts are paired by their text, and all completions of a prompt are documents of it.

    Documents are named ``STEP:NUMBER``. TRL logs no reference; any path names another column, such as ``prompt``.
    """

    name: ClassVar[str] = "trl"
    title: ClassVar[str] = "completions of TRL"
    pattern: ClassVar[str] = "completions_*.parquet"
    signs: ClassVar[frozenset[str]] = frozenset({"step", "prompt", "completion", "advantage"})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read the completions of a step."""
        return LogRecords(_records(log, field or "completion"), known({"harness": "TRL"}))


def _records(log: Log, field: str) -> Iterator[tuple[int, object]]:
    seen: Counter[str] = Counter()
    for number, row in samples(log.rows()):
        if isinstance(row, Problem):
            yield number, row
            continue
        missing = [name for name in ("step", "prompt", "completion") if name not in row]
        if missing:
            raise log.error(
                f"no column {missing[0]!r}, which completions of TRL have",
                "read the file itself, with --field for the text",
            )
        step = str(row["step"])
        seen[step] += 1
        text = value_at(row, field)
        yield number, {**row, "id": f"{step}:{seen[step]}", "prompt_id": as_string(row["prompt"]), "text": text}
