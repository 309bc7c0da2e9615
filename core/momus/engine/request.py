"""What a comparison is asked to do, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.engine.labels import Label, labels_of, reading_labels
from momus.errors import UsageError
from momus.ownership import check_place
from momus.parameters import exclude, need
from momus.progress import Reporter
from momus.reading import ReadingOptions, TextSource
from momus.runs.text_checks import check_named
from momus.verdicts.band import check_register
from momus.verdicts.settings import Settings, with_options
from momus.verdicts.verdict import check_delta

if TYPE_CHECKING:
    from momus.critic import Critic

Critics = Sequence["str | Critic[Any]"] | None


@dataclass(frozen=True)
class Request:
    """What a comparison is asked to do; `momus.compare` explains its arguments.

    Attributes
    ----------
    reference
        The text that the others are compared with: real text, or that of the model ``settings.against``.
    real
        Real text beside the reference of a model; None elsewhere.
    """

    reference: TextSource
    generated: Mapping[str, TextSource]
    settings: Settings
    reading: ReadingOptions
    real: TextSource | None = None
    fit: TextSource | None = None
    critics: Critics = None
    config: Mapping[str, dict[str, Any]] | None = None
    out: Path | None = None
    overwrite: bool = False
    resume: bool = False
    reporter: Reporter | None = None
    command: str | None = None
    reuse: str | Path | None = None
    jobs: int | None = 1
    trust: Sequence[Path] = ()
    labels: Sequence[Label] = ()

    @property
    def unnamed(self) -> bool:
        """Whether no critic was asked for by name, so that one that cannot run is left out."""
        return self.critics is None

    @property
    def paths(self) -> list[str | Path]:
        """Files and folders that are read."""
        sources = [self.reference, self.real, self.fit, *self.generated.values(), self.reuse]
        return [source for source in sources if isinstance(source, str | Path)]

    def with_real(self, reference: TextSource, generated: Mapping[str, TextSource]) -> Request:
        """The request that compares the reference of a model and the new texts, as they were read, with real text."""
        assert self.real is not None
        return replace(
            self,
            reference=self.real,
            generated={self.settings.against: reference, **generated},
            # what takes a model as reference is refused with real text
            settings=replace(self.settings, against="", chain=False, folds=Settings.folds),
            real=None,
            # the run that asks keeps only which text is nearer
            out=None,
            overwrite=False,
            resume=False,
        )


def requested(
    real: TextSource | None,
    generated: Mapping[str, TextSource] | None,
    against: Mapping[str, TextSource] | None,
    settings: Settings | None,
    options: dict[str, Any],
    **more: Any,
) -> Request:
    """Check the arguments of `momus.compare`, and put them together.

    Raises
    ------
    UsageError
        An argument is missing, of another type, out of range, or excluded by another.
    """
    if against is not None:
        options = {**options, "against": _one_name(against)}
    settings = with_options(settings, options)
    check_out(more["out"], overwrite=more["overwrite"], resume=more["resume"])
    _check_chain(settings, generated, has_reference=against is not None)
    check_delta(settings.equivalence)
    check_register(settings.register)
    jobs = more["jobs"]
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is {jobs}, expected a number of at least 1", hint="leave it out to use one process")
    check_named(generated)
    assert generated is not None
    reference = real if against is None else against[settings.against]
    if reference is None:
        raise UsageError(
            "there is no text to compare with",
            hint=f"name text of people with {arg('real')}, or text of a model with {arg('against')}",
        )
    more["out"] = None if more["out"] is None else Path(more["out"])
    more["labels"] = labels_of(more["labels"])
    more["reading"] = reading_labels(more["reading"] or ReadingOptions(), more["labels"])
    request = Request(
        reference, generated, settings, more.pop("reading"), real=None if against is None else real, **more
    )
    # the output must not lie in or over what is read
    check_place(request.out, request.paths)
    return request


def check_out(out: str | Path | None, *, overwrite: bool, resume: bool) -> None:
    """Raise `UsageError` if no folder, or two things to do with it, are named."""
    need("out", out is not None, overwrite=overwrite, resume=resume)
    exclude(overwrite=overwrite, resume=resume)


def _check_chain(settings: Settings, generated: Mapping[str, TextSource] | None, *, has_reference: bool) -> None:
    """Raise `UsageError` if there is no reference for a chain or for folds, or a chain of fewer than two texts."""
    # only a number that was asked for can be out of place
    folds = settings.folds if settings.folds != Settings.folds else None
    need("against", has_reference, chain=settings.chain, folds=folds)
    if settings.chain and generated is not None and len(generated) < 2:
        raise UsageError(
            f"{arg('chain', True)} needs two or more later versions", hint=f"name each of them in {arg('generated')}"
        )


def _one_name(against: Mapping[str, TextSource]) -> str:
    """The name of the reference.

    Raises
    ------
    UsageError
        There is not exactly one.
    """
    if not isinstance(against, Mapping) or len(against) != 1:
        raise UsageError("against takes one text by name", hint='against={"old": texts}')
    return next(iter(against))
