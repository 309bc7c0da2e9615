"""Pages of HTML that load nothing from outside: their templates, and the policy that names their one script."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from itertools import zip_longest
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from momus.evidence import Table
from momus.report.figures.palette import CorpusLook, colour_rules
from momus.report.figures.svg import draw, figure_csv
from momus.report.safe import anchor, clean
from momus.report.words.format import number, p_value

BREAKS = re.compile(r"\n+(?=</?(?:t[dhr]|tbody|div|p|h\d|figure|figcaption|details|ul|li|dl|article|section)\b)")
"""Line breaks before blocks and cells, which show nothing: a page has thousands."""
REPORT = "momus.report"
"""The package of the templates that pages of all packages extend."""
SHOWN_ROWS = 10
"""Largest number of rows that a page shows of a table."""


def render_page(
    template: str,
    *,
    script: str = "report.js",
    corpora: Mapping[str, CorpusLook] | None = None,
    package: str = REPORT,
    **values: Any,
) -> str:
    """Render a template that extends ``base.html.j2``; all content of texts is cleaned and escaped.

    Parameters
    ----------
    template
        Its name.
    script
        The script of the page, which its content security policy names by its hash: no other one runs.
    corpora
        Looks of the generated corpora, for figures.
    package
        The package whose folder ``templates`` holds the template and the script.
    values
        What the template shows; functions are called by it.
    """
    code = asset(script, package)
    assets: dict[str, Any] = {
        "style": Markup(colour_rules() + asset("style.css")),
        "script": Markup(code),
        "script_digest": digest(code),
        "picture": lambda item: Markup(draw(item, corpora)),
    }
    page = environment(package).get_template(template).render(**assets, **values)
    return re.sub(BREAKS, "", page)


def asset(name: str, package: str = REPORT) -> str:
    """Read a script or style sheet of the report, or of another package."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Hash of a script, in the form that a content security policy names it by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


LONGEST = 1 << 20
"""Characters of a value that a page shows."""


@cache
def environment(package: str = REPORT) -> Environment:
    """Jinja environment with the filters and functions that all pages use; cleans and escapes every value."""
    jinja = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, REPORT))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value, LONGEST),
    )
    jinja.filters |= {"number": number, "p": p_value, "clean": clean, "said": said, "anchor": anchor}
    jinja.globals |= {
        "figure_csv": partial(figure_csv, page=True),
        "numeric_columns": numeric_columns,
        "cell": cell,
        "shown": SHOWN_ROWS,
    }
    return jinja


def said(sentence: str) -> str:
    """Clean a sentence of ours, whose numbers keep their per cent signs on one line."""
    return clean(sentence, 900).replace(" %", "\u00a0%")


def numeric_columns(table: Table) -> list[bool]:
    """Which columns of a table hold numbers only, or nothing.

    >>> numeric_columns(Table("t", "T", ("word", "count"), (("the", 3), ("a", None))))
    [False, True]
    """
    columns = zip_longest(*table.rows[:SHOWN_ROWS])
    numeric = [any(v is not None for v in c) and not any(isinstance(v, str | bool) for v in c) for c in columns]
    return numeric or [False] * len(table.columns)


def cell(value: Any) -> str:
    """Format the cell of a table."""
    if isinstance(value, bool | str):
        return clean(value)
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else clean(value)
