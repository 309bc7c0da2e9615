"""Take the pictures of `docs/report.md` and the README from the report of the demo, with a headless Chromium.

Run:  python docs/figures/make_screens.py            # compares the texts that ship with Momus first
      python docs/figures/make_screens.py RUN        # the run folder of an earlier `momus demo`
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image, ImageChops

from momus.errors import MomusError

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1400, 2600
COLOURS = 128
"""Colours of a picture: text and flat figures need few, and a file takes a quarter of the space."""
SCREENS: Mapping[str, tuple[str, str, bool]] = {
    "report-first-screen.png": ("answer", "axes", False),
    "report-card.png": ("critic-sections", "critic-rank-frequency", True),
}
"""Each picture: the anchors of the element it begins at and of the one it ends before, and whether folds are open."""


class NoBrowser(MomusError):
    """Chromium is not installed."""


def shoot(page: Path, picture: Path) -> None:
    """Draw the top of a page, 1,400 × 2,600 pixels, into a PNG file."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise NoBrowser("chromium is not installed", hint="install it, or leave the pictures as they are")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={picture.parent / 'profile'}", f"--window-size={WIDTH},{HEIGHT}"]
    subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True, timeout=240)


def cut(html: str, start: str, end: str, opened: bool) -> str:
    """Leave only what stands between two anchors of a report; what comes before is kept for the first screen."""
    begin, stop = html.index(f'id="{start}"'), html.index(f'id="{end}"')
    begin, stop = html.rindex("<", 0, begin), html.rindex("<", 0, stop)
    main = html.index("<main>") + len("<main>")
    body = html[begin:stop]
    if opened:  # the first fold of a card shows its examples
        body = body.replace('<details class="fold"', '<details class="fold" open', 1)
        header = html.index("<header>")
        return html[:header] + "<main>" + body + html[html.index("</main>") :]
    return html[:main] + body + html[html.index("</main>") :]


def trimmed(picture: Image.Image, margin: int = 24) -> Image.Image:
    """Cut the empty paper below the last line of a picture."""
    paper = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    box = ImageChops.difference(picture, paper).getbbox()
    return picture if box is None else picture.crop((0, 0, picture.width, min(box[3] + margin, picture.height)))


def main() -> None:
    """Write all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if len(sys.argv) > 1:
            run = Path(sys.argv[1])
        else:
            run = folder / "run"
            subprocess.run([sys.executable, "-m", "momus", "demo", "--out", str(run)], check=True)
        html = (run / "report.html").read_text(encoding="utf-8")
        for file, (start, end, opened) in SCREENS.items():
            page = folder / "page.html"
            page.write_text(cut(html, start, end, opened), encoding="utf-8")
            shoot(page, folder / file)
            picture = trimmed(Image.open(folder / file).convert("RGB"))
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / file, optimize=True)
            print(f"{file}: {picture.width} × {picture.height}, {(HERE / file).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
