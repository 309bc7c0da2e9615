"""The plan of a text scored in parts: which critics score which parts of which files, with which versions.

Its digest stands in every part. So parts of different plans are never mixed, and a run that is resumed with anything
changed is refused with the difference named.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from momus.critic.fitted import Source
from momus.critic.saved import ARRAYS_NAME, JSON_NAME
from momus.critic.source import source_change
from momus.errors import StoreError
from momus.files import file_digest
from momus.reading import ReadingOptions
from momus.reading.location import Part
from momus.reading.parts import InputFile, cut, read_part
from momus.rows.folder import KIND, MANIFEST, write_record
from momus.schema import build, read_json, seal
from momus.text.corpus import Corpus
from momus.text.counting import counted, joined
from momus.text.words import icu_version
from momus.version import ROWS_FORMAT, __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")
"""Packages whose version may change a score or the bytes of a part."""
PART_DOCUMENTS, PART_BYTES = 10_000, 4 << 20


class Piece(NamedTuple):
    """A part of a file; None: the whole of a file that can only be read whole."""

    file: InputFile
    part: Part | None

    def read(self, reading: ReadingOptions) -> Corpus:
        """Its documents; a file is checked once, with its first part."""
        return read_part(self.file, self.part, reading, check=self.part is None or self.part.before == 0)


def pieces_of(files: Sequence[InputFile], reading: ReadingOptions, documents: int = PART_DOCUMENTS) -> list[Piece]:
    """Cut files into parts of at most so many documents, and about 4 MB."""
    return [Piece(f, part) for f in files for part in cut(f, documents, PART_BYTES, reading.encoding)[1]]


@dataclass(frozen=True)
class Planned:
    """A file of the plan, and the parts that are scored."""

    file: InputFile
    parts: tuple[Part | None, ...]


@dataclass(frozen=True)
class Plan:
    """What is scored in parts.

    Attributes
    ----------
    critics
        SHA-256 of both files of each fitted critic, by its name.
    sources
        Digests of the code of each critic (`momus.critic.source`), by its name; none in plans of older versions.
    left_out
        Why critics of a run that was given are not among them, by name.
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
    sources: Mapping[str, Source] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    digest: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Make the digest, unless the plan was read: another version of Momus may know more options."""
        if not self.digest:
            object.__setattr__(self, "digest", digest_of(self.to_json()))

    def __len__(self) -> int:
        return sum(len(f.parts) for f in self.files)

    def piece(self, part: int) -> Piece:
        """The part of a file that has this number."""
        return next(islice((Piece(f.file, cut_part) for f in self.files for cut_part in f.parts), part, None))

    def belongs(self, part: int) -> dict[str, Any]:
        """What the record of a part must say: the plan, its number, and the SHA-256 of what was scored."""
        file, stretch = self.piece(part)
        digest = file.sha256 if stretch is None else stretch.sha256
        return {"plan": self.digest, "number": part, "input": digest}

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers."""
        content = {"kind": KIND, "format": ROWS_FORMAT, **asdict(self)}
        del content["digest"]
        if not self.left_out:  # as in plans of older versions, whose digests stand in their parts
            del content["left_out"]
        plain: dict[str, Any] = json.loads(json.dumps(content))
        return plain

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
            content = read_json(path, dict[str, Any], SCORE, sealed=True)
        except FileNotFoundError:
            raise StoreError(f"{path}: there are no rows of scores here", hint=SCORE) from None
        if content.get("kind") != KIND:
            raise StoreError(f"{path}: kind is {content.get('kind')!r}, expected {KIND!r}", hint=SCORE)
        if content.get("format") != ROWS_FORMAT:
            raise StoreError(
                f"{path}: parts of format {content.get('format')!r}; Momus {__version__} reads format {ROWS_FORMAT}",
                hint="read them with the version that wrote them, or score again",
            )
        return build(cls, {**content, "digest": digest_of(content)}, str(path), SCORE)


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the content of a manifest, but for the times of files."""
    files = build(list[dict[str, Any]], content.get("files"), MANIFEST, SCORE)
    # the time of a file may change without its content (a copy, a checkout); the hash stays
    untimed = [
        {
            **f,
            "file": {k: v for k, v in build(dict[str, Any], f.get("file"), MANIFEST, SCORE).items() if k != "modified"},
        }
        for f in files
    ]
    return seal({**content, "files": untimed})


SCORE = "run `momus score CRITIC… FILES… -o ROWS` first, or resume it if it was interrupted"


def versions() -> dict[str, str]:
    """Versions of Momus and of `PACKAGES`."""
    return {"momus": __version__, "icu": icu_version() or "none", **{name: version(name) for name in PACKAGES}}


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
    sources: Mapping[str, Source],
    inputs: Sequence[InputFile],
    reading: ReadingOptions,
    documents: int,
    earlier: Plan | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Plan:
    """Cut the inputs into parts, and hash them.

    A file that ``earlier`` holds with the same size, time and limits is cut as there; whether its content is the same
    is for the caller to check (`InputFile.has_changed`).

    Raises
    ------
    ReadingError
        A file cannot be read.
    """
    same = earlier is not None and (earlier.documents, earlier.reading) == (documents, reading)
    # inputs are listed without a hash: compared by path, size, time and the rest alone
    known = {replace(f.file, sha256=""): f for f in earlier.files} if earlier is not None and same else {}
    files = []
    for file in inputs:
        if file in known:
            files.append(known[file])
        else:
            hashed, parts = cut(file, documents, PART_BYTES, reading.encoding)
            files.append(Planned(hashed, tuple(parts)))
    return Plan(dict(critics), tuple(files), reading, documents, versions(), sources, dict(left_out or {}))


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, each in a few words; empty if their parts are the same.

    >>> from dataclasses import replace
    >>> one = Plan({"length": "a"}, (), ReadingOptions(), 100, {"momus": "1"}, {"length": {"core": "c", "critic": "d"}})
    >>> differences(one, replace(one, critics={"length": "b"}, versions={"momus": "2"}))
    ["the fitted critic 'length'", 'the version of momus (1, now 2)']
    """
    words = []
    changed: dict[str, list[str]] = {}
    for name in sorted({**old.critics, **new.critics}):
        if name not in new.critics or name not in old.critics:
            words.append(f"the critic {name!r} ({'not given now' if name in old.critics else 'new'})")
        elif old.critics[name] != new.critics[name]:
            words.append(f"the fitted critic {name!r}")
        if name in new.sources and (why := source_change(old.sources.get(name), new.sources[name])):
            changed.setdefault(why, []).append(repr(name))
    words += [f"the code of {joined(names)}: {why}" for why, names in changed.items()]
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
    if old.documents == new.documents:  # the digest of a file is that of its parts
        words += [f"the content of {path}" for path in common if before[path].file.sha256 != now[path].file.sha256]
    if not words and [f.file.path for f in old.files] != [f.file.path for f in new.files]:
        words.append(f"the order of {counted(len(now), 'input')}")
    if not words and [(f.file.kind, f.file.field, f.file.prefix) for f in old.files] != [
        (f.file.kind, f.file.field, f.file.prefix) for f in new.files
    ]:
        words.append("the format, field or names of inputs")
    return words
