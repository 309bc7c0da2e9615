"""What resolvers found is kept: nothing is resolved twice, and an interruption loses little."""

import sqlite3

import numpy as np
import pytest

from momus import Corpus
from momus.text.mentions import CHUNK, Resolved, cache_folder, resolve_kept

TEXTS = [f"He is number {i}." for i in range(30)]


class Counting:
    def __init__(self, version="1", fail_after=None):
        self.version, self.seen, self.fail_after = version, [], fail_after

    def resolve(self, batch):
        if self.fail_after is not None and len(self.seen) >= self.fail_after:
            raise KeyboardInterrupt
        self.seen += list(batch.ids)
        return [Resolved.of([(0, 2, len(d.text))], [0]) for d in batch]


def numbers(found):
    return [int(r.entities[0]) for r in found]


def test_nothing_is_resolved_twice(tmp_path):
    corpus = Corpus.from_texts(TEXTS, name="c")
    first, second, other = Counting(), Counting(), Counting("2")
    done = []
    a = resolve_kept(first, corpus, done.append, tmp_path)
    b = resolve_kept(second, corpus.take(np.arange(29, -1, -1)), None, tmp_path)
    assert len(first.seen) == 30
    assert second.seen == []
    assert numbers(a) == [len(t) for t in TEXTS]
    assert numbers(b) == numbers(a)[::-1]
    assert done[-1] == 30
    resolve_kept(other, corpus, None, tmp_path)
    assert len(other.seen) == 30  # another version begins anew


def test_an_interrupted_run_goes_on(tmp_path):
    corpus = Corpus.from_texts(TEXTS, name="c")
    with pytest.raises(KeyboardInterrupt):
        resolve_kept(Counting(fail_after=CHUNK), corpus, None, tmp_path)
    rest = Counting()
    resolve_kept(rest, corpus, None, tmp_path)
    assert len(rest.seen) == 30 - CHUNK


def test_a_broken_cache_only_costs_time(tmp_path):
    corpus = Corpus.from_texts(TEXTS[:3], name="c")
    resolve_kept(Counting(), corpus, None, tmp_path)
    with sqlite3.connect(tmp_path / "resolved.sqlite") as connection:
        connection.execute("UPDATE resolved SET mentions = x'00'")
    again = Counting()
    assert numbers(resolve_kept(again, corpus, None, tmp_path)) == [len(t) for t in TEXTS[:3]]
    assert len(again.seen) == 3
    (tmp_path / "file").write_text("not a folder")
    assert len(resolve_kept(Counting(), corpus, None, tmp_path / "file")) == 3
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "resolved.sqlite").write_text("not a database" * 100)
    assert len(resolve_kept(Counting(), corpus, None, tmp_path / "bad")) == 3


def test_resolvers_without_a_version_are_not_kept(tmp_path, monkeypatch):
    corpus = Corpus.from_texts(TEXTS[:3], name="c")
    for _ in range(2):
        resolver = Counting("")
        resolve_kept(resolver, corpus, None, tmp_path)
        assert len(resolver.seen) == 3
    assert not (tmp_path / "resolved.sqlite").exists()
    monkeypatch.setenv("MOMUS_CACHE", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
