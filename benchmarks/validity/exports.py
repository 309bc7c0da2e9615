"""Read the exports of evaluation, tracing, serving and training tools, and compare what was read with the truth.

Each file of ``exports/`` (``MOMUS_DATA``) holds the same 60 answers to the same 60 prompts after the public schema of a
tool. A file is read (1) with no option and (2), if that stops, with what the hint of its error names first. What was
read is right if it is one whole side of the file (the answers; of files with two texts, either), silently wrong if
reading ended without an error and it is anything else. Pairs are documents whose prompt a plain file of the
same prompts has too.

    python benchmarks/validity/exports.py [--out benchmarks/results/exports.json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

from momus import read_corpus
from momus.errors import MomusError
from momus.text.corpus import Corpus

TWO_TEXTS = (
    "arena-battles",
    "dpo-messages",
    "dpo-strings",
    "hc3",
    "long-model-column",
    "m4",
    "mage",
    "promptfoo-two-providers",
)
"""Files that hold two texts: either of them is a right reading."""
SIDES = ("answers", "other_version", "reference")
OPTION = re.compile(r"(field|fmt|where|split_by)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
READER = re.compile(r"read them with ([\w-]+):PATH")
FOLDER = re.compile(r"give one of them: (\S+)")


def exports() -> Path:
    """The folder of the exports."""
    return Path(os.environ.get("MOMUS_DATA", "../shared/data")) / "exports"


def advised(error: MomusError, path: Path) -> tuple[str, dict[str, str]] | None:
    """The path and the options that the hint of an error names first; None if it names none."""
    hint = error.hint or ""
    if (match := READER.search(hint)) is not None:
        return f"{match[1]}:{path}", {}
    if (match := FOLDER.search(hint)) is not None:
        return match[1], {}
    if (match := OPTION.search(hint)) is not None:
        return str(path), {match[1]: shlex.split(match[2])[0] if match[2][0] == "'" else json.loads(match[2])}
    return None


def read(path: str, options: dict[str, str]) -> list[Corpus]:
    """The texts of a file: one, or one per value of a column."""
    options = dict(options)
    if (column := options.pop("split_by", None)) is not None:
        from momus.reading import split_by

        return list(split_by(path, column).values())
    return [read_corpus(path, **options)]  # type: ignore[arg-type]


def side_of(corpus: Corpus, truth: dict[str, list[str]]) -> str | None:
    """The side that a text is, whole; None if it is none."""
    texts = sorted(corpus[i].text.strip() for i in range(len(corpus)))
    return next((side for side in SIDES if texts == sorted(t.strip() for t in truth[side])), None)


def judged(corpora: list[Corpus], name: str, truth: dict[str, list[str]], plain: set[str]) -> tuple[bool, int, str]:
    """Whether texts were read right, how many of their documents have a partner, and what was read."""
    sides = [side_of(corpus, truth) for corpus in corpora]
    allowed = SIDES if name.split(".")[0] in TWO_TEXTS else SIDES[:1]
    right = all(side in allowed for side in sides) and len(set(sides)) == len(sides)
    pairs = min(sum(p in plain for p in corpus.prompts) for corpus in corpora)
    return right, pairs, " + ".join(side or f"{len(c)} documents" for side, c in zip(sides, corpora, strict=True))


def measure(folder: Path) -> list[dict[str, Any]]:
    """One row per export."""
    truth = json.loads((folder / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "plain.jsonl"
        records = ({"prompt": p, "text": t} for p, t in zip(truth["prompts"], truth["answers"], strict=True))
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        plain = {p for p in read_corpus(file).prompts if p is not None}
    return [_row(path, truth, plain) for path in sorted(folder.iterdir()) if path.name != "truth.json"]


def _row(path: Path, truth: dict[str, list[str]], plain: set[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "file": path.name,
        "step": "no option",
        "outcome": "stops",
        "pairs": 0,
        "read": "",
        "way": "",
    }
    target, options = str(path), {}
    for step in ("no option", "hint"):
        try:
            right, row["pairs"], row["read"] = judged(read(target, options), path.name, truth, plain)
        except MomusError as error:
            row["error"] = f"{error.message} → {error.hint}"
            following = advised(error, path) if step == "no option" else None
            if following is None:
                return row
            (target, options), row["step"] = following, "hint"
            row["way"] = " ".join([target.replace(str(path), path.name), *(f"{k}={v}" for k, v in options.items())])
            continue
        row["outcome"] = "right" if right else "silently wrong"
        return row
    return row


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--errors", action="store_true", help="print the errors, too")
    arguments = parser.parse_args()
    rows = measure(exports())
    for row in rows:
        print(
            f"{row['file']:36} {row['step']:10} {row['outcome']:15} {row['pairs']:4} {row['read'][:40]:40} {row['way']}"
        )
        if arguments.errors and "error" in row:
            print(f"    {row['error']}")
    for outcome in ("right", "silently wrong", "stops"):
        steps = [row["step"] for row in rows if row["outcome"] == outcome]
        print(f"{outcome}: {len(steps)} ({steps.count('no option')} with no option, {steps.count('hint')} by the hint)")
    print(f"all pairs found: {sum(row['pairs'] >= 60 for row in rows)}")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
