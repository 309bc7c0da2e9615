"""`compare`: fit critics on real text, project real and generated text, test the two against each other."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.corpus import Corpus
from momus.critic import usable_documents
from momus.devices import resolve_device
from momus.errors import FittingError, MissingExtraError, PluginError, UsageError
from momus.judging import differences, judge
from momus.plugins import critic_names, make_critics
from momus.progress import Reporter, Timed, default_reporter, reporting
from momus.reading import read_corpus
from momus.results import CriticResult, count_unscored, find_outliers
from momus.scores import Scores
from momus.store.runs import RunFolder
from momus.verdicts import Verdict, adjust, check_delta, finite
from momus.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from momus.critic import Critic

FIT_SHARE = 0.5
"""Without a corpus to fit on, this share of the real one is set apart for it."""

Source = Corpus | str | Path | Sequence[str]


@dataclass(frozen=True)
class Settings:
    """Everything but the texts and the critics that a comparison depends on.

    Attributes
    ----------
    permutations, resamples, confidence
        Of the tests and intervals, see `momus.inference`.
    adjustment
        ``holm``, ``bh`` or ``none``.
    paired
        Compare documents of one prompt with each other: True, False, or None for where they all pair up.
    top
        How many outliers of each corpus are shown.
    equivalence
        δ: say of each effect whether it is shown to lie within ±δ (two one-sided tests by interval inclusion).
    pairwise
        Compare the generated corpora with each other too, by headline statistics.
    refits
        Fit each critic again on so many bootstrap resamples of the fitted text, and give the spread of differences.
    """

    seed: int = 0
    permutations: int = 9999
    resamples: int = 2000
    confidence: float = 0.95
    adjustment: str = "holm"
    paired: bool | None = None
    device: str = "auto"
    top: int = 5
    equivalence: float | None = None
    pairwise: bool = False
    refits: int = 0


@dataclass
class Comparison:
    """What `compare` found; prints as a table.

    Attributes
    ----------
    verdicts
        One row for each critic, statistic and generated corpus.
    results
        Evidence, outliers and unscored documents of each critic.
    scores
        Per-document rows by (critic, corpus); empty for critics taken from an earlier run.
    signature
        What made the numbers: version, seed, critics with parameters, fingerprints, times.
    warnings
        What a reader must know before believing the numbers.
    pairs
        Headline rows between generated corpora (``pairwise``), adjusted among themselves.
    """

    verdicts: list[Verdict]
    results: list[CriticResult]
    signature: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], Scores] = field(default_factory=dict)
    pairs: list[Verdict] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """Verdicts as dicts."""
        return [v.row() for v in self.verdicts]

    def frame(self) -> pd.DataFrame:
        """Verdicts as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file, and return its path."""
        from momus.report import write_report

        return write_report(self, Path(path))

    def __str__(self) -> str:
        from momus.console import comparison_text

        return comparison_text(self)

    def __repr__(self) -> str:
        return str(self)


def compare(
    real: Source,
    generated: Mapping[str, Source],
    *,
    fit: Source | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison:
    """Compare generated with real text along the axes of several critics.

    Parameters
    ----------
    real, fit
        Corpora, paths, or lists of texts. Critics are fitted on ``fit`` and compared on ``real``; without ``fit``,
        half of ``real``, drawn by the seed, is set apart for fitting.
    generated
        The corpora to criticise, by name.
    critics
        Names of registered critics, or critics; default: all registered ones that can be fitted on the text.
    config
        Parameters by name of critic.
    out
        Run folder to write.
    settings, **options
        `Settings`, or its fields one by one (``seed=1``, ``device="cpu"``, …).

    Returns
    -------
    Comparison

    Raises
    ------
    MomusError
        A text cannot be read, a critic cannot be fitted, the folder is in use, …; the message says how to go on.
    """
    settings = _settings(settings, options)
    check_delta(settings.equivalence)
    timed = Timed(reporter or default_reporter())
    started, clock = datetime.now(UTC), time.perf_counter()
    if not generated:
        raise UsageError("there is no generated text to compare", hint="give at least one corpus by name")
    chosen, left_out = chosen_critics(critics, dict(config or {}))
    with timed.stage("reading"):
        texts = _read(real, generated, fit, settings)
    device = resolve_device(settings.device) if any(c.uses_device for c in chosen) else "cpu"
    folder = RunFolder(out) if out is not None else None
    comparison = Comparison([], [], {}, [*texts.warnings, *left_out])
    with ExitStack() as stack:
        if folder is not None:
            folder.open_for_writing(overwrite=overwrite, resume=resume)
            stack.callback(folder.release)
        for critic in chosen:
            critic.to(device)
            try:
                _run_critic(critic, texts, settings, timed, folder if resume else None, folder, comparison)
            except (FittingError, MissingExtraError) as error:
                if critics is not None:
                    raise
                how = f" ({error.hint})" if isinstance(error, MissingExtraError) else ""
                comparison.warnings.append(f"Critic {critic.name!r} was left out: {error.message}{how}.")
        comparison.warnings += [f"Critic {r.name!r}: {caution}" for r in comparison.results for caution in r.cautions]
        if not comparison.results:
            raise FittingError(
                "no critic can be fitted on this text: " + " ".join(comparison.warnings),
                hint="give more real text with --fit",
            )
        unadjusted = [v for result in comparison.results for v in result.verdicts]
        comparison.verdicts = adjust(unadjusted, settings.adjustment)
        comparison.pairs = adjust([v for r in comparison.results for v in r.pairs], settings.adjustment)
        comparison.signature = _signature(comparison, texts, settings, device, command, started)
        if folder is not None:
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
            with timed.stage("report"):
                comparison.report(folder.path / "report.html")
            comparison.signature["seconds"] = _seconds(timed, clock)
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
        comparison.signature["seconds"] = _seconds(timed, clock)
    return comparison


def _settings(settings: Settings | None, options: dict[str, Any]) -> Settings:
    try:
        return replace(settings or Settings(), **options)
    except TypeError as error:
        known = ", ".join(Settings.__dataclass_fields__)
        raise UsageError(f"compare: {error}", hint=f"options are: {known}") from error


def _seconds(timed: Timed, clock: float) -> dict[str, float]:
    seconds = {k: round(v, 3) for k, v in timed.seconds.items()}
    return {**seconds, "total": round(time.perf_counter() - clock, 3)}


def chosen_critics(
    critics: Sequence[str | Critic[Any]] | None, config: dict[str, dict[str, Any]]
) -> tuple[list[Critic[Any]], list[str]]:
    """Construct the critics; of all registered ones, broken plug-ins are left out with a warning."""
    if critics is not None and not critics:
        raise UsageError("no critic is chosen", hint="name some of those that `momus critics` lists")
    made: list[Critic[Any]] = []
    warnings = []
    names = {*critic_names(), *(c.name for c in critics or () if not isinstance(c, str))}
    for table in config:
        if table not in names:
            near = difflib.get_close_matches(table, names, n=1)
            guess = f"did you mean [{near[0]}]? " if near else ""
            raise UsageError(
                f"the configuration has a table [{table}], but no critic is called so",
                hint=f"{guess}`momus critics` lists them",
            )
    for c in critic_names() if critics is None else critics:
        try:
            made.append(make_critics([c], config)[0] if isinstance(c, str) else c)
        except PluginError as error:
            if critics is not None:
                raise
            warnings.append(f"Critic {c!r} was left out: {error.message}.")
    if critics is None:
        made = [c for c in made if c.is_configured]
    for c in made:
        if not c.is_configured:
            missing = [p for p in c.configured if not getattr(c, p)]
            raise UsageError(
                f"critic {c.name!r} cannot run without {' and '.join(missing)}",
                hint=f"write a table [{c.name}] with {missing[0]} = … and name the file with --config",
            )
    chosen = [c.name for c in made]
    for name in chosen:
        if chosen.count(name) > 1:
            raise UsageError(f"critic {name!r} is chosen twice", hint="name each critic once")
    return made, warnings


@dataclass
class _Texts:
    fit: Corpus
    real: Corpus
    generated: list[Corpus]
    split: bool
    warnings: list[str]


def as_corpus(source: Source, name: str) -> Corpus:
    """Turn a path, a list of texts, or a corpus into a corpus of this name."""
    if isinstance(source, Corpus):
        return source.take(range(len(source)), name) if source.name != name else source
    if isinstance(source, str | Path):
        return read_corpus(source, name=name)
    return Corpus.from_texts(source, name=name)


def _read(real: Source, generated: Mapping[str, Source], fit: Source | None, settings: Settings) -> _Texts:
    warnings = []
    for reserved in ("real", "fit"):
        if reserved in generated:
            raise UsageError(f"a generated corpus is called {reserved!r}", hint="give it another name")
    whole = as_corpus(real, "real")
    if fit is None:
        fitting, held_out = whole.split(FIT_SHARE, settings.seed, ("fit", "real"))
        warnings.append(
            f"No text to fit on was given: the real text was split by seed {settings.seed} into {len(fitting):,} "
            f"documents to fit on and {len(held_out):,} to compare with."
        )
    else:
        fitting, held_out = as_corpus(fit, "fit"), whole
    others = [as_corpus(source, name) for name, source in generated.items()]
    for corpus in (fitting, held_out, *others):
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")
    for corpus in (held_out, *others):
        shared = _shared(fitting, corpus)
        if shared:
            warnings.append(
                f"{shared:,} of {len(corpus):,} documents of {corpus.name!r} are also in the text that critics are "
                "fitted on: its scores flatter."
            )
    return _Texts(fitting, held_out, others, fit is None, warnings)


def _shared(fitting: Corpus, corpus: Corpus) -> int:
    filled = corpus.hashes[~corpus.blank]
    return int(np.isin(filled, fitting.hashes).sum())


def _run_critic(
    critic: Critic[Any],
    texts: _Texts,
    settings: Settings,
    timed: Timed,
    earlier: RunFolder | None,
    folder: RunFolder | None,
    comparison: Comparison,
) -> None:
    """Fit, score, test and show one critic, or take what an earlier run kept of it."""
    signature = _critic_signature(critic, texts, settings)
    kept = earlier.kept(critic.name) if earlier is not None else None
    if kept is not None and kept.signature == signature:
        comparison.results.append(kept)
        return
    if kept is not None:
        other = [k for k in {**kept.signature, **signature} if kept.signature.get(k) != signature.get(k)]
        comparison.warnings.append(
            f"Critic {critic.name!r} was computed again: the earlier run differs in {', '.join(sorted(other))}."
        )
    if critic.tokenizer is not None:
        for corpus in (texts.fit, texts.real, *texts.generated):
            with timed.stage(f"tokenizing {corpus.name}"):
                corpus.tokens(critic.tokenizer)
    with reporting(timed.inner), timed.stage(f"fitting {critic.name}"):
        critic.fit(texts.fit)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
    scored = []
    for corpus in (texts.real, *texts.generated):
        with timed.stage(f"scoring {corpus.name} with {critic.name}", len(corpus)) as advance:
            scored.append(critic.score(corpus, progress=advance))
    result = _result(critic, texts, scored, settings, timed, signature)
    if settings.refits:
        spread = _refitted(critic, texts, settings, timed)
        result = replace(
            result,
            verdicts=[replace(v, refit_spread=spread.get((v.generated, v.statistic))) for v in result.verdicts],
        )
    if folder is not None:
        import pyarrow as pa

        folder.keep(result, pa.concat_tables([s.table() for s in scored]))
    comparison.results.append(result)
    comparison.scores |= {(critic.name, s.corpus): replace(s, rows={}) for s in scored}


def _result(
    critic: Critic[Any],
    texts: _Texts,
    scored: list[Scores],
    settings: Settings,
    timed: Timed,
    signature: dict[str, Any],
) -> CriticResult:
    real, others = scored[0], scored[1:]
    options: dict[str, Any] = {
        "paired": settings.paired,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "seed": settings.seed,
        "equivalence": settings.equivalence,
    }
    verdicts: list[Verdict] = []
    evidence, outliers = [], []
    for scores, corpus in zip(others, texts.generated, strict=True):
        with timed.stage(f"testing {corpus.name} with {critic.name}"):
            verdicts += judge(critic, real, scores, **options)
        with timed.stage(f"evidence {corpus.name} with {critic.name}"):
            if real.summary is not None and scores.summary is not None:
                evidence.append((corpus.name, critic.evidence(real.summary, scores.summary)))
            outliers += find_outliers(critic, corpus, scores, settings.top)
    pairs: list[Verdict] = []
    for one, other in combinations(others, 2) if settings.pairwise else ():
        with timed.stage(f"testing {one.corpus} and {other.corpus} with {critic.name}"):
            pairs += judge(critic, one, other, only_headline=True, **options)
    return CriticResult(
        name=critic.name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=critic.fitted_on_,
        params=critic.plain_params(),
        verdicts=verdicts,
        pairs=pairs,
        evidence=evidence,
        outliers=outliers,
        unscored=count_unscored(scored),
        notes=critic.notes(),
        cautions=critic.cautions(),
        signature=signature,
    )


def _refitted(
    critic: Critic[Any], texts: _Texts, settings: Settings, timed: Timed
) -> dict[tuple[str, str], float | None]:
    """Standard deviation of each difference over critics fitted on bootstrap resamples of the fitted text.

    A resample that a critic cannot be fitted on is left out; two are needed.
    """
    usable = usable_documents(texts.fit)
    found: dict[tuple[str, str], list[float]] = {}
    for k in range(settings.refits):
        rows = np.random.default_rng([settings.seed, 4, k]).integers(0, len(usable), len(usable))
        with timed.stage(f"refitting {critic.name} {k + 1} of {settings.refits}"):
            try:
                again = critic.clone().to(critic.device).fit(usable.take(np.sort(rows)))
            except FittingError:
                continue
            real = again.score(texts.real)
            for corpus in texts.generated:
                for name, value in differences(again, real, again.score(corpus)).items():
                    found.setdefault((corpus.name, name), []).append(value)
    return {key: finite(float(np.std(v, ddof=1))) if len(v) > 1 else None for key, v in found.items()}


def _critic_signature(critic: Critic[Any], texts: _Texts, settings: Settings) -> dict[str, Any]:
    return {
        "version": __version__,
        "critic": critic.name,
        "params": critic.plain_params(),
        "fit": texts.fit.fingerprint,
        "real": texts.real.fingerprint,
        "generated": {c.name: c.fingerprint for c in texts.generated},
        "seed": settings.seed,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "paired": settings.paired,
        "top": settings.top,
        "equivalence": settings.equivalence,
        "pairwise": settings.pairwise,
        "refits": settings.refits,
    }


def _signature(
    comparison: Comparison, texts: _Texts, settings: Settings, device: str, command: str | None, started: datetime
) -> dict[str, Any]:
    corpora = [(texts.fit, "fit"), (texts.real, "real"), *((c, "generated") for c in texts.generated)]
    return {
        "momus": __version__,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
        "device": device,
        "seed": settings.seed,
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "adjustment": settings.adjustment,
        "paired": settings.paired,
        "equivalence": settings.equivalence,
        "pairwise": settings.pairwise,
        "refits": settings.refits,
        "split": texts.split,
        "critics": [{"name": r.name, "params": r.params, "fitted_on": r.fitted_on} for r in comparison.results],
        "corpora": [
            {
                "name": c.name,
                "role": role,
                "documents": len(c),
                "characters": int(c.characters.sum()),
                "fingerprint": c.fingerprint,
            }
            for c, role in corpora
        ],
        "warnings": comparison.warnings,
    }
