"""Copy the licence texts of the source packages from their installed metadata."""

from __future__ import annotations

import re
from importlib.metadata import distribution
from pathlib import Path

LICENCE_FILES = {
    "numpy": "LICENSE.txt",
    "scipy": "LICENSE.txt",
    "pandas": "LICENSE",
    "scikit-learn": "COPYING",
    "statsmodels": "LICENSE.txt",
    "scikit-image": "LICENSE.txt",
    "networkx": "LICENSE.txt",
}
"""Licence file of each source distribution."""


def own_licence(text: str) -> str:
    """The licence of the package itself, without what follows a dashed line (bundled libraries)."""
    return re.split(r"^-{4,}$", text, maxsplit=1, flags=re.MULTILINE)[0].strip() + "\n"


def package_licence(name: str) -> str:
    """The licence text of an installed distribution."""
    file_name = LICENCE_FILES[name]
    files = [file for file in distribution(name).files or [] if ".dist-info" in str(file) and file.name == file_name]
    shallow = min(files, key=lambda file: len(file.parts))
    return own_licence(Path(str(shallow.locate())).read_text(encoding="utf-8"))


def numpy_random_licence() -> str:
    """The BSD half of the dual licence of ``numpy.random``."""
    files = [file for file in distribution("numpy").files or [] if str(file).endswith("random/LICENSE.md")]
    text = Path(str(files[0].locate())).read_text(encoding="utf-8").replace("**", "")
    return text.partition("# 3-Clause BSD License\n")[2].partition("# Components")[0].strip() + "\n"


def debian_licence(package_files: Path) -> str:
    """Copyright lines and MIT licence from the copyright file of the unpacked Debian package."""
    lines = next(package_files.rglob("copyright")).read_text(encoding="utf-8").split("\n")
    holders = [line for line in lines if line.startswith("Copyright:")]
    start = max(i for i, line in enumerate(lines) if line == "License: MIT") + 1
    body = ["" if line == " ." else line.removeprefix(" ") for line in lines[start:]]
    return "\n".join([*holders, "", *body]).strip() + "\n"


def write_licences(folder: Path, package_files: Path) -> list[Path]:
    """Write one text file per package; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: package_licence(name) for name in LICENCE_FILES}
    texts["numpy-random"] = numpy_random_licence()
    texts["janeaustenr"] = debian_licence(package_files)
    written = []
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
