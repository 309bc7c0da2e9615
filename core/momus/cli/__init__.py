"""The command line."""

from __future__ import annotations

import os
import sys

EXIT_CODES = (
    "Exit codes: 0 done · 1 error · 2 wrong use · 3 a text cannot be read · 4 a critic cannot be fitted or is not "
    "fitted · 5 a run folder or saved critic cannot be read or written · 6 unknown or broken plug-in · 7 a gate "
    "failed · 130 interrupted"
)


def main() -> None:
    """Run ``momus``; an error ends in a message, a hint and an exit code, never in a traceback."""
    from momus.cli.app import app
    from momus.errors import MomusError

    try:
        app()
    except MomusError as error:
        print(f"momus: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("\nmomus: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe, such as head, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
