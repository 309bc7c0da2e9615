"""Read samples of EleutherAI's lm-evaluation-harness: the files ``samples_TASK_DATE.jsonl`` of ``--log_samples``.

Each line is one sample under one filter, with ``doc_id``, ``doc``, ``target``, ``arguments``, ``resps`` (what the model
wrote: a list per request), ``filtered_resps`` (what a filter kept of it) and ``filter``. Settings stand in
``results_DATE.json`` beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar

from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.paths import kind
from momus_adapters.logs.fields import as_text, known, named, one_or_all, value_at

RESPONSES, FILTERED = "resps", "filtered_resps"
OTHER = "they repeat the samples under other filters"
_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+?)\.jsonl.*")
"""Task and date in the name of a file."""


class LmEvalReader(LogReader):
    """Samples of lm-evaluation-harness; the text is ``resps``, and prompts are paired by ``doc_id``.

    ``filtered_resps`` is what the filter kept, ``filtered_resps.NAME`` what the filter of this name kept, ``target``
    the reference, and any other path a field of the sample, such as ``doc.question``.
    """

    name: ClassVar[str] = "lm-eval"
    title: ClassVar[str] = "samples of lm-evaluation-harness"
    pattern: ClassVar[str] = "samples_*.jsonl"
    signs: ClassVar[frozenset[str]] = frozenset({"doc_id", "resps", "filtered_resps"})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a file of samples."""
        match = _NAME.fullmatch(log.file_name)
        task, date = match.groups() if match else ("", "")
        results = log.about(f"results_{date}.json") if date else {}
        left_out: Counter[str] = Counter()
        return LogRecords(_records(log, field or RESPONSES, left_out), _about(results, task), task, left_out)


def _records(log: Log, field: str, left_out: Counter[str]) -> Iterator[tuple[int, object]]:
    """Yield the samples of one filter: of the one that is named, else of the only one, or the first."""
    path, _, chosen = field.partition(".") if field.startswith(f"{FILTERED}.") else (field, "", "")
    filters: dict[str, None] = {}

    for number, sample in log.json_lines():
        if isinstance(sample, Problem):
            yield number, sample
            continue
        if not isinstance(sample, Mapping):
            yield number, Problem(f"record is not an object (found {kind(sample)})")
            continue
        if "doc_id" not in sample:
            yield number, Problem("no field 'doc_id', which samples of lm-eval have")
            continue
        name = str(sample.get("filter", ""))
        filters.setdefault(name)
        if path == FILTERED and not chosen and len(filters) > 1:
            first, second = list(filters)
            raise log.error(
                f"the samples were filtered by {first!r} and by {second!r}, expected one filter",
                f"choose one: #{FILTERED}.{first} or #{FILTERED}.{second}",
            )
        if name != (chosen or next(iter(filters))):
            left_out[OTHER] += 1
            continue
        text = _responses(sample.get(path)) if path in (RESPONSES, FILTERED) else value_at(sample, path)
        yield number, named(sample, str(sample["doc_id"]), text)
    if chosen and chosen not in filters:
        raise log.error(
            f"no sample was filtered by {chosen!r}",
            "the filters are " + (", ".join(filter(None, filters)) or "unnamed"),
        )


def _responses(value: object) -> object:
    """What the model wrote: the strings of all requests of a sample.

    >>> _responses([["Yes.", "No."]]), _responses([[[-1.5, False]], [[-2.5, True]]])
    (['Yes.', 'No.'], Problem(reason='the task scores given answers: the model wrote no text'))
    """
    if not isinstance(value, list):
        return as_text(value)
    flat = [text for request in value for text in (request if isinstance(request, list) else [request])]
    if flat and not any(isinstance(text, str) for text in flat):
        return Problem("the task scores given answers: the model wrote no text")
    if any(isinstance(request, list) and len(request) == 2 and request[1] in ("True", "False") for request in flat):
        return Problem("the task scores given answers: the model wrote no text")
    return one_or_all(flat, "answer")


def _about(results: Mapping[str, object], task: str) -> dict[str, object]:
    """What the harness says of its run."""
    config, tasks = _mapping(results.get("config")), _mapping(results.get("configs"))
    generation = {**_mapping(_mapping(tasks.get(task)).get("generation_kwargs")), **_mapping(config.get("gen_kwargs"))}
    return known(
        {
            "harness": "lm-evaluation-harness",
            "version": results.get("lm_eval_version"),
            "task": task,
            "task_version": _mapping(results.get("versions")).get(task),
            "model": results.get("model_name"),
            "model_args": _settings(config.get("model_args")),
            "generation": generation,
            "shots": _mapping(results.get("n-shot")).get(task),
            "seed": config.get("random_seed"),
            "harness_commit": results.get("git_hash"),
        }
    )


def _settings(value: object) -> object:
    """Arguments such as ``pretrained=m,api_key=x`` as a dict, in which keys can be recognised and hidden.

    >>> _settings("pretrained=m,dtype=float"), _settings({"dtype": "float"}), _settings("")
    ({'pretrained': 'm', 'dtype': 'float'}, {'dtype': 'float'}, None)
    """
    if isinstance(value, str) and "=" in value:
        return dict(setting.partition("=")[::2] for setting in value.split(","))
    return value or None


def _mapping(value: object) -> Mapping[str, object]:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}
