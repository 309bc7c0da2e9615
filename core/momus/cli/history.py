"""``momus diff`` and ``momus gate``: runs against runs, and the comparison that a gate runs first."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import momus as m
from momus.arguments import arg
from momus.cli.options import (
    Better,
    CriticNames,
    Json,
    Reading,
    comma_separated,
    command_line,
    expanded,
)
from momus.cli.printing import RUNS, echo, print_json, print_view, slug
from momus.cli.sources import NamedTexts, named_paths
from momus.errors import UsageError
from momus.files import write_json
from momus.ownership import check_output, check_place, refuse_irregular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from momus.history.gate import GateResult
    from momus.joint.better import Preference


@dataclass(frozen=True)
class Compared(NamedTexts):
    """Texts that the gate compares before it decides."""

    by: Annotated[
        str, typer.Option("--by", metavar="FIELDS", help="With --against, fields whose slices are judged too.")
    ] = "auto"
    critics: CriticNames = None

    @property
    def first(self) -> bool:
        """Whether texts are named, and compared first."""
        return self.against is not None or self.pairs is not None

    def folder(self, run: str | None) -> Path:
        """The folder of the run: as named, or one in ``momus-runs`` that is named by the texts.

        Raises
        ------
        UsageError
            There is neither a run nor a text of each version, or texts are named without the old version.
        """
        if not self.first:
            if run is None or self.generated or self.real or self.split_by:
                raise UsageError(
                    "no run to decide about",
                    hint=f"name a run folder, or {arg('against')} and {arg('generated')} texts",
                )
            return Path(run)
        if self.pairs is None and not self.generated:
            raise UsageError(
                f"{arg('against')} without a new text", hint=f"name the new version: {arg('generated', 'new=PATH')}"
            )
        if run is not None:
            return Path(run)
        new, old = self.generated or [], self.against
        if self.pairs is not None or self.split_by is not None:
            return RUNS / slug([Path(self.pairs or new[0]).stem, *([] if old is None else ["against", old])])
        return RUNS / slug([*named_paths(new), "against", *named_paths([old or ""], "--against")])

    def compare(self, folder: Path, reading: Reading, better: Sequence[Preference]) -> None:
        """Compare the texts, and write the run and its page; what the folder keeps of the same texts is reused."""
        by = tuple(comma_separated(self.by) or ())
        texts = self.resolved(reading, by)
        m.compare(
            texts.real,
            texts.generated,
            against=texts.against,
            critics=comma_separated(self.critics),
            out=folder,
            resume=folder.exists(),
            reading=texts.reading,
            by=by,
            better=tuple(map(str, better)),
            command=command_line(),
        )


CorpusPairs = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="NAME", help="Generated corpus to compare, or BEFORE=AFTER; can be repeated."),
]


def diff(
    before: Annotated[str, typer.Argument(metavar="RUN_A", help="Earlier run folder.")],
    after: Annotated[str, typer.Argument(metavar="RUN_B", help="Later run folder.")],
    corpus: CorpusPairs = None,
    as_json: Json = False,
) -> None:
    """Say whether run B is farther from human text than run A, and on which axes.

    Each axis has its distance to real text before and after, and an interval of
    the change; the intervals of all axes hold at once. Texts are compared prompt
    by prompt where both runs share prompts. Inputs that differ between the runs
    (texts, parameters, version, seed) are named.

    Example:

      [bold]momus diff runs/v1 runs/v2[/bold]

    Next: `momus compare --reuse RUN` fits critics once for many runs;
    `momus gate` fails a build when a run is worse.
    """
    from momus.history.diff import diff_runs
    from momus.history.view import diff_blocks, diff_json, on_terminal

    changes = diff_runs(before, after, corpus_pairs(corpus))
    if as_json:
        print_json(diff_json(changes))
    else:
        print_view(on_terminal(diff_blocks(changes)), 80)


def corpus_pairs(names: list[str] | None) -> list[tuple[str, str]]:
    """Parse ``--corpus``: NAME, or BEFORE=AFTER.

    >>> corpus_pairs(["a", "b=c"]), corpus_pairs(None)
    ([('a', 'a'), ('b', 'c')], [])
    """
    pairs = []
    for name in names or []:
        one, separator, other = name.partition("=")
        pairs.append((one, other if separator else one))
    return pairs


@expanded
def gate(
    run: Annotated[str | None, typer.Argument(help="Run folder; with --against, where it is written.")] = None,
    compared: Compared = Compared(),
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="Run folder that --max-worse compares with.")
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--max",
            metavar="AXIS=D",
            help="Largest distance to real text in human bands; D for all axes.",
        ),
    ] = None,
    max_worse: Annotated[
        list[str] | None,
        typer.Option("--max-worse", metavar="D", help="Largest growth in distance against --baseline; AXIS=D or D."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            help="not-beyond-human or within-human; of a run with --against, not-beyond-itself or within-itself; "
            "not-worse: shown to be worse by no more than the limit.",
        ),
    ] = None,
    better: Better = None,
    alpha: Annotated[float | None, typer.Option(help="Level of the gate; default: that of the run, 0.05.")] = None,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", metavar="NAME", help="Generated corpus to check; default: all.")
    ] = None,
    sequential: Annotated[
        Path | None, typer.Option("--sequential", metavar="STATE", help="State file: valid over all nightly runs.")
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="TOML file of rules; default: momus-gate.toml, or pyproject.toml, if there."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Also write SARIF.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Also print GitHub annotations, and write the job summary.")
    ] = False,
    reading: Reading = Reading(),
    as_json: Json = False,
) -> None:
    r"""Pass or fail a run by rules, for continuous integration; exit code 7 if it fails.

    A rule fails if an interval shows that its limit is broken, never by a bare
    p-value. Options add to the rules in momus-gate.toml or \[tool.momus.gate] of
    pyproject.toml.

    A rule for all axes leaves out those that these texts have nothing to be
    tested by, and says why; a rule that names such an axis cannot be decided,
    and fails.

    With --against and --generated, texts are compared first, in slices of their
    tasks too; the run is kept, and the same texts are not compared again. The
    rule, unless others are given, is then --require not-beyond-itself.

    Example:

      [bold]momus gate runs/v2 --baseline runs/v1 --max-worse 0.5 --max length=2[/bold]
      [bold]momus gate --against old=logs/a --generated new=logs/b[/bold]
      [bold]momus gate --against gpt-4o -g answers.json --split-by provider.id[/bold]

    Next: `momus diff` shows what changed.
    """
    from momus.history.builds import JUNIT, SARIF, gate_sarif, write_junit
    from momus.history.gate import gate_run
    from momus.history.kept import KeptRun
    from momus.history.rules import NOT_BEYOND_ITSELF, Limit, read_rules
    from momus.history.view import gate_blocks, on_terminal
    from momus.joint.better import Preference

    chosen = read_rules(rules).updated(
        baseline=baseline,
        max=tuple(Limit.parse(text) for text in most or ()),
        max_worse=tuple(Limit.parse(text, "max_worse") for text in max_worse or ()),
        require=tuple(require or ()),
        better=tuple(map(Preference.parse, comma_separated(better) or ())),
        alpha=alpha,
        corpus=tuple(corpus or ()),
        sequential=str(sequential or ""),
    )
    if chosen.sequential:
        check_place(Path(chosen.sequential), [rules, junit, sarif])  # its seal shows whose it is, when it is read
        refuse_irregular(Path(chosen.sequential))
    for file, kind in ((junit, JUNIT), (sarif, SARIF)):
        if file is not None:
            check_output(file, kind, [rules])
    folder = compared.folder(run)
    if not compared.first and reading != Reading():
        raise UsageError(
            "how texts are read is said of none", hint=f"name texts with {arg('against')} or {arg('pairs')}"
        )
    if compared.first:
        compared.compare(folder, reading, chosen.better)
    looked_at = KeptRun.read(folder)
    if looked_at.against and chosen.empty:
        chosen = chosen.updated(require=(NOT_BEYOND_ITSELF,))
    result = gate_run(looked_at, chosen)
    if as_json:
        print_json({"passed": result.passed, **asdict(result)})
    elif compared.first:
        print_short(result, folder)
    else:
        print_view(on_terminal(gate_blocks(result, whole=False)), 80)
    if junit is not None:
        write_junit(result, junit)
    if sarif is not None:
        write_json(sarif, gate_sarif(result), kind=SARIF)
    if github:
        _report_to_github(result, err=as_json)
    result.check()


def _report_to_github(result: Any, err: bool) -> None:
    """Annotations, on standard error if ``err`` (GitHub reads both), and the summary of the job if it has a file."""
    from momus.history.builds import append_summary, workflow_commands

    for line in workflow_commands(result):
        echo(line, err=err)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        append_summary(result, Path(summary))


def print_short(result: GateResult, folder: Path) -> None:
    """Print the verdict, the first sentences of the comparison, what was not checked, and where its page is."""
    from momus.history.view import not_checked, power_line, verdict_line
    from momus.report.words.leads import better_lines, first_sentences
    from momus.runs.answer import answer_of
    from momus.runs.folder import REPORT, read_results

    answer = answer_of(read_results(folder))
    echo(verdict_line(result))
    # how many answers changed, if some did not, says nothing of what they became, nor does what is mended of a failure
    told = 2 if answer.against is not None and answer.against.unchanged else 1
    first = first_sentences(replace(answer, mended=()))[:told]
    better = [s for s in better_lines(answer) if s not in first]
    lines = [*first, *better, power_line(result), *not_checked(result), f"Report: {folder / REPORT}"]
    echo("\n".join(filter(None, lines)))
