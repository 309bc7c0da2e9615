"""Write generated documents to JSON Lines, one by one; an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypedDict

from momus.arguments import arg
from momus.errors import ReadingError, StoreError, UsageError
from momus.files import write_json
from momus.locking import Lock, is_on_disk
from momus.outputs import appending, delete, make_folder, record_own, write_own
from momus.ownership import check_own, check_place, record_of, refuse_irregular
from momus.progress import Reporter, Silent
from momus.schema import build, parse_json, read_json
from momus.text.counting import counted
from momus.version import __version__
from momus_generating.decoding import Decoding, document_seeds
from momus_generating.models import DocumentRequest, Generated, Generator, Prompt

WORDS = {"documents": "number of documents", "each": "number per prompt", "identity": "state of the model"}
"""How messages call the keys of a run's record, where they differ from the keys."""
DOCUMENTS, RECORD = "a file of `momus generate`", "a record of `momus generate`"
AGAIN = "remove what is wrong, or overwrite the file"


class _Line(TypedDict):
    """What is checked of a document that was written before."""

    id: str
    text: str
    seed: int


@dataclass
class WritingOutcome:
    """The result of a run: documents in the file before, documents written, and reasons of failures by document id."""

    before: int = 0
    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def write_documents(
    path: str | Path,
    model: Generator,
    prompts: Sequence[Prompt],
    decoding: Decoding,
    *,
    per_prompt: int = 1,
    seed: int = 0,
    keep_prompt: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    reporter: Reporter | None = None,
) -> WritingOutcome:
    """Write ``per_prompt`` documents per prompt to a JSON Lines file, and their provenance to ``*.run.json`` beside it.

    Each line has ``id``, ``text``, ``prompt_id``, ``model``, ``decoding``, ``seed``, ``tokens``, ``finished`` and
    ``log_probability`` (nats, at temperature 1; null if unknown). Lines are flushed to disk one by one. A resumed run
    removes an incomplete last line and writes its document again, from the same seed.

    Parameters
    ----------
    keep_prompt
        Whether ``text`` includes the prompt.
    resume
        Continue the file of an interrupted run with the same options.
    overwrite
        Replace an existing file.

    Raises
    ------
    StoreError
        The file exists, is being written by another process, belongs to a run with other options, or does not hold
        generated documents.
    UsageError
        Two prompts have the same id.
    """
    if len({p.id for p in prompts}) < len(prompts):
        raise UsageError("two prompts have the same id", hint="give each prompt a different id")
    target = Path(path)
    record = {
        "momus": __version__,
        "model": model.name,
        "identity": str(getattr(model, "identity", "")),
        "decoding": decoding.record(),
        "seed": seed,
        "documents": per_prompt * len(prompts),
        "each": per_prompt,
        "keep_prompt": keep_prompt,
        "prompts": fingerprint(prompts),
    }
    check_place(target, [])
    refuse_irregular(target)
    n, seeds = len(prompts), document_seeds(seed, per_prompt * len(prompts))
    # round k writes document k · n + j for prompt j; its name is that of the prompt, and a counter from 1
    requests = [DocumentRequest(i, prompts[i % n], s) for i, s in enumerate(seeds)]
    names = [f"{r.prompt.id}/{r.number // n + 1}" if r.prompt.id else str(r.number + 1) for r in requests]
    with locked(target):
        done = _begin(target, record, dict(zip(names, seeds, strict=True)), resume, overwrite)
        outcome = WritingOutcome(before=len(done))
        todo = [r for name, r in zip(names, requests, strict=True) if name not in done]
        with (
            (reporter or Silent()).stage("writing documents", len(names)) as advance,
            appending(target) as out,
            _recorded(target),
        ):
            advance(len(done))
            for document in model.generate(todo, decoding):
                name = names[document.request.number]
                if document.problem is not None:
                    outcome.failed[name] = document.problem
                    continue
                _append(out, target, _line(name, document, record))
                outcome.written += 1
                advance(len(done) + outcome.written + len(outcome.failed))
    return outcome


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Keep other processes from writing the same file, by a lock file beside it.

    Raises
    ------
    StoreError
        Another process writes the file, or its folder cannot be written.
    """
    try:
        make_folder(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}", hint=f"name another file with {arg('out')}") from error
    lock = Lock(target.with_name(f".{target.name}.lock"), str(target)).acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _recorded(target: Path) -> Iterator[None]:
    """Record what the file holds at the end; one without a record is being written, or its process was killed."""
    delete(record_of(target))
    here = target.stat()
    try:
        yield
    finally:
        if target.exists() and os.path.samestat(here, target.stat()):
            record_own(target, DOCUMENTS)


def _append(out: IO[bytes], target: Path, line: dict[str, Any]) -> None:
    """Write a line to disk, and make sure that the file is still that of its name."""
    out.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    out.flush()
    os.fsync(out.fileno())
    if not is_on_disk(out.fileno(), target):
        raise StoreError(
            f"{target} was deleted or replaced while documents were written to it",
            hint="run the command again; name a different file for each run",
        )


def _line(name: str, document: Generated, record: dict[str, Any]) -> dict[str, Any]:
    request = document.request
    return {
        "id": name,
        "text": (request.prompt.text if record["keep_prompt"] else "") + document.text,
        "prompt_id": request.prompt.id or None,
        "model": record["model"],
        "decoding": record["decoding"],
        "seed": request.seed,
        "tokens": document.tokens,
        "finished": document.finished,
        "log_probability": None if document.log_probability is None else round(document.log_probability, 3),
    }


def _begin(target: Path, record: dict[str, Any], known: Mapping[str, int], resume: bool, overwrite: bool) -> set[str]:
    """Start or resume a file, and return the ids of the documents that it has; its last line is then complete.

    ``known`` are the documents of the run: the seed of each, by id.
    """
    record_path = target.with_name(f"{target.name}.run.json")
    if overwrite or not target.exists():
        check_own(target, DOCUMENTS)
        check_own(record_path, RECORD)
        if target.exists():  # its mode stays
            write_own(target, b"", DOCUMENTS)
        write_json(record_path, record, kind=RECORD)
        return set()
    if not resume:
        raise StoreError(
            f"{target} already exists",
            hint=f"continue it with {arg('resume', True)}, or replace it with {arg('overwrite', True)}",
        )
    try:
        earlier = read_json(record_path, dict[str, Any], AGAIN)
    except FileNotFoundError:
        raise StoreError(f"{target} cannot be resumed: there is no {record_path}", hint=AGAIN) from None
    key = next((k for k in record if k != "momus" and earlier.get(k) != record[k]), None)
    if key is not None:
        raise StoreError(
            f"{target} was started with another {WORDS.get(key, key)}: {earlier.get(key)!r}, now {record[key]!r}",
            hint=f"give the same options, or replace the file with {arg('overwrite', True)}",
        )
    return _complete_lines(target, known)


def _complete_lines(target: Path, known: Mapping[str, int]) -> set[str]:
    """Remove an incomplete last line, and return the ids of the documents; each must be a document of this run."""
    ids: list[str] = []
    complete = 0  # bytes of complete lines
    with target.open("rb") as file:
        for n, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            place = f"{target}, line {n}"
            document = build(_Line, parse_json(line, place, AGAIN), place, AGAIN)
            ids.append(document["id"])
            if known.get(ids[-1]) != document["seed"]:
                raise StoreError(
                    f"{place} is not a document of this run ({ids[-1]!r})",
                    hint=f"remove the line, or pass {arg('overwrite', True)}",
                )
            complete += len(line)
    if record_of(target).exists():  # its run came to an end
        check_own(target, DOCUMENTS)
    with appending(target, complete):  # which cuts the rest off
        pass
    if len(set(ids)) < len(ids):
        raise StoreError(
            f"{target} has two documents with one id", hint=f"did two runs write it? pass {arg('overwrite', True)}"
        )
    return set(ids)


def read_prompts(path: str | Path, field: str | None = None) -> list[Prompt]:
    """Read prompts: the texts of a corpus file, or the lines of a plain text file.

    Raises
    ------
    ReadingError
        There is no prompt, or one cannot be read.
    """
    from momus.reading import read_corpus

    plain = Path(path).suffix in (".txt", "")
    corpus = read_corpus(
        str(path), name="prompts", field=field, fmt="lines" if plain and Path(path).is_file() else None
    )
    if not len(corpus):
        raise ReadingError(f"{path} has no prompt", hint='write one per line, or JSON Lines with "id" and "text"')
    broken = [f"{d.id} ({d.problem})" for d in corpus if d.problem is not None]
    if broken:
        raise ReadingError(f"{path}: {counted(len(broken), 'prompt')} cannot be read; the first is {broken[0]}")
    return [Prompt(d.prompt or d.id, d.text) for d in corpus]


def fingerprint(prompts: Sequence[Prompt]) -> str:
    """Hash the ids and texts of prompts, in order.

    >>> fingerprint([Prompt("a", "b")]) == fingerprint([Prompt("a", "b")]) != fingerprint([Prompt("ab", "")])
    True
    """
    digest = hashlib.sha256()
    for p in prompts:
        for value in (p.id, p.text):
            data = value.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]
