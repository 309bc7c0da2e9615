"""``momus diff``, ``momus gate`` and ``momus history``: runs against runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from momus.cli.options import Json
from momus.cli.printing import echo, print_json, print_narrow
from momus.parameters import exclude

CorpusPairs = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="NAME", help="Generated corpus to compare, or BEFORE=AFTER; can be repeated."),
]
Registry = Annotated[
    Path | None,
    typer.Option("--registry", help="Folder of the baselines; default: .momus/baselines here or in a folder above."),
]


def diff(
    before: Annotated[str, typer.Argument(metavar="RUN_A", help="Earlier run folder, or the name of a baseline.")],
    after: Annotated[str, typer.Argument(metavar="RUN_B", help="Later run folder, or the name of a baseline.")],
    corpora: CorpusPairs = None,
    registry: Registry = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Say whether run B is farther from human text than run A, and on which axes.

    Each axis has its distance to real text before and after, and an interval of
    the change; the intervals of all axes hold at once. Texts are compared prompt
    by prompt where both runs share prompts. Inputs that differ between the runs
    (texts, parameters, version, seed) and new outliers are named.

    Example:

      [bold]momus diff runs/v1 runs/v2[/bold]

    Next: `momus compare --reuse RUN` fits critics once for many runs;
    `momus gate` fails a build when a run is worse.
    """
    from momus.history.diff import diff_runs
    from momus.history.view import diff_blocks, diff_json, in_markdown, on_terminal

    changes = diff_runs(_run(before, registry), _run(after, registry), corpus_pairs(corpora))
    if as_json:
        print_json(diff_json(changes))
    elif as_markdown:
        echo(in_markdown(diff_blocks(changes)))
    else:
        print_narrow(on_terminal(diff_blocks(changes)))


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


def _run(name: str, registry: Path | None) -> Any:
    """A run by its folder or by the name of a baseline."""
    from momus.history.baselines import Baselines

    return Baselines.find(registry).resolve(name)


def gate(
    run: Annotated[str | None, typer.Argument(help="Run folder, or the name of a baseline.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="What --max-worse compares with: a baseline or a run folder.")
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--max",
            metavar="AXIS=D",
            help="Largest distance to real text in human bands; AXIS.effect=D in units of the effect; D for all axes.",
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
            help="not-beyond-human or within-human; of a run with --against, not-beyond-itself or within-itself.",
        ),
    ] = None,
    strict: Annotated[
        bool | None,
        typer.Option("--strict/--lenient", help="Fail unless a limit is shown to be kept; default: if shown broken."),
    ] = None,
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
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DIR", help="Also print the false-fail rate of `calibrate --gate` in DIR."),
    ] = None,
    save_as: Annotated[
        str | None,
        typer.Option("--save-as", metavar="NAME", help="Make the run a baseline of this name instead."),
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="List the baselines instead.")] = False,
    registry: Registry = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Also print GitHub annotations, and write the job summary.")
    ] = False,
    as_json: Json = False,
) -> None:
    r"""Pass or fail a run by rules, for continuous integration; exit code 7 if it fails.

    A rule fails if an interval shows that its limit is broken; with --strict, if
    it does not show that the limit is kept. Never by a bare p-value. Options add
    to the rules in momus-gate.toml or \[tool.momus.gate] of pyproject.toml.

    With --save-as, the run becomes a baseline: a name that later runs are compared
    with. Nothing is decided then.

    Examples (the first only gives a name):

      [bold]momus gate runs/v1 --save-as main[/bold]
      [bold]momus gate runs/v2 --baseline main --max-worse 0.5 --max length=2[/bold]

    Next: `momus diff` shows what changed; `momus history` draws all runs.
    """
    from momus.errors import UsageError
    from momus.history.baselines import Baselines
    from momus.history.gate import LOOKS, gate_run
    from momus.history.gate_rate import GateRate
    from momus.history.rules import NOT_BEYOND_ITSELF, Limit, read_rules
    from momus.history.view import JUNIT, gate_blocks, on_terminal, write_junit
    from momus.ownership import check_output

    for name, value in (("most", most), ("max_worse", max_worse), ("require", require)):
        exclude(save_as=save_as, baselines=baselines, **{name: value})
    if baselines:
        _list_baselines(registry, as_json)
        return
    if run is None:
        raise UsageError("no run is given", hint="momus gate RUN; `momus gate --baselines` lists the baselines")
    if save_as is not None:
        stored = Baselines.find(registry).set(save_as, run)
        echo(f"Baseline {stored.name}: {run} (reference {stored.real}, started {stored.started})")
        return
    chosen = read_rules(rules).updated(
        baseline=baseline,
        max=tuple(Limit.parse(text) for text in most or ()),
        max_worse=tuple(Limit.parse(text, "max_worse") for text in max_worse or ()),
        require=tuple(require or ()),
        strict=strict,
        alpha=alpha,
        corpus=tuple(corpus or ()),
        sequential=str(sequential or ""),
    )
    if chosen.sequential:
        check_output(Path(chosen.sequential), LOOKS, [rules, junit])
    if junit is not None:
        check_output(junit, JUNIT, [rules])
    looked_at, rate = _run(run, registry), ""
    if looked_at.against and chosen.empty:
        chosen = chosen.updated(require=(NOT_BEYOND_ITSELF,))
    if against is not None:
        measured = GateRate.read(against)
        measured.check(looked_at, chosen)
        rate = measured.words
    result = gate_run(looked_at, chosen, registry, rate)
    if as_json:
        print_json({"passed": result.passed, **asdict(result)})
    else:
        print_narrow(on_terminal(gate_blocks(result, whole=False)))
    if junit is not None:
        write_junit(result, junit)
    if github:
        _report_to_github(result, err=as_json)
    result.check()


