"""Drive headless Chromium with a keyboard, through the DevTools protocol over pipes: no package is needed for it."""

import base64
import json
import os
import select
import subprocess
import sys
import time
from contextlib import contextmanager

from .browser import CHROMIUM

KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40, "ArrowRight": 39, "Escape": 27}
"""Virtual key codes."""
PATIENCE = 120
"""Seconds after which an answer is no longer waited for."""
SHIFT = 8
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)
LAUNCH = """
import fcntl, os, sys
reading, writing = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3])
os.dup2(reading, 3)
os.dup2(writing, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads the protocol from descriptor 3, and writes it to 4."""


class Tab:
    """One page of a running browser."""

    def __init__(self, reading, writing):
        self.reading, self.writing, self.buffer, self.number, self.session = reading, writing, b"", 0, None

    def send(self, method, **params):
        """Call a method of the protocol, and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:  # events come between the call and its answer
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def _message(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reading], [], [], max(until - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            read = os.read(self.reading, 1 << 20)
            assert read, "the browser has ended"
            self.buffer += read
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path, width=1400, height=1000):
        """Show a file in a window of some size, and wait until it is loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # without emulated focus, a headless page shows none
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.send("Page.navigate", url=path.as_uri())
        while self.value("document.readyState + location.protocol") != "completefile:":
            time.sleep(0.05)

    def value(self, expression):
        """The value of an expression in the page; promises are awaited."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key, shift=False):
        """Press and release one key."""
        text = {"Enter": "\r", " ": " "}.get(key)
        code = "Space" if key == " " else key
        common = {"key": key, "code": code, "windowsVirtualKeyCode": KEYS[key], "modifiers": SHIFT * shift}
        if text is None:
            self.send("Input.dispatchKeyEvent", type="rawKeyDown", **common)
        else:
            self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, path):
        """Write what the window shows into a PNG file."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chromium(folder):
    """Start a browser whose profile is in a folder, and end it."""
    there, writing = os.pipe()
    reading, back = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            LAUNCH,
            str(there),
            str(back),
            CHROMIUM,
            *OPTIONS,
            f"--user-data-dir={folder / 'profile'}",
        ],
        pass_fds=(there, back),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(there)
    os.close(back)
    try:
        yield Tab(reading, writing)
    finally:
        os.close(writing)  # the end of the pipe ends the browser
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(reading)
