"""The page of one rater: one HTML file that works offline and sends nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from momus.files import replace_file
from momus.report.html import render_page
from momus_adapters.study.shown import screens
from momus_adapters.study.store import RATERS, Study


def write_pages(study: Study, folder: Path) -> list[Path]:
    """Write ``raters/rater-1.html`` and so on, and return their paths."""
    (folder / RATERS).mkdir(parents=True, exist_ok=True)
    paths = []
    for k, name in enumerate(study.raters):
        paths.append(folder / RATERS / f"{name}.html")
        replace_file(paths[-1], rater_page(study, k))
    return paths


def rater_page(study: Study, rater: int) -> str:
    """Render the page of a rater. Texts are JSON data that the script writes as text, never as HTML."""
    from markupsafe import Markup

    return render_page(
        "study.html.j2",
        script="study.js",
        name=study.name,
        rater=study.raters[rater],
        data=Markup(inert_json(page_data(study, rater))),
    )


def page_data(study: Study, rater: int) -> dict[str, Any]:
    """What the page knows: the protocol's words, and the screens of this rater."""
    p = study.protocol
    return {
        "study": study.name,
        "rater": study.raters[rater],
        "kind": p.kind,
        "question": p.asked,
        "instructions": p.instructions,
        "consent": p.consent,
        "scale": list(p.scale),
        "ties": p.ties,
        "labels": list(study.labels),
        "trials": [
            {"id": s.code, "passages": [list(parts) for parts in s.passages]}
            | ({} if s.truth is None else {"truth": list(s.truth)})
            for s in screens(study, rater)
        ],
    }


def inert_json(content: Any) -> str:
    r"""JSON that cannot end the script element that holds it, nor begin a comment in it.

    >>> inert_json(["</script><!--"])
    '["\\u003c/script>\\u003c!--"]'
    """
    return json.dumps(content).replace("<", "\\u003c")
