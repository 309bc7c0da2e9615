r"""Read files and folders of documents as a `momus.text.corpus.Corpus`.

>>> import json, pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> lines = [{"id": "a", "text": "To be."}, {"id": "b", "sections": ["Not", "to be."]}, {"id": "c", "text": None}]
>>> _ = (folder / "hamlet.jsonl").write_text("\n".join(map(json.dumps, lines)))
>>> corpus = read_corpus(folder / "hamlet.jsonl")
>>> corpus
Corpus('hamlet', 3 documents)
>>> corpus.problems
[None, None, 'text is null']
"""

from momus.reading.chat import TURNS
from momus.reading.frames import MemorySource
from momus.reading.location import Problem
from momus.reading.logs import Log, LogReader, LogRecords
from momus.reading.options import ReadingOptions
from momus.reading.reader import TextSource, as_corpus, read_corpus, sides_of
from momus.reading.streams import FORMATS

__all__ = [
    "FORMATS",
    "TURNS",
    "Log",
    "LogReader",
    "LogRecords",
    "MemorySource",
    "Problem",
    "ReadingOptions",
    "TextSource",
    "as_corpus",
    "read_corpus",
    "sides_of",
]
