"""Collect numpydoc docstrings from installed packages, and parse them into sections."""

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
"""Import name and distribution name of each source package."""

STANDARD_SECTIONS = (
    "Summary", "Extended Summary", "Parameters", "Attributes", "Methods", "Returns", "Yields", "Receives",
    "Other Parameters", "Raises", "Warns", "Warnings", "See Also", "Notes", "References", "Examples",
)  # fmt: skip
"""Section names of the numpydoc format, including the two parts before the first heading."""

SKIPPED_MODULES = {"tests", "testing", "conftest", "setup", "externals", "sandbox", "distutils", "f2py", "ma"}
UNWANTED = ("%(", "deprecated::", ".. plot::", "://", "/tmp/", "/home/", "/usr/")
"""Substrings of unfilled templates, deprecated or plotted documents, addresses and machine paths."""

HEADING = re.compile(r"[A-Z][A-Za-z]*(?: [A-Za-z]+){0,3}")
UNDERLINE = re.compile(r"(?:-{3,}|={3,})")
SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\(.*\)(?:\s*->.*)?$", re.DOTALL)
WEB_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>`\"']+|\bwww\.[^\s<>`\"']+")


@dataclass
class Document:
    """A document with sections: its name, and the titles and texts of its sections."""

    id: str
    names: list[str]
    sections: list[str]
    source: str
    shingles: frozenset[int] = field(default_factory=frozenset)

    @property
    def words(self) -> int:
        """Number of words separated by white space, without headings."""
        return sum(len(section.split()) for section in self.sections)


def module_of(name: str) -> str:
    """The module of a public name: its segments before the first class, without the last one.

    >>> module_of("sklearn.multioutput.MultiOutputClassifier.predict_proba"), module_of("numpy.base_repr")
    ('sklearn.multioutput', 'numpy')
    """
    segments = name.split(".")[:-1]
    classes = (i for i, segment in enumerate(segments) if segment[:1].isupper())
    return ".".join(segments[: next(classes, len(segments))])


def mask_addresses(text: str) -> str:
    """Replace every web address by ``<URL>`` (the same rule for real and for generated text)."""
    return WEB_ADDRESS.sub("<URL>", text)


def find_headings(lines: list[str]) -> list[int]:
    """Indices of section headings: lines with a short title, underlined by the next line."""
    return [
        i
        for i in range(len(lines) - 1)
        if HEADING.fullmatch(lines[i].strip())
        and not lines[i].startswith(" ")
        and UNDERLINE.fullmatch(lines[i + 1].strip())
    ]


def strip_blank_lines(lines: list[str]) -> str:
    """Join lines, without trailing white space and without blank lines at either end."""
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def split_head(head: str) -> list[tuple[str, str]]:
    """Split the text before the first heading into the summary (first paragraph) and the rest."""
    paragraphs = re.split(r"\n\s*\n", head.strip(), maxsplit=1)
    sections = [("Summary", paragraphs[0])]
    if len(paragraphs) > 1:
        sections.append(("Extended Summary", paragraphs[1]))
    return [(name, text) for name, text in sections if text.strip()]


def parse_sections(text: str) -> list[tuple[str, str]]:
    r"""Parse a docstring into (title, text) pairs; sections without text are left out.

    A text without headings becomes one section named ``Summary``.

    >>> parse_sections("Add.\n\nReturns\n-------\nint\n    The sum.")
    [('Summary', 'Add.'), ('Returns', 'int\n    The sum.')]
    """
    lines = text.expandtabs().split("\n")
    starts = find_headings(lines)
    if not starts:
        whole = strip_blank_lines(lines)
        return [("Summary", whole)] if whole.strip() else []
    sections = split_head(strip_blank_lines(lines[: starts[0]]))
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = strip_blank_lines(lines[start + 2 : stop])
        if body.strip():
            sections.append((lines[start].strip(), body))
    return sections


def drop_signature(doc: str) -> str:
    """Remove the call signature before the summary, which compiled functions have."""
    first, _, rest = doc.partition("\n\n")
    return rest.lstrip("\n") if SIGNATURE.match(first.strip()) else doc


def public_modules(package: str) -> Iterator[ModuleType]:
    """Import and yield the public modules of a package; skip those that cannot be imported."""
    root = importlib.import_module(package)
    yield root
    for info in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda _: None):
        parts = info.name.split(".")
        if any(part.startswith("_") or part in SKIPPED_MODULES for part in parts):
            continue
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            yield importlib.import_module(info.name)


def own_members(holder: Any, package: str) -> Iterator[tuple[str, Any]]:
    """Public functions, classes, methods and ufuncs of a module or class that are defined in the package."""
    for name in sorted(getattr(holder, "__all__", None) or dir(holder)):
        if name.startswith("_"):
            continue
        with contextlib.suppress(Exception):
            member = getattr(holder, name)
            module = getattr(member, "__module__", None) or package
            if callable(member) and isinstance(module, str) and module.split(".")[0] == package:
                yield name, member


def raw_docstrings(package: str) -> Iterator[tuple[str, str]]:
    """Public names of a package with their docstrings; a docstring may occur repeatedly."""
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
    """Whether a document meets the requirements on sections, length and summary."""
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
    """Acceptable documents of one package: one per distinct docstring, under its shortest name."""
    best: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, docstring in raw_docstrings(package):
            text = drop_signature(inspect.cleandoc(docstring))
            rank = (len(path.split(".")), len(path), path)
            shortest = best.get(text)
            if shortest is None or rank < (len(shortest.split(".")), len(shortest), shortest):
                best[text] = path
    distribution = PACKAGES[package]
    source = f"{distribution} {version(distribution)}"
    documents = []
    for text, path in best.items():
        sections = parse_sections(mask_addresses(text))
        doc = Document(path, [name for name, _ in sections], [body for _, body in sections], source)
        if acceptable(doc, words):
            documents.append(doc)
    return sorted(documents, key=lambda doc: doc.id)


def shingle_set(text: str, size: int = 4) -> frozenset[int]:
    """Hashes of the word n-grams of a text (lower case, without punctuation)."""
    tokens = re.findall(r"[a-z]+|\d+", text.lower())
    grams = (" ".join(tokens[i : i + size]) for i in range(max(1, len(tokens) - size + 1)))
    return frozenset(stable_hash(gram) for gram in grams)


def stable_hash(text: str) -> int:
    """A 60-bit hash of a text, the same in every process."""
    return int(hashlib.blake2b(text.encode(), digest_size=8).hexdigest()[:15], 16)


def drop_near_duplicates(documents: Iterable[Document], limit: float) -> list[Document]:
    """Drop each document that shares at least ``limit`` of the smaller shingle set with one that was kept before."""
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
    """Shuffle, deduplicate and cap the documents of all packages; count (acceptable, distinct) documents of each."""
    rng = random.Random(seed)
    chosen: list[Document] = []
    counts: dict[str, tuple[int, int]] = {}
    for package in PACKAGES:
        documents = package_documents(package, words)
        rng.shuffle(documents)
        distinct = drop_near_duplicates(documents, limit)
        chosen.extend(distinct[:per_package])
        counts[package] = (len(documents), len(distinct))
    rng.shuffle(chosen)
    return drop_near_duplicates(chosen, limit), counts