def _list_baselines(registry: Path | None, as_json: bool) -> None:
    from dataclasses import asdict

    from momus.history.baselines import Baselines
    from momus.report.format import text_table

    known = Baselines.find(registry)
    entries = [known.get(name) for name in known.names()]
    if as_json:
        print_json([asdict(e) for e in entries])
    elif entries:
        rows = [(e.name, e.started, e.real, e.path) for e in entries]
        print_narrow(text_table(("name", "started", "reference", "run"), rows, "l", narrow=True))
    else:
        echo(f"No baseline in {known.folder}; name one: momus gate RUN --save-as NAME")


def _report_to_github(result: Any, err: bool) -> None:
    """Annotations, on standard error if ``err`` (GitHub reads both), and the summary of the job if it has a file."""
    import os

    from momus.history.view import append_summary, workflow_commands

    for line in workflow_commands(result):
        echo(line, err=err)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        append_summary(result, Path(summary))


def history(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with run folders, at any depth.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file to write; default: history.html in DIR.")
    ] = None,
    most: Annotated[
        list[str] | None, typer.Option("--max", metavar="AXIS=D", help="Limits to draw; default: those of the gate.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="TOML file of rules; default: as for `momus gate`.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw the distance to real text of all runs below a folder, axis by axis.

    One static page: a line per axis over the runs in order of time, with
    intervals and the limits of the gate. Runs whose texts or critics differ from
    the run before are marked.

    Example:

      [bold]momus history runs --out history.html[/bold]

    Next: `momus diff` compares two of the runs; `momus gate` decides about one.
    """
    from momus.history.rules import Limit, read_rules
    from momus.history.timeline import read_timeline, write_history

    chosen = read_rules(rules).updated(max=tuple(Limit.parse(text) for text in most or ()))
    timeline = read_timeline(folder, chosen.max)
    if as_json:
        print_json(asdict(timeline))
    if out is not None or not as_json:
        path = write_history(timeline, out or folder / "history.html")
        echo(f"History: {path} ({len(timeline.runs)} runs)", err=as_json)
