"""Scripts of texts, and texts in a script or a language that a critic does not claim to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from momus.checks.languages import language_warning
from momus.critic.hooks import claimed_scripts
from momus.text.counting import percentage
from momus.text.scripts import Scripts, script_name
from momus.text.sketches import TextSketch

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.runs.texts import Texts

MOST = 0.5
"""Share of letters in other scripts above which a text is not the critic's."""


@dataclass(frozen=True)
class ScriptShares:
    """Shares of scripts among the letters of a sample of documents, the most frequent first."""

    shares: Sequence[tuple[str, float]] = ()

    def outside(self, claimed: Scripts) -> float:
        """Share of letters in scripts that are not claimed."""
        return sum(share for code, share in self.shares if code not in claimed)

    def main_outside(self, claimed: Scripts) -> str:
        """The most frequent script that is not claimed; empty if all are."""
        return next((code for code, _ in self.shares if code not in claimed), "")


def scripts_of(sketch: TextSketch) -> ScriptShares:
    """Scripts of the letters of a sample of documents, which depends on their texts and not on their order.

    >>> from momus.text.corpus import Corpus
    >>> scripts_of(TextSketch.of(Corpus.from_texts(["Москва", "東京 ab"]))).shares
    (('Cyrl', 0.6), ('Hani', 0.2), ('Latn', 0.2))
    """
    counts: Counter[str] = Counter()
    for document in sketch.sampled("scripts"):
        counts.update(dict(document))
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ScriptShares(tuple((code, n / total) for code, n in ranked))


@dataclass(frozen=True)
class Unclaimed:
    """A text that is mostly in scripts that a critic does not claim.

    Attributes
    ----------
    share
        Share of the text's letters that are in such scripts.
    script
        The most frequent of them, as ISO 15924 code.
    claimed
        What the critic reads, in words.
    """

    corpus: str
    share: float
    script: str
    claimed: str

    def words(self) -> str:
        """Say so.

        >>> Unclaimed("a", 0.9, "Thai", "Latin").words()
        "90 % of the letters of 'a' are outside the scripts that it reads (Latin), most of them Thai"
        """
        return (
            f"{percentage(self.share, 0)} of the letters of {self.corpus!r} are outside the scripts that it reads "
            f"({self.claimed}), most of them {script_name(self.script)}"
        )


def claiming(critics: Sequence[Critic[Any]], texts: Texts, leave_out: bool) -> tuple[list[Critic[Any]], list[str]]:
    """The critics that read these texts, and warnings about those that do not.

    Parameters
    ----------
    leave_out
        Whether a critic that does not claim a text's script is left out, or run with a warning since it was asked for.
    """
    reading: list[Critic[Any]] = []
    warnings = []
    for critic in critics:
        outside = unclaimed(critic, texts.scripts)
        if outside is None or not leave_out:
            reading.append(critic)
        if outside is not None:
            end = " was left out: " if leave_out else " was asked for, though its numbers may say nothing: "
            warnings.append(f"Critic {critic.name!r}{end}{outside.words()}.")
        elif warning := language_warning(critic, texts):
            warnings.append(warning)
    return reading, warnings


def unclaimed(critic: Critic[Any], scripts: Mapping[str, ScriptShares]) -> Unclaimed | None:
    """The text with the largest share of letters in scripts that the critic does not claim, if that is most of them."""
    claimed = claimed_scripts(critic)
    shares = {name: counts.outside(claimed) for name, counts in scripts.items()}
    worst = max(shares, key=lambda name: shares[name], default="")
    if not worst or shares[worst] <= MOST:
        return None
    return Unclaimed(worst, shares[worst], scripts[worst].main_outside(claimed), claimed.words())
