"""Critics run on texts, and their verdicts adjusted for each other."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from momus.arguments import arg
from momus.checks.languages import language_warning, unclaimed
from momus.checks.notes import mixed_prompts_warnings
from momus.critic.hooks import ReadingMixin
from momus.engine.chosen import Chosen, bare
from momus.engine.jobs import outcomes
from momus.engine.provenance import critics_warnings, left_out_warnings, missing_warnings
from momus.engine.reuse import again_warnings
from momus.engine.run_critic import Work
from momus.errors import FittingError
from momus.progress import Timed
from momus.runs.result import Again, Outcome, Results
from momus.runs.texts import Texts
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust, floor_warnings, held, selected, skewness_warnings


def run_critics(
    results: Results,
    selection: Chosen,
    work: Work,
    timed: Timed,
    skip_unfit: bool,
    pool: ProcessPoolExecutor | None,
) -> None:
    """Run each critic, and add its outcome; with ``skip_unfit``, one that cannot be fitted only leaves a warning."""
    redone: list[Again] = []
    if skip_unfit:
        leave_out_blind(selection, work.texts)
    for critic, outcome in outcomes(selection.critics, work, timed, pool):
        if isinstance(outcome, Outcome):
            results.add(outcome)
            redone += outcome.again
        else:
            selection.leave_out(critic.name, outcome, named=not skip_unfit)
    work.texts.forget_rows()
    results.left_out = {name: bare(name, reason) for name, reason in selection.failed.items()}
    results.warnings += selection.left_out_warnings
    results.warnings += again_warnings(redone)
    results.warnings += critics_warnings(results.results)
    if not results.results:
        raise FittingError(
            "no critic can be fitted on this text: " + " ".join(results.warnings),
            hint="give more text" if work.settings.against else f"give more real text with {arg('fit')}",
        )


def claiming(selection: Chosen, texts: Texts, *, named: bool) -> list[str]:
    """Keep the critics that read these texts, and warn of those that do not; one that was named runs all the same."""
    warnings = []
    for critic in selection.critics:
        with selection.attempt(critic, named=named):
            outside = unclaimed(critic, texts.scripts)
            warning = "" if outside else language_warning(critic, texts.real, texts.languages.get(texts.real.name))
            if outside:
                end = " was asked for, though its numbers may say nothing: " if named else " was left out: "
                warning = f"Critic {critic.name!r}{end}{outside}."
            if outside and not named:
                selection.critics = [c for c in selection.critics if c is not critic]
            warnings += [warning] if warning else []
    return warnings


def leave_out_blind(selection: Chosen, texts: Texts) -> None:
    """Leave out the critics that say that these texts have nothing that they look at, or that fail in looking."""
    if texts.in_parts:  # critics are fitted already
        return
    corpora = [c for c in (texts.fit, *texts.analysed) if len(c)]  # where folds are fitted, no text is for that alone
    for critic in (c for c in selection.critics if isinstance(c, ReadingMixin)):
        with selection.attempt(critic, named=False):
            if reason := critic.nothing_to_see(corpora):
                raise FittingError(reason)


def adjust_all(results: Results, texts: Texts, settings: Settings) -> None:
    """Adjust the p-values of all critics for each other, and warn of what the table shows."""
    multiplicity = settings.multiplicity
    # over all critics at once; intervals are widened only once it is known which rows differ
    adjusted = adjust([v for r in results.results for v in r.verdicts], multiplicity)
    results.verdicts = held(selected(adjusted), settings.seed)
    # no text has the pairs to itself, as it has its rows in the table: all pairs are adjusted together
    of_pairs = multiplicity if multiplicity in ("none", "holm-table", "bh-table") else f"{multiplicity}-table"
    results.pairs = adjust([v for r in results.results for v in r.pairs], of_pairs)
    results.warnings += [*missing_warnings(results.verdicts), *left_out_warnings(results.verdicts)]
    # asked for or refused, the design is as the user wants it
    if settings.paired is None:
        results.warnings += mixed_prompts_warnings(texts.real, texts.generated, results.verdicts)
    results.warnings += floor_warnings(results.verdicts, multiplicity)
    results.warnings += skewness_warnings(results.verdicts)
    results.warnings += floor_warnings(results.pairs, of_pairs, pairs=True)
