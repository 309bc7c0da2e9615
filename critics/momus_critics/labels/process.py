"""What the processes of all types of labels have in common: they read one field, and learn from its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Self, TypeVar

from momus.critic import Reporting
from momus.text.corpus import Corpus
from momus_critics.labels.values import read

V = TypeVar("V")


class LearnsLabels(ABC, Generic[V]):
    """A process that learns from the labels of documents, read from one field as one type.

    Attributes
    ----------
    field, kind
        Name of the field, and type of its labels.
    """

    field: str
    kind: str

    @abstractmethod
    def learn(self, values: Sequence[V]) -> None:
        """Learn P_c from the labels of real documents."""

    def values(self, batch: Corpus) -> list[V]:
        """The label of each document; all can be read."""
        return [read(text or "", self.kind) for text in batch.field(self.field)]

    def fit(self, real: Corpus) -> Self:
        """Learn P_c from the labels of real documents."""
        self.learn(self.values(real))
        return self


def reporting_of(where: str, entropy: tuple[str, str] | None = None, headline: str = "") -> Reporting:
    """How labels are reported; ``where`` says in what a text is usual or not.

    Latent NLL decides, unless another statistic is the ``headline``. P(z) of the texts together is compared where its
    ``entropy`` has words.
    """
    usual = f"more usual {where}", f"less usual {where}"
    directions = {"latent_nll": usual, "latent_ppl": usual}
    return Reporting(
        headline=headline,
        directions=directions if entropy is None else {**directions, "posterior_entropy": entropy},
        limits="It sees what the labeller saw, as labelled: it cannot tell whether the labels are right.",
        # shares are compared label by label, and which labels there are must be the same in every fold
        together="once",
        aggregated=entropy is not None,
    )
