"""LaTeX: sectioning commands and plain text, by pylatexenc; files that it inputs are not read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from momus.reading.markup import Part, Parts
from momus_adapters.markups import missing

LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}
"""Sectioning commands, with or without a star."""
HEADED = {"abstract": "Abstract", "thebibliography": "References"}
"""Environments that are sections."""
_FONTS = "texttt textsf textsc textmd textup textnormal textsl underline mbox uline code"
FONTS = tuple(_FONTS.split())
DROPPED = frozenset(("comment", "filecontents", "filecontents*", "tikzpicture", "picture"))
_SILENT = "title author date maketitle tableofcontents bibliographystyle bibliography label"
VERBATIM = frozenset(("verbatim", "verbatim*", "Verbatim", "lstlisting", "minted"))
_ENDS = re.compile(r"\A\\begin\{\w+\*?\}(?:\[[^\]]*\])?(?:\{\w+\})?|\\end\{\w+\*?\}\Z")
WITHOUT_TEXT = frozenset(_SILENT.split())


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a document, or of a file without preamble.

    >>> source = r"\documentclass{x}\begin{document}\section{One}A \emph{b}.\section*{Two} $x$\end{document}"
    >>> parts_of(source)
    [Part(level=3, title='One', text='A b.'), Part(level=3, title='Two', text='x')]
    """
    try:
        from pylatexenc import latex2text, latexwalker, macrospec
    except ImportError as error:
        raise missing("LaTeX", "pylatexenc") from error
    # pylatexenc does not know that a link has two arguments, and drops the text of some fonts
    markup, words = latexwalker.get_default_latex_context_db(), latex2text.get_default_latex_context_db()
    macros = [macrospec.std_macro("href", "{{"), *(macrospec.std_macro(name, "{") for name in FONTS)]
    shown = [latex2text.MacroTextSpec(name, simplify_repl="%(1)s") for name in FONTS]
    shown.append(latex2text.MacroTextSpec("href", simplify_repl="%(2)s"))
    markup.add_context_category("momus", prepend=True, macros=macros)
    words.add_context_category("momus", prepend=True, macros=shown)
    nodes, _, _ = latexwalker.LatexWalker(text, latex_context=markup, tolerant_parsing=True).get_latex_nodes()
    body = next((n.nodelist for n in nodes if getattr(n, "environmentname", None) == "document"), nodes)
    plain = latex2text.LatexNodes2Text(latex_context=words, keep_comments=False, strict_latex_spaces=False)
    parts, waiting = Parts(), list[Any]()

    def text_of(nodes: Sequence[Any]) -> str:
        return str(plain.nodelist_to_text([n for n in nodes if n is not None])).strip()

    def flush() -> None:
        for paragraph in text_of(waiting).split("\n\n"):
            parts.paragraph(paragraph)
        waiting.clear()

    def read(nodes: Sequence[Any]) -> None:
        """Turn the nodes between headings into paragraphs."""
        for node in nodes:
            macro, environment = getattr(node, "macroname", None), getattr(node, "environmentname", None)
            if macro in LEVELS:
                flush()
                parts.heading(LEVELS[macro], text_of([node.nodeargd.argnlist[-1]]))
            elif environment in HEADED:
                flush()
                parts.heading(LEVELS["section"], HEADED[environment])
                parts.paragraph(text_of(node.nodelist))
            elif environment in VERBATIM:
                flush()
                parts.paragraph("\n" + _ENDS.sub("", node.latex_verbatim()))
            elif environment and any(getattr(n, "macroname", None) in LEVELS for n in node.nodelist or ()):
                read(node.nodelist)  # sections within an environment, such as appendices
            elif environment not in DROPPED and macro not in WITHOUT_TEXT:
                waiting.append(node)

    read(body)
    flush()
    return parts.done()
