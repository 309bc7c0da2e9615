"""Labels as latents: an axis without code, from a field of the records or from a file of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from momus.critic import EvidenceMixin, LogPrior, Note, PairedCritic, Rows, Statistic, StatisticsMixin
from momus.critic.hooks import AdvancedMixin, ReadingMixin, corpus_for
from momus.critic.scores import Scores
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.types import Floats
from momus.reading import TextSource
from momus.reading.labels import parsed
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import ANY
from momus_critics.labels.flat import Categories, Sets, YesNo
from momus_critics.labels.process import CONTRADICTED, by_gold, reporting_of
from momus_critics.labels.scales import Numbers, Shares
from momus_critics.labels.steps import Steps
from momus_critics.labels.values import KINDS, kind_of, shown, unfit

Process = Categories | Sets | Numbers | Shares | Steps
PROCESSES: Mapping[str, type[Process]] = dict(
    zip(KINDS, (Categories, YesNo, Sets, Numbers, Shares, Steps), strict=True)
)
"""What P_c(z) is, by the type of the labels."""
USUAL = {"steps": "sequence"}
"""Fields whose type is known: `momus.reading.chat.steps_of` makes this one of chats."""
NAMED: Mapping[str, str] = {
    "category": "one label per document",
    "yes-no": "yes or no",
    "set": "a set of labels",
    "number": "a number",
    "share": "a number from 0 to 1",
    "sequence": "a sequence of labels",
}


class OfProcess:
    """An attribute that is that of the process, once the type of the labels is known."""

    def __init__(self, default: Any) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        """Note which attribute it is."""
        self.name = name

    def __get__(self, critic: Label | None, owner: type) -> Any:
        """The attribute of the process; before `fit`, and of the class, the default."""
        process = None if critic is None else vars(critic).get("process_")
        return self.default if process is None else getattr(process, self.name)


@parametrized
class Label(PairedCritic[Any], StatisticsMixin, EvidenceMixin, AdvancedMixin, ReadingMixin):
    """z is the label of a document, which a field holds; P_c(z) depends on the type of the labels.

    `label_class` gives the class for each field: that of ``tone`` is called ``label-tone``.

    Parameters
    ----------
    kind
        Type of the labels, of `KINDS`; empty: found from the labels of real text.
    gold
        Whether the field ``NAME.gold`` holds true labels of some documents, by which the others are corrected
        (`momus.inference.prediction_powered`); Latent NLL stays that of the labels as they are.

    Attributes
    ----------
    kind_, why_
        The type, and how it was found.
    skipped_
        Real documents whose label could not be read.
    process_
        P_c(z).
    """

    name = "label"
    axis = "labels"
    field: ClassVar[str] = "label"
    needs = (field,)
    _textless = True
    scripts = ANY
    sequence = cast("ClassVar[bool]", OfProcess(False))
    reporting = OfProcess(reporting_of("in its label"))  # one for each type

    kind: Literal["", "category", "yes-no", "set", "number", "share", "sequence"] = ""
    gold: bool = False

    def _new_process(self) -> Process:
        """The process of the labels' type, not yet fitted."""
        return PROCESSES[self.kind_](field=self.field)

    def fit(self, real: Corpus) -> Self:
        """Find the type of the labels, and learn from those that can be read.

        Raises
        ------
        FittingError
            The labels are of several types, or fewer than two can be read.
        """
        texts = real.field(self.field)
        values = [parsed(text or "") for text in texts]
        kind = self.kind or USUAL.get(self.field, "")
        self.kind_, self.why_ = (kind, "as asked") if kind else kind_of(values, real.ids, self.field)
        reasons = self.unscored(real)
        readable = np.flatnonzero([reason is None for reason in reasons])
        self.skipped_ = len(real) - len(readable)
        if len(readable) < self.min_documents:
            row = next(i for i, reason in enumerate(reasons) if reason is not None)
            raise FittingError(
                f"{self.skipped_:,} of {len(real):,} documents have a label {self.field!r} that is not "
                f"{NAMED[self.kind_]}; of document {real.ids[row]!r:.80}, {reasons[row]} ({shown(texts[row] or '')})",
                hint="a label is a name, yes or no, a number, a list of names, or a mapping from names to "
                "probabilities",
            )
        self.process_: Process = self._new_process()
        self.process_.fit(real.take(readable))
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents whose label is of another type."""
        return [unfit(text or "", self.kind_) for text in batch.field(self.field)]

    def project(self, batch: Corpus) -> Any:
        """The label of each document, with its probabilities where the labeller is unsure."""
        return self.process_.project(batch)

    def score(
        self, texts: TextSource, *, batch_size: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Scores:
        """Score every document; with gold, rows are corrected by the documents whose true labels are known."""
        corpus = corpus_for(self, texts)
        scores = super().score(corpus, batch_size=batch_size, progress=progress)
        return by_gold(scores, corpus, self.field, super().score) if self.gold else scores

    @property
    def corrected(self) -> bool:
        """Whether rows are means of labels corrected by gold."""
        return self.gold

    def log_prior(self, latents: Any) -> LogPrior:
        """The expected log probability of the labels."""
        return self.process_.log_prior(latents)

    def oddity(self, latents: Any) -> Floats:
        """Latent NLL per label: how improbable the labels of a document are, whatever their number."""
        prior = self.log_prior(latents)
        return np.asarray(-prior.values / np.maximum(prior.steps, 1))

    def sufficient_statistics(self, latents: Any) -> Mapping[str, Rows]:
        """Those of the process."""
        return self.process_.sufficient_statistics(latents)

    def statistics(self) -> Sequence[Statistic]:
        """Those of the process: shares of labels, means, transitions; with gold, how many labels it contradicts."""
        contradicted = (CONTRADICTED,) if self.gold and self.kind_ not in ("number", "share") else ()
        return (*self.process_.statistics(), *contradicted)

    def summarize(self, latents: Any) -> Any:
        """That of the process."""
        return self.process_.summarize(latents)

    def evidence(self, real: Any, generated: Any) -> list[Evidence]:
        """That of the process."""
        return self.process_.evidence(real, generated)

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """The labels of a document, the unlikely ones marked."""
        return self.process_.explain(document)

    @property
    def state_names(self) -> Sequence[str]:
        """The labels, where z is one or several of them."""
        return self.process_.state_names

    def notes(self) -> Sequence[Note | str]:
        """How the labels were read, and how many could not be."""
        others = ", ".join(kind for kind in KINDS if kind != self.kind_)
        why = (
            "as asked"
            if self.why_ == "as asked"
            else f"found from {self.why_}; {self.field}:TYPE reads another ({others})"
        )
        notes: list[Note | str] = [f"{shown(self.field)} is read as {NAMED[self.kind_]}, {why}."]
        if self.gold:
            notes.append("Shares and means are corrected by true labels (PPI++); Latent NLL is that of the labels.")
        if self.skipped_:
            documents = counted(self.skipped_, "real document")
            notes.append(Note(f"{documents} had a label of another type, and took no part in fitting.", warning=True))
        return notes


@lru_cache(maxsize=1024)
def label_class(field: str) -> type[Label]:
    """The class of the critic of the labels in a field.

    >>> tone = label_class("tone")
    >>> tone.name, tone.needs, tone is label_class("tone")
    ('label-tone', ('tone',), True)
    """
    content = {
        "name": f"label-{field}",
        "axis": f"label {field}",
        "question": f"Are documents labelled as real text is? z is what the field {field!r} holds.",
        "field": field,
        "needs": (field,),
        "__module__": __name__,
        "__doc__": Label.__doc__,
    }
    return cast("type[Label]", type(f"Label_{field}", (Label,), content))
