"""The resolver ``xrenner`` (Zeldes & Zhang 2016), rules only, over a spaCy parse.

Optional, since some sources of its model data exclude commercial use: ``pip install --no-deps xrenner six xmltodict``.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

from momus.critic.tools import resource
from momus.errors import MissingExtraError, PluginError
from momus.estimator import Estimator
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_adapters.tagging import load_pipeline, parse

_MARK = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
_RELATIONS = {
    "dobj": "obj",
    "dative": "iobj",
    "nsubjpass": "nsubj:pass",
    "poss": "nmod:poss",
    "pobj": "nmod",
    "ROOT": "root",
}


class XrennerPersons(Estimator):
    """Coreference resolver that runs xrenner's rules over a spaCy parse.

    Parameters
    ----------
    model
        A spaCy pipeline for English, by name or folder.
    """

    def __init__(self, *, model: str = "") -> None:
        self.model = model

    @property
    def version(self) -> str:
        """Versions of xrenner and of the pipeline."""
        resource(_rules)  # reports a missing package
        meta = resource(load_pipeline, self.model).meta
        return f"xrenner {version('xrenner')}; {meta['lang']}_{meta['name']} {meta['version']}"

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Parse documents, pass them to xrenner as CoNLL-U, and read the chains back."""
        return [self._resolve(document.text) for document in batch]

    def _resolve(self, text: str) -> Resolved:
        doc = parse(resource(load_pipeline, self.model), [text])[0]
        if doc is None:
            return Resolved.of([], [], [])
        lines, tokens = [], []
        for sentence in doc.sents:
            words = [t for t in sentence if not t.is_space]
            number = {t.i: i for i, t in enumerate(words, 1)}
            for t in words:
                head = 0 if t.dep_ == "ROOT" else number.get(t.head.i, 0)
                relation = _RELATIONS.get(t.dep_, t.dep_ or "dep") if head else "root"
                lines.append(f"{number[t.i]}\t{t.text}\t{t.lower_}\t{t.pos_}\t{t.tag_}\t_\t{head}\t{relation}\t_\t_")
            lines.append("")
            tokens += words
        try:
            annotated = resource(_rules).analyze("\n".join(lines) + "\n", "conll")
        except (ValueError, KeyError, IndexError, AttributeError) as error:
            raise PluginError(f"xrenner fails on the document that begins {text[:40]!r} ({error})") from error
        rows = [row.split("\t") for row in annotated.splitlines() if row and not row.startswith("#")]
        starts: dict[int, list[int]] = {}
        mentions = []
        for (_, _, marks), t in zip(rows, tokens, strict=True):
            for alone, opened, closed in _MARK.findall(marks):
                if opened or alone:
                    starts.setdefault(int(opened or alone), []).append(t.idx)
                if closed or alone:
                    entity = int(closed or alone)
                    if starts.get(entity):
                        mentions.append((starts[entity].pop(), t.idx + len(t.text), entity))
        return Resolved.of(mentions, [s.start_char for s in doc.sents if not s.text.isspace()])


def _rules() -> Any:
    """xrenner with its rules for English."""
    try:
        from xrenner import Xrenner
    except ImportError as error:
        raise MissingExtraError(
            "resolver 'xrenner' needs xrenner", hint="pip install --no-deps xrenner six xmltodict"
        ) from error
    rules = Xrenner(model="eng", rule_based=True, no_seq=True)
    # otherwise xrenner fails if a chain has lost all mentions
    rules.lex.filters["force_single_type_chains"] = False
    return rules
