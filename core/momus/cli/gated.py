"""The comparison that ``momus gate --against`` runs, and the lines that it prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import momus as m
from momus.arguments import arg
from momus.cli.options import CriticNames, Reading, comma_separated, command_line
from momus.cli.printing import RUNS, echo, slug
from momus.errors import UsageError

if TYPE_CHECKING:
    from momus.history.gate import GateResult

UNCHOSEN = "auto"


@dataclass(frozen=True)
class Compared:
    """Texts that the gate compares before it decides."""

    against: Annotated[
        str | None,
        typer.Option("--against", metavar="NAME=PATH", help="Compare first: the text of the old version."),
    ] = None
    generated: Annotated[
        list[str] | None,
        typer.Option("--generated", "-g", metavar="NAME=PATH", help="With --against, the text of the new version."),
    ] = None
    real: Annotated[
        str | None, typer.Option("--real", "-r", help="With --against, text of people; says which is nearer to it.")
    ] = None
    by: Annotated[
        str, typer.Option("--by", metavar="FIELDS", help="With --against, fields whose slices are judged too.")
    ] = UNCHOSEN
    critics: CriticNames = None

    def folder(self, run: str | None) -> Path:
        """The folder of the run: as named, or one in ``momus-runs`` that is named by the texts.

        Raises
        ------
        UsageError
            There is neither a run nor a text of each version, or texts are named without the old version.
        """
        from momus.cli.sources import named_paths

        if self.against is None:
            if run is None or self.generated or self.real:
                raise UsageError(
                    "no run to decide about",
                    hint=f"name a run folder, or {arg('against')} and {arg('generated')} texts",
                )
            return Path(run)
        if not self.generated:
            raise UsageError(
                f"{arg('against')} without a new text", hint=f"name the new version: {arg('generated', 'new=PATH')}"
            )
        names = [*named_paths(self.generated), "against", *named_paths([self.against], "--against")]
        return Path(run) if run is not None else RUNS / slug(names)

    def compare(self, folder: Path) -> None:
        """Compare the texts, and write the run and its page; what the folder keeps of the same texts is reused."""
        from momus.cli.sources import given_texts

        texts = given_texts(
            self.real, self.generated or [], self.against, None, pairs=None, split_by=None, reading=Reading()
        )
        m.compare(
            texts.real,
            texts.generated,
            against=texts.against,
            critics=comma_separated(self.critics),
            out=folder,
            resume=folder.exists(),
            reading=texts.reading,
            by=tuple(comma_separated(self.by) or ()),
            command=command_line(),
        )


def print_short(result: GateResult, folder: Path) -> None:
    """Print three lines: the verdict, the first sentence of the comparison, and where its page is."""
    from momus.history.view import verdict_line
    from momus.report.words.against import first_sentences
    from momus.runs.answer import answer_of
    from momus.runs.folder import REPORT, read_results

    results = read_results(folder)
    against = results.against
    sentences = [] if against is None else first_sentences(answer_of(results), against)
    echo(verdict_line(result))
    echo(sentences[0] if sentences else "")
    echo(f"Report: {folder / REPORT}")
