"""Options that several commands share, and the helpers that read them."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from momus.arguments import arg
from momus.cli.help import HelpAll
from momus.errors import UsageError
from momus.limits import MOST_PERMUTATIONS, MOST_RESAMPLES, MOST_SEED, Limits, parse_size
from momus.processes import without_pandas
from momus.redact import redacted

if TYPE_CHECKING:
    from momus.reading import ReadingOptions

CriticNames = Annotated[
    str | None,
    typer.Option(
        "--critics",
        "-c",
        help="Critics, comma-separated (`momus critics` lists them), or classes of yours, as package.module:Class or "
        "./file.py:Class; default: all that can be fitted on the text.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="TOML file with one table of parameters per critic, e.g. \\[length] with bins = 12."),
]
Better = Annotated[
    str | None,
    typer.Option(
        "--better",
        metavar="AXIS=DIRECTION",
        help="With --against, say whether each text is worse by what you name: faults=fewer,label:helpful=higher, or "
        "length=nearer:human with --real. A gate fails if it is shown to be, by more than --max AXIS='0.02 worse'.",
    ),
]
LabelFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="NAME=PATH",
        help="Labels from a file whose records have the ids of documents, for the critic label-NAME; `momus compare` "
        "takes all fields of a PATH alone.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Random seed; the same seed gives the same results.")]
Device = Annotated[str, typer.Option(help="auto (a GPU if there is one), cpu, cuda, cuda:1 or mps.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Number of processes; default: one per core.")]
Trust = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust",
        help="Folder of saved critics that may use adapters: connect, download models, read the files it names.",
    ),
]


class Without:
    """The fields of a dataclass of options that a command does not have: ``Annotated[Reading, Without("keep")]``."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes dataclasses of options one parameter for each of their fields, as Typer reads them.

    The fields are annotated as parameters of a command are. A default of the parameter, such as
    ``reading: Reading = Reading(turns="all")``, gives its options their defaults; `Without` leaves options out.

    >>> @expanded
    ... def count(text: str, reading: Annotated[Reading, Without("field")] = Reading(turns="all")) -> None:
    ...     print(text, reading.fmt, reading.turns)
    >>> list(inspect.signature(count).parameters)[:3]
    ['text', 'fmt', 'encoding']
    >>> count(text="a", fmt="csv")
    a csv all
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        hint, default = hints[parameter.name], parameter.default
        kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        options = {parameter.name: (hint, default)}
        if is_dataclass(kind):
            left_out = {name for mark in marks if isinstance(mark, Without) for name in mark.names}
            types = get_type_hints(kind, include_extras=True)
            names = [field.name for field in fields(kind) if field.name not in left_out]
            groups[parameter.name] = default, names
            options = {name: (types[name], getattr(default, name)) for name in names}
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=annotation)
            for name, (annotation, value) in options.items()
        ]

    if any(parameter.name == "fmt" for parameter in parameters):
        parameters.append(
            inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)
        )

    def call(**values: Any) -> None:
        values.pop("help_all", None)
        without_pandas()
        for name, (default, names) in groups.items():
            values[name] = replace(default, **{field: values.pop(field) for field in names if field in values})
        command(**values)

    call.__name__, call.__doc__, call.__module__ = command.__name__, command.__doc__, command.__module__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


@dataclass(frozen=True)
class Reading:
    """How a command reads texts: the options of `momus.reading.ReadingOptions`, as they are typed."""

    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="Field that holds the text, or a path such as choices\\[0].message.content; default: by the format, "
            "else `sections` or `text`. NAME=FIELD: that of one text (real, fit, or a generated one); can be repeated.",
        ),
    ] = None
    fmt: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, json, csv, tsv, parquet, text, lines, paragraphs, …; default: by file name and content.",
        ),
    ] = None
    encoding: Annotated[str, typer.Option(help="Encoding of text and JSON files, e.g. latin-1.")] = "utf-8"
    skip_bad_lines: Annotated[
        bool,
        typer.Option(
            "--skip-bad-lines", help="Count lines that are not valid JSON as unscored documents; do not stop."
        ),
    ] = False
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            help="Metadata fields to keep with each document, comma-separated: topic,model; NAME=PATH renames one.",
        ),
    ] = None
    limits: Annotated[
        str | None,
        typer.Option("--max-document", metavar="SIZE", help="Refuse longer documents, e.g. 500MB; default: 50MB."),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="PATTERN",
            help="Read files of a folder that are set aside for their names too, e.g. 'README*'; may be repeated.",
        ),
    ] = None
    turns: Annotated[
        str,
        typer.Option(
            help="Of chat messages, the text: turns of the assistant, the last one, all, or reasoning, or tools."
        ),
    ] = "assistant"
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt",
            metavar="FIELD",
            help="Field that names what a document answers; default: `prompt_id`, else `prompt`. "
            "NAME=FIELD: of one text.",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Read only records that meet it: `model=gpt-4`, or a JMESPath expression. NAME=CONDITION: one text.",
        ),
    ] = None
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="CODE",
            help="Language of the documents, e.g. de: field:NAME for each document's own, detect to detect it.",
        ),
    ] = None
    normalise: Annotated[
        str | None,
        typer.Option(
            "--normalise",
            metavar="KINDS",
            help="Give all texts one spelling of these, comma-separated: whitespace, quotes, dashes; default: none.",
        ),
    ] = None

    def options(self, names: Iterable[str] = (), labels: Iterable[str] | None = None) -> ReadingOptions:
        """What they say to the reader; ``names`` are those of the texts, ``labels`` files of labels."""
        from momus.reading import ReadingOptions

        values, names, limits = vars(self), list(names), Limits.current()
        if self.limits is not None:
            limits = replace(limits, document=parse_size(self.limits, arg("limits")))
        named = {name: chosen_fields(values[name], names) for name in ("field", "prompt", "where")}
        listed = {name: tuple(dict.fromkeys(comma_separated(values[name]) or ())) for name in ("keep", "normalise")}
        more = {"limits": limits, "include": tuple(self.include or ()), "labels": tuple(labels or ())}
        return ReadingOptions(**values | named | listed | more)


