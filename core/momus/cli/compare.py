"""``momus compare`` and ``momus demo``: real and generated text compared."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer

import momus as m
from momus.cli.options import (
    Better,
    Config,
    CriticNames,
    Device,
    LabelFiles,
    Quiet,
    Reading,
    Seed,
    Testing,
    Trust,
    comma_separated,
    command_line,
    config_tables,
    expanded,
)
from momus.cli.printing import Printed, echo, new_run
from momus.cli.sources import NamedTexts, given_labels
from momus.errors import MomusError
from momus.outputs import delete_folder
from momus.parameters import exclude
from momus.progress import Silent, default_reporter


@expanded
def compare(
    texts: NamedTexts = NamedTexts(),
    chain: Annotated[
        bool, typer.Option("--chain", help="The -g texts are later versions of --against, in order: test trends.")
    ] = False,
    folds: Annotated[
        int, typer.Option("--folds", min=2, max=100, help="Folds of prompts, with --against; fitted in turn.")
    ] = 4,
    fit: Annotated[
        str | None,
        typer.Option("--fit", "-f", help="Real text to fit critics on; default: half of --real, drawn by the seed."),
    ] = None,
    critics: CriticNames = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="Compare what this field of the records says: a category, yes or no, a number, a list; tone:sequence "
            "names the type. Can be repeated.",
        ),
    ] = None,
    labels: LabelFiles = None,
    gold: Annotated[
        list[str] | None,
        typer.Option(
            "--gold",
            metavar="NAME=PATH",
            help="True labels of some documents drawn at random, 50 or more of each text: they correct the others.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Run folder to write: report, tables, fitted critics; default: a new one in momus-runs.",
        ),
    ] = None,
    no_out: Annotated[bool, typer.Option("--no-out", help="Write no run folder and no report.")] = False,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    testing: Testing = Testing(),
    control_for: Annotated[
        str | None,
        typer.Option(
            "--control-for",
            metavar="NAMES",
            help="Compare again among documents alike in these critics' values or --keep fields, e.g. length,topic.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="FIELDS",
            help="Compare in slices too, such as each task: fields, comma-separated; auto: --keep fields that suit.",
        ),
    ] = None,
    better: Better = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="FAULTS",
            help="Set aside documents with these faults on both sides, e.g. broken-off,loop (critic faults).",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Outliers to keep per critic and corpus, unlikely steps marked.")
    ] = 5,
    reading: Reading = Reading(),
    reuse: Annotated[
        Path | None,
        typer.Option(
            "--reuse", metavar="RUN", help="Take fitted critics and scores of --real from this run, if unchanged."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Number of processes; default: one per core where that pays."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run in --out.")] = False,
    trust: Trust = None,
    printed: Printed = Printed(),
    quiet: Quiet = False,
) -> None:
    """Compare generated text with real text, and write a report.

    Critics are fitted on --fit; then each --generated text is compared with
    --real. Documents that share a prompt_id are compared in pairs; documents of
    one group_id (author, book, site) stay together in every test. The answer
    comes first: which text is nearest to human text, and where each is off. The
    table has one row per axis, and for each generated text the size of the gap in
    human bands (1: one author to another), its direction, and whether it
    is sure.

    With --against, the reference is text of another model, such as an earlier
    version, and no human text is needed: what changed, what vanished and came.

    Texts of any size: large ones are scored part by part, in all cores, and what
    was finished is kept for --resume. Folders of rows that `momus score` wrote can
    stand for texts, and are not scored again.

    Example:

      [bold]momus compare -f train.jsonl -r held-out.jsonl -g mine=samples.jsonl -o run[/bold]

    Next: `momus open` shows the report, `momus show --all` all numbers, `momus
    outliers` the documents that stand out; `momus calibrate` measures false
    alarms on your text.
    """
    from momus.engine.request import check_out

    sources = texts.resolved(reading, tuple(comma_separated(by) or ()))
    exclude(no_out=no_out, out=out)
    check_out(out, overwrite=overwrite, resume=resume)  # before a folder is chosen in its place
    folder = None if no_out else out or new_run(list(sources.generated))
    try:
        comparison = m.compare(
            sources.real,
            sources.generated,
            against=sources.against,
            fit=fit,
            critics=comma_separated(critics),
            config=config_tables(config),
            out=folder,
            overwrite=overwrite,
            resume=resume,
            reading=sources.reading,
            chain=chain,
            folds=folds,
            seed=seed,
            device=device,
            **vars(testing),
            control_for=tuple(comma_separated(control_for) or ()),
            by=tuple(comma_separated(by) or ()),
            better=tuple(comma_separated(better) or ()),
            without=tuple(comma_separated(without) or ()),
            top=top,
            reporter=Silent() if quiet else default_reporter(lines=True),
            command=command_line(),
            reuse=reuse,
            jobs=jobs,
            trust=trust or (),
            labels=given_labels(label or (), labels or (), gold or ()),
        )
    except KeyboardInterrupt:
        if folder is not None and folder.exists():
            how = "--resume" if out is not None else f"--out {folder} --resume"
            echo(f"\nInterrupted. What was finished is in {folder}; resume with {how}.", err=True)
        raise
    except MomusError:
        if out is None and folder is not None:
            _remove_unfinished(folder)
        raise
    printed.show(comparison, folder)


def _remove_unfinished(folder: Path) -> None:
    """Remove the folder of a failed run that nobody named, unless a critic has finished."""
    from momus.runs.folder import RESULT
    from momus.runs.manifest import ROWS

    if (
        folder.exists()
        and not any(folder.rglob(f"critics/*/{RESULT}"))
        and not any(folder.rglob(f"{ROWS}/*/records/*"))
    ):
        delete_folder(folder)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Run folder to write.")] = Path("momus-demo"),
    seed: Seed = 0,
) -> None:
    """Run a comparison on texts that ship with Momus.

    Compares documentation of Python packages with what a small language model
    writes for the same names at two temperatures, along five axes.

    Example:

      [bold]momus demo --out demo-run[/bold]

    Next: `momus open demo-run`, then try `momus compare` on your own texts.
    """
    from momus.demo import ABOUT, run_demo

    echo("\n".join(wrap(ABOUT, 80)))
    comparison = run_demo(out, seed, command_line(), default_reporter(lines=True))
    Printed().show(comparison, out)
