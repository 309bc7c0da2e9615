"""`compare_shards`: texts that were scored in shards are compared from their kept rows, without scoring again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import EvidenceMixin
from momus.critic.base import notes_of
from momus.critic.effects import is_trusted
from momus.critic.registry import load_critic
from momus.engine.judging import Judged, Side, judge_sides, summary_of
from momus.engine.pairs import pair_verdicts
from momus.errors import StoreError, UsageError
from momus.evidence import Chart, Evidence, MarkedDocument, from_json
from momus.joint.analyses import Joint
from momus.joint.axes import Axis
from momus.joint.distribution import distribution
from momus.numeric.types import Floats
from momus.progress import Reporter, Timed, default_reporter
from momus.runs.folder import JOINT, REPORT, RunFolder
from momus.runs.joint_file import write_joint
from momus.runs.result import Comparison, CriticResult, Outcome, count_unscored
from momus.runs.row_folder import ShardFolder
from momus.runs.row_store import ShardedText
from momus.runs.sums import KeptSums
from momus.runs.texts import RESERVED, check_named
from momus.text.counting import counted
from momus.verdicts.band import HumanBands
from momus.verdicts.decided_rows import floor_warnings
from momus.verdicts.settings import Settings, with_options
from momus.verdicts.statistics import NLL, all_statistics, told_statistic
from momus.verdicts.verdict import Verdict, adjust, check_delta
from momus.version import __version__

if TYPE_CHECKING:
    from momus.critic import Critic

SAMPLED = 20_000
"""Documents of a text that its distribution is drawn from."""
UNCHECKED = (
    "Texts were compared from shards of scores: they were not checked for copies, for hidden groups and for languages, "
    "and all axes were not analysed together."
)
NOT_FROM_SHARDS = ("adjust", "subgroups", "refits")
"""Settings that need the texts themselves."""


def is_shard_folder(path: object) -> bool:
    """Whether a text is given as a folder of shards."""
    return isinstance(path, str | Path) and ShardFolder(path).is_shards()


def compare_shards(
    real: str | Path,
    generated: Mapping[str, str | Path],
    *,
    critics: Sequence[str] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter | None = None,
    command: str | None = None,
    trust: Sequence[Path] = (),
    **options: Any,
) -> Comparison:
    """Compare texts that were scored in shards by the same fitted critics.

    Parameters
    ----------
    real, generated
        Folders that ``momus score --shards`` wrote.
    critics
        Names of some of the critics; default: all that scored the real text.
    out
        Run folder to write.
    trust
        Folders of critics that may use adapters.
    settings, **options
        `momus.Settings`, or its fields one by one; ``adjust``, ``subgroups`` and ``refits`` need the texts.

    Raises
    ------
    StoreError
        Shards are missing or damaged, or a text was scored by other critics.
    UsageError
        A critic did not score the texts, or a setting needs the texts themselves.
    """
    settings = with_options(settings, options)
    check_delta(settings.equivalence)
    _check(generated, settings)
    timed = Timed(reporter or default_reporter())
    started, clock = datetime.now(UTC), time.perf_counter()
    with timed.stage("reading", "shards"):
        text = ShardedText(real, "real")
        others = [ShardedText(path, name) for name, path in generated.items()]
    names = _chosen(critics, text, others)
    folder = RunFolder(out) if out is not None else None
    comparison = Comparison(warnings=[UNCHECKED], folder=None if folder is None else folder.path)
    with ExitStack() as stack:
        if folder is not None:
            folder.open_for_writing(overwrite=overwrite)
            stack.callback(folder.release)
            folder.begin(resume=False)
        kept = KeptSums()
        work = {"reading": len(text) + sum(map(len, others)), "testing": len(others)}
        stack.enter_context(timed.overall("critic", len(names), work))
        for name in names:
            path = text.folder.critic(name)
            critic = load_critic(path, trust=is_trusted(path, trust))
            with timed.part(name):
                result = _critic_result(critic, text, others, settings, timed, len(names) * len(others), kept)
            comparison.add(Outcome(result))
            if folder is not None:
                critic.save(folder.critic_folder(name))
                folder.keep(result, None)
        comparison.verdicts = adjust([v for r in comparison.results for v in r.verdicts], settings.adjustment)
        comparison.pairs = adjust([v for r in comparison.results for v in r.pairs], settings.adjustment)
        comparison.warnings += [
            f"Critic {r.name!r}: {n.text}" for r in comparison.results for n in r.notes if n.warning
        ]
        comparison.warnings += floor_warnings(comparison.verdicts, settings.adjustment)
        comparison.warnings += floor_warnings(comparison.pairs, settings.adjustment, pairs=True)
        comparison.signature = _signature(comparison, [text, *others], settings, command, started)
        seconds = {k: round(v, 3) for k, v in timed.seconds.items()}
        comparison.signature["seconds"] = {**seconds, "total": round(time.perf_counter() - clock, 3)}
        if folder is not None:
            write_joint(Joint(), folder.work / JOINT)
            folder.finish(comparison.signature, comparison.verdicts, comparison.pairs)
            with timed.stage("report"):
                comparison.report(folder.work / REPORT)
            folder.publish()
    return comparison


def _check(generated: Mapping[str, str | Path], settings: Settings) -> None:
    check_named(generated)
    for name in RESERVED:
        if name in generated:
            raise UsageError(f"a generated corpus is called {name!r}", hint="give it another name")
    for name in NOT_FROM_SHARDS:
        if getattr(settings, name):
            raise UsageError(
                f"--{name} needs the texts themselves, and only their scores are given",
                hint="leave it out, or compare the texts (a sample of them, if they are large)",
            )


def _chosen(critics: Sequence[str] | None, real: ShardedText, others: Sequence[ShardedText]) -> list[str]:
    """The names of the critics of the comparison.

    Raises
    ------
    UsageError
        One did not score the real text.
    StoreError
        A generated text was scored by another fitted critic, or by another version.
    """
    names = list(real.plan.critics) if critics is None else list(dict.fromkeys(critics))
    unknown = [name for name in names if name not in real.plan.critics]
    if unknown:
        raise UsageError(
            f"{real.folder.path} has no scores of {', '.join(unknown)}",
            hint=f"it has those of {', '.join(real.plan.critics)}",
        )
    for other in others:
        differing = [n for n in names if real.plan.critics[n] != other.plan.critics.get(n)]
        if differing:
            what = "has no scores of" if differing[0] not in other.plan.critics else "was scored by another fitted"
            raise StoreError(
                f"{other.folder.path} {what} {differing[0]!r}, unlike {real.folder.path}",
                hint=f"score both with one: momus score {real.folder.critic(differing[0])} … --shards …",
            )
        if real.plan.versions.get("momus") != other.plan.versions.get("momus"):
            raise StoreError(
                f"{other.folder.path} was scored by version {other.plan.versions.get('momus')} of Momus, and "
                f"{real.folder.path} by {real.plan.versions.get('momus')}",
                hint="score both by one version",
            )
    return names


def _critic_result(
    critic: Critic[Any],
    text: ShardedText,
    others: Sequence[ShardedText],
    settings: Settings,
    timed: Timed,
    family: int,
    kept: KeptSums,
) -> CriticResult:
    name = critic.name
    with timed.stage("reading", text.name, documents=len(text)):
        real = Side.of(text, name, kept)
    bands = HumanBands(real.scores.scored_groups, settings.seed)
    verdicts: list[Verdict] = []
    evidence: list[tuple[str, Sequence[Evidence]]] = []
    outliers: list[MarkedDocument] = []
    values = {text.name: _values(critic, real, settings.seed)}
    unscored = count_unscored([real.scores])
    for other in others:
        with timed.stage("reading", other.name, documents=len(other)):
            side = Side.of(other, name, kept)
        with timed.stage("testing", other.name, documents=1):
            judged = judge_sides(critic, real, side, settings, family, bands)
        verdicts += judged.verdicts
        with timed.stage("evidence", other.name, documents=1):
            evidence += _evidence(critic, real, side, judged)
            outliers += _outliers(critic, side, settings.top)
        values[other.name] = _values(critic, side, settings.seed)
        unscored += count_unscored([side.scores])
    return CriticResult(
        name=name,
        axis=critic.axis,
        question=critic.question,
        fitted_on=critic.fitted_on_,
        params=critic.json_params(),
        verdicts=verdicts,
        pairs=pair_verdicts(critic, others, settings, timed, family) if settings.pairwise else (),
        evidence=evidence,
        outliers=outliers,
        odd_real=_outliers(critic, real, settings.top),
        oddity_unit="" if real.scores.oddity is None else critic.oddity_unit,
        distribution=_distribution(critic, real, values),
        limits=critic.limits,
        unscored=unscored,
        notes=notes_of(critic),
        signature={"shards": [t.digest for t in (text, *others)], "critic": name, "version": __version__},
    )


def _evidence(critic: Critic[Any], real: Side, generated: Side, judged: Judged) -> list[tuple[str, Sequence[Evidence]]]:
    if not isinstance(critic, EvidenceMixin) or not (real.scores.n_scored and generated.scores.n_scored):
        return []
    one, other = (summary_of(s, t) for s, t in zip((real, generated), judged.totals, strict=True))
    return [] if one is None or other is None else [(generated.text.name, critic.evidence(one, other))]


def _outliers(critic: Critic[Any], side: Side, top: int) -> list[MarkedDocument]:
    """The oddest documents of a text, of which the shards keep a few each."""
    scores = side.scores
    value = scores.outlying(critic.sequence)
    finite = np.flatnonzero(np.isfinite(value))
    if not top or not len(finite):
        return []
    odd = finite[np.argpartition(-value[finite], min(top, len(finite)) - 1)[: 4 * top]]
    wanted = sorted((-float(value[i]), scores.ids[int(i)]) for i in odd)[:top]
    kept = {document["id"]: document for record in side.text.records(critic.name) for document in record["outliers"]}
    found = [from_json(kept[id]) for _, id in wanted if id in kept]
    return [replace(d, corpus=side.text.name) for d in found if isinstance(d, MarkedDocument)]


def _values(critic: Critic[Any], side: Side, seed: int) -> Floats | None:
    """What the axis tells of a sample of the documents; None where documents have no such number."""
    scores = side.scores
    scored = np.flatnonzero(scores.scored)
    if len(scored) > SAMPLED:
        scored = np.sort(np.random.default_rng(seed).choice(scored, SAMPLED, replace=False))
    rows = _told_rows(critic, side)
    if rows is None:
        return np.asarray(scores.per_step[scored], dtype=np.float64) if len(scored) else None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rows[scored, 0] / rows[scored, 1], dtype=np.float64)


def _told_rows(critic: Critic[Any], side: Side) -> Floats | None:
    """Rows [value, weight] of the statistic that tells the direction; None if documents have no such value."""
    told = told_statistic(critic, side.keys)
    statistic = next((s for s in all_statistics(critic, side.keys) if s.name == told), None)
    rows = None if statistic is None else side.scores.rows.get(statistic.rows)
    if isinstance(rows, np.ndarray) and rows.shape[1] == 2:
        return np.asarray(rows, dtype=np.float64)
    return None


def _distribution(critic: Critic[Any], real: Side, values: Mapping[str, Floats | None]) -> Chart | None:
    known = {name: v for name, v in values.items() if v is not None}
    if len(known) < 2:
        return None
    told = told_statistic(critic, real.keys)
    statistic = next((s for s in all_statistics(critic, real.keys) if s.name == told), NLL)
    axis = Axis(critic.name, critic.axis, statistic, {}, {}, known, per_step=_told_rows(critic, real) is None)
    chart = distribution(critic, axis, real.text.name)
    if chart is None or max(map(len, known.values())) < SAMPLED:
        return chart
    return replace(chart, note=f"{chart.note} Of each text, {counted(SAMPLED, 'document')} at random.")


def _signature(
    comparison: Comparison,
    texts: Sequence[ShardedText],
    settings: Settings,
    command: str | None,
    started: datetime,
) -> dict[str, Any]:
    """The provenance of a run, as ``run.json`` holds it."""
    return {
        "momus": __version__,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
        **asdict(settings),
        "split": False,
        "critics": [{"name": r.name, "params": r.params, "fitted_on": r.fitted_on} for r in comparison.results],
        "corpora": [
            *_fitted(comparison.results[0].fitted_on),
            *(_corpus(text, "generated" if i else "real") for i, text in enumerate(texts)),
        ],
        "checks": [],
        "languages": [],
        "warnings": comparison.warnings,
    }


def _fitted(fitted_on: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The text that the first critic was fitted on, of which critics keep the size and the fingerprint."""
    content = {"documents": int(fitted_on["documents"]), "fingerprint": fitted_on["fingerprint"]}
    return [{"name": "fit", "role": "fit", **content, "characters": 0, "groups": 0, "prompts": 0}]


def _corpus(text: ShardedText, role: str) -> dict[str, Any]:
    _, prompts, groups = text.labels
    content = "".join(f.sha256 for f in text.plan.files)
    return {
        "name": text.name,
        "role": role,
        "documents": len(text),
        "characters": text.characters,
        "fingerprint": hashlib.sha256(content.encode("ascii")).hexdigest()[:16],
        "groups": len({*groups} - {None}),
        "prompts": len({*prompts} - {None}),
        "shards": str(text.folder.path),
    }
