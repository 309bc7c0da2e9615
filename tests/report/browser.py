"""Open a page in headless Chromium, and run a script of a test in it."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def dump(path, *options, width=1400, height=1000, budget=20000):
    """The page's document after its scripts have run, and what the browser logged."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
        *(f"--user-data-dir={path.parent / 'profile'}", f"--window-size={width},{height}"),
        *("--enable-logging=stderr", "--v=0", f"--virtual-time-budget={budget}", *options, "--dump-dom", path.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    return done.stdout, done.stderr


def run_in_page(page, script, folder, width=1400, budget=20000):
    """The value of ``await script`` in a copy of a page whose content security policy is left out.

    A window cannot be narrower than some 500 pixels: narrow pages are measured in a frame.
    """
    inner = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    call = (
        "<script>addEventListener('load', async () => { const found = await (async () => {" + script + "})();"
        "parent.document.title = JSON.stringify(found); });</script>"
    )
    (folder / "inner.html").write_text(inner.replace("</body>", f"{call}</body>"), encoding="utf-8")
    frame = f'<title>none</title><iframe src="inner.html" style="width:{width}px;height:1000px;border:0"></iframe>'
    (folder / "outer.html").write_text(frame, encoding="utf-8")
    for _ in range(3):  # the browser's clock may run out before a busy machine has loaded the page
        out, log = dump(folder / "outer.html", "--allow-file-access-from-files", width=max(width, 600), budget=budget)
        title = re.search(r"<title>(.*?)</title>", out, flags=re.DOTALL)
        if title is not None and title.group(1) != "none":
            return json.loads(unescape(title.group(1)))
    raise AssertionError("\n".join(line for line in log.splitlines() if "CONSOLE" in line) or "the page did not answer")
