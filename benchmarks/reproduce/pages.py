"""Tables that scripts write into pages of the documentation."""

from __future__ import annotations

from pathlib import Path


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and the next ``<!-- end -->``; stop if the page lacks the mark."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not (begin and end):
        raise SystemExit(f"{page} lacks <!-- {name} --> or the <!-- end --> after it")
    page.write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")
