"""``momus score -o FOLDER``: its options, and what it prints at the end."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.arguments import arg
from momus.cli.printing import echo
from momus.errors import UsageError
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.engine.scoring import ScoringRun
    from momus.reading import ReadingOptions
    from momus.text.documents import LeftOut


@dataclass(frozen=True)
class Share:
    """How scoring in parts is spread and resumed: options of a folder of rows."""

    workers: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Into a folder: number of processes; default: one per core."),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Into a folder: score what is missing in it.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Into a folder: replace the rows in it.")] = False
    part_size: Annotated[
        int | None,
        typer.Option(min=1, help="Into a folder: documents per part at most; default: 10,000, or as before."),
    ] = None
    engine: Annotated[
        str | None, typer.Option("--engine", help="Into a folder: local, or ray, which needs momus\\[ray].")
    ] = None
    address: Annotated[
        str | None, typer.Option(help="With --engine ray: address of the cluster; default: one on this machine.")
    ] = None

    def refuse(self) -> None:
        """Refuse these options where rows do not go to a folder.

        Raises
        ------
        UsageError
            One is given.
        """
        named = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        if named:
            raise UsageError(f"{arg(named[0])} needs a folder for the rows", hint="name one: -o ROWS")


def split_paths(paths: Sequence[str], command: str = "momus score") -> tuple[list[str], list[str]]:
    """The folders of critics, which come first, and the texts.

    Raises
    ------
    UsageError
        There is no critic or no text.
    """
    first = next((i for i, path in enumerate(paths) if not _holds_critic(Path(path))), len(paths))
    critics, texts = list(paths[:first]), list(paths[first:])
    if not critics or not texts:
        raise UsageError(
            "there is no text after the critics" if critics else f"{paths[0]} holds no fitted critic",
            hint=f"give critics first, then texts: {command} CRITIC… TEXT…",
        )
    return critics, texts


def _holds_critic(path: Path) -> bool:
    """Whether a folder is that of a fitted critic, of several, or of a run."""
    return any(any(path.glob(f"{inner}critic.json")) for inner in ("", "*/", "critics/*/"))


def score_into_folder(
    paths: Sequence[str],
    out: Path,
    share: Share,
    reading: ReadingOptions,
    device: str,
    trust: Sequence[Path],
    quiet: bool,
) -> None:
    """Run the command, and print what the folder then holds.

    Raises
    ------
    UsageError
        Options contradict each other.
    Exit
        No document could be scored.
    """
    from momus.engine.scoring import score_parts
    from momus.progress import Silent, default_reporter, reporting

    critics, texts = split_paths(paths)
    options = vars(share) | {"workers": share.workers or os.cpu_count() or 1, "engine": share.engine or "local"}
    try:
        with reporting(Silent() if quiet else default_reporter(lines=True)):
            run = score_parts(critics, texts, out, **options, reading=reading, device=device, trust=trust)
    except KeyboardInterrupt:
        echo(f"\nInterrupted. Finished parts are in {out}; resume with --resume.", err=True)
        raise
    _tell(run)
    if run.documents and not any(sum(d.steps.values()) for d in run.done):
        raise typer.Exit(1)


def tell_left_out(left_out: Sequence[LeftOut]) -> None:
    """Name the files that folders leave out."""
    for some in left_out:
        if some.names:
            echo(f"Note: set aside for their names: {', '.join(some.names[:5])}", err=True)


def tell_failed(failed: Mapping[str, str]) -> None:
    """Name the critics that were left out since they fail."""
    from momus.engine.chosen import left_out_warning

    if failed:
        echo(f"Warning: {left_out_warning(failed)}", err=True)


def tell_scores(
    critic: Critic[Any] | type[Critic[Any]], documents: int, nats: float, steps: float, unscored: Mapping[str, int]
) -> None:
    """Print the values of a text under a critic, from nats and steps of all its documents, and how many have none."""
    from momus.critic.powers import has_latents
    from momus.report.words.format import number

    scored = documents - sum(unscored.values())
    if not scored:
        echo(f"{critic.name}: none could be scored", err=True)
    else:
        perplexity = f", Latent PPL {number(math.exp(nats / steps))}" if critic.sequence else ""
        values = f"Latent NLL {number(nats / scored)} nats{perplexity}; " if has_latents(critic) else ""
        echo(f"{critic.name}: {values}{scored:,} of {counted(documents, 'document')} scored")
    for reason, n in unscored.items():
        echo(f"  unscored: {n:,} ({reason})")


def _tell(run: ScoringRun) -> None:
    """Say what the folder holds: scores by critic, and documents without one by reason."""
    from momus.critic.registry import critic_class

    for note in run.notes:
        echo(f"Note: {note}", err=True)
    tell_left_out(run.left_out)
    kept = f", {run.kept:,} of them kept" if run.kept else ""
    echo(f"{counted(run.documents, 'document')} in {counted(len(run.done), 'part')}{kept} → {run.folder}")
    for name in run.done[0].nats if run.done else ():
        reasons = run.unscored(name)
        nats, steps = (sum(getattr(d, what)[name] for d in run.done) for what in ("nats", "steps"))
        tell_scores(critic_class(name), run.documents, nats, steps, dict(reasons.most_common()))
        shared = sum(d.fitted_on[name] for d in run.done)
        if shared:
            echo(f"Note: {shared:,} of these documents were in the text that {name} was fitted on.", err=True)
    tell_failed(run.failed)
