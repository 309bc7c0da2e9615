"""Check the wheel and the source archive: licences in, no tests and no benchmarks, at most 3 MB.

``make dist`` runs ``python benchmarks/install/contents.py dist/*``, after check-wheel-contents has checked the packages
of the wheel. Prints a line per file and exits 1 if something is wrong.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

MOST = 3_000_000
"""Bytes of a file."""
LICENCES = {
    ".whl": (".dist-info/licenses/LICENSE", "momus/demo/data/LICENSES.md", "stopwords/LICENSE-scikit-learn.txt"),
    ".gz": ("/LICENSE", "momus/demo/data/LICENSES.md", "stopwords/LICENSE-scikit-learn.txt"),
}
ELSEWHERE = {"tests", "benchmarks", "examples", "docs", "__pycache__", ".venv"}


def names(path: Path) -> list[str]:
    """Names of the files of a wheel or a source archive."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    with tarfile.open(path) as archive:
        return [member.name for member in archive if member.isfile()]


def faults(path: Path) -> list[str]:
    """What is wrong with a wheel or a source archive, in words."""
    files = names(path)
    # the scaffold of a plug-in has a folder called tests, which is part of the package
    found = [f"{f} does not belong in it" for f in files if "/scaffold/" not in f and ELSEWHERE & {*Path(f).parts[:-1]}]
    found += [f"{end} is missing" for end in LICENCES[path.suffix] if not any(f.endswith(end) for f in files)]
    return found + [f"more than {MOST:,} bytes"] * (path.stat().st_size > MOST)


def main() -> None:
    """Check the files named on the command line."""
    paths = [Path(p) for p in sys.argv[1:]]
    for path in paths:
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {len(names(path))} files")
    wrong = [f"{path.name}: {fault}" for path in paths for fault in faults(path)]
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
