"""Notes on the order of documents, for critics of running text: whether it is given, and comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.checks.dependence import OrderCorrelation
from momus.critic import Note, RunningTextCritic
from momus.runs.texts import Texts
from momus.text.splitting import RUNS

if TYPE_CHECKING:
    from momus.critic import Critic

ORDER = "This is a property of running text: it depends on the order of the documents, which is as given."
ENOUGH = 0.5
"""A side without a correlation of neighbours counts as unordered if it has this share of the documents of the other."""


def order_notes(texts: Texts, critic: Critic[Any]) -> list[Note]:
    """Notes on the order of the documents, for the results of a critic of running text; none for other critics."""
    if not isinstance(critic, RunningTextCritic):
        return []
    notes = [Note(ORDER)]
    if texts.by_runs:
        notes.append(
            Note(
                f"Seed {texts.seed} split the real text by runs of neighbouring documents (at most {RUNS}), to keep "
                "the order that the law depends on."
            )
        )
    elif texts.whole is not None and texts.whole.units.prompts:
        notes.append(
            Note(
                "The orders of both sides are not comparable: the real text was split by prompts, so it is a random "
                "sample of its documents, while the generated text keeps all its neighbours. What the law says of "
                f"correlations beyond one document is about the order of the files; give a text with {arg('fit')}.",
                warning=True,
            )
        )
    return [*notes, *(_of_orders(texts, name) for name in differently_ordered(texts))]


def differently_ordered(texts: Texts) -> list[str]:
    """Names of generated corpora of which neighbours resemble each other and those of the real text not, or reverse."""
    orders = {check.corpus: check for check in texts.checks if check.kind == "order"}
    real = orders.get("real")
    names = []
    for corpus in texts.generated:
        check = orders.get(corpus.name)
        if real is not None and check is not None and real.warns != check.warns:
            ordered, unordered = (real, check) if real.warns else (check, real)
            if unordered.documents >= ENOUGH * ordered.documents:
                names.append(corpus.name)
    return names


def _of_orders(texts: Texts, name: str) -> Note:
    correlations = {c.corpus: c.measured.correlation for c in texts.checks if isinstance(c.measured, OrderCorrelation)}
    return Note(
        f"The orders of 'real' and {name!r} are not comparable: neighbouring documents resemble each other on one side "
        f"and not on the other (correlation {correlations['real']:.2f} in 'real', {correlations[name]:.2f} in "
        f"{name!r}), as in a text and a random sample of it. What the law says of correlations beyond one document is "
        "about the order of the files.",
        warning=True,
    )
