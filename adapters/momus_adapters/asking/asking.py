"""Ask a question about all documents of some texts; answers are appended to a file of labels as they come.

The file is its own cache: a record holds the digest of what was asked (model, question, text), and what was asked once
is not asked again. ``FILE.asked.json`` beside it holds the prompt and the settings.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.files import write_json
from momus.outputs import appending, make_folder, write_bytes
from momus.ownership import check_own
from momus.progress import Reporter, Silent
from momus.reading.labels import ABOUT, CORPUS
from momus.reading.paths import ID_FIELDS
from momus.redact import redacted_value
from momus.schema import read_json
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__
from momus_adapters.asking.labellers import Labeller
from momus_adapters.asking.question import FORM, Answer, Question

LABELLER, UNANSWERED, ASKED = ABOUT
SETTINGS = "the settings of a question"
STAYS = "name another file: it stays"
FAILURES = 10
"""Requests in a row after whose failure nothing more is asked."""
BYTES = 4
"""Bytes of a token, about."""
Key = tuple[str, str]
"""Name of the text and id of a document."""


class Asking:
    """A question about the documents of some texts, and the answers in a file.

    Parameters
    ----------
    name
        Of the label.
    resume
        Whether the file may hold answers already: only what it lacks is asked.

    Attributes
    ----------
    texts, documents
        By digest of what is asked: the text, and the documents that have it. Those without words are left out.
    empty
        How many these are.
    waiting
        Digests of texts without an answer.
    unanswered
        What was said in place of an answer, by document.
    failed
        How many texts have no answer, by reason.

    Raises
    ------
    StoreError
        The file holds something else, answers to another question, or answers although ``resume`` is not set.
    UsageError
        The name is that of another field, or no document has words.
    """

    def __init__(
        self,
        question: Question,
        labeller: Labeller,
        corpora: Sequence[Corpus],
        out: Path,
        name: str,
        *,
        resume: bool = False,
    ) -> None:
        self.question, self.labeller, self.out, self.name = question, labeller, out, name
        self.texts: dict[str, str] = {}
        self.documents: dict[str, list[Key]] = {}
        self.unanswered: dict[Key, str] = {}
        self.failed: Counter[str] = Counter()
        self._known: dict[str, dict[str, Any]] = {}
        if name in (*ID_FIELDS, CORPUS, *ABOUT):
            raise UsageError(f"{arg('name', name)} is the name of another field", hint="name the label otherwise")
        for corpus in corpora:
            for document in corpus:
                if document.text.strip():
                    asked = self._digest(document.text)
                    self.texts[asked] = document.text
                    self.documents.setdefault(asked, []).append((corpus.name, document.id))
        self.empty = sum(map(len, corpora)) - sum(map(len, self.documents.values()))
        if not self.texts:
            raise UsageError("no document has words", hint="name texts with words")
        check_own(self.beside, SETTINGS)
        if out.exists() and out.stat().st_size:
            if not resume:
                raise StoreError(f"{out} exists", hint=f"{arg('resume', True)} asks for the answers that it lacks")
            self._read()
        self.waiting = [asked for asked in self.texts if asked not in self._known]

    @property
    def beside(self) -> Path:
        """The file of the prompt and the settings."""
        return self.out.with_name(f"{self.out.name}.asked.json")

    @property
    def tokens(self) -> int:
        """About how many tokens the prompts of all waiting texts have."""
        prompts = (self.question.prompt(self.texts[asked]) for asked in self.waiting)
        return sum(len(prompt.encode("utf-8", "replace")) for prompt in prompts) // BYTES

    @property
    def _asked(self) -> dict[str, Any]:
        """What all answers of a file have in common."""
        answers = self.question.bounds or self.question.answers
        about = {"question": self.question.text, "answers": list(answers), "prompt": FORM, "label": self.name}
        return {**about, LABELLER: self.labeller.name}

    def _digest(self, text: str) -> str:
        content = f"{self.labeller.name}\0{self.question.prompt(text)}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _read(self) -> None:
        """Read the answers of an earlier run; half a record, and answers to texts that have changed, are dropped."""
        before = read_json(self.beside, dict[str, Any], STAYS) if self.beside.exists() else {}
        if {key: before.get(key) for key in self._asked} != self._asked:
            what = next((f"another {key}" for key in before if before[key] != self._asked.get(key, before[key])), "")
            raise StoreError(f"{self.out} holds {what or 'no'} answers of this question", hint=STAYS)
        keys = {key: asked for asked, documents in self.documents.items() for key in documents}
        lines, kept = self.out.read_bytes().splitlines(keepends=True), []
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                corpus, id, asked = str(record.pop(CORPUS)), str(record.pop("id")), str(record[ASKED])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                if number == len(lines):
                    continue
                raise StoreError(f"{self.out}, line {number} is no answer", hint=STAYS) from None
            if keys.get((corpus, id), asked) == asked:
                kept.append(line)
                self._known[asked] = record
                self._done((corpus, id), record)
                if (corpus, id) in keys:
                    self.documents[asked].remove((corpus, id))
        if len(kept) < len(lines):
            write_bytes(self.out, b"".join(kept))

    def run(self, settings: Mapping[str, Any], reporter: Reporter | None = None) -> None:
        """Ask, and append each answer to the file.

        Parameters
        ----------
        settings
            Of the labeller, for the file beside the answers.

        Raises
        ------
        UsageError
            Nothing is answered any more.
        """
        make_folder(self.out.parent)
        about = {**self._asked, **settings, "momus": __version__, "time": datetime.now(UTC).isoformat()}
        write_json(self.beside, redacted_value(about), kind=SETTINGS)
        with appending(self.out) as file, (reporter or Silent()).stage("asking", len(self.waiting)) as advance:

            def write(asked: str) -> None:
                for corpus, id in self.documents[asked]:
                    record = {"id": id, CORPUS: corpus, **self._known[asked]}
                    file.write((json.dumps(record) + "\n").encode("ascii"))
                    self._done((corpus, id), record)
                file.flush()

            for asked in self.texts:
                if asked in self._known:
                    write(asked)
            failures = 0
            waiting = [self.texts[asked] for asked in self.waiting]
            for number, (i, answer) in enumerate(self.labeller.answers(self.question, waiting), 1):
                if isinstance(answer, Answer):
                    self._known[self.waiting[i]] = self._record(self.waiting[i], answer)
                    write(self.waiting[i])
                    failures = 0
                else:
                    self.failed[str(answer)] += 1
                    failures += 1
                if failures == FAILURES:
                    raise UsageError(
                        f"{counted(FAILURES, 'request')} in a row failed: {answer}",
                        hint=f"ask for the rest with {arg('resume', True)} when the server is available",
                    )
                advance(number)

    def _record(self, asked: str, answer: Answer) -> dict[str, Any]:
        unanswered = {} if answer.value is not None else {UNANSWERED: answer.said}
        return {self.name: answer.label, LABELLER: self.labeller.name, **unanswered, ASKED: asked}

    def _done(self, key: Key, record: Mapping[str, Any]) -> None:
        if UNANSWERED in record:
            self.unanswered[key] = str(record[UNANSWERED])
