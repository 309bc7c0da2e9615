"""Checks of the texts that a comparison is given, how the real one is split, and notes on the order of documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.checks.dependence import OrderCorrelation
from momus.critic import Note, RunningTextCritic
from momus.errors import UsageError
from momus.text.counting import counted
from momus.text.splitting import RUNS, Units

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.runs.texts import Texts

FIT_SHARE = 0.5
"""Without a corpus to fit on, this share of the real one is set apart for it."""


def check_named(generated: object) -> None:
    """Check that the generated texts come as a dict of names and texts.

    Raises
    ------
    UsageError
        They have no names, names that differ by invisible characters only, or there are none.
    """
    if not isinstance(generated, Mapping):
        kind = type(generated).__name__
        raise UsageError(f"the generated text is {kind}, expected a dict of names and texts", hint='{"model": texts}')
    if not generated:
        raise UsageError("there is no generated text to compare", hint="give at least one corpus by name")
    seen: dict[str, object] = {}
    for name in generated:
        plain = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
        if not plain:
            raise UsageError(f"a corpus is called {name!r}", hint="give each text a name of visible characters")
        if plain in seen:
            raise UsageError(
                f"two corpora are called {seen[plain]!r} and {name!r}, which readers cannot tell apart",
                hint="give each text a different name",
            )
        seen[plain] = name


def split_warning(units: Units, seed: int, fitted: int, compared: int) -> str:
    """Say how the real text was split.

    >>> import numpy as np
    >>> split_warning(Units(np.arange(3), 0, 0, 3), 7, 1, 2)
    'No text to fit on was given: the real text was split by seed 7 into 1 document to fit on and 2 to compare with.'
    """
    words = units.words()
    return (
        f"No text to fit on was given: the real text was split by {f'{words} and ' if words else ''}seed {seed} "
        f"into {counted(fitted, 'document')} to fit on and {compared:,} to compare with."
    )


def check_splittable(name: str, documents: int, filled: int) -> None:
    """Make sure that a real text can be split into two.

    Parameters
    ----------
    filled
        How many of its documents hold text.

    Raises
    ------
    UsageError
        Fewer than two documents do.
    """
    if filled >= 2:
        return
    holds = counted(documents, "document") + (f", {filled:,} of them with text" if filled < documents else "")
    raise UsageError(
        f"{name!r} has {holds}: half of its documents cannot be set apart to fit critics on",
        hint=f"read each paragraph of a file as a document with {arg('fmt', 'paragraphs')} "
        f"(or each line with {arg('fmt', 'lines')}), or give another text to fit on with {arg('fit')}",
    )


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
