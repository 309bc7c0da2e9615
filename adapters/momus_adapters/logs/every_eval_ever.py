"""Read instances of Every Eval Ever, by the published schema of instance-level evaluation logs (0.3).

Each line of a file is one sample under one metric: ``sample_id``, ``input`` (with ``reference``), ``output`` (``raw``,
a list of responses, and ``reasoning_trace``) or ``messages``, ``evaluation``, ``model_id``, and ``evaluation_name``.
Settings stand in the aggregate file beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain, islice
from typing import ClassVar

from momus.reading import Log, LogReader, LogRecords, Problem
from momus_adapters.logs.fields import known, mapping, named, one_or_all, shaped, value_at

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
        metrics: dict[str, object] = {}  # of each sample, the metric that stands first
        repeats: Counter[str] = Counter()

        def shape(_: int, value: Mapping[str, object]) -> object:
            missing = [name for name in REQUIRED if name not in value]
            if missing:
                return Problem(f"no field {missing[0]!r}, which instances of Every Eval Ever have")
            name = str(value["sample_id"])
            metric = value.get("evaluation_result_id") or value.get("evaluation_name")
            if metrics.setdefault(name, metric) != metric:
                left_out[OTHER] += 1
                return None
            repeats[name] += 1
            return named(value, name, _text(value, field), "" if repeats[name] == 1 else f"{name} ({repeats[name]})")

        aggregate = log.about(log.file_name.replace("_samples.jsonl", ".json").replace(".jsonl", ".json"))
        lines = log.json_lines()
        first = list(islice(lines, 1))
        instance = mapping(first[0][1]) if first else {}
        task = str(instance.get("evaluation_name", ""))
        return LogRecords(shaped(chain(first, lines), shape), _about(aggregate, instance, task), task, left_out)


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
