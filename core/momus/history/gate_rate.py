"""How often a gate fails without a reason: halves of the text of one model, compared as old and new.

Critics are cross-fitted on the reference once. Its prompts are then split at random many times (of repeated
generations, the answers to each prompt), and the rules of a gate decide about one half against the other. Every failure
is a false one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from momus.engine.chosen import chosen_critics
from momus.engine.crossfit import check_folds, cross_scored
from momus.errors import FittingError, MissingExtraError, UsageError
from momus.files import write_json
from momus.history.checks import decide_distances
from momus.history.kept import KeptRun
from momus.history.rules import NOT_BEYOND_ITSELF, Rules, rules_words
from momus.outputs import make_folder
from momus.ownership import check_output
from momus.parameters import Range
from momus.progress import Reporter, Timed, default_reporter
from momus.reading import ReadingOptions, TextSource
from momus.runs.texts import read_versions
from momus.schema import read_json
from momus.text.counting import percentage
from momus.verdicts.judge import MANY_PAIRS, judge
from momus.verdicts.own_band import OwnBands
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust, selected
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.critic.scores import Scores

FILE = "gate.json"


@dataclass(frozen=True)
class GateRate:
    """The false-fail rate of a gate.

    Attributes
    ----------
    reference, fingerprint, documents
        The text that was split.
    rules
        The rules, as they are written.
    splits, failed
        Numbers of splits, and of those that failed.
    low, high
        95 % interval of the rate (Clopper & Pearson 1934).
    axes
        Failures by axis.
    """

    reference: str
    fingerprint: str
    documents: int
    rules: str
    splits: Annotated[int, Range(1)]
    failed: Annotated[int, Range(0)]
    low: float
    high: float
    axes: dict[str, int]
    seconds: float

    @property
    def words(self) -> str:
        """The rate in a sentence."""
        interval = f"{percentage(self.low)} to {percentage(self.high)}"
        worst = max(self.axes, key=lambda a: self.axes[a], default="")
        most = f", most often on {worst}" if worst else ""
        return (
            f"By chance, this gate ({self.rules}) fails {percentage(self.failed / self.splits)} of {self.splits:,} "
            f"random halves of {self.reference} against each other ({interval}){most}."
        )

    def check(self, run: KeptRun, rules: Rules) -> None:
        """Make sure that the rate is of these rules and of the reference of a run.

        Raises
        ------
        UsageError
            It is of others.
        """
        hint = "measure it again: momus calibrate --gate"
        if rules_words(rules) != self.rules:
            raise UsageError(
                f"the rate was measured for {self.rules}, and the gate has {rules_words(rules)}", hint=hint
            )
        if run.fingerprint(run.reference) != self.fingerprint:
            raise UsageError(f"the rate was measured on another text than {run.reference!r} of {run.path}", hint=hint)

    @classmethod
    def read(cls, folder: Path) -> GateRate:
        """Read what `calibrate_gate` wrote.

        Raises
        ------
        UsageError
            The folder holds none.
        """
        try:
            return read_json(folder / FILE, cls, "measure it again: momus calibrate --gate")
        except FileNotFoundError:
            raise UsageError(
                f"{folder} holds no measured gate", hint="measure it: momus calibrate --gate --against old=a.jsonl"
            ) from None


def calibrate_gate(
    against: Mapping[str, TextSource],
    *,
    rules: Rules | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    splits: int = 200,
    out: str | Path | None = None,
    seed: int = 0,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
) -> GateRate:
    """Measure the false-fail rate of a gate on the text of one model.

    Parameters
    ----------
    against
        The text, by name.
    rules
        Those of the gate; default: no axis is found beyond the variation of the reference.
    splits
        Random halves.
    out
        Folder for ``gate.json``, which ``momus gate --against`` reads.

    Raises
    ------
    MomusError
        The text cannot be read, no critic can be fitted, or the rules need a baseline.
    """
    from scipy.stats import binomtest

    rules = rules or Rules(require=(NOT_BEYOND_ITSELF,))
    if rules.max_worse or rules.sequential or not (rules.max or rules.require):
        hint = "give --max or --require"
        raise UsageError("only limits of distances and required findings can be measured", hint=hint)
    if len(against) != 1:
        raise UsageError("against takes one text by name", hint='against={"old": texts}')
    ((name, source),) = against.items()
    if out is not None:
        check_output(Path(out) / FILE, "the rate of a gate", [source] if isinstance(source, str | Path) else [])
    clock, timed = time.perf_counter(), Timed(reporter or default_reporter())
    settings = Settings(seed=seed, permutations=999, against=name)
    texts = read_versions((name, source), {}, reading, timed.inner)
    check_folds(texts, settings)
    scored: list[tuple[Critic[Any], Scores]] = []
    for critic in chosen_critics(critics, dict(config or {})).critics:
        try:
            scored.append((critic, cross_scored(critic, texts, settings, timed, tested_only=True).scored[0]))
        except (FittingError, MissingExtraError):
            if critics is not None:
                raise
    scored = [(c, s) for c, s in scored if len(s) == len(texts.real)]  # rows of documents, which halves have
    if not scored:
        raise FittingError("no critic can be fitted on this text", hint="give more text")
    failed, axes = 0, dict.fromkeys((c.name for c, _ in scored), 0)
    with timed.stage("splitting", name, splits) as advance:
        for split in range(splits):
            broken = _broken(scored, rules, settings, np.random.default_rng([seed, 13, split]))
            failed += bool(broken)
            for critic_name in broken:
                axes[critic_name] += 1
            advance(split + 1)
    interval = binomtest(failed, splits).proportion_ci(method="exact")
    rate = GateRate(
        name, texts.real.fingerprint, len(texts.real), rules_words(rules), splits, failed,
        float(interval.low), float(interval.high),
        {k: n for k, n in axes.items() if n}, round(time.perf_counter() - clock, 1),
    )  # fmt: skip
    if out is not None:
        make_folder(Path(out))
        write_json(Path(out) / FILE, asdict(rate), own="the rate of a gate")
    return rate


def _broken(
    scored: Sequence[tuple[Critic[Any], Scores]], rules: Rules, settings: Settings, rng: np.random.Generator
) -> set[str]:
    """Critics on which one random half fails against the other."""
    verdicts: list[Verdict] = []
    sides: np.ndarray | None = None
    for critic, scores in scored:
        if sides is None:
            bands = OwnBands(scores.groups, int(rng.integers(1 << 30)), prompts=list(scores.prompts))
            sides = bands.sides(1)[0]
        one, other = (scores.take(np.flatnonzero(sides == k), n) for k, n in ((1, settings.against), (0, "half")))
        bands = OwnBands.of_scores(one, settings.seed)
        verdicts += judge(critic, one, other, settings, economy=MANY_PAIRS, family=len(scored), bands=bands)
    run = KeptRun(
        Path(),
        {"confidence": settings.confidence, "corpora": [{"name": settings.against, "role": "real"}]},
        selected(adjust(verdicts, settings.multiplicity)),
    )
    decided = decide_distances(run, ["half"], rules, rules.alpha or 1 - settings.confidence, False)
    return {c.critic for c in decided.checks if c.status == "failed"}
