"""Bodies of human text on disk: fitted critics in folders, and one table of held-out documents and their values."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np

from momus.arguments import arg
from momus.critic.registry import load_critic
from momus.critic.saved import reserved
from momus.errors import UsageError
from momus.files import write_table
from momus.review.body import Body
from momus.review.combining import Weights
from momus.text.corpus import Corpus
from momus.text.documents import Document

HELD_OUT = "held-out.parquet"
"""Table of the held-out documents: id, text, group, and a column ``SIDE NAME`` for each critic."""
SIDES = ("human", "models")
"""Names of the sides; the critics of each lie in a folder of its name."""


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
        "id": pa.array([d.id for d in body.held], pa.string()),
        "text": pa.array([d.text for d in body.held], pa.string()),
        "group": pa.array([d.group for d in body.held], pa.string()),
    }
    with ExitStack() as stack:
        for side, critics, values in zip(SIDES, body.sides, body.values, strict=False):
            for critic, column in zip(critics, values.T, strict=True):
                stack.enter_context(reserved(folder / side / critic.name, overwrite=overwrite))
                columns[f"{side} {critic.name}"] = pa.array(column)
        for side, critics in zip(SIDES, body.sides, strict=False):
            for critic in critics:
                critic.save(folder / side / critic.name)
        weights = None if body.weights is None else {k: np.asarray(v).tolist() for k, v in asdict(body.weights).items()}
        content = {"name": body.name, "fitted": body.fitted, "weights": weights, "left_out": body.left_out}
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
        rows = zip(*(table.column(name).to_pylist() for name in ("id", "text", "group")), strict=True)
        documents = [Document.plain(id, text, group=group) for id, text, group in rows]
        names = [[n.partition(" ")[2] for n in table.column_names if n.startswith(f"{side} ")] for side in SIDES]
        values = [
            np.column_stack([table.column(f"{side} {n}").to_numpy().astype(np.float64) for n in of_side])
            for side, of_side in zip(SIDES, names, strict=True)
            if of_side
        ]
        kept = content["weights"]
        weights = (
            None
            if kept is None
            else Weights(
                np.asarray(kept["mean"], dtype=np.float64),
                np.asarray(kept["scale"], dtype=np.float64),
                np.asarray(kept["weights"], dtype=np.float64),
                float(kept["intercept"]),
            )
        )
        name, fitted, left_out = str(content["name"]), int(content["fitted"]), dict(content["left_out"])
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{folder} holds no body of human text that can be read ({error})",
            hint=f"give human text instead; {arg('save')} keeps what was fitted on it",
        ) from error
    critics = [
        [load_critic(_inside(folder, side, n), trust=trust) for n in of_side]
        for side, of_side in zip(SIDES, names, strict=True)
        if of_side
    ]
    return Body(name, critics, Corpus.from_documents(documents, name), values, fitted, weights, left_out)


def _inside(folder: Path, side: str, name: str) -> Path:
    """The folder of a critic; a name from elsewhere must not lead out of the body."""
    if name != Path(name).name:
        raise UsageError(f"{folder}: {name!r} is no name of a critic", hint="fit the body again")
    return folder / side / name