@dataclass(frozen=True)
class Testing:
    """How statistics are tested: arguments of `momus.compare` of the same names."""

    permutations: Annotated[
        int,
        typer.Option(min=99, max=MOST_PERMUTATIONS, help="Permutations per test; more if needed."),
    ] = 9999
    resamples: Annotated[
        int, typer.Option(min=99, max=MOST_RESAMPLES, help="Resamples of bootstrap errors, where one is needed.")
    ] = 499
    multiplicity: Annotated[
        str,
        typer.Option(
            help="Adjustment of the p-values for multiple tests: holm or bh over the axes of each generated text, "
            "holm-table or bh-table over all axes of all texts, or none."
        ),
    ] = "holm"
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--unpaired",
            help="Whether to compare documents of one prompt with each other; default: if nearly all have a partner.",
        ),
    ] = None
    register: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Kind of text whose human bands serve where real text has no groups: novels, proposals, manuals or "
            "documentation; default: predicted from all.",
        ),
    ] = ""
    pairwise: Annotated[
        bool, typer.Option("--pairwise", help="Also compare the generated corpora with each other.")
    ] = False


def config_tables(path: Path | None) -> dict[str, Any]:
    """Read the TOML file of ``--config``: parameters by critic.

    Raises
    ------
    UsageError
        The file cannot be read, or has values outside of tables.
    """
    from momus.schema import read_toml

    if path is None:
        return {}
    hint = "write one TOML table per critic, e.g. [length] and below it bins = 20"
    content = read_toml(path, f"--config {path}", hint)
    loose = [k for k, v in content.items() if not isinstance(v, dict)]
    if loose:
        raise UsageError(f"--config {path}: {loose[0]!r} is outside of any table", hint="put it under [critic-name]")
    return content


def chosen_fields(values: Iterable[str] | None, names: Iterable[str] = ()) -> str | dict[str, str] | None:
    """Parse ``--field`` or ``--prompt`` for `momus.reading.ReadingOptions`: a field, or fields by names of texts.

    Raises
    ------
    UsageError
        Two fields are given for the same texts.

    >>> chosen_fields(["body"]), chosen_fields(["real=text", "a=resps"], ["real", "a"])
    ('body', {'real': 'text', 'a': 'resps'})
    >>> chosen_fields(["x=y"], ["real"])  # a field whose name has an equals sign
    'x=y'
    """
    fields: dict[str, str] = {}
    known = set(names)
    for value in values or ():
        name, separator, field = value.partition("=")
        if not separator or name not in known:
            name, field = "*", value
        if name in fields:
            whose = "all texts" if name == "*" else repr(name)
            raise UsageError(f"two fields are given for {whose}", hint="give one; NAME=FIELD is that of one text")
        fields[name] = field
    return fields["*"] if set(fields) == {"*"} else fields or None


def comma_separated(text: str | None) -> list[str] | None:
    """Split a comma-separated option; None if it was not given.

    >>> comma_separated("length, unigram,"), comma_separated(None)
    (['length', 'unigram'], None)
    """
    return None if text is None else [n for n in (item.strip() for item in text.split(",")) if n]


def command_line() -> str:
    """The command as it was typed, quoted for a shell, without passwords and keys; runs record it."""
    return redacted(shlex.join(["momus", *sys.argv[1:]]))
