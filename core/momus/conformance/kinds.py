"""Checks of critics that read fields beside the text, and of critics without latents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momus.conformance.subject import Subject, bare_rows, same_scores
from momus.critic import Critic
from momus.critic.powers import FieldsMixin, StatisticsMixin, fields_read, has_latents
from momus.critic.splitting import lacking
from momus.text.corpus import Corpus


def needed_fields_are_read(s: Subject) -> None:
    """A document without a field in `needs` is unscored for that reason, and what the field holds moves some score."""
    names = fields_read(s.critic)
    assert names, "`needs` is empty: name the fields that the critic reads, such as needs = ('prompt_text',)"
    fields = s.held_out.table.column_names.index("fields")
    bare = Corpus(s.held_out.table.set_column(fields, "fields", _fields(s.held_out, 0, leave_out=names)), "bare")
    reasons = set(s.fitted.score(bare).reasons)
    assert reasons == {lacking(names[0])}, f"documents without {names[0]!r} have the reasons {reasons}"
    turned = Corpus(s.held_out.table.set_column(fields, "fields", _fields(s.held_out, 1)), "turned")
    exchanged = bare_rows(s.fitted.score(turned), np.arange(len(turned)))
    assert not same_scores(s.scores, exchanged), (
        f"the scores are the same with {' and '.join(names)} of other documents: they do not depend on `needs`"
    )


def _fields(corpus: Corpus, shift: int, leave_out: tuple[str, ...] = ()) -> object:
    """The fields of each document ``shift`` rows further on, without some of them."""
    import pyarrow as pa

    column = corpus.table["fields"]
    rows = column.to_pylist()
    kept = [[(key, value) for key, value in rows[i - shift] or () if key not in leave_out] for i in range(len(rows))]
    return pa.chunked_array([pa.array(kept, column.type)])


def critics_without_latents_have_statistics(s: Subject) -> None:
    """A critic of a whole corpus has statistics, and no Latent NLL of documents."""
    assert isinstance(s.critic, StatisticsMixin), "the critic has neither latents nor statistics"
    assert s.fitted.statistics(), "statistics() is empty: there is nothing to compare"  # type: ignore[attr-defined]
    scored = s.scores.nll[s.scores.scored]
    assert not scored.any(), "log_prior() is not 0: derive from momus.Critic if documents have latents"


CHECKS = (needed_fields_are_read, critics_without_latents_have_statistics)


def concerns(check: Callable[[Subject], None], critic: Critic[Any]) -> bool:
    """Whether a check is about critics of this kind."""
    if check is needed_fields_are_read:
        return isinstance(critic, FieldsMixin)
    return check is not critics_without_latents_have_statistics or not has_latents(critic)
