"""Read details of lighteval: the files ``details_TASK_DATE.parquet`` of ``--save-details``.

Each row is one sample, with the columns ``doc`` (``id``, ``query``, ``choices``, ``gold_index``, ``specific``, …),
``model_response`` (``text``, ``text_post_processed``, ``reasonings``, …) and ``metric``. Settings stand in
``results_DATE.json`` of the folder ``results`` beside ``details``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.location import shorten
from momus_adapters.logs.fields import dated, known, mapping, named, one_or_all, shaped, value_at


class LightevalReader(LogReader):
    """Details of lighteval; the text is ``model_response.text``, and prompts are paired by ``doc.id``.

    ``target`` is the reference (the choices that ``gold_index`` names), and any other path a field of the row, such as
    ``model_response.text_post_processed`` or ``doc.query``.
    """

    name: ClassVar[str] = "lighteval"
    title: ClassVar[str] = "details of lighteval"
    pattern: ClassVar[str] = "details_*.parquet"
    signs: ClassVar[frozenset[str]] = frozenset({"doc", "model_response", "metric"})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a file of details."""
        task, date = dated(log.file_name, "details")

        def shape(number: int, row: Mapping[str, object]) -> object:
            missing = [name for name in ("doc", "model_response") if not isinstance(row.get(name), Mapping)]
            if missing:
                raise log.error(
                    f"no column {missing[0]!r} of structures, which details of lighteval 0.11 and later have",
                    "write the details with a later version, or read the file itself, with --field for the text",
                )
            doc, texts = mapping(row["doc"]), mapping(row["model_response"]).get("text")
            name = str(doc.get("id") if doc.get("id") not in (None, "") else number - 1)
            if field is not None:
                return named(row, name, _gold(doc) if field == "target" else value_at(row, field))
            generated = [text for text in texts if text is not None] if isinstance(texts, list) else []
            return named(row, name, one_or_all(generated, "generated text (the task scores given answers)"))

        return LogRecords(shaped(log.rows(), shape), _about(_results(log, date), task), task)


def _gold(doc: Mapping[str, object]) -> object:
    """The references of a sample: the choices that are right.

    >>> _gold({"choices": ["a", "b", "c"], "gold_index": [0, 2]}), _gold({"choices": ["a"], "gold_index": 0})
    (['a', 'c'], 'a')
    """
    choices, gold = doc.get("choices"), doc.get("gold_index")
    indices = gold if isinstance(gold, list) else [gold]
    if not isinstance(choices, list):
        return Problem("the sample has no choices")
    right = [choices[i] for i in indices if isinstance(i, int) and 0 <= i < len(choices)]
    return one_or_all(right, f"reference (gold_index is {shorten(str(gold))})")


def _results(log: Log, date: str) -> Mapping[str, object]:
    """The settings of the run, from ``results/MODEL/results_DATE.json``; MODEL may be several folders."""
    if not date or log.location.name is None:
        return {}
    if beside := log.about(f"results_{date}.json"):
        return beside
    folders = log.location.name.parent.parts
    if "details" not in folders:
        return {}
    model = folders[len(folders) - folders[::-1].index("details") : -1]  # details / MODEL … / DATE
    return log.about("/".join([*[".."] * (len(model) + 2), "results", *model, f"results_{date}.json"]))


def _about(results: Mapping[str, object], task: str) -> dict[str, object]:
    """What the harness says of its run."""
    config = mapping(results.get("config_general"))
    model = mapping(config.get("model_config"))
    return known(
        {
            "harness": "lighteval",
            "version": config.get("lighteval_sha") if config.get("lighteval_sha") != "?" else None,
            "task": task,
            "task_version": mapping(results.get("versions")).get(task),
            "model": config.get("model_name") or model.get("model_name"),
            "generation": known(mapping(model.get("generation_parameters"))),
        }
    )
