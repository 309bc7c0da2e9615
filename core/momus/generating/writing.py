"""Documents as JSON Lines, appended one by one; an interrupted run goes on where it stood."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momus.errors import StoreError, UsageError
from momus.generating.prompts import fingerprint
from momus.progress import Reporter, Silent
from momus.sequences import Decoding, Generated, Generator, Prompt, Request, document_seeds
from momus.version import __version__

WORDS = {"documents": "number of documents", "each": "number a prompt", "identity": "state of the model"}


@dataclass
class Outcome:
    """What a run has written: how many there were before, how many came, and what did not, by document id."""

    before: int = 0
    written: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def write_documents(
    path: str | Path,
    model: Generator,
    prompts: Sequence[Prompt],
    decoding: Decoding,
    *,
    each: int = 1,
    seed: int = 0,
    keep_prompt: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    reporter: Reporter | None = None,
) -> Outcome:
    """Write ``each`` documents for each prompt into a JSON Lines file, and beside it what made them.

    A line holds ``id``, ``text``, ``prompt_id``, ``model``, ``decoding``, ``seed``, ``tokens``, ``finished`` and
    ``log_probability`` (nats, at temperature 1; null where it is not known). Lines are flushed to the disk one by
    one; an incomplete last line is cut off when the run is resumed, and its document written again from its own seed.

    Parameters
    ----------
    keep_prompt
        Whether ``text`` begins with the prompt.
    resume
        Go on with a file that an equal run has begun.
    overwrite
        Replace the file.

    Raises
    ------
    StoreError
        The file is there already, was begun by another run, or is no such file.
    """
    if len({p.id for p in prompts}) < len(prompts):
        raise UsageError("two prompts have the same id", hint="give each its own")
    target = Path(path)
    beside = target.with_name(target.name + ".run.json")
    made = {
        "momus": __version__,
        "model": model.name,
        "identity": str(getattr(model, "identity", "")),
        "decoding": decoding.record(),
        "seed": seed,
        "documents": each * len(prompts),
        "each": each,
        "keep_prompt": keep_prompt,
        "prompts": fingerprint(prompts),
    }
    done = _begun(target, beside, made, resume, overwrite)
    numbers = [(i, p) for k in range(each) for i, p in ((k * len(prompts) + j, p) for j, p in enumerate(prompts))]
    seeds = document_seeds(seed, len(numbers))
    todo = [Request(i, p, seeds[i]) for i, p in numbers if _name(p, i, len(prompts)) not in done]
    outcome = Outcome(before=len(done))
    total = len(numbers)
    with (reporter or Silent()).stage("writing documents", total) as advance, target.open("ab") as out:
        advance(len(done))
        for written in model.generate(todo, decoding):
            name = _name(written.request.prompt, written.request.number, len(prompts))
            if written.problem is not None:
                outcome.failed[name] = written.problem
                continue
            line = json.dumps(_record(name, written, model.name, decoding, keep_prompt), ensure_ascii=False)
            out.write(line.encode("utf-8", "backslashreplace") + b"\n")
            out.flush()
            os.fsync(out.fileno())
            outcome.written += 1
            advance(len(done) + outcome.written + len(outcome.failed))
    return outcome


def _name(prompt: Prompt, number: int, prompts: int) -> str:
    return f"{prompt.id}/{number // prompts + 1}" if prompt.id else str(number + 1)


def _record(name: str, written: Generated, model: str, decoding: Decoding, keep_prompt: bool) -> dict[str, Any]:
    request = written.request
    return {
        "id": name,
        "text": (request.prompt.text if keep_prompt else "") + written.text,
        "prompt_id": request.prompt.id or None,
        "model": model,
        "decoding": decoding.record(),
        "seed": request.seed,
        "tokens": written.tokens,
        "finished": written.finished,
        "log_probability": None if written.log_probability is None else round(written.log_probability, 3),
    }


def _begun(target: Path, beside: Path, made: dict[str, Any], resume: bool, overwrite: bool) -> set[str]:
    """Ids of the documents that are there already; the file ends with a whole line afterwards."""
    from momus.files import write_json

    if target.is_dir():
        raise StoreError(f"{target} is a folder", hint="name a file, say documents.jsonl")
    if overwrite or not target.exists():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            write_json(beside, made)
        except OSError as error:
            raise StoreError(f"{target} cannot be written: {error}", hint="name another file with --out") from error
        return set()
    if not resume:
        raise StoreError(f"{target} is there already", hint="go on with --resume, or replace it with --overwrite")
    try:
        earlier = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{beside} cannot be read, so {target.name} cannot be resumed: {error}") from error
    different = [k for k in made if k != "momus" and (not isinstance(earlier, dict) or earlier.get(k) != made[k])]
    if different:
        if not isinstance(earlier, dict):
            raise StoreError(f"{beside} is no record of a run", hint="replace the file with --overwrite")
        first = different[0]
        raise StoreError(
            f"{target} was begun with another {WORDS.get(first, first)}: {earlier.get(first)!r}, now {made[first]!r}",
            hint="give the same options, or replace the file with --overwrite",
        )
    return _whole_lines(target)


def _whole_lines(target: Path) -> set[str]:
    ids: list[str] = []
    good = 0
    with target.open("r+b") as file:
        for n, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                ids.append(str(json.loads(line)["id"]))
            except (ValueError, KeyError, TypeError) as error:
                raise StoreError(
                    f"{target}, line {n} is no document: {error}", hint="repair it, or --overwrite"
                ) from error
            good += len(line)
        file.truncate(good)
    if len(set(ids)) < len(ids):
        raise StoreError(f"{target} holds a document twice", hint="was it written by two runs at once? use --overwrite")
    return set(ids)
