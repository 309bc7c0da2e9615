"""Hugging Face data sets with scores: rows in, the same rows with columns of critics out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import pyarrow as pa

from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import check_fitted
from momus.critic.registry import load_critic
from momus.critic.scores import Scores
from momus.errors import UsageError
from momus.reading import read_memory


class Table(Protocol):
    """What is used of a ``datasets.Dataset``."""

    @property
    def column_names(self) -> Sequence[str]:
        """Names of the columns."""
        ...

    def add_column(self, name: str, column: Any) -> Any:
        """Return the data set with another column."""
        ...

    def __len__(self) -> int: ...


Data = TypeVar("Data")
CriticSource = Critic[Any] | str | Path


def score_dataset(
    dataset: Data,
    critics: CriticSource | Sequence[CriticSource],
    *,
    field: str | None = None,
    turns: str = "assistant",
    prefix: str = "momus_",
    trust: bool = False,
) -> Data:
    """Score the rows of a Hugging Face data set, and return it with the scores as columns.

    Each critic adds ``momus_CRITIC_nll`` (Latent NLL in nats, null where a row has no score), ``momus_CRITIC_steps``
    (number of scored steps) and ``momus_CRITIC_reason`` (why a row has no score). Rows keep their order.

    Parameters
    ----------
    dataset
        A ``datasets.Dataset``, or a ``DatasetDict`` or dict of them, each of which is scored.
    critics
        Fitted critics, or folders of saved ones.
    field, turns
        The column that holds the text, and what counts as the text of chat messages, see `momus.reading.read_memory`.
    prefix
        What the names of the new columns begin with.
    trust
        See `momus.load_critic`.

    Raises
    ------
    UsageError
        This is no such data set, a column exists already, a row holds several texts, or a critic scores no documents.
    """
    sources = critics if isinstance(critics, Sequence) and not isinstance(critics, str) else [critics]
    loaded = [c if isinstance(c, Critic) else load_critic(c, trust=trust) for c in sources]
    names = [critic.name for critic in loaded]
    if not names or len(set(names)) < len(names):
        raise UsageError(
            f"the critics are {', '.join(names) or 'none'}", hint="give one critic or more, of one name each"
        )
    for critic in loaded:
        check_fitted(critic)
        if isinstance(critic, RunningTextCritic):
            raise UsageError(
                f"critic {critic.name!r} measures blocks of running text, not rows", hint="leave it out, or use compare"
            )
    if isinstance(dataset, Mapping):
        splits = {k: _scored(d, loaded, str(k), field, turns, prefix) for k, d in dataset.items()}
        kind = cast(Callable[[dict[Any, Any]], Data], type(dataset))  # a DatasetDict stays one
        return kind(splits)
    return cast(Data, _scored(dataset, loaded, "dataset", field, turns, prefix))


def _scored(dataset: Any, critics: Sequence[Critic[Any]], name: str, field: str | None, turns: str, prefix: str) -> Any:
    """One data set with its columns of scores."""
    if not hasattr(dataset, "add_column") or not hasattr(dataset, "__len__"):
        hint = "load it without streaming=True, or give Dataset.from_generator(…) or Dataset.from_pandas(…)"
        raise UsageError(f"{name!r} is {type(dataset).__module__}.{type(dataset).__qualname__}, no Dataset", hint=hint)
    table: Table = dataset
    new = [f"{prefix}{critic.name}_{column}" for critic in critics for column in ("nll", "steps", "reason")]
    # all columns before any is scored: `add_column` would fail after the work
    taken = [column for column in new if column in table.column_names]
    if taken:
        raise UsageError(f"the data set has a column {taken[0]!r} already", hint="remove it, or choose another prefix")
    corpus = read_memory(dataset, name, field=field, turns=turns)
    # scores are columns of rows, so each row must be one document
    if len(corpus) != len(table):
        raise UsageError(
            f"the {len(table):,} rows hold {len(corpus):,} texts, since a field has a list of answers",
            hint="make one row of each answer first",
        )
    for critic in critics:
        for column, values in _columns(critic.score(corpus)).items():
            # a new data set each time: the one given is left as it is
            table = table.add_column(f"{prefix}{critic.name}_{column}", values)
    return table


def _columns(scores: Scores) -> dict[str, pa.Array]:
    """The columns of a critic; a row without a score has null as its Latent NLL."""
    return {
        "nll": pa.array(scores.nll, pa.float64(), mask=~scores.scored),
        "steps": pa.array(scores.steps, pa.int64()),
        "reason": pa.array(list(scores.reasons), pa.string()),
    }
