"""Collect docstrings in numpydoc format from installed packages, and parse them into sections."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import io
import pkgutil
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from types import ModuleType
from typing import Any

PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
    "statsmodels": "statsmodels",
    "skimage": "scikit-image",
    "networkx": "networkx",
}
"""Import name and distribution name of every source package."""

STANDARD_SECTIONS = (
    "Summary", "Extended Summary", "Parameters", "Attributes", "Methods", "Returns", "Yields", "Receives",
    "Other Parameters", "Raises", "Warns", "Warnings", "See Also", "Notes", "References", "Examples",
)  # fmt: skip
"""The section names of the numpydoc format, with the two parts before the first heading."""

SKIPPED_MODULES = {"tests", "testing", "conftest", "setup", "externals", "sandbox", "distutils", "f2py", "ma"}
UNWANTED = ("%(", "deprecated::", ".. plot::", "://", "/tmp/", "/home/", "/usr/")
"""Marks of unfilled templates, of deprecated and plotted documents, and of addresses and machine paths."""

HEADING = re.compile(r"[A-Z][A-Za-z]*(?: [A-Za-z]+){0,3}")
UNDERLINE = re.compile(r"(?:-{3,}|={3,})")
SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\(.*\)(?:\s*->.*)?$", re.DOTALL)
WEB_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>`\"']+|\bwww\.[^\s<>`\"']+")


@dataclass
class Document:
    """A sectioned document: its name, and its sections with their titles."""

    id: str
    names: list[str]
    sections: list[str]
    source: str
    shingles: frozenset[int] = field(default_factory=frozenset)

    @property
    def words(self) -> int:
        """Number of words separated by white space, headings left out."""
        return sum(len(section.split()) for section in self.sections)


def mask_addresses(text: str) -> str:
    """Put ``<URL>`` in the place of every web address (the same rule for real and for generated text)."""
    return WEB_ADDRESS.sub("<URL>", text)


def find_headings(lines: list[str]) -> list[int]:
    """Indices of the lines that are section headings: a short title underlined with dashes."""
    return [
        i
        for i in range(len(lines) - 1)
        if HEADING.fullmatch(lines[i].strip())
        and not lines[i].startswith(" ")
        and UNDERLINE.fullmatch(lines[i + 1].strip())
    ]


def strip_blank_lines(lines: list[str]) -> str:
    """Join lines, without blank lines at either end and without white space at the ends of lines."""
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def split_head(head: str) -> list[tuple[str, str]]:
    """Divide what stands before the first heading into the summary (first paragraph) and the rest."""
    paragraphs = re.split(r"\n\s*\n", head.strip(), maxsplit=1)
    parts = [("Summary", paragraphs[0])]
    if len(paragraphs) > 1:
        parts.append(("Extended Summary", paragraphs[1]))
    return [(name, text) for name, text in parts if text.strip()]


def parse_sections(text: str) -> list[tuple[str, str]]:
    """Parse a docstring into (title, text) pairs; sections without text are left out.

    A text without any heading comes back as one section named ``Summary``.

    Example:
        >>> parse_sections("Add.\\n\\nReturns\\n-------\\nint\\n    The sum.")
        [('Summary', 'Add.'), ('Returns', 'int\\n    The sum.')]
    """
    lines = text.expandtabs().split("\n")
    starts = find_headings(lines)
    if not starts:
        whole = strip_blank_lines(lines)
        return [("Summary", whole)] if whole.strip() else []
    parts = split_head(strip_blank_lines(lines[: starts[0]]))
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = strip_blank_lines(lines[start + 2 : stop])
        if body.strip():
            parts.append((lines[start].strip(), body))
    return parts


def drop_signature(doc: str) -> str:
    """Remove the call signature that compiled functions carry before their summary."""
    first, _, rest = doc.partition("\n\n")
    return rest.lstrip("\n") if SIGNATURE.match(first.strip()) else doc


def public_modules(package: str) -> Iterator[ModuleType]:
    """Import and yield the public modules of a package; those that cannot be imported are left out."""
    root = importlib.import_module(package)
    yield root
    for info in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda _: None):
        parts = info.name.split(".")
        if any(part.startswith("_") or part in SKIPPED_MODULES for part in parts):
            continue
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            yield importlib.import_module(info.name)


def own_members(holder: Any, package: str) -> Iterator[tuple[str, Any]]:
    """Public functions, classes, methods and ufuncs of a module or class that belong to the package."""
    for name in sorted(getattr(holder, "__all__", None) or dir(holder)):
        if name.startswith("_"):
            continue
        with contextlib.suppress(Exception):
            member = getattr(holder, name)
            home = getattr(member, "__module__", None) or package
            if callable(member) and isinstance(home, str) and home.split(".")[0] == package:
                yield name, member


def raw_docstrings(package: str) -> Iterator[tuple[str, str]]:
    """Public names of a package with their docstrings; a docstring may come more than once."""
    for module in public_modules(package):
        for name, member in own_members(module, package):
            path = f"{module.__name__}.{name}"
            if isinstance(doc := getattr(member, "__doc__", None), str):
                yield path, doc
            if inspect.isclass(member):
                for sub_name, sub in own_members(member, package):
                    if isinstance(doc := getattr(sub, "__doc__", None), str):
                        yield f"{path}.{sub_name}", doc


def acceptable(doc: Document, words: tuple[int, int]) -> bool:
    """Whether a document has the sections, the length and the summary that the data set asks for."""
    standard = all(name in STANDARD_SECTIONS for name in doc.names)
    unique = len(set(doc.names)) == len(doc.names)
    marked = sum(name not in {"Summary", "Extended Summary"} for name in doc.names)
    summary = 3 <= len(doc.sections[0].split()) <= 40 if doc.sections else False
    text = "\n".join(doc.sections)
    clean = not any(mark in text for mark in UNWANTED)
    return (
        standard and unique and summary and clean and marked >= 2 and len(doc.names) >= 3
        and doc.names[0] == "Summary" and words[0] <= doc.words <= words[1]
    )  # fmt: skip


def package_documents(package: str, words: tuple[int, int]) -> list[Document]:
    """Acceptable documents of one package, one for every distinct docstring, under its shortest name."""
    best: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, docstring in raw_docstrings(package):
            text = drop_signature(inspect.cleandoc(docstring))
            rank = (len(path.split(".")), len(path), path)
            held = best.get(text)
            if held is None or rank < (len(held.split(".")), len(held), held):
                best[text] = path
    distribution = PACKAGES[package]
    source = f"{distribution} {version(distribution)}"
    documents = []
    for text, path in best.items():
        parts = parse_sections(mask_addresses(text))
        doc = Document(path, [name for name, _ in parts], [body for _, body in parts], source)
        if acceptable(doc, words):
            documents.append(doc)
    return sorted(documents, key=lambda doc: doc.id)


def shingle_set(text: str, size: int = 4) -> frozenset[int]:
    """Hashes of the word n-grams of a text (words in lower case, marks left out)."""
    tokens = re.findall(r"[a-z]+|\d+", text.lower())
    grams = (" ".join(tokens[i : i + size]) for i in range(max(1, len(tokens) - size + 1)))
    return frozenset(stable_hash(gram) for gram in grams)


def stable_hash(text: str) -> int:
    """A 60-bit hash of a text that is the same in every process."""
    return int(hashlib.blake2b(text.encode(), digest_size=8).hexdigest()[:15], 16)


def drop_near_duplicates(documents: Iterable[Document], limit: float) -> list[Document]:
    """Keep each document whose shingles overlap with no kept one by ``limit`` of the smaller set or more."""
    kept: list[Document] = []
    holders: dict[int, list[int]] = defaultdict(list)
    for doc in documents:
        doc.shingles = shingle_set("\n".join(doc.sections))
        shared = Counter(i for gram in doc.shingles for i in holders[gram])
        near = any(n / min(len(doc.shingles), len(kept[i].shingles)) >= limit for i, n in shared.items())
        if near:
            continue
        for gram in doc.shingles:
            holders[gram].append(len(kept))
        kept.append(doc)
    return kept


def choose_documents(
    words: tuple[int, int], per_package: int, limit: float, seed: int
) -> tuple[list[Document], dict[str, tuple[int, int]]]:
    """Shuffle, deduplicate and cap the documents of all packages; also the counts (found, kept) of each."""
    rng = random.Random(seed)
    chosen: list[Document] = []
    counts: dict[str, tuple[int, int]] = {}
    for package in PACKAGES:
        found = package_documents(package, words)
        rng.shuffle(found)
        distinct = drop_near_duplicates(found, limit)
        chosen.extend(distinct[:per_package])
        counts[package] = (len(found), len(distinct))
    rng.shuffle(chosen)
    return drop_near_duplicates(chosen, limit), counts
