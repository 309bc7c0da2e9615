"""Commands and options that had other names: an old name ends in an error that says the new one."""

from __future__ import annotations

from collections.abc import Sequence

from momus.errors import UsageError

COMMANDS = {
    "report": "momus show RUN --html",
    "card": "momus show RUN --card",
    "check": "momus critics check CRITIC",
    "new": "momus critics new NAME",
    "baseline": "momus gate RUN --save-as NAME",
    "log": "momus export RUN",
}
OPTIONS = {
    "compare": {
        "--every": "--all", "--wide": "--details", "--critics-from": "--reuse", "--adjustment": "--multiplicity",
        "--adjust": "--control-for",
    },
    "show": {"--every": "--all", "--wide": "--details"},
    "fit": {"--real": "--fit", "-r": "-f", "--workers": "--jobs"},
    "score": {
        "--critics": "--classes", "-c": "--classes", "--workers": "--jobs", "--shards": "-o",
        "--shard-size": "--part-size",
    },
    "filter": {
        "--critics": "paths of critics before those of texts: momus filter CRITIC… TEXT…",
        "-c": "paths of critics before those of texts: momus filter CRITIC… TEXT…",
        "--keep": "--kept", "-k": "--kept", "--drop": "--dropped", "-d": "--dropped", "--workers": "--jobs",
        "--shards": "--scores", "--shard-size": "--part-size",
    },
    "plan": {"--axis": "--critics", "-a": "-c"},
    "outliers": {"-k": "--top"},
    "calibrate": {"--wide": "--wide-permutations"},
    "diff": {"--baseline": "its name as the first run: momus diff NAME RUN"},
}  # fmt: skip
"""By command: what is written instead of an option that there was."""


def refuse_old_command(name: str) -> None:
    """Raise `UsageError` if a command has another name now.

    >>> refuse_old_command("card")
    Traceback (most recent call last):
    momus.errors.UsageError: there is no command 'card'
      → write momus show RUN --card
    """
    if name in COMMANDS:
        raise UsageError(f"there is no command {name!r}", hint=f"write {COMMANDS[name]}")


def refuse_old_options(command: str, words: Sequence[str]) -> None:
    """Raise `UsageError` if one of the words after a command is an option that has another name now.

    >>> refuse_old_options("compare", ["-r", "a.jsonl", "--every"])
    Traceback (most recent call last):
    momus.errors.UsageError: momus compare has no option --every
      → write --all
    """
    old = OPTIONS.get(command, {})
    for word in words:
        if word == "--":
            return
        name = word.partition("=")[0]
        if name in old:
            raise UsageError(f"momus {command} has no option {name}", hint=f"write {old[name]}")
