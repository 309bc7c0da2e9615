"""Progress: one line or one bar over all critics, nothing where it is not wanted."""

import io
import re
import sys
import time

from rich.console import Console

import momus
from momus import Corpus
from momus.progress import Bars, Lines, Silent, Timed, default_reporter

TEXTS = [f"the sun rose over hill number {i} " * (1 + i % 5) for i in range(60)]
QUICK = {"critics": ["length", "stopword-share"], "permutations": 99, "resamples": 99}


def test_lines_are_one_per_critic():
    out = io.StringIO()
    momus.compare(Corpus.from_texts(TEXTS), {"g": Corpus.from_texts(TEXTS[::2])}, reporter=Lines(out), **QUICK)
    lines = out.getvalue().splitlines()
    assert [re.sub(r"\d+\.\d s", "_ s", line) for line in lines] == [
        "critic 1 of 2: length, _ s",
        "critic 2 of 2: stopword-share, _ s",
    ]


def test_a_long_stage_has_a_line_now_and_then(monkeypatch):
    out = io.StringIO()
    lines = Lines(out)
    with lines.stage("scoring parts", 40) as advance:
        advance(1)
        monkeypatch.setattr("momus.progress.LINES_EVERY", -1.0)
        advance(2)
        advance(40)
    assert out.getvalue() == "scoring parts: 2 of 40\n"


def test_bars_show_the_critic_and_the_stage_in_80_columns():
    bars = Bars()
    out = io.StringIO()
    bars._progress.live.console = Console(file=out, force_terminal=True, width=80, color_system=None)
    timed = Timed(bars)
    with timed.overall("critic", 17):
        with timed.item("length"), timed.stage("fitting"):
            time.sleep(0.01)
        with timed.item("topics"), timed.stage("scoring", "opt", 1000) as advance:
            advance(250)
            text = str_of(bars)
        assert "critic 2 of 17: topics, scoring opt" in text
        assert "250/1,000" in text
        assert "1/17" in text
    assert "critic 2" not in str_of(bars)
    assert not bars._progress.live.is_started


def str_of(bars):
    console = Console(width=80, color_system=None, file=io.StringIO())
    with console.capture() as capture:
        console.print(bars._progress.get_renderable())
    text = capture.get()
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def test_reporters_without_parts_still_work():
    class Own(Silent):
        labels = ()

        def stage(self, label, total=None):
            Own.labels += (label,)
            return super().stage(label, total)

    momus.compare(Corpus.from_texts(TEXTS), {"g": Corpus.from_texts(TEXTS[::2])}, reporter=Own(), **QUICK)
    assert {"scoring g", "fitting", "reading"} <= set(Own.labels)


def test_the_default_is_silent_off_a_terminal_unless_lines_are_asked_for(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert type(default_reporter()) is Silent
    assert type(default_reporter(lines=True)) is Lines
    assert type(default_reporter(show=True)) is Bars


def test_a_stage_costs_next_to_nothing():
    timed = Timed(Silent())
    with timed.overall("critic", 1), timed.item("a"):
        start = time.perf_counter()
        for _ in range(1000):
            with timed.stage("scoring", "g", 1000) as advance:
                advance(1)
        assert time.perf_counter() - start < 0.5  # 0.5 ms per stage; measured: some 10 µs
