"""Write ``VERSION.zip`` beside this file: a run folder, rows and a saved critic of this version, and their scores.

Run once for each release, before formats may change again: ``python tests/data/formats/make.py``.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from momus.demo import demo_path
from momus.version import __version__

FIELDS = ("id", "prompt_id", "group_id", "section_names")


def texts(name: str, count: int) -> list[dict]:
    """The first documents of a text of the demo, their sections cut short."""
    with gzip.open(demo_path(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for _, line in zip(range(count), file, strict=False)]
    return [{k: r[k] for k in FIELDS} | {"sections": [s[:120] for s in r["sections"]]} for r in records]


def main() -> None:
    """Make the files with the command line, as a user would."""
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / __version__
        root.mkdir()
        names = {"fit": "fit", "real": "real", "mine": "generated-nucleus"}
        for name, file in names.items():
            lines = [json.dumps(r) for r in texts(file, 40)]
            (root / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        for command in (
            "compare -f fit.jsonl -r real.jsonl -g mine=mine.jsonl -c length,stopword-share -o run",
            "fit length -f fit.jsonl -o critic",
            "score critic mine.jsonl -o rows",
            "score critic mine.jsonl -o scores.csv",
        ):
            subprocess.run([sys.executable, "-m", "momus", *command.split()], cwd=root, check=True)
        shutil.make_archive(str(here / __version__), "zip", folder)


if __name__ == "__main__":
    main()
