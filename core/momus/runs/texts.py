"""The texts of a comparison, from paths, lists or corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from momus.checks.languages import (
    Languages,
    Shares,
    TextLayout,
    language_warnings,
    languages_of,
    layout_of,
    mixture_note,
    scripts_of,
    splitting_warnings,
)
from momus.checks.notes import reading_notes
from momus.checks.texts import TrustCheck, check_texts, sentences
from momus.critic import RunningTextCritic
from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.progress import Reporter
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.reading.labels import check_labelled
from momus.rows.stored import sample_rows
from momus.runs.text_checks import FIT_SHARE, check_named, check_splittable, split_warning
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.sketches import TextSketch

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.rows.store import StoredText
    from momus.runs.result import Again

RESERVED = ("real", "fit")
ANALYSED = 10_000
"""Documents of a text that are analysed on all axes together; of a larger text, about so many are drawn."""


@dataclass
class Texts:
    """The texts of a comparison, in an order that does not depend on that of the files (`Corpus.sorted`).

    Attributes
    ----------
    fit, real, generated
        What critics are fitted on, what is compared, and with what; for laws of running text in the order given.
    split
        Whether the real text was split because none to fit on was given.
    warnings
        What a reader must know about them.
    checks
        All checks of the texts, from which some of the warnings come.
    layouts
        Line breaks and spaces before punctuation, by text.
    languages
        Languages of each corpus, by its name.
    scripts
        Scripts of each corpus, by its name.
    whole, seed
        The real text before it was split, if it was, and the seed that it was split by.
    stored
        The rows of the real and the generated texts, where these are scored in parts; empty for texts in memory.
    again
        Of texts that are scored in parts, why an earlier run did not serve, by critic.
    """

    fit: Corpus
    real: Corpus
    generated: list[Corpus]
    split: bool
    warnings: list[str]
    checks: list[TrustCheck] = field(default_factory=list)
    languages: dict[str, Languages] = field(default_factory=dict)
    layouts: dict[str, TextLayout] = field(default_factory=dict)
    scripts: dict[str, Shares] = field(default_factory=dict)
    whole: Corpus | None = None
    seed: int = 0
    stored: Sequence[StoredText] = ()
    again: Mapping[str, Again] = field(default_factory=dict)

    @property
    def in_parts(self) -> bool:
        """Whether the texts stay in their files, and were scored in parts."""
        return bool(self.stored)

    @cached_property
    def samples(self) -> list[Ints | None]:
        """Rows of the documents that all axes are analysed on together, of the real and the generated texts."""
        return [sample_rows(corpus, ANALYSED) for corpus in (self.real, *self.generated)]

    @cached_property
    def analysed(self) -> list[Corpus]:
        """The real and the generated texts, or samples of large ones."""
        corpora = (self.real, *self.generated)
        return [c if rows is None else c.subset(rows) for c, rows in zip(corpora, self.samples, strict=True)]

    @cached_property
    def parts(self) -> dict[tuple[Any, ...], Corpus]:
        """Parts of the texts that several critics read, by what they are; kept by whoever takes one first."""
        return {}

    @property
    def samples_by_name(self) -> dict[str, Ints | None]:
        """The rows of these samples by the name of the text."""
        return dict(zip([self.real.name, *(c.name for c in self.generated)], self.samples, strict=True))

    def forget_rows(self) -> None:
        """Free the memory of rows and documents that were read of texts which stay in their files."""
        for stored in self.stored:
            stored.forget_rows()

    @cached_property
    def together(self) -> Corpus:
        """All documents of the real and the generated texts."""
        return pooled((self.real, *self.generated))

    @property
    def sample_notes(self) -> list[str]:
        """Say which texts are analysed on all axes together by a sample; empty if none is."""
        sizes = [
            f"{len(rows):,} of {counted(len(corpus), 'document')} of {corpus.name!r}"
            for corpus, rows in zip((self.real, *self.generated), self.samples, strict=True)
            if rows is not None
        ]
        if not sizes:
            return []
        return [
            f"Global tests, ranks and other analyses of all axes together are made on {', '.join(sizes)}; "
            "tests of each axis on all."
        ]

    @property
    def by_runs(self) -> bool:
        """Whether critics of running text have the real text split by runs: it was split by single documents."""
        return self.whole is not None and not self.whole.units.words()

    def checked(self, sketches: Sequence[TextSketch], split: TextSketch | None) -> Texts:
        """The texts with all checks and their warnings.

        Parameters
        ----------
        sketches
            Of the text to fit on, the real and the generated texts, in the order given.
        split
            The sketch of the real text before it was split, if it was.
        """
        checks = check_texts(sketches[0], sketches[1], sketches[2:], split)
        languages = {s.name: languages_of(s) for s in sketches if len(s)}
        warnings = [
            *self.warnings,
            *sentences(checks),
            *language_warnings(languages, self.real.name),
            *(note for s in sketches if (note := mixture_note(s))),
            *splitting_warnings(sketches),
        ]
        scripts = {s.name: scripts_of(s) for s in sketches if len(s)}
        layouts = {s.name: layout_of(s) for s in sketches}
        return replace(self, warnings=warnings, checks=checks, languages=languages, layouts=layouts, scripts=scripts)

    def _sketched(self, whole: Corpus | None) -> Texts:
        """The texts with all checks; ``whole`` is the real text before it was split, if it was."""
        sketches = [_sketch(corpus) for corpus in (self.fit, self.real, *self.generated)]
        return self.checked(sketches, None if whole is None else _sketch_of_halves(whole, sketches[:2]))

    def for_critic(self, critic: Critic[Any]) -> Texts:
        """The texts as a critic needs them: for laws of running text, in the order given, also where they were split.

        The split by documents tears neighbours apart, while the generated text keeps its neighbours. So for critics of
        running text the split takes runs of neighbouring documents, unless groups or prompts say what belongs together.
        """
        return self._unsorted if isinstance(critic, RunningTextCritic) else self

    @cached_property
    def _unsorted(self) -> Texts:
        if self.whole is not None and self.by_runs:
            fitting, real = self.whole.split_in_runs(FIT_SHARE, self.seed, ("fit", "real"))
        else:
            fitting, real = self.fit.unsorted, self.real.unsorted
        return replace(self, fit=fitting, real=real, generated=[c.unsorted for c in self.generated])


def pooled(corpora: Sequence[Corpus]) -> Corpus:
    """All documents of several corpora, with new ids."""
    tables = []
    for number, corpus in enumerate(corpora):
        ids = pa.array([f"{number}:{i}" for i in corpus.ids], pa.string())
        tables.append(corpus.table.set_column(corpus.table.schema.get_field_index("id"), "id", ids))
    return Corpus(pa.concat_tables(tables), "all texts")


def read_texts(
    real: TextSource,
    generated: Mapping[str, TextSource],
    fit: TextSource | None,
    seed: int,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
    *,
    check: bool = True,
) -> Texts:
    """Read the texts, split the real one where none to fit on is given, and check them.

    Raises
    ------
    MomusError
        A text cannot be read, is empty, or has a name that is taken.
    """
    _check_free(generated, RESERVED)
    sources = {**({} if fit is None else {"fit": fit}), "real": real, **generated}
    read, notes = _read(sources, reading or ReadingOptions(), reporter)
    whole, others = read["real"], [read[name] for name in generated]
    if fit is not None:
        texts = Texts(read["fit"].sorted(), whole.sorted(), [c.sorted() for c in others], False, notes, seed=seed)
        return texts._sketched(None) if check else texts
    check_splittable(whole.name, len(whole), int((~whole.blank).sum()))
    halves = whole.split(FIT_SHARE, seed, ("fit", "real"))
    notes = [split_warning(whole.units, seed, *map(len, halves)), *notes]
    fitting, held_out, *others = (c.sorted() for c in (*halves, *others))
    texts = Texts(fitting, held_out, others, True, notes, whole=whole, seed=seed)
    return texts._sketched(whole) if check else texts


def read_versions(
    reference: tuple[str, TextSource],
    generated: Mapping[str, TextSource],
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
) -> Texts:
    """Read text of a model, by name, and texts to compare it with; there is none to fit on apart.

    Raises
    ------
    MomusError
        A text cannot be read, is empty, or has a name that is taken.
    """
    name, source = reference
    check_named({name: source})
    _check_free({name: source}, RESERVED)
    _check_free(generated, (*RESERVED, name))
    read, notes = _read({name: source, **generated}, reading or ReadingOptions(), reporter)
    none = Corpus.from_texts([], name="fit")
    old, *new = (c.sorted() for c in read.values())
    return Texts(none, old, new, False, notes)._sketched(None)


def _check_free(names: Iterable[str], taken: Sequence[str]) -> None:
    for name in names:
        if name in taken:
            raise UsageError(f"a text is called {name!r}, which is reserved or taken", hint="give it another name")


def _read(
    sources: Mapping[str, TextSource], reading: ReadingOptions, reporter: Reporter | None
) -> tuple[dict[str, Corpus], list[str]]:
    """Read texts by name, none of which may be empty; and what a reader must know of them."""
    reading.check_names([*sources])
    read = {name: as_corpus(source, name, reading, reporter) for name, source in sources.items()}
    corpora = [*read.values()]
    for corpus in corpora:
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")
    notes = [note for corpus in corpora for note in reading_notes(corpus)] + check_labelled(corpora, reading.labels)
    reading.check_kept(corpora)
    return read, notes


def _sketch(corpus: Corpus) -> TextSketch:
    """Sketch a text that was sorted, in the order given."""
    sketch = TextSketch.of(corpus)
    return sketch if corpus.given_rows is None else sketch.take(corpus.given_rows)


def _sketch_of_halves(whole: Corpus, halves: Sequence[TextSketch]) -> TextSketch:
    """The sketch of a text that was split, from those of its halves: its words are found once."""
    joined = TextSketch.joined(halves, whole.name)
    rows = {id: row for row, id in enumerate(joined.table["id"].to_pylist())}
    return joined.take(np.array([rows[id] for id in whole.ids]))
