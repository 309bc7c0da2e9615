"""Read and write instances of Every Eval Ever, by the published schema of instance-level evaluation logs (0.3).

Each line of a file is one sample under one metric: ``sample_id``, ``input`` (with ``reference``), ``output`` (``raw``,
a list of responses, and ``reasoning_trace``) or ``messages``, ``evaluation``, ``model_id``, and ``evaluation_name``.
Settings stand in the aggregate file beside it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from momus.errors import UsageError
from momus.outputs import write_text
from momus.reading import Log, LogReader, LogRecords, Problem
from momus.text.corpus import Corpus
from momus_adapters.logs.fields import known, mapping, one_or_all, samples, value_at

if TYPE_CHECKING:
    from momus.critic.scores import Scores

SCHEMA = "0.3.0"
"""The version of the schema that is written."""
REQUIRED = ("schema_version", "sample_id", "interaction_type", "input")
OTHER = "they repeat the samples under other metrics"


class EveryEvalEverReader(LogReader):
    """Instances of Every Eval Ever; the text is the model's output, and prompts are paired by ``sample_id``.

    ``target`` is the reference (``input.reference``), and any other path a field of the instance. A sample with several
    metrics stands in several lines, of which the first metric's are read.
    """

    name: ClassVar[str] = "every-eval-ever"
    title: ClassVar[str] = "instances of Every Eval Ever"
    pattern: ClassVar[str] = "*_samples.jsonl"
    signs: ClassVar[frozenset[str]] = frozenset({"schema_version", "sample_id", "interaction_type", "evaluation"})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a file of instances."""
        left_out: Counter[str] = Counter()
        aggregate = log.about(log.file_name.replace("_samples.jsonl", ".json").replace(".jsonl", ".json"))
        lines = log.json_lines()
        first = next(lines, None)
        instance = mapping(first[1]) if first is not None else {}
        task = str(instance.get("evaluation_name", ""))
        records = _records(lines if first is None else chain([first], lines), field, left_out)
        return LogRecords(records, _about(aggregate, instance, task), task, left_out)


def _records(
    lines: Iterable[tuple[int, object]], field: str | None, left_out: Counter[str]
) -> Iterator[tuple[int, object]]:
    """The record of each sample, without those of its other metrics."""
    metrics: dict[str, object] = {}  # of each sample, the metric that stands first
    repeats: Counter[str] = Counter()
    for number, value in samples(lines):
        if isinstance(value, Problem):
            yield number, value
            continue
        missing = [name for name in REQUIRED if name not in value]
        if missing:
            yield number, Problem(f"no field {missing[0]!r}, which instances of Every Eval Ever have")
            continue
        name = str(value["sample_id"])
        metric = value.get("evaluation_result_id") or value.get("evaluation_name")
        if metrics.setdefault(name, metric) != metric:
            left_out[OTHER] += 1
            continue
        repeats[name] += 1
        id = name if repeats[name] == 1 else f"{name} ({repeats[name]})"
        yield number, {**value, "id": id, "prompt_id": name, "text": _text(value, field)}


def _text(instance: Mapping[str, object], field: str | None) -> object:
    """What counts as the text of an instance."""
    if field == "target":
        references = mapping(instance["input"]).get("reference")
        return one_or_all(references if isinstance(references, list) else [], "reference")
    if field is not None:
        return value_at(instance, field)
    messages = instance.get("messages")
    if isinstance(messages, list):
        return [{**mapping(m), "reasoning": mapping(m).get("reasoning_trace")} for m in messages]
    output = mapping(instance.get("output"))
    raw, traces = output.get("raw"), output.get("reasoning_trace")
    if instance.get("error") and not raw:
        return Problem("the sample failed while the model was evaluated")
    texts = [text for text in raw if isinstance(text, str)] if isinstance(raw, list) else []
    if isinstance(traces, list) and len(traces) == len(texts):
        chats = [[{"role": "assistant", "content": t, "reasoning": r}] for t, r in zip(texts, traces, strict=True)]
        return one_or_all(chats, "output")
    return one_or_all(texts, "output")


def _about(aggregate: Mapping[str, object], instance: Mapping[str, object], task: str) -> dict[str, object]:
    """What the log says of its run: the aggregate file, else the first instance."""
    library, results = mapping(aggregate.get("eval_library")), aggregate.get("evaluation_results")
    first = mapping(results[0]) if isinstance(results, list) and results else {}
    return known(
        {
            "harness": library.get("name") or "Every Eval Ever",
            "version": library.get("version"),
            "schema": instance.get("schema_version"),
            "task": task,
            "model": mapping(aggregate.get("model_info")).get("id") or instance.get("model_id"),
            "generation": known(mapping(mapping(first.get("generation_config")).get("generation_args"))),
        }
    )


def write_instances(
    path: str | Path,
    scores: Scores,
    corpus: Corpus,
    references: Corpus | None = None,
    *,
    model: str,
    evaluation_id: str = "",
) -> int:
    """Write the scores of a critic as instances of Every Eval Ever, and return their number.

    Each scored document is one instance: ``evaluation.score`` is its Latent NLL, ``output.raw`` its text,
    ``sample_id`` its prompt (without one, its id), and ``input.raw`` the same name, since a corpus has no prompts'
    texts. Unscored documents have no score, which the schema requires, and are left out. The schema also requires
    ``is_correct``, which a text has not: it is false, and ``metadata`` says that it does not apply.

    Parameters
    ----------
    path
        The file, JSON Lines.
    scores, corpus
        Scores of a critic, and the corpus that was scored.
    references
        Texts whose prompts are those of the corpus; they become ``input.reference``.
    model
        The model's identifier, in the form ``owner/name``.
    evaluation_id
        Name of the evaluation, of an aggregate file if there is one; default: critic, corpus and its fingerprint.

    Raises
    ------
    UsageError
        The scores are not those of the corpus.
    """
    if list(scores.ids) != corpus.ids:
        raise UsageError("the scores are not those of this corpus", hint="score the corpus, and pass both")
    known_answers: dict[str, list[str]] = {}
    for document in references if references is not None else ():
        known_answers.setdefault(document.prompt or document.id, []).append(document.text)
    evaluation = evaluation_id or f"momus/{scores.critic}/{corpus.name}/{corpus.fingerprint}"
    instances = []
    for document, score in zip(corpus, scores.nll.tolist(), strict=True):
        if not math.isfinite(score):
            continue
        name = document.prompt or document.id
        answers = known_answers.get(name, [])
        instances.append(
            {
                "schema_version": SCHEMA,
                "evaluation_id": evaluation,
                "model_id": model,
                "evaluation_name": f"momus/{scores.critic}",
                "evaluation_result_id": f"latent_nll:{scores.critic}",
                "sample_id": name,
                "sample_hash": hashlib.sha256("".join([name, *answers]).encode("utf-8")).hexdigest(),
                "interaction_type": "single_turn",
                "input": {"raw": name, "reference": answers},
                "output": {"raw": [document.text]},
                "answer_attribution": [],
                "evaluation": {"score": score, "is_correct": False},
                "metadata": {"is_correct": "does not apply", "document": document.id},
            }
        )
    write_text(Path(path), "".join(json.dumps(i, ensure_ascii=False) + "\n" for i in instances))
    return len(instances)
