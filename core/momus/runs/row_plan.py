"""The plan of a text scored in parts: which critics score which parts of which files, with which versions.

Its digest stands in every part. So parts of different plans are never mixed, and a run that is resumed with anything
changed is refused with the difference named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from momus.critic.saved import ARRAYS_NAME, JSON_NAME
from momus.errors import StoreError
from momus.files import file_digest, read_sealed
from momus.limits import Limits
from momus.reading import ReadingOptions
from momus.reading.location import Part
from momus.reading.parts import InputFile, cut
from momus.runs.row_folder import KIND, write_record
from momus.text.counting import counted
from momus.text.words import icu_version
from momus.version import __version__

FORMAT = 2
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")
"""Packages whose version may change a score or the bytes of a part."""
PART_BYTES = 4 << 20


@dataclass(frozen=True)
class Planned:
    """A file of the plan: its content, and the parts that are scored."""

    file: InputFile
    sha256: str
    parts: tuple[Part | None, ...]


@dataclass(frozen=True)
class Plan:
    """What is scored in parts.

    Attributes
    ----------
    critics
        SHA-256 of both files of each fitted critic, by its name.
    files
        The inputs in order; parts are numbered through all their parts.
    reading
        How texts are read.
    documents
        Largest number of documents per part.
    versions
        Versions of Momus and of the packages that it computes with.
    digest
        SHA-256 of all that the parts depend on, which stands in each of them.
    """

    critics: Mapping[str, str]
    files: tuple[Planned, ...]
    reading: ReadingOptions
    documents: int
    versions: Mapping[str, str] = field(default_factory=dict)
    digest: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Make the digest, unless the plan was read: another version of Momus may know more options."""
        if not self.digest:
            object.__setattr__(self, "digest", digest_of(self.to_json()))

    def __len__(self) -> int:
        return sum(len(f.parts) for f in self.files)

    def part(self, part: int) -> tuple[Planned, Part | None]:
        """The file and the part of a part."""
        for planned in self.files:
            if part < len(planned.parts):
                return planned, planned.parts[part]
            part -= len(planned.parts)
        raise IndexError(part)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers."""
        return {
            "kind": KIND,
            "format": FORMAT,
            "versions": dict(self.versions),
            "critics": dict(self.critics),
            "reading": json.loads(json.dumps(asdict(self.reading))),
            "documents": self.documents,
            "files": [
                {
                    "file": asdict(f.file),
                    "sha256": f.sha256,
                    "parts": [None if p is None else [p.start, p.stop, p.before] for p in f.parts],
                }
                for f in self.files
            ],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Plan:
        """Read what `to_json` returned."""
        reading = dict(content["reading"])
        limits = reading.pop("limits")
        for name in ("keep", "include"):
            reading[name] = tuple(reading[name])
        files = [
            Planned(
                InputFile(**f["file"]),
                f["sha256"],
                tuple(None if p is None else Part(*map(int, p)) for p in f["parts"]),
            )
            for f in content["files"]
        ]
        options = ReadingOptions(**reading, limits=None if limits is None else Limits(**limits))
        known = dict(content["critics"]), tuple(files), options, int(content["documents"]), content["versions"]
        return cls(*known, digest=digest_of(content))

    def write(self, path: Path) -> None:
        """Write the manifest."""
        write_record(path, self.to_json())

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Read a manifest.

        Raises
        ------
        StoreError
            It is missing, damaged, or of another format.
        """
        try:
            content = read_sealed(path)
            if content.get("kind") != KIND:
                raise ValueError("it describes something else")
            if content["format"] != FORMAT:
                raise StoreError(
                    f"{path}: parts of format {content['format']!r}; this version of Momus reads format {FORMAT}",
                    hint="read them with the version that wrote them, or score again",
                )
            return cls.from_json(content)
        except FileNotFoundError:
            raise StoreError(f"{path}: there are no rows of scores here", hint=SCORE) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint=SCORE) from error


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content of a manifest, but for the times of files."""
    files = [{**f, "file": {k: v for k, v in f["file"].items() if k != "modified"}} for f in content["files"]]
    return hashlib.sha256(json.dumps({**content, "files": files}, sort_keys=True).encode("ascii")).hexdigest()


SCORE = "run `momus score CRITIC… FILES… -o ROWS` first, with --resume if it was interrupted"


def versions() -> dict[str, str]:
    """Versions of Momus and of `PACKAGES`."""
    found = {"momus": __version__, "icu": icu_version() or "none"}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def critic_digest(folder: Path) -> str:
    """SHA-256 of the two files of a saved critic.

    Raises
    ------
    StoreError
        The folder holds no fitted critic.
    """
    try:
        digests = [file_digest(folder / name) for name in (JSON_NAME, ARRAYS_NAME)]
    except OSError as error:
        raise StoreError(
            f"{folder}: no fitted critic in this folder ({error.strerror})", hint="`momus fit` saves one"
        ) from error
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()


def make_plan(
    critics: Mapping[str, str],
    inputs: Sequence[InputFile],
    reading: ReadingOptions,
    documents: int,
    earlier: Plan | None = None,
) -> Plan:
    """Cut the inputs into parts, and hash them.

    A file that ``earlier`` holds with the same size, time and limits is taken from there, and is not read again.

    Raises
    ------
    ReadingError
        A file cannot be read.
    """
    same = earlier is not None and (earlier.documents, earlier.reading) == (documents, reading)
    known = {f.file: f for f in earlier.files} if earlier is not None and same else {}
    files = []
    for file in inputs:
        if file in known:
            files.append(known[file])
        else:
            sha256, parts = cut(file, documents, PART_BYTES, reading.encoding)
            files.append(Planned(file, sha256, tuple(parts)))
    return Plan(dict(critics), tuple(files), reading, documents, versions())


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, each in a few words; empty if their parts are the same.

    >>> from dataclasses import replace
    >>> one = Plan({"length": "a"}, (), ReadingOptions(), 100, {"momus": "1"})
    >>> differences(one, replace(one, critics={"length": "b"}, versions={"momus": "2"}))
    ["the fitted critic 'length'", 'the version of momus (1, now 2)']
    """
    words = []
    for name in sorted({**old.critics, **new.critics}):
        if name not in new.critics or name not in old.critics:
            words.append(f"the critic {name!r} ({'not given now' if name in old.critics else 'new'})")
        elif old.critics[name] != new.critics[name]:
            words.append(f"the fitted critic {name!r}")
    for name in sorted({**old.versions, **new.versions}):
        before, now = old.versions.get(name), new.versions.get(name)
        if before != now:
            words.append(f"the version of {name} ({before}, now {now})")
    one, other = asdict(old.reading), asdict(new.reading)
    words += [
        f"the reading option {name} ({one[name]!r}, now {other[name]!r})" for name in one if one[name] != other[name]
    ]
    if old.documents != new.documents:
        words.append(f"the size of parts ({old.documents:,} documents, now {new.documents:,})")
    return words + _of_files(old, new)


def _of_files(old: Plan, new: Plan) -> list[str]:
    before, now = ({f.file.path: f for f in plan.files} for plan in (old, new))
    words = [f"the input {path} (not given now)" for path in before if path not in now]
    words += [f"the input {path} (new)" for path in now if path not in before]
    common = [path for path in now if path in before]
    words += [f"the content of {path}" for path in common if before[path].sha256 != now[path].sha256]
    if not words and [f.file.path for f in old.files] != [f.file.path for f in new.files]:
        words.append(f"the order of {counted(len(now), 'input')}")
    if not words and [(f.file.kind, f.file.field, f.file.prefix) for f in old.files] != [
        (f.file.kind, f.file.field, f.file.prefix) for f in new.files
    ]:
        words.append("the format, field or names of inputs")
    return words
