"""Read logs of Inspect (``.eval`` and ``.json``) with its own ``read_eval_log``, since their format is not frozen."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from momus.errors import MissingExtraError
from momus.limits import size_text
from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.location import trusted
from momus.version import extra
from momus_adapters.logs.fields import known, named, one_or_all, value_at

SAMPLE = {"id", "epoch", "input", "choices", "target", "messages", "output", "scores", "metadata", "error"}
"""What is read of a sample; its events, attachments and store are not."""
REPEATED = "they repeat the references of other epochs"


class InspectReader(LogReader):
    """Logs of Inspect; the text is the model's output, and prompts are paired by the ids of samples.

    Epochs are documents of one prompt, called ``ID epoch N`` if there are several. ``target`` is the reference, which
    is read once per sample; ``messages`` the whole chat; any other path is a field of the sample (``metadata.topic``).
    """

    name: ClassVar[str] = "inspect"
    title: ClassVar[str] = "logs of Inspect"
    pattern: ClassVar[str | tuple[str, ...]] = ("*.eval", "????-??-??T*.json")  # a folder also holds lists of its logs
    signs: ClassVar[frozenset[str]] = frozenset({"eval", "plan", "samples"})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read the header of a log, and its samples one by one."""
        try:
            from inspect_ai.log import read_eval_log
        except ImportError:
            raise MissingExtraError(
                f"{log.location.label}: logs of Inspect are read with the package inspect-ai, which is not installed",
                extra("logs"),
            ) from None
        with ExitStack() as stack:
            path = stack.enter_context(log.local())
            check_size(log, path)
            header = read_eval_log(str(path), header_only=True)
            left_out: Counter[str] = Counter()
            records = _records(log, path, field, (header.eval.config.epochs or 1) > 1, left_out, stack.pop_all())
        return LogRecords(records, _about(header), header.eval.task, left_out)


def check_size(log: Log, path: Path) -> None:
    """Refuse a log that would grow beyond the limits: its samples are members of a zip archive.

    Raises
    ------
    ReadingError
        A member is larger than one JSON document may be, grows too much, or the archive is damaged.
    """
    limits = log.location.limits
    if not zipfile.is_zipfile(path):
        if path.suffix.lower() == ".eval":
            raise log.error(
                "this is not a whole log of Inspect (no zip archive)",
                "the log may be cut off: fetch it again, or recover it with `inspect log recover`",
            )
        if path.stat().st_size > limits.value:
            raise log.location.too_long(f"the log (the most is {size_text(limits.value)} as a whole)", 0)
        return
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    packed, size = sum(m.compress_size for m in members), sum(m.file_size for m in members)
    longest = max((m.file_size for m in members), default=0)
    if longest > limits.value:
        raise log.location.too_long(f"a sample of the log (the most is {size_text(limits.value)} as JSON)", 0)
    if size > limits.file or size > max(limits.free, limits.ratio * max(packed, 1)):
        raise log.error(
            f"the log grows from {size_text(packed)} to {size_text(size)} when it is decompressed",
            trusted("ratio=2000"),
        )


def _records(
    log: Log, path: Path, field: str | None, epochs: bool, left_out: Counter[str], held: ExitStack
) -> Iterator[tuple[int, object]]:
    from inspect_ai.log import read_eval_log_samples

    log.location.unit = "sample"
    seen: set[str] = set()
    with held:
        for number, sample in enumerate(read_eval_log_samples(str(path), all_samples_required=False), 1):
            name = str(sample.id)
            if field == "target":
                if name in seen:
                    left_out[REPEATED] += 1
                    continue
                seen.add(name)
            data = sample.model_dump(include=SAMPLE, mode="json", exclude_none=True)
            id = f"{name} epoch {sample.epoch}" if epochs and field != "target" else name
            yield number, named(data, name, _text(sample, data, field), id)


def _text(sample: Any, data: Mapping[str, object], field: str | None) -> object:
    """What counts as the text of a sample."""
    if field == "target":
        target = data.get("target")
        return one_or_all([t for t in (target if isinstance(target, list) else [target]) if t], "target")
    if sample.error is not None:
        return Problem("the sample failed while the model was evaluated")
    if field is not None:
        return value_at(data, field)
    # as chat messages, so that reasoning and calls of tools are set apart as those of any chat
    chats = [[choice.message.model_dump(mode="json", exclude_none=True)] for choice in sample.output.choices]
    return chats[0] if len(chats) == 1 else chats or Problem("the sample has no output")


def _about(header: Any) -> dict[str, object]:
    """What Inspect says of its run."""
    spec = header.eval
    return known(
        {
            "harness": "Inspect",
            "version": spec.packages.get("inspect_ai"),
            "task": spec.task,
            "task_version": spec.task_version,
            "model": spec.model,
            "model_args": spec.model_args,
            "generation": header.plan.config.model_dump(exclude_none=True, mode="json"),
            "epochs": spec.config.epochs,
            "created": str(spec.created),
            "status": header.status if header.status != "success" else None,
        }
    )
