"""A body of human text: critics fitted on a part of it, and held-out documents that calibrate p-values.

On disk, fitted critics lie in folders, and held-out documents and their values in one table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momus.arguments import arg
from momus.critic import RunningTextCritic
from momus.critic.kinds import PairedCritic, StatisticCritic
from momus.critic.registry import load_critic
from momus.critic.saved import reserved
from momus.engine.chosen import Chosen, chosen_critics
from momus.errors import FittingError, UsageError
from momus.estimator import clone
from momus.files import write_table
from momus.numeric.types import Floats, Ints
from momus.outliers.conformal import order_of, reference_of
from momus.outliers.rows import Measure, rounded
from momus.progress import Reporter, Silent
from momus.review.spans import stretch, word_counts
from momus.review.yardstick import Lengths, Weights, Yardstick, features_of
from momus.text.corpus import Corpus
from momus.text.documents import Document

if TYPE_CHECKING:
    from momus.critic import Critic

FITTED = 0.4
"""Share of the body that critics are fitted on; the rest is held out."""
LEAST = 60
"""Fewest documents of a body: 24 to fit on, 12 for the scale, 24 to calibrate."""
SLOW = ("code-mixing", "passages", "consistency", "coreference")
"""Critics that are left out unless they are named: they take longer than all others together."""
SCORED = 0.8
"""Least share of the held-out documents to which a critic gives a value; others say too little of single documents."""


@dataclass(frozen=True)
class Body:
    """Human text that documents are judged by.

    Attributes
    ----------
    sides
        Fitted critics, which judge documents: on human text, and on text of models if there is any.
    held
        The documents that no critic was fitted on.
    values
        What ranks them under each critic (Latent NLL, per step if latents are sequences; or the critic's own measure),
        NaN where unscored: float64 (held-out documents, critics), for each side.
    fitted
        Number of documents that the critics were fitted on.
    weights
        What tells text of models; None without such text.
    left_out
        Why critics are left out, by name.
    """

    name: str
    sides: Sequence[Sequence[Critic[Any]]]
    held: Corpus
    values: Sequence[Floats]
    fitted: int
    weights: Weights | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def critics(self) -> Sequence[Critic[Any]]:
        """The critics that were fitted on human text."""
        return self.sides[0]

    def scored(self, corpus: Corpus) -> list[Floats]:
        """Values of documents under each critic, NaN where unscored: float64 (n, critics), for each side."""
        return [np.column_stack([_values(critic, corpus) for critic in side]) for side in self.sides]

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Hashes of the documents that it holds, fitted and held out."""
        return np.concatenate([self.held.hashes, *(critic.fitted_hashes_ for critic in self.critics[:1])])

    @cached_property
    def words(self) -> Ints:
        """Number of words of each held-out document."""
        return word_counts([document.text for document in self.held])

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The words between which documents are judged as they are: 96 in 100 held-out ones lie there."""
        low, high = np.quantile(self.words, [0.02, 0.98])
        return int(low), int(np.ceil(high))

    @cached_property
    def whole(self) -> Yardstick:
        """What judges documents that are as long as those of the body."""
        return self._yardstick(self.values, self.words, self.held)

    def beginnings(self, words: int) -> Yardstick | None:
        """What judges stretches of so many words, by beginnings of held-out documents; None if too few are so long."""
        rows = np.flatnonzero(self.words >= words)
        if len(rows) < LEAST * (1 - FITTED):
            return None
        held = self.held.take(rows)
        texts = [stretch(document.text, words) for document in held]
        cut = Corpus.from_documents(
            [Document.plain(d.id, text, d.prompt, d.group) for d, text in zip(held, texts, strict=True)], self.name
        )
        return self._yardstick(self.scored(cut), word_counts(texts), cut)

    def _yardstick(self, values: Sequence[Floats], words: Ints, corpus: Corpus) -> Yardstick:
        two_sided = [Measure.of_class(type(critic)).two_sided for critic in self.critics]
        return Yardstick.of(values, words, named(corpus), two_sided, self.weights)


def fit_body(
    human: Corpus,
    models: Corpus | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: dict[str, dict[str, Any]] | None = None,
    seed: int = 0,
    reporter: Reporter | None = None,
) -> Body:
    """Fit critics on two fifths of human text, by whole groups, and hold out the rest.

    Parameters
    ----------
    models
        Text of models of the same kind: what tells it from human text is learned too.
    critics
        Default: all that judge single documents, but for the slowest.

    Raises
    ------
    UsageError
        A text has fewer than 60 documents, or no critic can be fitted.
    """
    reporter = reporter or Silent()
    texts = [_split(text, seed) for text in (human, models) if text is not None]
    held = texts[0][1]
    sides: list[list[Critic[Any]]] = [[] for _ in texts]
    columns: list[list[Floats]] = [[] for _ in texts]
    selection = Chosen(_judges(critics, config or {}))
    for critic in selection.critics:
        with selection.attempt(critic, named=critics is not None), reporter.stage(f"fitting {critic.name}"):
            fitted = [clone(critic).fit(fit) for fit, _ in texts]
            values = [_values(c, held) for c in fitted]
            if min(float(np.isfinite(v).mean()) for v in values) < SCORED:
                raise FittingError(f"critic {critic.name!r} gives most of these documents no value")
            for k, (one, column) in enumerate(zip(fitted, values, strict=True)):
                sides[k].append(one)
                columns[k].append(column)
    if not sides[0]:
        raise UsageError(
            f"no critic can be fitted on {human.name}",
            hint="; ".join(f"{name}: {reason}" for name, reason in selection.reasons.items()),
        )
    tables = [np.column_stack(c) for c in columns]
    body = Body(human.name, sides, held, tables, len(texts[0][0]), left_out=selection.reasons)
    if models is None:
        return body
    with reporter.stage("weighing critics"):
        return replace(body, weights=_weights(body, texts[1][1]))


def _weights(body: Body, models: Corpus) -> Weights:
    """Learn weights from the human reference and documents of models that no critic was fitted on."""
    rows = reference_of(order_of(named(body.held)), body.held.groups)
    values, of_human = [side[rows] for side in body.values], body.words[rows]
    lengths = [Lengths.of(side, of_human) for side in values]
    human = features_of(values, lengths, of_human)
    words = word_counts([document.text for document in models])
    return Weights.learn(human, features_of(body.scored(models), lengths, words))


def named(corpus: Corpus) -> list[tuple[str, str | None]]:
    """Id and group of each document."""
    return list(zip(corpus.ids, corpus.groups, strict=True))


def _split(text: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """The part that critics are fitted on, and the rest."""
    readable = text.take(np.flatnonzero([problem is None for problem in text.problems]), text.name)
    if len(readable) < LEAST:
        raise UsageError(
            f"{text.name}: {len(readable)} documents, and a body needs at least {LEAST}",
            hint="give more text of the kind; the smallest p is about 2.5 divided by the documents of the body",
        )
    return readable.split(FITTED, seed)


def _judges(critics: Sequence[str | Critic[Any]] | None, config: dict[str, dict[str, Any]]) -> list[Critic[Any]]:
    """The critics that judge documents; by default, all but the slowest."""
    chosen = chosen_critics(critics, config).critics
    judges = [c for c in chosen if not isinstance(c, RunningTextCritic | StatisticCritic | PairedCritic)]
    if critics is None:
        return [c for c in judges if c.name not in SLOW]
    if len(judges) < len(chosen):
        others = ", ".join(c.name for c in chosen if c not in judges)
        raise UsageError(f"{others}: no critics of single documents", hint="name others, or none for all that judge")
    return judges


def _values(critic: Critic[Any], corpus: Corpus) -> Floats:
    """What ranks documents under a critic, NaN where unscored: float64 (n,)."""
    scores = critic.score(corpus)
    return rounded(np.where(scores.scored, scores.outlying(critic.sequence), np.nan))


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
        # all places were reserved before the first is written
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
        weights = None
        if (kept := content["weights"]) is not None:
            arrays = {name: np.asarray(kept[name], dtype=np.float64) for name in ("mean", "scale", "weights")}
            weights = Weights(**arrays, intercept=float(kept["intercept"]))
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
