"""Make the texts of ``examples/languages.py`` from the translation catalogues of Django and Wagtail.

    pip install django==5.2 wagtail==8.0.1 babel
    python examples/languages_data/make_texts.py

A document is six messages of one catalogue, in the order of the file, each message on a line. Messages whose English
original has fewer than 15 characters, and fuzzy ones, are left out; placeholders and tags are taken out of the text.
Writes a file per language beside this script, with the field ``language``. Both packages are BSD-3-Clause; their
licences stand beside the files.
"""

from __future__ import annotations

import gzip
import json
import re
from importlib.util import find_spec
from pathlib import Path

from babel.messages.pofile import read_po

HERE = Path(__file__).parent
PACKAGES = ("django", "wagtail")
FOLDERS = {"de": "de", "zh": "zh_Hans", "ar": "ar", "th": "th"}
LEAST, TOGETHER = 15, 6
PLACEHOLDER = re.compile(r"%\(\w+\)[sdr]|%[sdr]|\{[^{}]*\}|<[^<>]*>|&\w+;")


def messages(file: Path) -> list[str]:
    """The translated messages of a catalogue, without placeholders."""
    texts: list[str] = []
    with file.open("rb") as stream:
        catalogue = read_po(stream)
    for message in catalogue:
        original, translated = (x if isinstance(x, str) else x[-1] for x in (message.id, message.string))
        if message.fuzzy or not translated or translated == original or len(original) < LEAST:
            continue
        texts.append(" ".join(PLACEHOLDER.sub(" ", translated).split()))
    return list(dict.fromkeys(texts))


def root_of(package: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"install {package} first")
    return Path(spec.submodule_search_locations[0])


def main() -> None:
    """Write one file per language."""
    for language, folder in FOLDERS.items():
        documents, seen = [], set()
        for package in PACKAGES:
            root = root_of(package)
            for file in sorted(root.glob(f"**/locale/{folder}/LC_MESSAGES/django*.po")):
                texts = [t for t in messages(file) if t not in seen]
                seen.update(texts)
                for start in range(0, len(texts), TOGETHER):
                    chunk = texts[start : start + TOGETHER]
                    if len(chunk) >= TOGETHER // 2:
                        source = file.relative_to(root.parent).as_posix()
                        id = f"{language}-{len(documents) + 1:03}"
                        text = "\n".join(chunk)
                        documents.append({"id": id, "language": language, "source": source, "text": text})
        lines = "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)
        with gzip.GzipFile(HERE / f"{language}.jsonl.gz", "wb", mtime=0) as out:
            out.write(lines.encode())
        print(f"{language}: {len(documents)} documents, {len(lines):,} characters")


if __name__ == "__main__":
    main()
