"""Documents that are broken, set aside before a comparison: it then speaks of the others alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from momus.arguments import arg
from momus.critic.hooks import with_needs
from momus.critic.registry import make_critics
from momus.critic.rows import Rows
from momus.errors import UsageError
from momus.numeric.types import Bools
from momus.progress import Reporter
from momus.reading import as_corpus
from momus.text.corpus import Corpus
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.engine.request import Request

CRITIC = "faults"
"""The critic that says what is broken; the rows of a fault have its name."""


def set_aside(request: Request, reporter: Reporter) -> tuple[Request, list[str]]:
    """The request with its texts read, less documents with these faults on either side; and how many were left out.

    Raises
    ------
    UsageError
        There is no such fault, or it leaves no document of a text.
    """
    (critic,) = make_critics([CRITIC], {})
    reading = with_needs(request.reading, [critic])
    reference = request.settings.against or "real"
    sources = {reference: request.reference, **request.generated}
    if request.fit is not None:
        sources["fit"] = request.fit
    texts = {name: as_corpus(source, name, reading, reporter) for name, source in sources.items()}
    critic.fit(texts.get("fit", texts[reference]))
    notes, kept = [], {}
    for name, corpus in texts.items():
        rows = critic.score(corpus).rows
        having = {fault: _broken(rows, fault) for fault in request.settings.without}
        flagged = [fault for fault, documents in having.items() if documents.any()]
        broken = np.logical_or.reduce(list(having.values()))
        if broken.all():
            raise UsageError(
                f"every document of {name!r} is set aside ({', '.join(flagged)})", hint=f"leave out {arg('without')}"
            )
        kept[name] = corpus if not broken.any() else corpus.take(np.flatnonzero(~broken)).read_as(corpus)
        if broken.any():
            notes.append(_note(corpus, int(broken.sum()), flagged))
    fit = kept.pop("fit", None)
    return replace(request, reference=kept.pop(reference), generated=dict(kept), fit=fit), notes


def _broken(rows: Mapping[str, Rows], fault: str) -> Bools:
    """Which documents have a fault."""
    table = rows.get(fault.replace("-", "_"))
    if table is None or fault == "faulty":
        known = ", ".join(key.replace("_", "-") for key in rows if key != "faulty")
        raise UsageError(f"there is no fault {fault!r}", hint=f"name some of {known}")
    return np.asarray(np.asarray(table)[:, 0] > 0)


def _note(corpus: Corpus, broken: int, faults: Sequence[str]) -> str:
    return f"Set aside: {broken:,} of {counted(len(corpus), 'document')} of {corpus.name!r} ({', '.join(faults)})."
