"""The command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from momus.cli.boundary import Interruption

EXIT_CODES = (
    "Exit codes: 0 done · 1 error · 2 wrong use · 3 a text cannot be read · 4 a critic fails, or cannot be or is not "
    "fitted · 5 a run folder or saved critic cannot be read or written · 6 unknown or broken plug-in · 7 a gate "
    "failed · 130 interrupted (SIGTERM 143, SIGHUP 129)"
)


def main() -> None:
    """Run ``momus``; an error ends in a message, a hint and an exit code, never in a traceback."""
    from momus.cli.boundary import Interruption, safe_streams

    safe_streams()
    interruption = Interruption()
    interruption.install()
    code = _exit_code(interruption)
    try:
        sys.stdout.flush()
    except OSError as error:  # the disk of a redirected output is full
        code = _lost_output(error, code)
    sys.exit(code)


def _exit_code(interruption: Interruption) -> int:
    """Run the command, tell what went wrong, and return the exit code."""
    from momus.cli.boundary import check_memory, report_error, say

    try:
        check_memory()
        from momus.cli.app import app

        app()
    except SystemExit as end:
        # Typer turns an interruption into an exit with code 130
        if interruption.number:
            return interruption.exit_code
        if isinstance(end.code, str):  # sys.exit("words") of a plug-in's command
            say(end.code)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        say("\nmomus: interrupted")
        return interruption.exit_code
    except Exception as error:  # a fault of the program ends in a line, not in a traceback
        return report_error(error)
    return 0


def _lost_output(error: OSError, code: int) -> int:
    """Say that the output is incomplete, unless an error was told already."""
    from momus.cli.boundary import discard_output, say, worded

    discard_output()
    if code:
        return code
    known = worded(error)
    say(f"momus: standard output: {known.message if known else error}")
    return 5
