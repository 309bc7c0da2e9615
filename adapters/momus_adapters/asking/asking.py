"""Ask a question about all documents of some texts; answers are appended to a file of labels as they come.

The file is its own cache: a record holds the digest of what was asked (model, question, text), and what was asked once
is not asked again. ``FILE.asked.json`` beside it holds the prompt and the settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.files import write_json
from momus.outputs import appending, make_folder, write_bytes
from momus.ownership import check_own
from momus.progress import Reporter
from momus.reading.labels import ABOUT, CORPUS
from momus.reading.paths import ID_FIELDS
from momus.redact import redacted_value
from momus.schema import parse_json
from momus.text.corpus import Corpus
from momus_adapters.asking.labellers import LocalLabeller, ServerLabeller
from momus_adapters.asking.question import FORM, Question

LABELLER, UNANSWERED, REFUSED, ASKED = ABOUT
SETTINGS = "the settings of a question"
STAYS = "name another file: it stays"
Labeller = ServerLabeller | LocalLabeller


class Asking:
    """A question about documents with words, and the file of its answers, which may hold some if ``resume`` is set.

    What was refused counts as answered unless it is to be asked ``again``. By the digest of what is asked, ``waiting``
    holds texts without an answer, ``records`` those of the others.
    """

    def __init__(
        self,
        question: Question,
        labeller: Labeller,
        corpora: Sequence[Corpus],
        out: Path,
        name: str,
        *,
        resume: bool,
        again: bool = False,
    ) -> None:
        if name in (*ID_FIELDS, CORPUS, *ABOUT):
            raise UsageError(f"{arg('name', name)} is the name of another field", hint="name the label otherwise")
        self.question, self.labeller, self.out, self.name = question, labeller, out, name
        self.records: dict[str, dict[str, Any]] = {}
        texts = {(c.name, d.id): d.text for c in corpora for d in c if d.text.strip()}
        asked = {key: self._digest(text) for key, text in texts.items()}
        self._beside = out.with_name(f"{out.name}.asked.json")
        about = {"question": question.text, "answers": list(question.answers), "prompt": FORM}
        self._about = redacted_value({**about, "label": name, LABELLER: labeller.name})
        check_own(self._beside, SETTINGS)
        self._kept: list[bytes] | None = None  # lines of the file, if not all
        done = self._read(asked, resume, again) if out.exists() and out.stat().st_size else set()
        self._documents: dict[str, list[tuple[str, str]]] = {}
        for key in asked.keys() - done:
            self._documents.setdefault(asked[key], []).append(key)
        self.waiting = {asked[key]: text for key, text in texts.items() if asked[key] not in self.records}

    def _digest(self, text: str) -> str:
        content = f"{self.labeller.name}\0{self.question.prompt(text)}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _read(self, asked: Mapping[tuple[str, str], str], resume: bool, again: bool) -> set[tuple[str, str]]:
        """Read the answers of an earlier run, less half a record of a killed one, and return their documents."""
        if not resume:
            raise StoreError(f"{self.out} exists", hint=f"{arg('resume', True)} asks for the answers that it lacks")
        before = parse_json(self._beside.read_bytes(), str(self._beside), STAYS) if self._beside.exists() else {}
        if {key: before.get(key) for key in self._about} != self._about:
            raise StoreError(f"{self.out} holds no answers to this question by {self.labeller.name}", hint=STAYS)
        *lines, rest = self.out.read_bytes().split(b"\n")
        done, kept = set(), []
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                key, digest = (str(record.pop(CORPUS)), str(record.pop("id"))), str(record[ASKED])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise StoreError(f"{self.out}, line {number} is no answer", hint=STAYS) from None
            if asked.get(key, digest) != digest:
                raise StoreError(f"{self.out}, line {number}: the text of {key[1]!r:.80} is another now", hint=STAYS)
            forgotten = again and REFUSED in record
            if not forgotten:
                self.records[digest] = record
            if not forgotten or key not in asked:
                done.add(key)
                kept.append(line + b"\n")
        self._kept = kept if rest or len(kept) < len(lines) else None
        return done

    def run(self, settings: Mapping[str, Any], reporter: Reporter) -> None:
        """Ask, and append each answer to the file; ``settings`` of the labeller stand in the file beside it."""
        make_folder(self.out.parent)
        write_json(self._beside, redacted_value({**self._about, **settings}), kind=SETTINGS)
        if self._kept is not None:
            write_bytes(self.out, b"".join(self._kept))
        digests, texts = list(self.waiting), list(self.waiting.values())
        with appending(self.out) as file, reporter.stage("asking", len(texts)) as advance:

            def write(digest: str) -> None:
                for corpus, id in self._documents[digest]:
                    record = {"id": id, CORPUS: corpus, **self.records[digest]}
                    file.write((json.dumps(record) + "\n").encode("ascii"))
                file.flush()

            for digest in self.records.keys() & self._documents.keys():
                write(digest)
            for number, (i, answer) in enumerate(self.labeller.answers(self.question, texts), 1):
                how = REFUSED if answer.refused else UNANSWERED
                said = {} if answer.label is not None else {how: answer.said}
                by = {LABELLER: self.labeller.name, **said, ASKED: digests[i]}
                self.records[digests[i]] = {self.name: answer.label, **by}
                write(digests[i])
                advance(number)
