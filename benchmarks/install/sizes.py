"""What an installation and each extra weigh: sizes of the files of the packages installed here, by their metadata.

Run it in an environment that has all extras: ``python benchmarks/install/sizes.py``. Sizes include compiled
bytecode. A package that several extras need is counted for each of them.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution, metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN = "momus-criticism"


def closure(name: str, extras: frozenset[str], into: dict[str, set[str]], missing: set[str]) -> None:
    """Add a distribution, with these extras, and all that it requires, to ``into`` (extras by name)."""
    seen = into.get(canonicalize_name(name))
    if seen is not None and extras <= seen:
        return
    into.setdefault(canonicalize_name(name), set()).update(extras)
    try:
        lines = distribution(name).requires or []
    except PackageNotFoundError:
        missing.add(name)
        return
    for line in lines:
        required = Requirement(line)
        if required.marker is None or any(required.marker.evaluate({"extra": e}) for e in ("", *extras)):
            closure(required.name, frozenset(required.extras), into, missing)


def megabytes(name: str) -> float:
    """Size of the files of a distribution, in MB."""
    total = 0
    for file in distribution(name).files or []:
        path = str(file.locate())
        total += os.lstat(path).st_size if os.path.isfile(path) else 0
    return total / 1e6


def main() -> None:
    """Print one line for the core and one for each extra: size, and the largest packages."""
    core: dict[str, set[str]] = {}
    closure(OWN, frozenset(), core, set())
    del core[OWN]
    sizes = {name: megabytes(name) for name in core}
    print(f"core without Momus itself: {sum(sizes.values()):.0f} MB in {len(sizes)} packages")
    for extra in metadata(OWN).get_all("Provides-Extra") or []:
        packages: dict[str, set[str]] = {}
        missing: set[str] = set()
        closure(OWN, frozenset({extra}), packages, missing)
        added = {n: megabytes(n) for n in set(packages) - set(core) - {OWN} - {canonicalize_name(m) for m in missing}}
        largest = ", ".join(f"{n} {s:.0f}" for n, s in sorted(added.items(), key=lambda item: -item[1])[:4])
        absent = f"; not installed here: {', '.join(sorted(missing))}" if missing else ""
        print(f"{extra}: {sum(added.values()):.0f} MB in {len(added)} packages ({largest}){absent}")


if __name__ == "__main__":
    main()
