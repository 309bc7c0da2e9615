"""What sentences and figures call a statistic, and what a text is whose value is lower or higher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from momus.errors import UsageError

Format = Literal["number", "share", "score"]
Direction = tuple[str, str] | tuple[()]
INDICES = ("nats", "√nats", "log", "sd")
"""First words of the units of what no reader can count."""
PAIR = 'give what a lower and a higher value mean, such as ("shorter", "longer")'


def either(words: str | Direction) -> Direction:
    """What a text is if a number is lower, and if it is higher; a pair stays as it is.

    Of ``"low|high and the rest"``, the rest holds for both: it follows as many words as stand on the left.

    >>> either("shorter|longer in its sentences"), either("less often|more often with a loop")
    (('shorter in its sentences', 'longer in its sentences'), ('less often with a loop', 'more often with a loop'))
    """
    if not isinstance(words, str):
        return words
    low, bar, high = words.partition("|")
    if not bar:
        raise UsageError(f"direction is {words!r}", hint=PAIR)
    return " ".join([low, *high.split(" ")[len(low.split(" ")) :]]), high


@dataclass(frozen=True)
class Wording:
    """What sentences and figures call a statistic.

    Attributes
    ----------
    label
        Its name for readers, such as ``mean length``; empty: the name with spaces for underscores. It speaks of the
        fitted text, not of real text: that may be text of a model.
    direction
        What generated text is if its value is lower, and if it is higher, such as ``("shorter", "longer")``; empty if a
        direction says nothing.
    unit
        Unit of the value, in the plural, such as ``words``; empty for numbers without a unit.
    format
        ``share`` for numbers in [0, 1] that are shown in percent; ``score`` for test statistics without a unit, of
        which sentences tell p.
    clause
        A sentence with ``{}`` for the value, such as ``{} of documents loop``; empty: label and value.
    item
        Of a distance that is the largest over many things that are told by name (`Overuse`): what has the thing, such
        as ``documents open with``; empty for all others.
    general
        Whether it moves with whatever narrower statistics find, such as full stops with the length of sentences: these
        are told before it.
    """

    label: str = ""
    direction: Direction = ()
    unit: str = ""
    format: Format = "number"
    clause: str = ""
    item: str = ""
    general: bool = False

    @property
    def concrete(self) -> bool:
        """Whether it tells what a reader can count in the text: a thing, a share, a number of words; else an index.

        >>> Wording("mean length", unit="words").concrete, Wording("Latent NLL", unit="nats per document").concrete
        (True, False)
        """
        if self.format == "share" or self.item:
            return True
        return bool(self.unit) and self.unit.split()[0] not in INDICES

    @property
    def of_documents(self) -> bool:
        """Whether its clause says how many documents have something."""
        return self.clause.startswith("{} of documents ")

    def __post_init__(self) -> None:
        """Check the direction."""
        if len(self.direction) not in (0, 2) or isinstance(self.direction, str):
            raise UsageError(f"direction is {self.direction!r}", hint=PAIR)
        if self.clause and self.clause.count("{}") != 1:
            raise UsageError(f"clause is {self.clause!r}", hint="give one {} for the value")
        if self.format not in get_args(Format):
            raise UsageError(f"format is {self.format!r}", hint=f"choose one of {', '.join(get_args(Format))}")
