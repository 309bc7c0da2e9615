"""``momus critics new``: write a package to start from."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from momus.cli.printing import echo
from momus.errors import UsageError
from momus.outputs import new_folder, write_text
from momus.ownership import check_place
from momus.plugins import CRITICS, registered
from momus.version import DISTRIBUTION, extra

LONGEST = 40
"""Most letters of a name: lines of the package then stay within 120 letters."""


class Kind(StrEnum):
    """What the critic of a package begins as."""

    COUNTS = "counts"
    PYRO = "pyro"
    ENCODER = "encoder"
    STATISTIC = "statistic"
    PAIRED = "paired"


KINDS = {
    Kind.COUNTS: ("the length of sentences", (DISTRIBUTION, "numpy", "scipy")),
    Kind.PYRO: ("the length of sentences", (extra("torch", "pyro"), "numpy")),
    Kind.ENCODER: ("the order of sentences", (extra("torch"), "numpy", "scipy")),
    Kind.STATISTIC: ("the openings of documents", (DISTRIBUTION, "numpy")),
    Kind.PAIRED: ("repeated questions", (DISTRIBUTION, "numpy")),
}
"""What each kind of critic asks about, and the packages that it needs."""


def new(
    name: Annotated[str, typer.Argument(help="Name of the critic as users type it: lower case, with hyphens.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write; default: NAME in the current folder.")
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            help="counts: what is counted in the text; pyro: latents of a Pyro program; encoder: sentences as an "
            "encoder of transformers sees them; statistic: numbers of a whole corpus; paired: a document beside its "
            "prompt."
        ),
    ] = Kind.COUNTS,
) -> None:
    """Start a package with a new critic that works.

    It holds the class (a critic that works, to be changed), its entry point,
    tests that run the conformance checks, and settings of ruff and mypy.

    Example:

      [bold]momus critics new my-critic[/bold]

    Next: `cd my-critic`, `momus critics check momus_my_critic:MyCritic`, and compare
    texts with -c momus_my_critic:MyCritic; once it is installed by
    `pip install --editable .`, with -c my-critic.
    """
    folder = out if out is not None else Path(name)
    written = write_critic(name, folder, kind)
    for path in written:
        echo(f"wrote {path}")
    module, cls = module_name(name), class_name(name)
    echo(
        f"\nNext:\n  cd {folder}\n  momus critics check {module}:{cls}\n"
        f"  momus compare -c {module}:{cls} --real REAL --generated NAME=GENERATED"
    )


def module_name(name: str) -> str:
    """The import name of the package.

    >>> module_name("word-length")
    'momus_word_length'
    """
    return "momus_" + name.replace("-", "_")


def class_name(name: str) -> str:
    """The name of the class; a name that would be a Python keyword gets a suffix.

    >>> class_name("word-length"), class_name("none")
    ('WordLength', 'NoneCritic')
    """
    from keyword import iskeyword

    camel = "".join(word.capitalize() for word in name.split("-"))
    return camel + "Critic" if iskeyword(camel) else camel


def check_name(name: str) -> None:
    """Refuse a name that cannot be used or is taken.

    Raises
    ------
    UsageError
        The message says why, the hint what to write instead.
    """
    from importlib.util import find_spec

    if len(name) > LONGEST:
        raise UsageError(f"the name {name!r} is too long ({len(name)} letters)", hint=f"use at most {LONGEST} letters")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()).strip("-")
        suggestion = slug if re.match(r"[a-z]", slug) else "my-critic"
        raise UsageError(
            f"{name!r} cannot be the name of a critic: names are lower case, begin with a letter, and have only "
            "letters, digits and single hyphens",
            hint=f"write {suggestion!r}",
        )
    taken = registered(CRITICS).get(name)
    if taken:
        raise UsageError(
            f"there is a critic {name!r} already, from {taken[0].distribution!r}",
            hint="choose another name; `momus critics` lists those in use",
        )
    if find_spec(module_name(name)) is not None:
        raise UsageError(f"a package {module_name(name)!r} is installed already", hint="choose another name")


def write_critic(name: str, folder: Path, kind: Kind = Kind.COUNTS) -> list[Path]:
    """Write the package, and return the files written.

    Raises
    ------
    UsageError
        The name cannot be used, or the folder is a file or not empty.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    check_name(name)
    check_place(folder, [])
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{folder} is a file", hint="name a folder with --out")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} exists and is not empty", hint="name a new folder with --out")
    module = module_name(name)
    about, needs = KINDS[kind]
    values: dict[str, object] = {
        "name": name,
        "module": module,
        "cls": class_name(name),
        "distribution": f"momus-{name}",
    }
    document = "dict[str, str]" if kind is Kind.PAIRED else "str"
    values |= {"kind": kind.value, "about": about, "needs": needs, "document": document}
    templates = Environment(
        loader=PackageLoader("momus", "scaffold/critic"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # the files are code, and names that pass `check_name` need no escapes
    )
    names = {
        template: template.removeprefix("common/").removesuffix(".j2").replace("package/", f"{module}/")
        for template in templates.list_templates(filter_func=lambda name: name.startswith("common/"))
    }
    try:
        with new_folder(folder) as temporary:
            for template, name in sorted(names.items()):
                write_text(temporary / name, templates.get_template(template).render(values))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", hint="name a folder with --out") from error
    return [folder / name for _, name in sorted(names.items())]
