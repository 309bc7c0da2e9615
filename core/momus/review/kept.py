"""A body on disk: fitted critics in folders; held-out documents, their values and the rest in one table."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from momus.arguments import arg
from momus.critic.registry import load_critic
from momus.critic.saved import reserved
from momus.errors import UsageError
from momus.files import write_table
from momus.numeric.types import Floats
from momus.review.body import Body
from momus.review.contrast import FOLDS, Contrast
from momus.text.corpus import Corpus
from momus.text.documents import Document, Section

if TYPE_CHECKING:
    import pyarrow as pa

HELD_OUT = "held-out.parquet"
"""Table of the held-out documents: id, text, group, prompt, fields; ``human NAME`` by critic, and ``odds FOLD``."""
ARRAYS = ("mean", "scale", "weights", "intercepts")
CRITICS = "human"
"""The folder of the critics."""


def is_body(place: str | Path) -> bool:
    """Whether a place is a folder that `save_body` wrote."""
    return (Path(place) / HELD_OUT).is_file()


def save_body(body: Body, folder: Path, *, overwrite: bool = False) -> None:
    """Write a body, with the texts of the held-out documents.

    Raises
    ------
    StoreError
        A place holds what Momus did not write, or, unless ``overwrite``, another body.
    """
    import pyarrow as pa

    columns = {
        name: pa.array([getattr(d, name) for d in body.held], pa.string()) for name in ("id", "text", "group", "prompt")
    }
    columns["fields"] = body.held.table["fields"]
    columns |= {f"{CRITICS} {c.name}": pa.array(v) for c, v in zip(body.critics, body.values.T, strict=True)}
    columns |= {f"odds {k}": pa.array(v) for k, v in enumerate(body.odds.T)}
    critics = [*body.critics, *([body.watch] if body.watch else [])]
    with ExitStack() as stack:
        for critic in critics:
            stack.enter_context(reserved(folder / CRITICS / critic.name, overwrite=overwrite))
        # all places were reserved before the first is written
        for critic in critics:
            critic.save(folder / CRITICS / critic.name)
        content = {"name": body.name, "fitted": body.fitted, "faults": dict(body.faults), "left_out": body.left_out}
        contrast = {k: np.asarray(v).tolist() for k, v in asdict(body.contrast).items()} if body.contrast else None
        content |= {"watch": body.watch.name if body.watch else None, "contrast": contrast}
        table = pa.table(columns).replace_schema_metadata({"body": json.dumps(content)})
        write_table(table, folder / HELD_OUT)


def load_body(folder: Path, *, trust: bool = False) -> Body:
    """Read what `save_body` wrote.

    Raises
    ------
    StoreError
        A critic is missing or damaged.
    UsageError
        The folder holds no body that can be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(folder / HELD_OUT)
        content = json.loads((table.schema.metadata or {})[b"body"])
        held = Corpus.from_documents(
            Document(d["id"], (Section(d["text"]),), False, d["prompt"], None, d["group"], dict(d["fields"] or ()))
            for d in table.select(["id", "text", "group", "prompt", "fields"]).to_pylist()
        )
        names = [n.removeprefix(f"{CRITICS} ") for n in table.column_names if n.startswith(f"{CRITICS} ")]
        values = _columns(table, CRITICS, names)
        odds = _columns(table, "odds", [str(k) for k in range(FOLDS if content["contrast"] else 0)])
        contrast = None
        if (kept := content["contrast"]) is not None:
            words, statistics = (list(map(str, kept[name])) for name in ("vocabulary", "statistics"))
            rarity, *others = (np.asarray(kept[name], dtype=np.float64) for name in ("rarity", *ARRAYS))
            contrast = Contrast(words, rarity, statistics, *others)
        faults = {str(name): float(rate) for name, rate in content["faults"].items()}
        name, fitted, left_out = str(content["name"]), int(content["fitted"]), dict(content["left_out"])
        watching = None if content["watch"] is None else str(content["watch"])
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{folder} holds no body of human text that can be read ({error})",
            hint=f"give human text instead; {arg('save')} keeps what was fitted on it",
        ) from error
    critics = [load_critic(_inside(folder, n), trust=trust) for n in names]
    watch = None if watching is None else load_critic(_inside(folder, watching), trust=trust)
    return Body(name, critics, held, values, odds, fitted, contrast, watch, faults, left_out)


def _columns(table: pa.Table, kind: str, names: list[str]) -> Floats:
    """Columns side by side: float64 (n, names)."""
    columns = [table.column(f"{kind} {name}").to_numpy().astype(np.float64) for name in names]
    return np.column_stack([np.zeros((len(table), 0)), *columns])


def _inside(folder: Path, name: str) -> Path:
    """The folder of a critic; a name from elsewhere must not lead out of the body."""
    if name != Path(name).name:
        raise UsageError(f"{folder}: {name!r} is no name of a critic", hint="fit the body again")
    return folder / CRITICS / name
