"""Signals: SIGTERM and SIGHUP end a command as Ctrl-C does, with its clean-up; a second Ctrl-C ends it at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Interruption:
    """Turns signals into `KeyboardInterrupt`, and remembers which one came first.

    Attributes
    ----------
    number
        The first signal; 0 if none came.
    """

    def __init__(self) -> None:
        self.number = 0

    def install(self) -> None:
        """Handle the signals, but leave alone those that the caller ignores, as ``nohup`` does with SIGHUP."""
        if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
            return
        for name in NAMES:
            known = getattr(signal, name, None)
            if known is not None and signal.getsignal(known) != signal.SIG_IGN:
                signal.signal(known, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            _stop(number)
        self.number = number
        raise KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal: 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP."""
        return 128 + (self.number or signal.SIGINT)


def _stop(number: int) -> None:
    """End this process without any clean-up, but show the cursor again that a progress bar has hidden."""
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")
    os._exit(128 + number)
