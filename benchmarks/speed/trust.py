"""Time that checks of outputs, syncs, digests, seals and schemas take of a comparison, in one run of one process.

    python benchmarks/speed/trust.py [--documents 10000] [--words 100 500] [--critics NAMES]

Every function below is timed wherever it is called, the outermost call only; of cutting files into parts, which finds
line ends too, the digests alone, and of reading JSON the seals and the schemas. `write_manifest` counts as a whole,
though it does more than hash.
"""

import argparse
import functools
import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import momus
from momus import files, outputs, ownership, redact, schema
from momus.cli import app  # noqa: F401  all modules of the command are loaded
from momus.critic import saved
from momus.reading import files as reading_files
from momus.reading import parts
from momus.rows import plan as row_plan
from momus.runs import manifest

OUTPUTS = (
    *(ownership.check_output, ownership.check_place, ownership.check_folder, ownership.refuse_irregular),
    *(outputs.sync, outputs.delete_leftovers),
)
TRUST = (
    *(files.file_digest, schema.seal, schema.build, redact.redacted_value, redact.redacted),
    *(parts.InputFile.has_changed, manifest.write_manifest, row_plan.digest_of, saved._content_digest),
)
SPENT = {"outputs": [0.0, 0.0, 0], "trust": [0.0, 0.0, 0]}
"""Seconds of processor, seconds, and calls."""
BY_FUNCTION: dict[str, list[float]] = {}
inside = False


def timed(function, group):
    """The function, which adds its time to that of a group."""

    @functools.wraps(function)
    def call(*given, **named):
        global inside
        if inside:
            return function(*given, **named)
        inside, cpu, wall = True, time.process_time(), time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            inside = False
            spent = (time.process_time() - cpu, time.perf_counter() - wall, 1)
            for place in (SPENT[group], BY_FUNCTION.setdefault(function.__qualname__, [0.0, 0.0, 0])):
                place[:] = (before + more for before, more in zip(place, spent, strict=True))

    return call


def replace_everywhere(function, group):
    """Put the timed function in the place of a function in all modules and classes that have it."""
    new = timed(function, group)
    for module in [m for name, m in sys.modules.items() if name.partition(".")[0].startswith("momus")]:
        for holder in (module, *(v for v in vars(module).values() if isinstance(v, type))):
            for name, value in list(vars(holder).items()):
                if value is function:
                    setattr(holder, name, new)


class Digest:
    """A SHA-256 whose updates are timed."""

    def __init__(self, data=b""):
        self.inner = hashlib.sha256()
        self.update = timed(self.inner.update, "trust")
        self.update(data)
        self.hexdigest = self.inner.hexdigest


def write_text(path, documents, words, seed):
    rng = random.Random(seed)
    known = [a + b + c for a in "bdfglmnprst" for b in ("a", "e", "ir", "o", "un") for c in ("k", "l", "st", "nd", "m")]
    weights = [1 / (i + 1) for i in range(len(known))]
    with path.open("w", encoding="utf-8") as file:
        for i in range(documents):
            text = " ".join(rng.choices(known, weights, k=rng.randint(words // 2, words * 3 // 2)))
            file.write(f'{{"id": "{seed}-{i}", "text": "{text}"}}\n')
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--words", type=int, nargs="+", default=[100, 500])
    parser.add_argument(
        "--critics", default="length,unigram,type-token", help="comma-separated; empty: the default ones"
    )
    chosen = parser.parse_args()
    for group, functions in (("outputs", OUTPUTS), ("trust", TRUST)):
        for function in functions:
            replace_everywhere(function, group)
    parts.hashlib = reading_files.hashlib = SimpleNamespace(sha256=Digest)
    for words in chosen.words:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            fit, real, made = (write_text(folder / f"{i}.jsonl", chosen.documents, words, i) for i in range(3))
            BY_FUNCTION.clear()
            for spent in SPENT.values():
                spent[:] = 0.0, 0.0, 0
            cpu, wall = time.process_time(), time.perf_counter()
            momus.compare(
                real,
                {"g": made},
                fit=fit,
                critics=chosen.critics.split(",") if chosen.critics else None,
                out=folder / "run",
                jobs=1,
            )
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            print(f"{chosen.documents:,} × {words} words: {cpu:.2f} s of processor, {wall:.2f} s")
            for group, (c, w, n) in SPENT.items():
                print(f"  {group}: {c:.3f} s ({c / cpu:.2%}), {w:.3f} s ({w / wall:.2%}), {n} calls")
            for name, (c, _, n) in sorted(BY_FUNCTION.items(), key=lambda item: -item[1][0])[:6]:
                print(f"    {name}: {c:.3f} s, {n} calls")


if __name__ == "__main__":
    main()
