"""A comparison in a notebook: a small HTML summary, and figures in matplotlib axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import quote

from momus.errors import UsageError
from momus.report.answer import answer_of
from momus.report.figures.style import paper_style
from momus.report.safe import clean
from momus.report.sentences import first_sentences, legend
from momus.report.table import overview
from momus.report.trust_line import trust_items
from momus.runs.folder import REPORT
from momus.runs.result import Comparison, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, ROW, REST = 6.9, 0.3, 1.1
"""Width of a figure, and height of its rows and of what surrounds them, in inches."""
TEMPLATE = """<div class="momus">
{% for sentence in sentences %}<p>{% if loop.first %}<strong>{{ sentence|clean }}</strong>{% else %}{{ sentence|clean }}
{%- endif %}</p>
{% endfor %}
<table>
<thead><tr><th scope="col" style="text-align: left">axis</th>
{% for name in table.names %}<th scope="col" style="text-align: right">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in table.axes + table.ranks %}
<tr><th scope="row" style="text-align: left; font-weight: normal">{{ row.label }}</th>
{% for cell in row.cells %}<td style="text-align: right">
{%- if row.strong[loop.index0] %}<strong>{{ cell }}</strong>{% else %}{{ cell }}{% endif %}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
<p><small>{% for line in legend %}{{ line|clean }}<br>{% endfor %}
{% for item in trust %}{% if not item.ok %}<strong>{% endif %}{{ item.label }}: {{ item.text|clean }}
{%- if not item.ok %}</strong>{% endif %}{% if not loop.last %} · {% endif %}{% endfor %}</small></p>
{% if warnings %}<details><summary><small>{{ "1 note" if warnings|length == 1 else warnings|length ~ " notes" }}</small>
</summary><ul>{% for warning in warnings %}<li><small>{{ warning|clean(2000) }}</small></li>{% endfor %}</ul></details>
{% endif %}
{% if link %}<p><a href="{{ link }}" target="_blank" rel="noopener">Open the report</a></p>
{% endif %}
</div>"""


def summary_html(comparison: Comparison) -> str:
    """Render the answer, the overview table, what it rests on, and a link to the report, as a piece of HTML.

    It holds no script and loads nothing; all texts are cleaned and escaped.
    """
    from jinja2 import Environment, StrictUndefined

    if not comparison.verdicts:
        return '<div class="momus"><p>A comparison without verdicts.</p></div>'
    jinja = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    jinja.filters["clean"] = clean
    answer = answer_of(comparison)
    return jinja.from_string(TEMPLATE).render(
        sentences=first_sentences(answer),
        table=overview(answer),
        legend=legend(answer),
        trust=trust_items(comparison) if comparison.signature else [],
        warnings=comparison.warnings,
        link=_report_link(comparison.folder),
    )


def _report_link(folder: Path | None) -> str:
    """Address of the report of a run folder, relative to the working directory where it is below that; else empty."""
    if folder is None or not (folder / REPORT).is_file():
        return ""
    report, here = (folder / REPORT).resolve(), Path.cwd()
    return quote(report.relative_to(here).as_posix()) if report.is_relative_to(here) else report.as_uri()


def plot(comparison: Comparison, kind: Plot = "overview", critic: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw a figure of a comparison; see `Comparison.plot`."""
    if kind not in get_args(Plot):
        raise UsageError(f"there is no plot {kind!r}", hint=f"choose one of {', '.join(get_args(Plot))}")
    names = [r.name for r in comparison.results]
    if critic is not None and critic not in names:
        raise UsageError(f"this comparison has no critic {critic!r}", hint=f"choose one of {', '.join(names)}")
    if critic is not None and kind in ("overview", "power"):
        raise UsageError(f"the plot {kind!r} shows all critics", hint="leave out critic, or plot kind='axis'")
    if axes is None:
        return _plot_new(comparison, kind, critic)
    import matplotlib as mpl

    with mpl.rc_context({"text.parse_math": False}):  # names are no formulas
        return _draw(comparison, kind, critic, axes)


def _plot_new(comparison: Comparison, kind: Plot, critic: str | None) -> Axes:
    """Draw into a new figure of pyplot, which a notebook shows, as high as the rows of the figure need."""
    import matplotlib.pyplot as plt

    rows = {"axis": 8, "ranks": len({v.generated for v in comparison.verdicts})}.get(kind, len(comparison.results))
    # outside the style: the first figure loads the backend, and leaving the style would undo its settings for notebooks
    figure = plt.figure(figsize=(WIDTH, REST + ROW * rows), layout="constrained")
    try:
        with paper_style():
            return _draw(comparison, kind, critic, figure.add_subplot())
    except UsageError:
        plt.close(figure)
        raise


def _draw(comparison: Comparison, kind: Plot, critic: str | None, axes: Axes) -> Axes:
    if kind == "overview":
        from momus.report.figures import overview as overview_figures

        return overview_figures.overview(axes, answer_of(comparison))
    if kind == "power":
        from momus.report.figures.power import power_figure

        return power_figure(axes, comparison.verdicts)
    if kind == "ranks":
        from momus.joint.ranks import ALL_AXES
        from momus.report.figures.ranks import ranks_figure

        if comparison.joint.ranking is None:
            raise UsageError("this comparison has no ranks", hint="compare two or more generated corpora")
        return ranks_figure(axes, comparison.joint.ranking, ALL_AXES if critic is None else critic)
    from momus.report.figures.axis import axis_figure

    name = critic or answer_of(comparison).axes[0].critic
    return axis_figure(axes, next(r for r in comparison.results if r.name == name))
